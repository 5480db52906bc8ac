// SPDX-License-Identifier: Apache-2.0
// Tests of how the program reads images: large ones, those that use a part of their range, and
// rotated ones.
#include <algorithm>
#include <cmath>

#include "cli_testing.h"

#include "cornea/cornea.h"

namespace cornea {
namespace {

class Reading : public Cli {
 protected:
  Json json_of(const std::string& line) {
    const Outcome o = shell(line + " --device cpu --json -");
    EXPECT_EQ(o.code, 0) << line << "\n" << o.err;
    return Json::parse(o.out, nullptr, false);
  }

  // A lattice of discs, 0..1, whose positions are known at every size.
  static Image<float> discs(int width, int height, double spacing) {
    Image<float> image(width, height);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double dx = std::remainder(x - 0.5 * spacing, spacing);
        const double dy = std::remainder(y - 0.5 * spacing, spacing);
        const double r = spacing / 8;
        image(x, y) = float(0.25 + 0.5 * std::exp(-(dx * dx + dy * dy) / (2 * r * r)));
      }
    }
    return image;
  }
  template <class T>
  static Image<T> scaled(const Image<float>& image, double factor) {
    Image<T> out(image.width(), image.height());
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) out(x, y) = T(image(x, y) * factor + 0.5);
    }
    return out;
  }
};

TEST_F(Reading, LargeImagesAreReducedAndPositionsStay) {
  write_image(folder / "large.png", scaled<std::uint8_t>(discs(900, 600, 75), 255));
  const std::string detect = "cornea detect large.png --detector sift --orientations 0";
  const Json whole = json_of(detect)[0], reduced = json_of(detect + " --max-size 450")[0];
  EXPECT_FALSE(whole.contains("reduced_to"));
  EXPECT_EQ(reduced["reduced_to"], Json::parse("[450,300]"));
  EXPECT_EQ(reduced["width"], 900);
  EXPECT_LT(reduced["memory_bytes"], whole["memory_bytes"]);
  // Every disc is found at its own position and scale.
  for (const Json* json : {&whole, &reduced}) {
    int near = 0;
    for (const Json& p : (*json)["points"]) {
      const double x = p[0], y = p[1], scale = p[3];
      const double dx = std::remainder(x - 37.5, 75), dy = std::remainder(y - 37.5, 75);
      near += std::hypot(dx, dy) < 0.3 && std::abs(scale / (75.0 / 8) - 1) < 0.15;
    }
    EXPECT_EQ(near, 12 * 8);
  }
}

TEST_F(Reading, PairAndExtractReduceToThreeThousandTwoHundred) {
  const Image<std::uint8_t> large = scaled<std::uint8_t>(discs(3600, 300, 60), 255);
  write_image(folder / "a.png", large);
  write_image(folder / "b.png", large);
  const Json pair = json_of("cornea pair a.png b.png -o o");
  EXPECT_EQ(pair["max_size"], 3200);
  EXPECT_EQ(pair["sizes"], Json::parse("[[3600,300],[3600,300]]"));
  const Json at_3200 = json_of("cornea detect a.png --detector sift --max-size 3200")[0];
  EXPECT_EQ(pair["keypoints"][0], at_3200["points"].size());
  EXPECT_NE(pair["keypoints"][0],
            json_of("cornea detect a.png --detector sift")[0]["points"].size());
  const Json match = json_of("cornea match a.png b.png --max-size 1600");
  double most = 0;
  for (const Json& m : match["matches"]) most = std::max(most, double(m[0]));
  EXPECT_GT(most, 3000);
  EXPECT_LT(most, 3600);
  EXPECT_EQ(shell("cornea detect a.png --max-size 5").code, 2);
  EXPECT_EQ(shell("cornea detect a.png --max-size -3").code, 2);
}

// Limits the address space such that one part of the scale space fits, but not all of it: 6000 x
// 2000 pixels have 1.5 GB of levels.
TEST_F(Reading, SiftOfALargeImageNeedsLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space without limit";
#endif
  Image<std::uint8_t> large(6000, 2000);
  std::fill_n(large.host().data, 6000 * 2000, std::uint8_t(90));
  for (int y = 0; y < 2000; y += 40) {
    for (int x = 0; x < 6000; x += 40) large(x, y) = large(x + 1, y) = 250;
  }
  write_image(folder / "large.pgm", large);
  const Outcome o = shell(
      "ulimit -v 800000; cornea detect large.pgm --detector sift --device cpu "
      "--threads 2");
  EXPECT_EQ(o.code, 0) << o.err;
  const Outcome none =
      shell("ulimit -v 250000; cornea detect large.pgm --detector sift --device cpu --threads 2");
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("--max-size"), std::string::npos) << none.err;
  EXPECT_NE(none.err.find("doubled"), std::string::npos) << none.err;
}

