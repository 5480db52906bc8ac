// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/bilateral/bilateral.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/filter/bilateral/bilateral_windows.h"
#include "cornea/filter/bilateral/range_rows.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea {
namespace {

using namespace core;
using namespace filter;
using namespace bilateral;

constexpr int kMostRadius = 4096;

}  // namespace

void BilateralOptions::validate() const {
  require(sigma >= 0.1 && sigma <= 1000, "sigma is ", sigma, " and must be 0.1 to 1000 pixels");
  require(sigma_range >= 1e-3 && sigma_range <= 1e6, "sigma_range is ", sigma_range,
          " and must be 0.001 to 1e6 gray levels");
  require(radius >= 0 && radius <= kMostRadius, "radius is ", radius, " and must be 0 to ",
          kMostRadius, " pixels");
}

int BilateralOptions::window_radius() const {
  return radius > 0 ? radius : static_cast<int>(std::ceil(3 * sigma));
}

BilateralFilter::BilateralFilter(const Context& context, const BilateralOptions& options)
    : ImageFilter(std::make_unique<bilateral::Windows>(context, options)) {}

namespace bilateral {

Windows::Windows(const Context& context, const BilateralOptions& options)
    : FloatFilter(context), options_(options) {
  options.validate();
  radius_ = options.window_radius();
}

void Windows::run(HostView<const float> image, HostView<float> out, float unit, StageClock& clock) {
  const auto range = static_cast<float>(exponent_scale(options_.sigma_range * unit));
  const int h = image.height, radius = radius_of(image.width, h);
  const int reach = std::min(radius, h - 1);  // rows outside the image add nothing
  const PaddedImage padded(context(), image, radius, reach, kOutside, range);
  const std::vector<float> exponents = window_exponents(options_.sigma, radius, reach);
  const int rows = rows_per_piece(radius);
  // The sums of a piece also cover the rows of the next piece that its windows reach.
  struct Piece {
    PaddedImage sums, weights;
  };
  std::vector<std::optional<Piece>> pieces((h + rows - 1) / rows);
  parallel_for(context(), h, rows, [&](int begin, int end) {
    const int reached = end - begin + reach;
    std::optional<Piece>& piece = pieces[begin / rows];
    piece = Piece{PaddedImage(image.width, reached, radius, 0),
                  PaddedImage(image.width, reached, radius, 0)};
    bilateral_pairs(padded, begin, end, radius, reach, exponents.data(), piece->sums,
                    piece->weights);
  });
  parallel_for(context(), h, rows, [&](int begin, int end) {
    const Piece& piece = *pieces[begin / rows];
    for (int y = begin; y < end; ++y) {
      const float *sums = piece.sums.row(y - begin), *weights = piece.weights.row(y - begin);
      const bool reached = begin > 0 && y < begin + reach;
      const Piece* before = reached ? &*pieces[begin / rows - 1] : nullptr;
      const float* more_sums = before ? before->sums.row(rows + y - begin) : nullptr;
      const float* more_weights = before ? before->weights.row(rows + y - begin) : nullptr;
      for (int x = 0; x < image.width; ++x) {
        const float sum = sums[x] + (before ? more_sums[x] : 0);
        const float weight = 1 + (weights[x] + (before ? more_weights[x] : 0));
        out(x, y) = image(x, y) + sum / (weight * range);
      }
    }
  });
  clock.mark("windows");
}

void Windows::enqueue(DeviceView<const float> first, DeviceView<float> first_out, int images,
                      float unit, StageClock& clock) {
  if constexpr (kHasCuda) {
    enqueue_windows(first, first_out, images, unit);
    clock.mark("windows");
  }
}

}  // namespace bilateral
}  // namespace cornea
