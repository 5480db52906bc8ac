// SPDX-License-Identifier: Apache-2.0
// Tests of results that look plausible but would be wrong: repeated points, a hopeless search,
// files of another run.
#include <chrono>
#include <cmath>

#include "cli_testing.h"

#include "cornea/core/random.h"

namespace cornea {
namespace {

class Results : public Cli {};

// A board of 8 x 6 squares, slightly rotated, with antialiased edges.
Image<std::uint8_t> board(double side, double angle) {
  constexpr int kWidth = 240, kHeight = 200, kRays = 4;
  Image<std::uint8_t> image(kWidth, kHeight);
  const double c = std::cos(angle), s = std::sin(angle);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      double sum = 0;
      for (int ray = 0; ray < kRays * kRays; ++ray) {
        const double dx = x + (ray % kRays + 0.5) / kRays - 0.5 * kWidth;
        const double dy = y + (ray / kRays + 0.5) / kRays - 0.5 * kHeight;
        const double u = (c * dx + s * dy) / side, v = (c * dy - s * dx) / side;
        const bool inside = std::abs(u) < 4 && std::abs(v) < 3;
        sum += inside && (int(std::floor(u)) + int(std::floor(v))) % 2 == 0 ? 30 : 220;
      }
      image(x, y) = std::uint8_t(sum / (kRays * kRays));
    }
  }
  return image;
}

TEST_F(Results, NoCornerOfABoardIsFoundTwice) {
  write_image(folder / "board.png", board(19.3, 0.11));
  for (const std::string detector : {"harris", "moravec", "foagdd"}) {
    const Outcome o = shell("cornea detect board.png --subpixel gradient --device cpu --json - " +
                            ("--detector " + detector));
    ASSERT_EQ(o.code, 0) << o.err;
    const Json points = Json::parse(o.out)[0]["points"];
    EXPECT_GE(points.size(), 35u) << detector;  // the inner ones
    int twins = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double dx = double(points[i][0]) - double(points[j][0]);
        const double dy = double(points[i][1]) - double(points[j][1]);
        twins += std::hypot(dx, dy) < 1;
      }
    }
    EXPECT_EQ(twins, 0) << detector;
  }
}

// Thirty random matches: the search stops once it would have found any model that they can support.
TEST_F(Results, TheSearchStopsIfTheMatchesSupportNoModel) {
  core::Random random(36);
  std::ofstream csv(folder / "chance.csv");
  csv << "x1,y1,x2,y2\n";
  for (int i = 0; i < 30; ++i) {
    for (int k = 0; k < 4; ++k) csv << random.uniform(0, 1000) << (k < 3 ? "," : "\n");
  }
  csv.close();
  const Outcome o = shell("cornea fundamental chance.csv --threshold 0.2 --device cpu --json -");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["kind"], "none");
  EXPECT_LT(json["hypotheses"], 20000);
  EXPECT_GT(json["hypotheses"], 1000);
}

// Runs in two containers that write into one folder may have the same process ids.
TEST_F(Results, TemporaryFilesOfAnotherProcessAreKeptAndOldOnesRemoved) {
  const Outcome o = shell(
      "sh -c 'for i in 0 1 2 3 4; do echo other > .cornea-$$-$i.part; done; exec \"$0\" detect "
      "small.png --csv points.csv --device cpu' '" CORNEA_PROGRAM "'");
  EXPECT_EQ(o.code, 0) << o.err;
  int others = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".part") continue;
    ++others;
    EXPECT_EQ(read_text(entry.path()), "other\n") << entry.path();
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(25));
  }
  EXPECT_EQ(others, 5);
  EXPECT_EQ(read_text(folder / "points.csv").rfind("x,y,response\n", 0), 0u);
  EXPECT_EQ(shell("cornea detect small.png --csv points.csv --device cpu").code, 0);
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
  }
}

}  // namespace
}  // namespace cornea
