// SPDX-License-Identifier: Apache-2.0
// Tests of `cornea pair`: its summary, list and page, the options of every stage, masks, and what
// it refuses.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli_testing.h"

#include "cornea/cornea.h"

namespace cornea {
namespace {

TEST_F(Cli, PairWritesTheStableKeysTheListAndThePage) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 480 --height 360").code, 0);
  const Outcome o = shell(
      "cornea pair s/view_000.png s/view_001.png -o made/out --device cpu --json p.json --seed 3");
  ASSERT_EQ(o.code, 0) << o.err;
  for (const char* word : {"features", "matches", "inliers", "made/out/report.html"}) {
    EXPECT_NE(o.out.find(word), std::string::npos) << word << " in " << o.out;
  }
  const Json json = Json::parse(read_text(folder / "made/out/summary.json"));
  // "inliers          812 of 1,059 (77%)", and F.
  const auto grouped = [](std::size_t n) {
    const std::string digits = std::to_string(n);
    return n < 1000 ? digits
                    : digits.substr(0, digits.size() - 3) + "," + digits.substr(digits.size() - 3);
  };
  const std::size_t part = json["inliers"], all = json["matches"];
  const long percent = std::lround(100.0 * double(part) / double(all));
  const std::string share =
      grouped(part) + " of " + grouped(all) + " (" + std::to_string(percent) + "%)";
  EXPECT_NE(o.out.find("inliers          " + share), std::string::npos) << share << "\n" << o.out;
  char entry[32];
  std::snprintf(entry, sizeof entry, "%15.8e", json["F"][2][0].get<double>());
  EXPECT_NE(o.out.find("F (x2^T F x1 = 0, pixels)"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find(entry), std::string::npos) << entry << " in " << o.out;
  EXPECT_EQ(json, Json::parse(read_text(folder / "p.json")));
  ASSERT_EQ(json["keypoints"].size(), 2u);
  EXPECT_GT(json["keypoints"][0], 300);
  const std::size_t matches = json["matches"], inliers = json["inliers"];
  EXPECT_GT(inliers, 100u);
  EXPECT_LT(inliers, matches);
  ASSERT_EQ(json["F"].size(), 3u);
  EXPECT_EQ(json["F"][2].size(), 3u);
  for (const char* stage : {"reading", "features", "matching", "geometry", "report"}) {
    EXPECT_GT(json["milliseconds"][stage], 0) << stage;
  }
  EXPECT_EQ(json["images"], Json({"s/view_000.png", "s/view_001.png"}));
  EXPECT_EQ(json["sizes"], Json::parse("[[480,360],[480,360]]"));
  EXPECT_EQ(json["kind"], "general");
  EXPECT_EQ(json["detector"], "sift");
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["version"], kVersion);
  EXPECT_GE(json["hypotheses"], 1);
  EXPECT_GE(json["rounds"], 1);
  const std::string command = json["command"];
  EXPECT_NE(command.find(" pair s/view_000.png s/view_001.png -o made/out --device cpu"),
            std::string::npos)
      << command;

  std::istringstream csv(read_text(folder / "made/out/matches.csv"));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "x1,y1,x2,y2,ratio,distance,inlier,descriptor_distance,index1,index2");
  std::size_t lines = 0, ones = 0;
  while (std::getline(csv, line)) {
    ++lines;
    std::istringstream cells(line);
    std::string cell;
    for (int i = 0; i < 7; ++i) std::getline(cells, cell, ',');
    ones += cell == "1";
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 9) << line;
  }
  EXPECT_EQ(lines, matches);
  EXPECT_EQ(ones, inliers);
  EXPECT_EQ(read_text(folder / "made/out/report.html").rfind("<!doctype html>", 0), 0u);
  // `cornea fundamental` can read the list.
  const Outcome f = shell("cornea fundamental made/out/matches.csv --device cpu --seed 3 --json -");
  ASSERT_EQ(f.code, 0) << f.err;
  EXPECT_EQ(Json::parse(f.out)["inlier_count"], inliers);
  EXPECT_EQ(Json::parse(f.out)["F"], json["F"]);
}

