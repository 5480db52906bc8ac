// SPDX-License-Identifier: Apache-2.0
#include "study/scale_spaces.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Geometry>

#include "cornea/match/match.h"

namespace cornea::cli {
namespace {

constexpr double kCorrect = 4;  // pixels

// The points of an image; a point has several features if it has several orientations.
struct FoundPoints {
  Features features;
  std::vector<Keypoint> points;     // each once
  std::vector<std::size_t> begins;  // first feature of each, and the end
  Features described;               // in the Gaussian scale space, one per point
};

FoundPoints found_in(Sift& sift, Sift& gaussian, const Image<std::uint8_t>& image) {
  FoundPoints found;
  sift.detect(image, found.features);
  for (std::size_t i = 0; i < found.features.size(); ++i) {
    const Keypoint& k = found.features.keypoints[i];
    if (found.points.empty() || found.points.back().x != k.x || found.points.back().y != k.y ||
        found.points.back().scale != k.scale) {
      found.points.push_back(k);
      found.begins.push_back(i);
    }
  }
  found.begins.push_back(found.features.size());
  gaussian.describe(image, found.points, found.described);
  return found;
}

void append(const Features& from, std::size_t i, Features& to) {
  to.keypoints.push_back(from.keypoints[i]);
  const std::uint8_t* bytes = from.descriptor(i);
  to.descriptors.insert(to.descriptors.end(), bytes, bytes + Features::kLength);
}

// The points of largest |D|, in their order. Ties keep the first.
FoundPoints strongest(const FoundPoints& all, int count) {
  std::vector<std::size_t> order(all.points.size());
  std::iota(order.begin(), order.end(), 0);
  auto strength = [&](std::size_t i) { return std::abs(all.points[i].response); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return strength(a) > strength(b); });
  if (count > 0 && order.size() > std::size_t(count)) order.resize(count);
  std::sort(order.begin(), order.end());
  FoundPoints kept;
  for (const std::size_t i : order) {
    kept.points.push_back(all.points[i]);
    append(all.described, i, kept.described);
    for (std::size_t f = all.begins[i]; f < all.begins[i + 1]; ++f) {
      append(all.features, f, kept.features);
    }
  }
  return kept;
}

bool near(const Eigen::Matrix3d& m, const Keypoint& a, const Keypoint& b) {
  const Eigen::Vector2d there = (m * Eigen::Vector3d(a.x, a.y, 1)).hnormalized();
  return (there - Eigen::Vector2d(b.x, b.y)).norm() <= kCorrect;
}

void count_matches(Matcher& matcher, const Features& a, const Features& b, const Eigen::Matrix3d& m,
                   double& matches, double& correct) {
  if (a.size() == 0 || b.size() == 0) return;
  for (const Match& match : one_per_place(matcher.match(a, b), a.keypoints, b.keypoints)) {
    matches += 1;
    correct += near(m, a.keypoints[match.a], b.keypoints[match.b]);
  }
}

void count_repeated(const std::vector<Keypoint>& a, const std::vector<Keypoint>& b,
                    const Eigen::Matrix3d& m, int width, int height, SpaceScore& score) {
  for (const Keypoint& p : a) {
    const Eigen::Vector2d there = (m * Eigen::Vector3d(p.x, p.y, 1)).hnormalized();
    if (there.x() < 0 || there.y() < 0 || there.x() > width - 1 || there.y() > height - 1) continue;
    score.seen += 1;
    score.repeated +=
        std::any_of(b.begin(), b.end(), [&](const Keypoint& q) { return near(m, p, q); });
  }
}

SiftOptions options_of(const PointSetting& setting, ScaleSpace space) {
  SiftOptions options;
  options.scale_space = space;
  options.contrast = setting.contrast;
  options.edge_ratio = setting.edge_ratio;
  // No more than the largest count are needed.
  options.max_points = *std::max_element(setting.counts.begin(), setting.counts.end());
  options.keep = KeepPoints::contrast;
  return options;
}

}  // namespace

SpaceScore& SpaceScore::operator+=(const SpaceScore& o) {
  points += o.points;
  matches += o.matches;
  correct += o.correct;
  seen += o.seen;
  repeated += o.repeated;
  correct_gaussian += o.correct_gaussian;
  return *this;
}

std::vector<std::vector<SpaceScores>> score_spaces(const Context& context,
                                                   const Image<std::uint8_t>& image,
                                                   const std::vector<Disturbance>& disturbances,
                                                   const PointSetting& setting,
                                                   const std::function<void()>& advance) {
  std::vector<Sift> sifts;
  for (const ScaleSpace space : kSpaces) sifts.emplace_back(context, options_of(setting, space));
  Sift gaussian(context);
  Matcher matcher(context);
  Image<float> floats(image.width(), image.height());
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) floats(x, y) = float(image(x, y)) / 255.0f;
  }
  std::vector<FoundPoints> firsts;
  for (Sift& sift : sifts) firsts.push_back(found_in(sift, gaussian, image));
  std::vector<std::vector<SpaceScores>> scores(setting.counts.size());
  for (const Disturbance& disturbance : disturbances) {
    const Degraded degraded = degrade(context, floats.host(), disturbance.how);
    const Image<std::uint8_t> second = in_bytes(degraded.image.host());
    const Eigen::Matrix3d& m = degraded.from_original;
    for (auto& list : scores) list.emplace_back();
    for (int s = 0; s < kSpaceCount; ++s) {
      const FoundPoints all = found_in(sifts[s], gaussian, second);
      for (std::size_t c = 0; c < setting.counts.size(); ++c) {
        const FoundPoints a = strongest(firsts[s], setting.counts[c]);
        const FoundPoints b = strongest(all, setting.counts[c]);
        SpaceScore& score = scores[c].back()[s];
        score.points = double(a.points.size());
        count_matches(matcher, a.features, b.features, m, score.matches, score.correct);
        count_repeated(a.points, b.points, m, second.width(), second.height(), score);
        double unused = 0;
        count_matches(matcher, a.described, b.described, m, unused, score.correct_gaussian);
      }
    }
    advance();
  }
  return scores;
}

}  // namespace cornea::cli
