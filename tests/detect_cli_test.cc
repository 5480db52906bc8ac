// SPDX-License-Identifier: Apache-2.0
// Tests of what `cornea detect` and `cornea filter` find and write: points, lists, images, maps and
// JSON.
#include <algorithm>
#include <cmath>

#include "cli_testing.h"

#include "cornea/cornea.h"

namespace cornea {
namespace {

TEST_F(Cli, DetectWritesTheStableJsonKeys) {
  const Outcome o = shell("cornea detect small.png --detector moravec --device cpu --json -");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["image"], "small.png");
  EXPECT_EQ(json[0]["width"], 64);
  EXPECT_EQ(json[0]["height"], 48);
  EXPECT_EQ(json[0]["detector"], "moravec");
  EXPECT_EQ(json[0]["device"], "cpu");
  EXPECT_GT(json[0]["milliseconds"], 0);
  const auto image = read_image<std::uint8_t>(folder / "small.png");
  const auto expected = Moravec(Context::cpu()).detect(image);
  ASSERT_EQ(json[0]["points"].size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(json[0]["points"][i][0].get<float>(), expected[i].x);
    EXPECT_EQ(json[0]["points"][i][1].get<float>(), expected[i].y);
    EXPECT_EQ(json[0]["points"][i][2].get<float>(), expected[i].response);
  }
}

TEST_F(Cli, DetectDrawsAndListsAndKeepsTheMap) {
  const Outcome o = shell(
      "cornea detect small.png --draw d.png --csv d.csv --response d.pfm --max-points 5 --device "
      "cpu");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("5 points"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("d.png"), std::string::npos) << o.out;
  EXPECT_EQ(read_image<Rgb<std::uint8_t>>(folder / "d.png").width(), 512);
  const std::string csv = read_text(folder / "d.csv");
  EXPECT_EQ(csv.rfind("x,y,response\n", 0), 0u);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 6);
  const auto map = read_image<float>(folder / "d.pfm");
  const auto expected =
      Harris(Context::cpu()).response(read_image<std::uint8_t>(folder / "small.png"));
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 64; ++x) ASSERT_EQ(map(x, y), expected(x, y));
  }
}

TEST_F(Cli, SiftAddsScaleAngleAndDescriptors) {
  const Outcome o = shell(
      "cornea detect small.png --detector sift --contrast 0.01 --device cpu --draw s.png --csv "
      "s.csv --descriptors s.npy --json s.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto image = read_image<std::uint8_t>(folder / "small.png");
  const Features expected = Sift(Context::cpu(), {.contrast = 0.01}).detect(image);
  ASSERT_GT(expected.size(), 5u);
  const Json json = Json::parse(read_text(folder / "s.json"))[0];
  EXPECT_EQ(json["detector"], "sift");
  EXPECT_GT(json["memory_bytes"], 6 * 4 * 64 * 48);
  ASSERT_EQ(json["points"].size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Keypoint& k = expected.keypoints[i];
    const Json numbers = {k.x, k.y, k.response, k.scale, k.angle};
    for (int n = 0; n < 5; ++n) {
      EXPECT_EQ(json["points"][i][n].get<float>(), numbers[n].get<float>());
    }
  }
  const std::string csv = read_text(folder / "s.csv");
  EXPECT_EQ(csv.rfind("x,y,response,scale,angle\n", 0), 0u);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), std::ptrdiff_t(expected.size()) + 1);
  const std::string npy = read_text(folder / "s.npy");
  EXPECT_NE(npy.find(text("(", expected.size(), ", 128)")), std::string::npos);
  const std::string bytes(expected.descriptors.begin(), expected.descriptors.end());
  EXPECT_EQ(npy.substr(npy.size() - bytes.size()), bytes);
  EXPECT_EQ(read_image<Rgb<std::uint8_t>>(folder / "s.png").width(), 512);
}

