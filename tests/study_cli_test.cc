// SPDX-License-Identifier: Apache-2.0
// Tests of `cornea study`: the smallest run of every study, what it writes, and what it refuses.
#include <cmath>
#include <set>
#include <tuple>

#include "cli_testing.h"
#include "study/plain_foagdd.h"
#include "study/plain_moravec.h"

#include "cornea/detect/foagdd/foagdd.h"
#include "cornea/detect/moravec/moravec.h"
#include "cornea/scene/checkerboard.h"

namespace cornea {
namespace {

// A table of a report's JSON; a missing title is a failure.
Json table_of(const Json& report, const std::string& title) {
  for (const Json& section : report["sections"]) {
    for (const Json& table : section["tables"]) {
      if (table["title"] == title) return table;
    }
  }
  ADD_FAILURE() << "no table is called " << title;
  return {{"rows", Json::array()}};
}

class Studies : public Cli {
 protected:
  // Runs the study, checks all the files that it wrote, and returns its JSON.
  Json run(const std::string& name, const std::string& more = "",
           const std::string& device = "cpu") {
    const Outcome o = shell("cornea study " + name + " --device " + device +
                            " --quick --repeat 1 -o out --json s.json --label commit=abc " + more);
    EXPECT_EQ(o.code, 0) << o.err;
    const Json json = Json::parse(read_text(folder / "s.json"));
    EXPECT_EQ(json["study"], name);
    EXPECT_EQ(json["facts"]["commit"], "abc");
    EXPECT_TRUE(json["facts"].contains(device == "cpu" ? "device" : "device 2")) << json["facts"];
    const Json results = Json::parse(read_text(folder / "out" / "results.json"));
    EXPECT_EQ(results["sections"], json["sections"]);
    const std::string page = read_text(folder / "out" / "index.html");
    const std::string markdown = read_text(folder / "out" / "results.md");
    for (const Json& section : json["sections"]) {
      for (const Json& table : section["tables"]) {
        EXPECT_FALSE(table["rows"].empty()) << table["title"];
        EXPECT_FALSE(table["caption"].get<std::string>().empty()) << table["title"];
        EXPECT_NE(markdown.find(table["title"].get<std::string>()), std::string::npos);
      }
      for (const Json& plot : section["plots"]) {
        EXPECT_TRUE(fs::exists(folder / "out" / plot.get<std::string>())) << plot;
        EXPECT_NE(markdown.find("(" + plot.get<std::string>() + ")"), std::string::npos) << plot;
      }
    }
    EXPECT_EQ(page.rfind("<!doctype html>", 0), 0u);
    EXPECT_NE(o.out.find("index.html"), std::string::npos);
    return json;
  }
};

TEST_F(Studies, FoagddAgreesWithThePlainImplementation) {
  const Json json = run("foagdd");
  const Json table = table_of(json, "Corners by image");
  ASSERT_EQ(table["rows"].size(), 4u);
  double corners = 0;
  for (const Json& row : table["rows"]) {
    corners += row["cpu"].get<double>();
    const double differences =
        row["plain_not_cpu"].get<double>() + row["cpu_not_plain"].get<double>();
    EXPECT_EQ(differences, row["of_these_within_rounding"].get<double>()) << row;
  }
  EXPECT_GT(corners, 100);
  EXPECT_EQ(table_of(json, "Milliseconds per stage")["rows"].size(),
            4u);  // two sizes, plain and CPU
}

TEST_F(Studies, FoagddAcceptsAFolderOfImages) {
  fs::create_directory(folder / "images");
  fs::copy(folder / "small.png", folder / "images" / "b.png");
  fs::copy(folder / "small.png", folder / "images" / "a.png");
  std::ofstream(folder / "images" / "notes.txt") << "no image";
  const Json rows = table_of(run("foagdd", "--images images"), "Corners by image")["rows"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["image"], "a.png");
  EXPECT_EQ(rows[0]["cpu"], rows[1]["cpu"]);
}

TEST_F(Studies, MoravecIsEqualToThePlainLoop) {
  const Json json = run("moravec");
  EXPECT_EQ(json["equal"], true);
  for (const Json& row :
       table_of(json, "From an 8-bit image in host memory to corners in host memory")["rows"]) {
    if (row["what"] == "library, CPU") {
      EXPECT_EQ(row["beside_the_plain_loop"], "equal");
    }
    EXPECT_GT(row["corners"].get<double>(), 10);
  }
}

TEST_F(Studies, SvdAndRansacKeepTheirKeys) {
  const Json svd = run("svd");
  EXPECT_EQ(svd["batches_of_6x6"].size(), 2u);
  EXPECT_LT(svd["sizes_x_225"][0]["reconstruction"].get<double>(), 1e-6);
  const Json ransac = run("ransac");
  EXPECT_EQ(ransac["table"].size(), 12u);
  EXPECT_EQ(ransac["matches"], 304);
  const Json vectors =
      table_of(ransac, "Null vectors of 8 x 9 systems: Householder reflections and batched SVD");
  for (const Json& row : vectors["rows"]) {
    EXPECT_LT(row["af_householder"].get<double>(), 1e-5);
    EXPECT_LT(row["af_svd"].get<double>(), 1e-5);
  }
}

TEST_F(Studies, TrilateralHasEqualNumbersOfPoints) {
  const Json json = run("trilateral");
  const Json equal = table_of(json, "Equal numbers: the strongest 40");
  ASSERT_EQ(equal["rows"].size(), 3u);  // two disturbances and their sum
  for (const Json& row : equal["rows"]) {
    EXPECT_EQ(row["gaussian_points"], row["trilateral_points"]) << row;
    EXPECT_EQ(row["gaussian_points"], row["bilateral_points"]) << row;
    EXPECT_LE(row["trilateral_correct"].get<double>(), row["trilateral_matches"].get<double>());
  }
  EXPECT_GT(equal["rows"][0]["gaussian_correct"].get<double>(), 20);
  EXPECT_EQ(json["sections"][1]["words"].size(), 3u);
}

TEST_F(Studies, FillInTheColumnsOfCuda) {
  if (testing::devices().size() == 1) GTEST_SKIP() << "there is no CUDA device here";
  // Studies with a column per device, and the tables that have one.
  for (const auto& [name, title, columns] :
       std::vector<std::tuple<std::string, std::string, std::vector<std::string>>>{
           {"foagdd", "Corners by image", {"cuda"}},
           {"foagdd", "Total time and speed-up", {"cuda_ms", "plain_cuda", "cpu_cuda"}},
           {"svd", "Batches of 6 x 6", {"cuda_ms", "cpu_cuda"}},
           {"ransac", "F by threshold and hypotheses per round", {"cuda_ms"}},
           {"trilateral",
            "The detail step and the whole call",
            {"detail_cuda_ms", "detail_cuda_sorted_ms", "whole_call_cuda_ms",
             "sift_trilateral_cuda_ms"}}}) {
    const Json json = run(name, "", "cuda");
    for (const Json& row : table_of(json, title)["rows"]) {
      for (const std::string& column : columns) {
        ASSERT_TRUE(row.contains(column) && row[column].is_number()) << name << ", " << row;
        EXPECT_GT(row[column].get<double>(), 0) << name << ", " << column;
      }
      if (row.contains("cuda_and_cpu")) {
        EXPECT_EQ(row["cuda_and_cpu"], "equal to the bit");
      }
    }
  }
  // Moravec has a table for CUDA alone.
  for (const Json& row : table_of(run("moravec", "", "cuda"), "The ladder on CUDA")["rows"]) {
    EXPECT_GT(row["kernel_time_ms"].get<double>(), 0) << row;
  }
}

TEST_F(Studies, RefuseInvalidInput) {
  expect_refused("cornea study nothing", 2, "foagdd, moravec, svd, ransac, trilateral");
  expect_refused("cornea study foagdd --images none", 1, "none");
  fs::create_directory(folder / "empty");
  expect_refused("cornea study foagdd --images empty", 1, "no image");
  expect_refused("cornea study svd --label commit", 2, "KEY=VALUE");
  expect_refused("cornea study svd -o small.png --quick", 1, "small.png");
  expect_refused("cornea study svd -o -", 2, "folder");
}

// The reference measures every pixel in double precision; the library uses bounds and exact
// measures.
TEST(PlainFoagdd, FindsTheCornersOfTheLibrary) {
  CheckerboardOptions options{.width = 160, .height = 120, .cell = 14};
  options.homography = tilted_view(160, 120, 10, 20, 10, 200);
  const Context cpu = Context::cpu();
  const Checkerboard board = checkerboard(cpu, options);
  Image<std::uint8_t> image(160, 120);
  for (int y = 0; y < 120; ++y) {
    for (int x = 0; x < 160; ++x) image(x, y) = std::uint8_t(board.image(x, y) * 255 + 0.5f);
  }
  const study::PlainFoagdd plain = study::plain_foagdd(cpu, image.host());
  Foagdd detector(cpu);
  const std::vector<Corner> corners = detector.detect(image);
  ASSERT_EQ(plain.corners.size(), corners.size());
  ASSERT_GE(corners.size(), 48u);  // the inner corners of the board
  for (std::size_t i = 0; i < corners.size(); ++i) {
    EXPECT_EQ(plain.corners[i].x, int(corners[i].x));
    EXPECT_EQ(plain.corners[i].y, int(corners[i].y));
    EXPECT_NEAR(plain.corners[i].measure / corners[i].response, 1, 1e-3);
  }
}

TEST(PlainMoravec, FindsTheCornersOfTheLibrary) {
  const Image<std::uint8_t> image = testing::random_image<std::uint8_t>(97, 61, 3);
  const auto map = study::plain_moravec(image.host());
  Moravec detector(Context::cpu());
  const std::vector<Corner> expected = study::plain_peaks(map, 97, 61);
  EXPECT_GT(expected.size(), 100u);
  EXPECT_EQ(detector.detect(image), expected);
  const Image<float> response = detector.response(image);
  EXPECT_EQ(float(map[20 * 97 + 30]), response(30, 20));
}

}  // namespace
}  // namespace cornea
