// SPDX-License-Identifier: Apache-2.0
// Photographs of chessboards with labelled inner corners, and synthetic ones with exact corners.
#include <algorithm>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/cornea.h"
#include "cornea/scene/checkerboard.h"

namespace cornea {
namespace {

struct Point {
  double x, y;
};

std::vector<Point> read_labels(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string header;
  std::getline(in, header);
  std::vector<Point> points;
  char comma;
  for (Point p; in >> p.x >> comma >> p.y;) points.push_back(p);
  return points;
}

// The sorted distances of each label to the nearest point.
std::vector<double> distances(const std::vector<Point>& labels,
                              const std::vector<Corner>& corners) {
  std::vector<double> result;
  for (const Point& label : labels) {
    double nearest = 1e9;
    for (const Corner& c : corners) {
      nearest = std::min(nearest, std::hypot(c.x - label.x, c.y - label.y));
    }
    result.push_back(nearest);
  }
  std::sort(result.begin(), result.end());
  return result;
}

class Chessboards : public testing::OnEveryDevice {};

TEST_P(Chessboards, MoravecFindsTheInnerCornersOfPhotographs) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(folder, "data/chessboards");
  Moravec moravec(context);
  for (int i = 1; i <= 5; ++i) {
    const auto base = folder / text("chess", i);
    const auto labels = read_labels(base.string() + ".csv");
    ASSERT_EQ(labels.size(), 35u);
    const auto corners = moravec.detect(read_gray(base.string() + ".png").view());
    const auto d = distances(labels, corners);
    EXPECT_LE(d[33], 2.0) << "photograph " << i;  // 34 of 35
    EXPECT_LT(corners.size(), 1000u);
  }
}

TEST_P(Chessboards, HarrisFindsTheInnerCornersOfPhotographsWithSubpixelAccuracy) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(folder, "data/chessboards");
  for (CornerMeasure measure : {CornerMeasure::harris, CornerMeasure::shi_tomasi}) {
    HarrisOptions options;
    options.measure = measure;
    options.peaks.subpixel = Subpixel::gradient;
    Harris harris(context, options);
    for (int i = 1; i <= 5; ++i) {
      const auto base = folder / text("chess", i);
      const auto corners = harris.detect(read_gray(base.string() + ".png").view());
      const auto labels = read_labels(base.string() + ".csv");
      ASSERT_EQ(labels.size(), 35u);
      const auto d = distances(labels, corners);
      EXPECT_LE(d[33], 2.0) << "photograph " << i;
      EXPECT_LE(d[17], 0.25) << "photograph " << i;
      RecordProperty(text("median_", i), text(d[17]));
    }
  }
}

TEST_P(Chessboards, HarrisFindsTheExactCornersOfASyntheticBoard) {
  CheckerboardOptions board;
  board.homography = tilted_view(640, 480, 17, 25, -20, 900);
  const Checkerboard drawn = checkerboard(context, board);
  std::vector<Point> exact;
  for (const auto& corner : drawn.corners) exact.push_back({corner.x(), corner.y()});
  ASSERT_EQ(exact.size(), 48u);
  HarrisOptions options;
  options.peaks.subpixel = Subpixel::gradient;
  const auto d = distances(exact, Harris(context, options).detect(drawn.image));
  EXPECT_LE(d[24], 0.05);
  EXPECT_LE(d.back(), 0.2);
}

INSTANTIATE_TEST_SUITE_P(, Chessboards, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