TEST_F(Cli, AffineShapeAddsTheFrame) {
  const std::string detect =
      "cornea detect small.png --detector sift --contrast 0.01 --device cpu -q ";
  const Outcome o =
      shell(detect + "--affine-shape --domain-size-pooling --csv a.csv --json a.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto image = read_image<std::uint8_t>(folder / "small.png");
  const Features expected =
      Sift(Context::cpu(), {.contrast = 0.01, .affine_shape = true, .domain_size_pooling = true})
          .detect(image);
  ASSERT_GT(expected.size(), 5u);
  const std::string csv = read_text(folder / "a.csv");
  EXPECT_EQ(csv.rfind("x,y,response,scale,angle,a11,a12,a21,a22\n", 0), 0u) << csv.substr(0, 80);
  const Json points = Json::parse(read_text(folder / "a.json"))[0]["points"];
  ASSERT_EQ(points.size(), expected.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const AffineFrame a = affine_frame(expected.keypoints[i]);
    ASSERT_EQ(points[i].size(), 9u);
    EXPECT_EQ(points[i][4].get<float>(), expected.keypoints[i].angle);
    EXPECT_EQ(points[i][5].get<float>(), float(a.a11));
    EXPECT_EQ(points[i][6].get<float>(), float(a.a12));
    EXPECT_EQ(points[i][7].get<float>(), float(a.a21));
    EXPECT_EQ(points[i][8].get<float>(), float(a.a22));
  }
}

TEST_F(Cli, SeveralImagesGoIntoFoldersAndABrokenOneIsSkipped) {
  write_image(folder / "other.png", testing::random_image<std::uint16_t>(80, 50, 2));
  std::ofstream(folder / "broken.png") << "not an image";
  const Outcome o = shell(
      "cornea detect small.png broken.png other.png --draw pictures --csv lists --json all.json");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_NE(o.err.find("broken.png"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder / "pictures" / "small_corners.png"));
  EXPECT_TRUE(fs::exists(folder / "lists" / "other_corners.csv"));
  EXPECT_EQ(Json::parse(read_text(folder / "all.json")).size(), 2u);
}

TEST_F(Cli, AMaskIsWhiteWhereverItIsNotBlack) {
  Image<std::uint16_t> mask(64, 48);
  for (int i = 0; i < 64 * 48; ++i) mask.host().data[i] = 1;
  write_image(folder / "dark.png", mask);
  auto points = [&](const std::string& more) {
    const Outcome o = shell("cornea detect small.png --json - --device cpu" + more);
    return Json::parse(o.out)[0]["points"].dump();
  };
  EXPECT_EQ(points(" --mask dark.png"), points(""));
}

TEST_F(Cli, ThreadsDoNotChangeTheOutput) {
  write_image(folder / "tall.png", testing::random_image<std::uint8_t>(90, 400, 2));
  const auto points = [&](const std::string& threads) {
    const Outcome o = shell("cornea detect tall.png --device cpu --json - --threads " + threads);
    return Json::parse(o.out)[0]["points"].dump();
  };
  EXPECT_EQ(points("1"), points("2"));
}

TEST_F(Cli, FilterWritesEveryFormatAndTheStableJsonKeys) {
  for (const FilterEntry& entry : filter_table()) {
    for (const char* out : {"out.png", "out.jpg", "out.pgm", "out.pfm"}) {
      const Outcome o = shell(text("cornea filter small.png --device cpu --filter ", entry.name,
                                   " --sigma 2 -o ", out, " --json -"));
      ASSERT_EQ(o.code, 0) << o.err;
      const Json json = Json::parse(o.out);
      EXPECT_EQ(json["width"], 64);
      EXPECT_EQ(json["height"], 48);
      EXPECT_EQ(json["filter"], entry.name);
      EXPECT_EQ(json["device"], "cpu");
      EXPECT_GT(json["milliseconds"], 0);
    }
    // The image is the exact result, rounded; both are in gray levels.
    const auto exact = read_image<float>(folder / "out.pfm");
    const auto rounded = read_image<std::uint8_t>(folder / "out.png");
    for (int y = 0; y < 48; ++y) {
      for (int x = 0; x < 64; ++x) ASSERT_NEAR(exact(x, y), rounded(x, y), 0.5001);
    }
  }
}

TEST_F(Cli, FilterKeepsSixteenBitsAndShowsLevels) {
  write_image(folder / "deep.png", testing::random_image<std::uint16_t>(40, 30, 2));
  Outcome o = shell(
      "cornea filter deep.png -o out.png --filter trilateral --device cpu --levels levels.png");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(probe_image(folder / "out.png").bits, 16);
  EXPECT_EQ(probe_image(folder / "levels.png").width, 40);
  EXPECT_NE(o.out.find("detail filter"), std::string::npos) << o.out;
  o = shell("cornea filter small.png -o out.png --levels levels.pfm --device cpu");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto levels = read_image<float>(folder / "levels.pfm");
  for (int i = 0; i < 64 * 48; ++i) {
    ASSERT_EQ(levels(i % 64, i / 64), std::floor(levels(i % 64, i / 64)));
  }
}

}  // namespace
}  // namespace cornea
