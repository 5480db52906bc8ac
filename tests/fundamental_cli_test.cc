// SPDX-License-Identifier: Apache-2.0
// Tests of `cornea match` and `cornea fundamental`: what they write and refuse, and the studies and
// benches of both.
#include <algorithm>

#include "cli_testing.h"
#include "matches_testing.h"

#include "cornea/match/match_kernels.h"

namespace cornea {
namespace {

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
    // SIFT points may have several orientations, with one feature each.
    const int features = json["keypoints"][0];
    EXPECT_TRUE(detector == "sift" ? features > 300 && features < 600 : features == 300);
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
  EXPECT_LE(all, points);  // matches of several orientations count as one position
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

TEST_F(Cli, FundamentalWritesTheStableJsonKeysAndAList) {
  std::ofstream(folder / "m.csv") << "x1,y1,x2,y2\n" << csv_of(synthetic_matches(300));
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
  // The same seed gives the same matrix, also on the screen.
  EXPECT_EQ(Json::parse(shell("cornea fundamental m.csv --threshold 1.0 --json -").out)["F"],
            json["F"]);
  EXPECT_NE(shell("cornea fundamental m.csv").out.find("inliers"), std::string::npos);
}

TEST_F(Cli, FundamentalExplainsDegeneratePoints) {
  std::ofstream(folder / "seven.csv") << csv_of(synthetic_matches(7));
  expect_refused("cornea fundamental seven.csv", 1, "8 correspondences");
  std::ofstream(folder / "equal.csv") << "1,2,3,4\n1,2,3,4\n1,2,3,4\n1,2,3,4\n"
                                         "1,2,3,4\n1,2,3,4\n1,2,3,4\n1,2,3,4\n";
  expect_refused("cornea fundamental equal.csv", 1, "8 were given, at 1 different positions");
  std::ofstream line(folder / "line.csv");
  for (int i = 0; i < 20; ++i) line << i << "," << i << "," << 3 * i << "," << i * i << "\n";
  line.close();
  expect_refused("cornea fundamental line.csv", 1, "degenerate");
  std::ofstream(folder / "nan.csv") << csv_of(synthetic_matches(20)) << "1,2,nan,4\n";
  expect_refused("cornea fundamental nan.csv", 1, "line 21");
  std::ofstream(folder / "bad.csv") << csv_of(synthetic_matches(20)) << "1,2,3\n";
  expect_refused("cornea fundamental bad.csv", 1, "line 21");
  expect_refused("cornea fundamental none.csv", 1, "none.csv");
  expect_refused("cornea fundamental nan.csv --csv nan.csv", 2, "overwritten");
  expect_refused("cornea fundamental nan.csv --csv o --json o", 2, "two results");
  expect_refused("cornea study ransac --matches nan.csv --json nan.csv", 2, "overwritten");
  expect_refused("cornea fundamental nan.csv --sample 6", 2, "sample");
  expect_refused("cornea fundamental nan.csv --threshold nan", 2, "--threshold takes");
}

TEST_F(Cli, StudiesAndBenchesOfGeometryWriteTables) {
  Outcome o = shell("cornea study ransac --device cpu --repeat 1 --json r.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json ransac = Json::parse(read_text(folder / "r.json"));
  EXPECT_EQ(ransac["table"].size(), 12u);  // six thresholds, 100 and 300 hypotheses per round
  EXPECT_LT(ransac["table"][11]["median_true_distance"], 0.5);
  o = shell("cornea study svd --device cpu --repeat 1 --json s.json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(Json::parse(read_text(folder / "s.json"))["batches_of_6x6"].size(), 9u);
  std::ofstream(folder / "m.csv") << csv_of(synthetic_matches(100));
  o = shell("cornea bench --device cpu --match-files m.csv --repeat 3 --json b.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json bench = Json::parse(read_text(folder / "b.json"));
  EXPECT_EQ(bench["match_files"][0]["seeds"].size(), 3u);
  expect_refused("cornea study nothing", 2, "ransac");
}

}  // namespace
}  // namespace cornea
