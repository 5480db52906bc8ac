#include "study/scale_spaces.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "cornea/match/match.h"

namespace cornea::cli {
namespace {

constexpr double kCorrect = 4;  // pixels

// Points without their further orientations.
std::vector<Keypoint> points_of(const Features& features) {
  std::vector<Keypoint> points;
  for (const Keypoint& k : features.keypoints) {
    if (points.empty() || points.back().x != k.x || points.back().y != k.y ||
        points.back().scale != k.scale) {
      points.push_back(k);
    }
  }
  return points;
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
  options.max_points = setting.points;
  options.keep = setting.keep;
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

std::vector<SpaceScores> score_spaces(const Context& context, const Image<std::uint8_t>& image,
                                      const std::vector<Disturbance>& disturbances,
                                      const PointSetting& setting,
                                      const std::function<void()>& advance) {
  std::vector<Sift> sifts;
  for (const ScaleSpace space : kSpaces) sifts.emplace_back(context, options_of(setting, space));
  Sift& gaussian = sifts[0];
  Matcher matcher(context);
  Image<float> floats(image.width(), image.height());
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) floats(x, y) = float(image(x, y)) / 255.0f;
  }
  struct First {
    Features features, described;
    std::vector<Keypoint> points;
  };
  std::vector<First> firsts(kSpaceCount);
  for (int s = 0; s < kSpaceCount; ++s) {
    sifts[s].detect(image, firsts[s].features);
    firsts[s].points = points_of(firsts[s].features);
    gaussian.describe(image, firsts[s].points, firsts[s].described);
  }
  std::vector<SpaceScores> scores;
  for (const Disturbance& disturbance : disturbances) {
    const Degraded degraded = degrade(context, floats.host(), disturbance.how);
    const Image<std::uint8_t> second = in_bytes(degraded.image.host());
    const Eigen::Matrix3d& m = degraded.from_original;
    SpaceScores row;
    for (int s = 0; s < kSpaceCount; ++s) {
      SpaceScore& score = row[s];
      Features found, described;
      sifts[s].detect(second, found);
      const std::vector<Keypoint> points = points_of(found);
      score.points = double(firsts[s].points.size());
      count_matches(matcher, firsts[s].features, found, m, score.matches, score.correct);
      count_repeated(firsts[s].points, points, m, second.width(), second.height(), score);
      double unused = 0;
      gaussian.describe(second, points, described);
      count_matches(matcher, firsts[s].described, described, m, unused, score.correct_gaussian);
    }
    scores.push_back(row);
    advance();
  }
  return scores;
}

}  // namespace cornea::cli