TEST_F(Cli, PairAcceptsTheOptionsOfEveryStage) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 320 --height 240").code, 0);
  auto run = [&](const std::string& options) {
    const Outcome o =
        shell("cornea pair s/view_000.png s/view_001.png -o o --device cpu --json - " + options);
    EXPECT_EQ(o.code, 0) << o.err;
    return Json::parse(o.out);
  };
  const Json plain = run("");
  EXPECT_EQ(run("--max-features 60 --orientations 1")["keypoints"][0], 60);
  EXPECT_EQ(run("--max-points 50 --orientations 1")["keypoints"][0], 50);
  EXPECT_LT(run("--ratio 0.5")["matches"], plain["matches"]);
  EXPECT_GT(run("--no-mutual")["matches"], plain["matches"]);
  EXPECT_LT(run("--threshold 0.2")["inliers"], plain["inliers"]);
  EXPECT_EQ(run("--threshold 4")["threshold"], 4);
  run("--seed 77");
  EXPECT_NE(read_text(folder / "o" / "report.html").find("seed 77"), std::string::npos);
  EXPECT_EQ(run("--detector harris --detector-threshold 0.001")["detector"], "harris");
  EXPECT_EQ(run("--round 64 --max-hypotheses 64 --threshold 1.5")["hypotheses"], 64);
  // If the threshold is chosen per pair, a second search may follow: the first gets half of the
  // hypotheses.
  EXPECT_EQ(run("--round 32 --max-hypotheses 64")["hypotheses"].get<int>() % 32, 0);
  EXPECT_LE(run("--round 32 --max-hypotheses 64")["hypotheses"], 64);
}

TEST_F(Cli, PairWithoutFeaturesIsAResultWithItsFiles) {
  Image<std::uint8_t> flat(64, 48);
  std::fill_n(flat.host().data, 64 * 48, std::uint8_t{90});
  write_image(folder / "flat.png", flat);
  const Outcome o = shell("cornea pair flat.png small.png -o o --device cpu");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("too few points"), std::string::npos) << o.out;
  const Json json = Json::parse(read_text(folder / "o/summary.json"));
  EXPECT_TRUE(json["F"].is_null());
  EXPECT_EQ(json["matches"], 0);
  EXPECT_EQ(json["kind"], "too few points");
  EXPECT_EQ(read_text(folder / "o/matches.csv"),
            "x1,y1,x2,y2,ratio,distance,inlier,descriptor_distance,index1,index2\n");
  EXPECT_NE(read_text(folder / "o/report.html").find("No geometry can be found"),
            std::string::npos);
}

TEST_F(Cli, PairReadsPhotographsUprightIfAsked) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 320 --height 240").code, 0);
  auto pixels = read_image<std::uint8_t>(folder / "s/view_001.png");
  // Stored as by a camera held sideways; orientation 6 rotates it back.
  Image<std::uint8_t> sideways(240, 320);
  for (int y = 0; y < 320; ++y) {
    for (int x = 0; x < 240; ++x) sideways(x, y) = pixels(319 - y, x);
  }
  write_sideways_jpeg(folder / "sideways.jpg", sideways);
  const Outcome o =
      shell("cornea pair s/view_000.png sideways.jpg -o o --upright --device cpu --json -");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["sizes"], Json::parse("[[320,240],[320,240]]"));
  EXPECT_GT(json["inliers"], 50);
}

TEST_F(Cli, PairAcceptsAnyNameAndItsCommandCanBeRepeated) {
  const std::string name = "it's \"<script>\" $HOME `x` & \\ ;.png";
  fs::copy(folder / "small.png", folder / name);
  std::string quoted = "'";
  for (char c : name) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  quoted += "'";
  ASSERT_EQ(shell("cornea pair " + quoted + " small.png -o o --device cpu").code, 0);
  const Json json = Json::parse(read_text(folder / "o/summary.json"));
  EXPECT_EQ(json["images"][0], name);
  EXPECT_EQ(read_text(folder / "o/report.html").find(name), std::string::npos);
  fs::remove_all(folder / "o");
  const Outcome again = shell(json["command"].get<std::string>());
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(fs::exists(folder / "o/report.html"));
}

TEST_F(Cli, PairNamesItsFolderAfterThePhotographs) {
  fs::create_directories(folder / "a");
  fs::create_directories(folder / "b");
  for (const char* name : {"a/one.png", "a/two.x.png", "b/one.png"}) {
    fs::copy(folder / "small.png", folder / name);
  }
  const Outcome o = shell("cornea pair a/one.png a/two.x.png --device cpu");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("pair-one-two.x/report.html"), std::string::npos) << o.out;
  for (const char* name : {"report.html", "summary.json", "matches.csv"}) {
    EXPECT_TRUE(fs::exists(folder / "pair-one-two.x" / name)) << name;
  }
  EXPECT_EQ(shell("cornea pair ./a/one.png a/two.x.png --device cpu").code, 0) << "the same again";
  const std::string before = read_text(folder / "pair-one-two.x/summary.json");
  expect_refused("cornea pair b/one.png a/two.x.png --device cpu", 2, "-o");
  EXPECT_EQ(read_text(folder / "pair-one-two.x/summary.json"), before);
  const std::string longest(200, 'n');
  fs::copy(folder / "small.png", folder / (longest + ".png"));
  expect_refused(text("cornea pair ", longest, ".png ", longest, ".png --device cpu"), 2,
                 "too long for a folder");
  const Outcome help = shell("cornea pair --help");
  EXPECT_NE(help.out.find("pair-A-B"), std::string::npos) << help.out;
}

