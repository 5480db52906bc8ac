// The program as a user meets it: results, exit codes, and one clear line when something is wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli_testing.h"

#include "cornea/cornea.h"
#include "cornea/match/match_kernels.h"
#include "cornea/scene.h"

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

TEST_F(Cli, ResultsGoThroughLinksAndLeaveOtherFilesAlone) {
  const std::string detect = "cornea detect small.png --quiet --csv ";
  // Standard output, however it is called and wherever it goes.
  fs::create_symlink("/proc/self/fd/1", folder / "stdout");
  ASSERT_EQ(shell(detect + "stdout > taken.csv").code, 0);
  EXPECT_TRUE(fs::is_symlink(folder / "stdout"));
  EXPECT_EQ(read_text(folder / "taken.csv").rfind("x,y,response\n", 0), 0u);
  // A link to a file stays one, and so do the file's permissions.
  std::ofstream(folder / "real.csv") << "old";
  fs::permissions(folder / "real.csv", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real.csv", folder / "link.csv");
  std::ofstream(folder / "link.csv.part") << "mine";
  ASSERT_EQ(shell(detect + "link.csv").code, 0);
  EXPECT_TRUE(fs::is_symlink(folder / "link.csv"));
  EXPECT_EQ(read_text(folder / "real.csv").rfind("x,y,response\n", 0), 0u);
  EXPECT_EQ(fs::status(folder / "real.csv").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(read_text(folder / "link.csv.part"), "mine");
  // One file under two names.
  expect_refused("cornea detect small.png --csv out.txt --json \"$PWD/out.txt\"", 2, "two results");
  expect_refused("cornea detect small.png --csv link.csv --json real.csv", 2, "two results");
}

TEST_F(Cli, NoResultOverwritesWhatTheUserGave) {
  write_image(folder / "other.png", testing::random_image<std::uint8_t>(64, 48, 2));
  const std::string before = read_text(folder / "small.png");
  expect_refused("cornea detect small.png --draw small.png", 2, "overwritten");
  expect_refused("cornea detect small.png --draw ./small.png", 2, "overwritten");
  expect_refused("cornea detect small.png --mask other.png --draw other.png", 2, "overwritten");
  expect_refused("cornea detect small.png --draw x --csv x", 2, "two results");
  fs::create_directory(folder / "sub");
  fs::copy_file(folder / "small.png", folder / "sub" / "small.png");
  expect_refused("cornea detect small.png sub/small.png --csv lists", 2, "two results");
  EXPECT_EQ(shell("cornea detect small.png other.png --draw .").code, 0);
  EXPECT_EQ(read_text(folder / "small.png"), before);
}

TEST_F(Cli, AFullDiskIsNoticed) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(shell("cornea detect small.png --json - >/dev/full").code, 1);
  expect_refused("cornea detect small.png --json /dev/full", 1, "/dev/full");
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
    // The picture is the exact result, rounded; gray levels in both.
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

TEST_F(Cli, QuietSaysNothing) {
  const Outcome o = shell("cornea detect small.png --quiet");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out + o.err, "");
}

TEST_F(Cli, ThreadsDoNotChangeTheOutput) {
  write_image(folder / "tall.png", testing::random_image<std::uint8_t>(90, 400, 2));
  const auto points = [&](const std::string& threads) {
    const Outcome o = shell("cornea detect tall.png --device cpu --json - --threads " + threads);
    return Json::parse(o.out)[0]["points"].dump();
  };
  EXPECT_EQ(points("1"), points("2"));
}

TEST_F(Cli, MatchWritesTheStableJsonKeysAndAList) {
  ASSERT_EQ(shell("cornea scene -o s --kind plane --views 2 --width 320 --height 240").code, 0);
  for (const std::string detector : {"sift", "harris"}) {
    const Outcome o = shell("cornea match s/view_000.png s/view_001.png --detector " + detector +
                            " --max-features 300 --device cpu --json - --csv m.csv --draw m.png");
    ASSERT_EQ(o.code, 0) << o.err;
    const Json json = Json::parse(o.out);
    EXPECT_EQ(json["detector"], detector);
    EXPECT_EQ(json["device"], "cpu");
    ASSERT_EQ(json["keypoints"].size(), 2u);
    EXPECT_EQ(json["keypoints"][0], 300);
    EXPECT_GT(json["milliseconds"], 0);
    ASSERT_GT(json["matches"].size(), 30u);
    for (const Json& m : json["matches"]) {
      ASSERT_EQ(m.size(), 5u);
      EXPECT_LT(m[4], 0.8);
    }
    const std::string csv = read_text(folder / "m.csv");
    EXPECT_EQ(csv.rfind("x1,y1,x2,y2,ratio,descriptor_distance,index1,index2\n", 0), 0u);
    EXPECT_EQ(std::size_t(std::count(csv.begin(), csv.end(), '\n')), json["matches"].size() + 1);
    EXPECT_EQ(read_image<std::uint8_t>(folder / "m.png").width(), 640);
  }
}

TEST_F(Cli, MatchOptionsReachTheMatcher) {
  write_image(folder / "one.png", testing::random_image<std::uint8_t>(160, 120, 1));
  write_image(folder / "other.png", testing::random_image<std::uint8_t>(160, 120, 2));
  auto count = [&](const std::string& options) {
    const Outcome o = shell("cornea match one.png other.png --device cpu --json - " + options);
    EXPECT_EQ(o.code, 0) << o.err;
    const Json json = Json::parse(o.out);
    return std::pair(json["matches"].size(), json["keypoints"][0].get<std::size_t>());
  };
  const auto [all, points] = count("--ratio 1 --no-mutual");
  EXPECT_LE(all, points);  // those of several orientations are one place
  EXPECT_GT(all, points * 3 / 4);
  const auto mutual = count("--ratio 1").first;
  EXPECT_GT(mutual, 0u);
  EXPECT_LT(mutual, all);
  EXPECT_LT(count("--ratio 0.9").first, mutual);
  EXPECT_EQ(count("--ratio 1 --max-distance 1").first, 0u);
  // An image matches itself, point by point.
  const Outcome same = shell("cornea match one.png one.png --device cpu --json -");
  const Json json = Json::parse(same.out);
  EXPECT_GT(json["matches"].size(), 10u);
  for (const Json& m : json["matches"]) EXPECT_TRUE(m[0] == m[2] && m[1] == m[3]);
}

// Matches of two synthetic views, a third of them wrong.
std::string matches_text(int count) {
  const MatchedPoints points =
      make_matched_points({.count = count, .outliers = 0.33, .noise = 0.2, .seed = 3});
  std::ostringstream out;
  for (const Correspondence& m : points.matches) {
    out << m.x1 << "," << m.y1 << "," << m.x2 << "," << m.y2 << "\n";
  }
  return out.str();
}

TEST_F(Cli, FundamentalWritesTheStableJsonKeysAndAList) {
  std::ofstream(folder / "m.csv") << "x1,y1,x2,y2\n" << matches_text(300);
  const Outcome o = shell("cornea fundamental m.csv --threshold 1.0 --json - --csv out.csv");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  ASSERT_EQ(json["F"].size(), 3u);
  EXPECT_EQ(json["inliers"].size(), 300u);
  EXPECT_GT(json["inlier_count"], 150);
  EXPECT_EQ(json["converged"], true);
  EXPECT_EQ(json["kind"], "general");
  for (const char* key : {"hypotheses", "rounds", "milliseconds"}) EXPECT_TRUE(json.contains(key));
  int inliers = 0;
  for (const Json& in : json["inliers"]) inliers += in.get<int>();
  EXPECT_EQ(json["inlier_count"], inliers);
  const std::string csv = read_text(folder / "out.csv");
  EXPECT_EQ(csv.rfind("x1,y1,x2,y2,epipolar_distance,inlier\n", 0), 0u);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 301);
  // The same seed, the same matrix; the screen says it too.
  EXPECT_EQ(Json::parse(shell("cornea fundamental m.csv --threshold 1.0 --json -").out)["F"],
            json["F"]);
  EXPECT_NE(shell("cornea fundamental m.csv").out.find("inliers"), std::string::npos);
}