TEST_F(Reading, TwelveBitImagesAreNoticedInEveryCommand) {
  const Image<float> picture = discs(200, 160, 40);
  write_image(folder / "8.png", scaled<std::uint8_t>(picture, 255));
  write_image(folder / "12.png", scaled<std::uint16_t>(picture, 4095));
  const std::string detect = "cornea detect 12.png --detector sift";
  const std::size_t expected = json_of("cornea detect 8.png --detector sift")[0]["points"].size();
  EXPECT_GT(expected, 15u);
  const Json found = json_of(detect)[0];
  EXPECT_EQ(found["points"].size(), expected);
  EXPECT_EQ(found["range"], Json::parse("[0,4095]"));
  const Json full = json_of(detect + " --range full")[0];
  EXPECT_EQ(full["points"].size(), 0u);
  EXPECT_FALSE(full.contains("range"));
  EXPECT_EQ(json_of(detect + " --range 0,4095")[0]["points"].size(), expected);
  // A note on standard error, unless quiet or requested by an option.
  EXPECT_NE(shell(detect).err.find("12-bit"), std::string::npos);
  EXPECT_EQ(shell(detect + " --quiet").err, "");
  EXPECT_EQ(shell(detect + " --range full").err, "");
  EXPECT_EQ(shell(detect + " --range 0,4095").err, "");
  EXPECT_NE(shell("cornea pair 12.png 8.png -o o").err.find("12-bit"), std::string::npos);
  EXPECT_NE(shell("cornea match 8.png 12.png").err.find("12-bit"), std::string::npos);
  EXPECT_NE(shell("cornea filter 12.png -o f.png --filter gaussian").err.find("12-bit"),
            std::string::npos);
  EXPECT_EQ(json_of("cornea match 8.png 12.png")["range"], Json::parse("[null,[0,4095]]"));
  EXPECT_GT(json_of("cornea pair 12.png 8.png -o o")["matches"], 5);
  for (const char* wrong : {"12", "a,b", "5,1", "1,2,3", "0,inf", ""}) {
    EXPECT_EQ(shell(detect + " --range '" + wrong + "'").code, 2) << wrong;
  }
}

// Gray levels of 0..255 as floats, as `filter` writes them for an 8-bit image.
TEST_F(Reading, FloatsBeyondWhiteAreRefusedAndARangeHelps) {
  write_image(folder / "8.png", scaled<std::uint8_t>(discs(200, 160, 40), 255));
  ASSERT_EQ(shell("cornea filter 8.png -o levels.pfm --filter gaussian --sigma 0").code, 0);
  for (const std::string detector : {"foagdd", "harris", "moravec", "sift"}) {
    const std::string detect = "cornea detect levels.pfm --detector " + detector;
    const Outcome o = shell(detect + " --device cpu");
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(o.err.find("magnitude 191"), std::string::npos) << o.err;
    EXPECT_NE(o.err.find("the option --range"), std::string::npos) << o.err;
    const Json spread = json_of(detect + " --range 0,255")[0];
    EXPECT_EQ(spread["range"], Json::parse("[0,255]"));
    EXPECT_EQ(spread["points"].size(),
              json_of("cornea detect 8.png --detector " + detector)[0]["points"].size());
  }
}

TEST_F(Reading, OrientationIsOneRuleForAllCommands) {
  // Stored as by a camera held sideways; orientation 6 rotates it back.
  write_sideways_jpeg(folder / "a.jpg", scaled<std::uint8_t>(discs(200, 120, 40), 255));
  for (const bool upright : {false, true}) {
    const std::string flag = upright ? " --upright" : "";
    const char* word = upright ? "upright" : "as-stored";
    const int width = upright ? 120 : 200, height = upright ? 200 : 120;
    const Json detect = json_of("cornea detect a.jpg --detector sift" + flag)[0];
    EXPECT_EQ(detect["orientation"], word);
    EXPECT_EQ(detect["exif_orientation"], 6);
    EXPECT_EQ(detect["width"], width);
    const Json filter = json_of("cornea filter a.jpg -o f.png --filter gaussian" + flag);
    EXPECT_EQ(filter["orientation"], word);
    EXPECT_EQ(filter["height"], height);
    const Json match = json_of("cornea match a.jpg a.jpg" + flag);
    EXPECT_EQ(match["orientation"], word);
    EXPECT_EQ(match["exif_orientation"], Json::parse("[6,6]"));
    const Json pair = json_of("cornea pair a.jpg a.jpg -o o" + flag);
    EXPECT_EQ(pair["orientation"], word);
    EXPECT_EQ(pair["sizes"][0][0], width);
    double lowest = 0;
    for (const Json& p : detect["points"]) lowest = std::max(lowest, double(p[1]));
    EXPECT_NEAR(lowest, height - 20, 15) << upright;  // coordinates refer to the pixels as read
  }
  EXPECT_EQ(json_of("cornea detect a.jpg --as-stored")[0]["orientation"], "as-stored");
  EXPECT_EQ(shell("cornea detect a.jpg --as-stored --upright").code, 2);
}

}  // namespace
}  // namespace cornea
