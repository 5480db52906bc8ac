// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/homography.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cornea/geometry/two_view/batch.h"
#include "cornea/geometry/two_view/homography_problem.h"
#include "cornea/geometry/two_view/significance.h"

namespace cornea {
namespace {

using namespace geometry;

HomographyProblem problem_of(const HomographyOptions& o) {
  return {{o.threshold, o.confidence, o.max_hypotheses, 0, 4, o.round, o.seed, o.optimise},
          o.refine};
}

}  // namespace

void HomographyOptions::validate() const {
  require(threshold > 0 && std::isfinite(threshold),
          "threshold takes a positive number of pixels, not ", threshold);
  require(confidence > 0 && confidence < 1, "confidence takes a number between 0 and 1, not ",
          confidence);
  require(max_hypotheses >= 1, "max_hypotheses takes 1 or more, not ", max_hypotheses);
  require(round >= 1 && round <= 1 << 24, "round takes 1 to ", 1 << 24, " hypotheses, not ", round);
}

struct HomographyEstimator::State {
  std::unique_ptr<Ransac<HomographyProblem>> search;
};

HomographyEstimator::HomographyEstimator(const Context& context, const HomographyOptions& options)
    : context_(context), options_(options), state_(std::make_unique<State>()) {
  options.validate();
  state_->search = make_ransac(context, problem_of(options));
}
HomographyEstimator::~HomographyEstimator() = default;
HomographyEstimator::HomographyEstimator(HomographyEstimator&&) noexcept = default;

HomographyResult HomographyEstimator::estimate(std::span<const Correspondence> matches,
                                               std::uint64_t key) {
  HomographyResult result;
  estimate_batch({&matches, 1}, {&key, 1}, {&result, 1});
  return result;
}

void HomographyEstimator::estimate_batch(std::span<const std::span<const Correspondence>> pairs,
                                         std::span<const std::uint64_t> keys,
                                         std::span<HomographyResult> out) {
  estimate_places<HomographyResult>(
      context_, pairs, keys, out, 4,
      [&](std::span<RansacPair> wanted, std::span<HomographyResult*> results,
          const std::function<void()>& meanwhile) {
        std::vector<RansacOutcome<HomographyOutcome>> outcomes(wanted.size());
        state_->search->run(wanted, outcomes, meanwhile);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          const HomographyOutcome& outcome = outcomes[i].outcome;
          HomographyResult& result = *results[i];
          result.kind = outcome.kind;
          result.threshold = outcome.threshold;
          result.hypotheses = outcome.hypotheses;
          result.rounds = outcome.rounds;
          result.stop = outcome.stop;
          result.inlier_count = int(std::count(result.inliers.begin(), result.inliers.end(), 1));
          if (outcome.kind != TwoView::planar) continue;
          if (result.inlier_count < int(kLeastSupport) ||
              random_transfer({result.inlier_count, int(result.inliers.size()), result.threshold},
                              side_of(outcomes[i].normalisation))) {
            result.kind = TwoView::none;
            result.inlier_count = 0;
            std::fill(result.inliers.begin(), result.inliers.end(), std::uint8_t{0});
            continue;
          }
          result.H = homography_in_pixels(outcome.h, outcomes[i].normalisation);
        }
      });
}

double transfer_distance(const std::array<double, 9>& H, const Correspondence& match) {
  Matrix3<double> h;
  std::copy(H.begin(), H.end(), h.v);
  const double square = squared_transfer<double, double>(h, inverse_direction(h), match.x1,
                                                         match.y1, match.x2, match.y2, 1.0);
  return std::isfinite(square) ? std::sqrt(square) : std::numeric_limits<double>::infinity();
}

}  // namespace cornea