TEST_F(Cli, FundamentalSaysWhatPointsAreThatFixNoMatrix) {
  std::ofstream(folder / "seven.csv") << matches_text(7);
  expect_refused("cornea fundamental seven.csv", 1, "8 correspondences");
  std::ofstream(folder / "equal.csv") << "1,2,3,4\n1,2,3,4\n1,2,3,4\n1,2,3,4\n"
                                         "1,2,3,4\n1,2,3,4\n1,2,3,4\n1,2,3,4\n";
  expect_refused("cornea fundamental equal.csv", 1,
                 "8 were given, which are 1 in different places");
  std::ofstream line(folder / "line.csv");
  for (int i = 0; i < 20; ++i) line << i << "," << i << "," << 3 * i << "," << i * i << "\n";
  line.close();
  expect_refused("cornea fundamental line.csv", 1, "degenerate");
  std::ofstream(folder / "nan.csv") << matches_text(20) << "1,2,nan,4\n";
  expect_refused("cornea fundamental nan.csv", 1, "line 21");
  std::ofstream(folder / "bad.csv") << matches_text(20) << "1,2,3\n";
  expect_refused("cornea fundamental bad.csv", 1, "line 21");
  expect_refused("cornea fundamental none.csv", 1, "none.csv");
  expect_refused("cornea fundamental nan.csv --csv nan.csv", 2, "overwritten");
  expect_refused("cornea fundamental nan.csv --csv o --json o", 2, "two results");
  expect_refused("cornea study ransac --matches nan.csv --json nan.csv", 2, "overwritten");
  expect_refused("cornea fundamental nan.csv --sample 6", 2, "sample");
  expect_refused("cornea fundamental nan.csv --threshold nan", 2, "threshold");
}