// A program of that name stands in for the browser.
TEST_F(Cli, PairOpensItsPage) {
  fs::create_directories(folder / "bin");
  std::ofstream(folder / "bin/xdg-open") << "#!/bin/sh\nprintf %s \"$1\" > opened\nexit $CODE\n";
  fs::permissions(folder / "bin/xdg-open", fs::perms::owner_all);
  const std::string line = "cornea pair small.png small.png -o 'my o' --device cpu --open";
  Outcome o = shell("export CODE=0 PATH=$PWD/bin:$PATH; " + line);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read_text(folder / "opened"), (folder / "my o/report.html").string());
  expect_refused("export CODE=3 PATH=$PWD/bin:$PATH; " + line, 1, "my o/report.html in a browser");
  expect_refused("export PATH=/nowhere; " + line, 1, "xdg-open or wslview");
  fs::remove(folder / "opened");
  o = shell("export CODE=0 PATH=$PWD/bin:$PATH; cornea pair small.png small.png -o o --device cpu");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(fs::exists(folder / "opened"));
}

TEST_F(Cli, PairAcceptsMasks) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 320 --height 240").code, 0);
  Image<std::uint8_t> left(320, 240), low(320, 240);
  for (int y = 0; y < 240; ++y) {
    for (int x = 0; x < 320; ++x) {
      left(x, y) = x < 160 ? 1 : 0;  // pixels that are not black count, however dark
      low(x, y) = y >= 120 ? 255 : 0;
    }
  }
  write_image(folder / "left.png", left);
  write_image(folder / "low.png", low);
  const std::string line = "cornea pair s/view_000.png s/view_001.png -o o --device cpu --json - ";
  const Json plain = Json::parse(shell(line).out);
  const Outcome o = shell(line + "--mask1 left.png --mask2 low.png");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json masked = Json::parse(o.out);
  EXPECT_EQ(masked["masks"], Json({"left.png", "low.png"}));
  EXPECT_FALSE(plain.contains("masks"));
  EXPECT_LT(masked["keypoints"][0], plain["keypoints"][0]);
  EXPECT_LT(masked["keypoints"][1], plain["keypoints"][1]);
  std::istringstream csv(read_text(folder / "o/matches.csv"));
  std::string row;
  std::getline(csv, row);
  std::size_t rows = 0;
  while (std::getline(csv, row)) {
    float x1, y1, x2, y2;
    ASSERT_EQ(std::sscanf(row.c_str(), "%f,%f,%f,%f", &x1, &y1, &x2, &y2), 4) << row;
    EXPECT_LT(x1, 161) << row;
    EXPECT_GT(y2, 119) << row;
    ++rows;
  }
  EXPECT_GT(rows, 10u);
  const Json one = Json::parse(shell(line + "--mask2 low.png").out);
  EXPECT_EQ(one["keypoints"][0], plain["keypoints"][0]);
  EXPECT_EQ(one["keypoints"][1], masked["keypoints"][1]);
  expect_refused(line + "--mask1 small.png", 1, "small.png: a mask of 64 x 48");
  expect_refused(line + "--mask2 nowhere.png", 1, "nowhere.png");
  expect_refused(
      "mkdir -p q && cp left.png q/report.html && cornea pair s/view_000.png "
      "s/view_001.png -o q --device cpu --mask1 q/report.html",
      2, "overwritten");
}

TEST_F(Cli, PairPrintsTheHomographyOfAPlane) {
  ASSERT_EQ(shell("cornea scene -o s --kind plane --views 2 --width 480 --height 360").code, 0);
  const Outcome o =
      shell("cornea pair s/view_000.png s/view_001.png -o o --ratio 0.6 --device cpu");
  ASSERT_EQ(o.code, 0) << o.err;
  ASSERT_EQ(Json::parse(read_text(folder / "o/summary.json"))["kind"], "planar");
  EXPECT_NE(o.out.find("H (x2 ~ H x1, pixels)"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find(" 1.00000000e+00\n"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("F (x2^T"), std::string::npos) << o.out;
}

TEST_F(Cli, PairRefusesInvalidInput) {
  expect_refused("cornea pair small.png nowhere.png -o o", 1, "nowhere.png");
  expect_refused("cornea pair small.png -o o", 2, "second");
  expect_refused("cornea pair small.png small.png -o small.png", 1, "small.png");
  for (const char* command : {"pair small.png small.png", "scene"}) {
    expect_refused(text("cornea ", command, " -o -"), 2, "- is a stream; name a folder");
    EXPECT_FALSE(fs::exists(folder / "-"));
  }
  expect_refused("cornea pair small.png small.png -o o --detector sobel", 2, "sobel");
  expect_refused("cornea pair small.png small.png -o o --threshold -1", 2, "threshold");
  expect_refused(
      "mkdir o && cp small.png o/report.html && cornea pair o/report.html small.png -o o", 2,
      "overwritten");
  EXPECT_FALSE(fs::exists(folder / "o/summary.json"));
}

}  // namespace
}  // namespace cornea