TEST_F(Cli, StudiesAndBenchesOfGeometryWriteTables) {
  Outcome o = shell("cornea study ransac --device cpu --repeat 1 --json r.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json ransac = Json::parse(read_text(folder / "r.json"));
  EXPECT_EQ(ransac["table"].size(), 12u);  // six thresholds, 100 and 300 a round
  EXPECT_LT(ransac["table"][11]["median_true_distance"], 0.5);
  o = shell("cornea study svd --device cpu --repeat 1 --json s.json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(Json::parse(read_text(folder / "s.json"))["batches_of_6x6"].size(), 9u);
  std::ofstream(folder / "m.csv") << matches_text(100);
  o = shell("cornea bench --device cpu --match-files m.csv --repeat 3 --json b.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json bench = Json::parse(read_text(folder / "b.json"));
  EXPECT_EQ(bench["match_files"][0]["seeds"].size(), 3u);
  expect_refused("cornea study nothing", 2, "ransac");
}

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
  // The list is what `cornea fundamental` reads.
  const Outcome f = shell("cornea fundamental made/out/matches.csv --device cpu --seed 3 --json -");
  ASSERT_EQ(f.code, 0) << f.err;
  EXPECT_EQ(Json::parse(f.out)["inlier_count"], inliers);
  EXPECT_EQ(Json::parse(f.out)["F"], json["F"]);
}

TEST_F(Cli, PairTakesTheOptionsOfEveryStage) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 320 --height 240").code, 0);
  auto run = [&](const std::string& options) {
    const Outcome o =
        shell("cornea pair s/view_000.png s/view_001.png -o o --device cpu --json - " + options);
    EXPECT_EQ(o.code, 0) << o.err;
    return Json::parse(o.out);
  };
  const Json plain = run("");
  EXPECT_EQ(run("--max-features 60")["keypoints"][0], 60);
  EXPECT_EQ(run("--max-points 50")["keypoints"][0], 50);
  EXPECT_LT(run("--ratio 0.5")["matches"], plain["matches"]);
  EXPECT_GT(run("--no-mutual")["matches"], plain["matches"]);
  EXPECT_LT(run("--threshold 0.2")["inliers"], plain["inliers"]);
  EXPECT_EQ(run("--threshold 4")["threshold"], 4);
  run("--seed 77");
  EXPECT_NE(read_text(folder / "o" / "report.html").find("seed 77"), std::string::npos);
  EXPECT_EQ(run("--detector harris --detector-threshold 0.001")["detector"], "harris");
  EXPECT_EQ(run("--round 64 --max-hypotheses 64")["hypotheses"], 64);
}

TEST_F(Cli, PairOfNothingIsAResultWithItsFiles) {
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

TEST_F(Cli, PairLooksAtPhotographsUprightWhereAsked) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 320 --height 240").code, 0);
  auto pixels = read_image<std::uint8_t>(folder / "s/view_001.png");
  // Stored as the camera held sideways would: turned back by the orientation 6.
  Image<std::uint8_t> sideways(240, 320);
  for (int y = 0; y < 320; ++y) {
    for (int x = 0; x < 240; ++x) sideways(x, y) = pixels(319 - y, x);
  }
  const std::vector<std::uint8_t> jpeg = encode_jpeg(sideways, 95);
  const std::vector<std::uint8_t> exif = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,    'M', 'M',
                                          0,    42,   0, 0,  0,   8,   0,   1,   1, 0x12, 0,   3,
                                          0,    0,    0, 1,  0,   6,   0,   0,   0, 0,    0,   0};
  std::ofstream out(folder / "sideways.jpg", std::ios::binary);
  out.write(reinterpret_cast<const char*>(jpeg.data()), 2);
  out.write(reinterpret_cast<const char*>(exif.data()), std::streamsize(exif.size()));
  out.write(reinterpret_cast<const char*>(jpeg.data()) + 2, std::streamsize(jpeg.size()) - 2);
  out.close();
  const Outcome o =
      shell("cornea pair s/view_000.png sideways.jpg -o o --upright --device cpu --json -");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["sizes"], Json::parse("[[320,240],[320,240]]"));
  EXPECT_GT(json["inliers"], 50);
}

TEST_F(Cli, PairTakesAnyNameAndItsCommandCanBeRepeated) {
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
  const Outcome help = shell("cornea pair --help");
  EXPECT_NE(help.out.find("pair-A-B"), std::string::npos) << help.out;
}

// A program of that name takes the browser's place.
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

TEST_F(Cli, PairTakesMasks) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 320 --height 240").code, 0);
  Image<std::uint8_t> left(320, 240), low(320, 240);
  for (int y = 0; y < 240; ++y) {
    for (int x = 0; x < 320; ++x) {
      left(x, y) = x < 160 ? 1 : 0;  // what is not black counts, however dark
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

TEST_F(Cli, PairRefusesWhatCannotBe) {
  expect_refused("cornea pair small.png nowhere.png -o o", 1, "nowhere.png");
  expect_refused("cornea pair small.png -o o", 2, "second");
  expect_refused("cornea pair small.png small.png -o small.png", 1, "small.png");
  for (const char* command : {"pair small.png small.png", "scene"}) {
    expect_refused(text("cornea ", command, " -o -"), 2, "- is a stream; name a folder");
    EXPECT_FALSE(fs::exists(folder / "-"));
  }
  expect_refused("cornea pair small.png small.png -o o --detector sobel", 2, "sobel");
  expect_refused("cornea pair small.png small.png -o o --threshold 0", 2, "threshold");
  expect_refused(
      "mkdir o && cp small.png o/report.html && cornea pair o/report.html small.png -o o", 2,
      "overwritten");
  EXPECT_FALSE(fs::exists(folder / "o/summary.json"));
}

TEST_F(Cli, BenchMeasuresMatching) {
  const Outcome o =
      shell("cornea bench --device cpu --match 300x200,64x65 --repeat 3 --json b.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(read_text(folder / "b.json"));
  EXPECT_TRUE(json["results"].empty());
  ASSERT_EQ(json["matches"].size(), 3u);
  EXPECT_EQ(json["matches"][0]["a"], 300);
  EXPECT_EQ(json["matches"][0]["matches"], 100);  // every second point of B is one of A
  EXPECT_EQ(json["matches"][0]["kernel"], match::match_kernels().front());
  EXPECT_EQ(json["matches"][2]["pairs"], 100);
}

TEST_F(Cli, SceneWritesPicturesAndCamerasThatFitThem) {
  const Outcome o = shell(
      "cornea scene -o s --kind plane --views 3 --width 96 --height 64 --samples 1 --noise 2");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(read_text(folder / "s" / "cameras.json"));
  ASSERT_EQ(json["views"].size(), 3u);
  ASSERT_EQ(json["pairs"].size(), 3u);
  for (const Json& view : json["views"]) {
    EXPECT_EQ(read_image<std::uint8_t>(folder / "s" / view["image"].get<std::string>()).width(),
              96);
    EXPECT_EQ(view["K"].size(), 3u);
    EXPECT_EQ(view["R"][2].size(), 3u);
    EXPECT_EQ(view["t"].size(), 3u);
  }
  for (const Json& pair : json["pairs"]) {
    EXPECT_EQ(pair["F"].size(), 3u);
    EXPECT_EQ(pair["H"].size(), 3u);
  }
  shell(
      "cornea scene -o again --kind plane --views 3 --width 96 --height 64 --samples 1 --noise 2");
  EXPECT_EQ(read_text(folder / "s" / "view_001.png"), read_text(folder / "again" / "view_001.png"));
  EXPECT_EQ(read_text(folder / "s" / "cameras.json"), read_text(folder / "again" / "cameras.json"));
}

TEST_F(Cli, InfoAndHelpAndVersionWork) {
  EXPECT_EQ(Json::parse(shell("cornea info --json -").out)["version"], kVersion);
  EXPECT_NE(shell("cornea --help").out.find("detect"), std::string::npos);
  for (const DetectorEntry& entry : detector_table()) {
    const std::string help = shell("cornea detect --help --detector " + entry.name).out;
    for (const Flag& flag : entry.flags) {
      EXPECT_NE(help.find("--" + flag.name), std::string::npos) << flag.name;
    }
  }
  EXPECT_EQ(shell("cornea --version").out, text("cornea ", kVersion, "\n"));
}

TEST_F(Cli, BenchMeasuresAndWritesJson) {
  const Outcome o = shell(
      "cornea bench --device cpu --sizes 64x48 --repeat 3 --batch 2 --label commit=abc --json "
      "b.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(read_text(folder / "b.json"));
  EXPECT_EQ(json["commit"], "abc");
  ASSERT_EQ(json["results"].size(), detector_table().size());
  for (const Json& result : json["results"]) EXPECT_GT(result["milliseconds"]["median"], 0);
}

TEST_F(Cli, BenchMeasuresFilters) {
  const Outcome o = shell(
      "cornea bench --device cpu --filter gaussian trilateral --sizes 64x48 --repeat 3 --tile 32 "
      "--set sigma=2 --json b.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(read_text(folder / "b.json"));
  EXPECT_TRUE(json["results"].empty());
  ASSERT_EQ(json["filters"].size(), 2u);
  EXPECT_EQ(json["filters"][1]["settings"]["sigma"], "2");
  EXPECT_GT(json["filters"][1]["stages"]["detail filter"], 0);
}

TEST_F(Cli, WrongUsageIsExitCode2) {
  expect_refused("cornea", 2, "--help");
  expect_refused("cornea polish small.png", 2, "no command is called 'polish'");
  expect_refused("cornea detect", 2, "images");
  expect_refused("cornea detect small.png --sharpness 3", 2, "sharpness");
  expect_refused("cornea detect small.png --detector sobel", 2, "sobel");
  expect_refused("cornea detect small.png --threshold nan", 2, "not a number");
  expect_refused("cornea detect small.png --threshold", 2, "threshold");
  expect_refused("cornea detect small.png --window 4", 2, "window");
  expect_refused("cornea detect small.png --detector moravec --k 0.1", 2, "--k");
  expect_refused("cornea detect small.png --max-per-cell 3", 2, "cell");
  expect_refused("cornea detect small.png --threads -2", 2, "threads");
  expect_refused("cornea detect small.png --device gpu", 2, "cuda:N");
  expect_refused("cornea filter small.png", 2, "--out");
  expect_refused("cornea filter small.png -o o.png --filter median", 2, "median");
  expect_refused("cornea filter small.png -o o.png --sigma 0", 2, "sigma");
  expect_refused("cornea filter small.png -o o.png --sigma wide", 2, "--sigma");
  expect_refused("cornea filter small.png -o o.png --filter gaussian --radius 3", 2, "--radius");
  expect_refused("cornea filter small.png -o o.png --filter gaussian --levels l.png", 2,
                 "--levels");
  expect_refused("cornea filter small.png -o small.png", 2, "input");
  expect_refused("cornea filter small.png -o o.png --levels o.png", 2, "two results");
  expect_refused("cornea scene -o s --views 0", 2, "1 view or more");
  expect_refused("cornea scene -o s --noise nan", 2, "noise");
  expect_refused("cornea scene -o s --kind castle", 2, "castle");
  expect_refused("cornea scene -o s --views 2000000", 2, "10000");
  expect_refused("cornea scene -o s --scale 64", 2, "2^28");
  expect_refused("cornea scene -o s --columns 100000", 2, "1000");
  expect_refused("cornea bench --sizes big", 2, "WIDTHxHEIGHT");
  expect_refused("cornea bench --sizes 4294967297x1", 2, "WIDTHxHEIGHT");
  expect_refused("cornea detect small.png --relative=maybe", 2, "switch");
  expect_refused("cornea detect small.png --response map.png", 2, ".pfm");
  expect_refused("cornea detect small.png --detector sift --response map.pfm", 2, "response");
  expect_refused("cornea detect small.png --detector harris --descriptors d.npy", 2, "sift");
  expect_refused("cornea detect small.png --detector sift --relative", 2, "--relative");
  expect_refused("cornea detect small.png --detector sift --intervals 0", 2, "intervals");
  expect_refused(
      "cornea detect small.png --detector sift --sigma 16 --intervals 1 --scale-space "
      "trilateral",
      2, "smaller sigma");
  expect_refused("cornea detect small.png --detector sift --scale-space mean", 2, "trilateral");
  expect_refused("cornea detect small.png --detector sift --descriptors small.png", 2, "input");
  expect_refused("cornea detect small.png --threads 5000", 2, "1024");
  expect_refused("cornea match small.png", 2, "second");
  expect_refused("cornea match small.png small.png --ratio 0", 2, "ratio");
  expect_refused("cornea match small.png small.png --ratio nan", 2, "ratio");
  expect_refused("cornea match small.png small.png --max-distance -1", 2, "distance");
  expect_refused("cornea match small.png small.png --detector sobel", 2, "sobel");
  expect_refused("cornea match small.png small.png --k 0.1", 2, "--k");
  expect_refused("cornea match small.png small.png --max-features -1", 2, "max-features");
  expect_refused("cornea match small.png small.png --csv small.png", 2, "input");
  expect_refused("cornea match small.png small.png --csv o --draw o", 2, "two results");
  expect_refused("cornea bench --match 5", 2, "--match");
}

TEST_F(Cli, WrongInputIsExitCode1AndNamesTheFile) {
  expect_refused("cornea match small.png none.png", 1, "none.png");
  fs::create_directory(folder / "directory.png");
  std::ofstream(folder / "empty.png");
  std::ofstream(folder / "text.jpg") << "This is no picture.\n";
  write_image(folder / "dot.png", testing::random_image<std::uint8_t>(1, 1, 1));
  write_image(folder / "thin.png", testing::random_image<std::uint8_t>(3, 500, 1));
  write_image(folder / "mask.png", testing::random_image<std::uint8_t>(63, 48, 1));
  auto bad = testing::random_image<float>(64, 48, 1);
  bad(7, 7) = NAN;
  write_image(folder / "nan.pfm", bad);
  for (const char* detector : {"harris", "moravec"}) {
    const std::string detect = text("cornea detect --detector ", detector, " ");
    expect_refused(detect + "missing.png", 1, "missing.png");
    expect_refused(detect + "directory.png", 1, "directory.png");
    expect_refused(detect + "empty.png", 1, "empty.png");
    expect_refused(detect + "text.jpg", 1, "text.jpg");
    expect_refused(detect + "dot.png", 1, "dot.png: an image of 1 x 1");
    expect_refused(detect + "thin.png", 1, "thin.png: an image of 3 x 500");
    expect_refused(detect + "nan.pfm", 1, "nan.pfm: the image holds NaN");
    expect_refused(detect + "small.png --mask mask.png", 1, "small.png: the mask is 63 x 48");
    expect_refused(detect + "small.png --mask missing.png", 1, "missing.png");
    expect_refused(detect + "small.png --draw no/such/folder/x.png", 1, "x.png");
    expect_refused(detect + "small.png --csv no/such/folder/x.csv", 1, "x.csv");
    expect_refused(detect + "small.png --json no/such/folder/x.json", 1, "x.json");
  }
  for (const char* filter : {"gaussian", "trilateral"}) {
    const std::string command = text("cornea filter -o o.png --filter ", filter, " ");
    expect_refused(command + "missing.png", 1, "missing.png");
    expect_refused(command + "text.jpg", 1, "text.jpg");
    expect_refused(command + "nan.pfm", 1, "nan.pfm: the image holds NaN");
    EXPECT_EQ(shell(command + "dot.png").code, 0);
    EXPECT_EQ(shell(command + "thin.png").code, 0);
    expect_refused(text("cornea filter small.png -o no/such/x.png --filter ", filter), 1, "x.png");
    expect_refused(text("cornea filter small.png -o x.gif --filter ", filter), 1, "x.gif");
  }
}

TEST_F(Cli, CudaWithoutAGpuIsExitCode1) {
  if (testing::devices().size() > 1) GTEST_SKIP() << "this machine has a GPU";
  expect_refused("cornea detect small.png --device cuda", 1, "--device cpu");
  expect_refused("cornea detect small.png --device cuda:3", 1, "--device cpu");
}

TEST_F(Cli, APngThatClaimsTenBillionPixelsIsRefusedAtOnce) {
  // The start of a real file, with another size and the check sum that goes with it.
  std::string png = read_text(folder / "small.png");
  auto put = [&](std::size_t at, std::uint32_t v) {
    for (int i = 0; i < 4; ++i) png[at + i] = char(v >> (24 - 8 * i));
  };
  put(16, 100000);
  put(20, 100000);
  std::uint32_t crc = ~0u;
  for (std::size_t i = 12; i < 29; ++i) {
    crc ^= std::uint8_t(png[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  put(29, ~crc);
  std::ofstream(folder / "huge.png", std::ios::binary) << png;
  expect_refused("cornea detect huge.png", 1, "100000 x 100000");
  expect_refused("cornea detect huge.png", 1, "--max-pixels");
  expect_refused("cornea detect small.png --max-pixels 100", 1, "--max-pixels");
}

TEST_F(Cli, SizesThatWouldOverflowAreRefusedWhateverTheUserTrusts) {
  std::ofstream(folder / "ov.pfm", std::ios::binary) << "PF\n2147450889 1431677605\n-1\n"
                                                     << std::string(100000, 'x');
  std::ofstream(folder / "ov.ppm", std::ios::binary) << "P6\n2147450898 1431677599\n65535\n"
                                                     << std::string(100000, 'x');
  for (const char* file : {"ov.pfm", "ov.ppm"}) {
    expect_refused(text("cornea detect ", file, " --max-pixels 18446744073709551615"), 1, file);
    expect_refused(text("cornea detect ", file, " --max-pixels -1"), 2, "max-pixels");
  }
}

TEST_F(Cli, NamesWithLineBreaksStillMakeOneLine) {
  expect_refused("cornea detect \"$(printf 'no\\nsuch')\"", 1, "no?such");
  expect_refused("cornea detect small.png --detector \"$(printf 'a\\nb')\"", 2, "a?b");
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

TEST_F(Cli, TruncatedFilesAreRefusedWhereverTheyEnd) {
  const auto gray = testing::random_image<std::uint8_t>(64, 48, 3);
  write_image(folder / "whole.jpg", gray);
  write_image(folder / "whole.pgm", gray);
  fs::copy_file(folder / "small.png", folder / "whole.png");
  core::Random random(77);
  for (const char* ending : {"png", "jpg", "pgm"}) {
    const std::string whole = read_text(folder / text("whole.", ending));
    for (int i = 0; i < 20; ++i) {
      const std::string file = text("cut.", ending);
      // A PNG whose pixels are all there may lack its last 12 bytes; all else is needed.
      const int last = static_cast<int>(whole.size()) - 17;
      const int length = random.integer(0, last);
      std::ofstream(folder / file, std::ios::binary) << whole.substr(0, length);
      expect_refused("cornea detect " + file, 1, file);
    }
  }
}

// Every line of every ```sh block of the README that starts with cornea.
TEST_F(Cli, TheReadmesCommandsWork) {
  const std::string readme = read_text(CORNEA_README);
  int commands = 0;
  for (std::size_t at = 0; (at = readme.find("```sh\n", at)) != std::string::npos;) {
    const std::size_t end = readme.find("```", at + 6);
    std::istringstream block(readme.substr(at + 6, end - at - 6));
    for (std::string line; std::getline(block, line);) {
      if (line.rfind("cornea ", 0) != 0) continue;
      const Outcome o = shell(line);
      EXPECT_EQ(o.code, 0) << line << "\n" << o.err;
      ++commands;
    }
    at = end;
  }
  EXPECT_GE(commands, 4);
}

}  // namespace
}  // namespace cornea
