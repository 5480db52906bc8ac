// SPDX-License-Identifier: Apache-2.0
// Tests with invalid rows in a database: the program names them, leaves them out and processes the
// rest.
#include <algorithm>
#include <limits>

#include "changes_testing.h"

namespace cornea {
namespace {

using namespace testing;

// Sets the positions of all points of an image.
void set_points(const fs::path& database, int image, float value) {
  sqlite3* handle = nullptr;
  sqlite3_stmt* row = nullptr;
  ASSERT_EQ(sqlite3_open(database.c_str(), &handle), SQLITE_OK);
  const std::vector<float> values(2 * colmap::Database(database).points(image).size(), value);
  ASSERT_EQ(sqlite3_prepare_v2(handle, "UPDATE keypoints SET cols = 2, data = ? WHERE image_id = ?",
                               -1, &row, nullptr),
            SQLITE_OK);
  sqlite3_bind_blob(row, 1, values.data(), int(values.size() * sizeof(float)), SQLITE_STATIC);
  sqlite3_bind_int(row, 2, image);
  EXPECT_EQ(sqlite3_step(row), SQLITE_DONE);
  sqlite3_finalize(row);
  sqlite3_close(handle);
}

// Invalid rows, and the words that name them. All other pairs are verified.
TEST_F(Changes, ABadPairIsNamedByItsImagesAndTheOthersAreVerified) {
  make_windows(4);
  ASSERT_EQ(run(extract()).code, 0);
  ASSERT_EQ(run(on_database("match-all")).code, 0);
  const fs::path good = folder / "good.db";
  fs::copy_file(database, good);
  const std::string pair = text(colmap::pair_id({1, 2}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    std::string sql, word;
    int bad;
    float points = 0;  // if not 0: the positions of image 2
  };
  for (const Case& c :
       {Case{"", "a point of w101.png has a position that is not a number", 3, nan},
        Case{"", "not a number", 3, std::numeric_limits<float>::infinity()},
        Case{"UPDATE keypoints SET rows = 1, data = substr(data, 1, 24) WHERE image_id = 2",
             "the images have", 3},
        Case{"UPDATE keypoints SET rows = -3 WHERE image_id = 2", "keypoints of -3", 3},
        Case{"UPDATE matches SET data = substr(data, 1, 13) WHERE pair_id = " + pair,
             "matches should have", 1},
        Case{"UPDATE matches SET rows = -1 WHERE pair_id = " + pair, "matches should have", 1}}) {
    SCOPED_TRACE(c.word + c.sql);
    fs::copy_file(good, database, fs::copy_options::overwrite_existing);
    change(c.sql);
    if (c.points != 0) set_points(database, 2, c.points);
    const Json json = json_of(on_database("verify"), 1);
    EXPECT_EQ(json["bad"], c.bad);
    EXPECT_EQ(json["missing"], 0);
    EXPECT_EQ(int(json["general"]) + int(json["planar"]) + int(json["degenerate"]), 6 - c.bad);
    EXPECT_NE(last_error.find("the pair w100.jpg and w101.png is left out"), std::string::npos)
        << last_error;
    EXPECT_NE(last_error.find(c.word), std::string::npos) << last_error;
    EXPECT_EQ(std::count(last_error.begin(), last_error.end(), '\n'), c.bad) << last_error;
    EXPECT_EQ(rows_in(database, "two_view_geometries"), 6 - c.bad);
  }
}

TEST_F(Changes, ImagesWithImpossibleIdsAreNamedAndLeftOut) {
  make_windows(4);
  ASSERT_EQ(run(extract()).code, 0);
  const fs::path good = folder / "good.db";
  fs::copy_file(database, good);
  for (const std::string id : {"-5", "2147483647", "9223372036854775807"}) {
    SCOPED_TRACE(id);
    fs::copy_file(good, database, fs::copy_options::overwrite_existing);
    std::string sql = "PRAGMA ignore_check_constraints = ON;";
    for (const char* table : {"images", "keypoints", "descriptors"}) {
      sql += text("UPDATE ", table, " SET image_id = ", id, " WHERE image_id = 2;");
    }
    change(sql);
    write_bytes(folder / "list.txt", "w100.jpg w102.jpg\n");
    EXPECT_EQ(json_of(on_database("match-all", {"--pairs", folder / "list.txt"}), 1)["matched"], 1);
    const Json matched = json_of(on_database("match-all", {"--redo"}), 1);
    EXPECT_EQ(matched["images"], 3);
    EXPECT_EQ(matched["matched"], 3);
    EXPECT_EQ(matched["bad_images"], 1);
    EXPECT_NE(last_error.find("w101.png: has the id " + id), std::string::npos) << last_error;
    // A pair of such an image, as a program without checks would write it.
    change("INSERT INTO matches VALUES(-3, 1, 2, zeroblob(8))");
    const Json verified = json_of(on_database("verify"), 1);
    EXPECT_EQ(int(verified["general"]) + int(verified["planar"]) + int(verified["degenerate"]), 3);
    EXPECT_EQ(verified["bad_images"], 1);
    EXPECT_EQ(verified["missing"], 1);
    EXPECT_NE(last_error.find("w101.png: has the id " + id), std::string::npos) << last_error;
    EXPECT_EQ(last_error.find("delete"), std::string::npos) << last_error;
    expect_stop(extract(), {"w101.png has the id " + id});
  }
}

// An image with itself, and two with the higher id first, as a program without checks may write
// them.
TEST_F(Changes, PairsThatNameNoTwoImagesAreCountedAndKept) {
  make_windows(4);
  ASSERT_EQ(run(extract()).code, 0);
  ASSERT_EQ(run(on_database("match-all")).code, 0);
  change(
      "INSERT INTO matches VALUES(2 * 2147483647 + 2, 1, 2, zeroblob(8));"
      "INSERT INTO matches VALUES(3 * 2147483647 + 1, 1, 2, zeroblob(8))");
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(json_of(on_database("verify"), 1)["missing"], 2);
    EXPECT_NE(last_error.find("w101.png with w101.png, w102.jpg with w100.jpg"), std::string::npos)
        << last_error;
    EXPECT_EQ(rows_in(database, "two_view_geometries"), 6);
    EXPECT_EQ(rows_in(database, "matches"), 8);
  }
}

TEST_F(Changes, DescriptorsThatAreNotSiftsAreNamedAndLeftOut) {
  make_windows(4);
  ASSERT_EQ(run(extract()).code, 0);
  change(
      "UPDATE descriptors SET data = substr(data, 1, 130) WHERE image_id = 2;"
      "UPDATE descriptors SET cols = 64 WHERE image_id = 3");
  const Json json = json_of(on_database("match-all"), 1);
  EXPECT_EQ(json["matched"], 1);
  EXPECT_EQ(json["bad_images"], 2);
  for (const char* name : {"w101.png: has", "w102.jpg: has"}) {
    EXPECT_NE(last_error.find(name), std::string::npos) << last_error;
  }
  // The advice of the error message works.
  EXPECT_EQ(json_of(extract({"--redo"}))["redone"], 4);
  EXPECT_EQ(json_of(on_database("match-all"))["matched"], 6);
}

TEST_F(Changes, PairsOfMissingImagesAreNamedAndKept) {
  make_windows(4);
  ASSERT_EQ(run(extract()).code, 0);
  ASSERT_EQ(run(on_database("match-all")).code, 0);
  change(
      "DELETE FROM keypoints WHERE image_id = 2; DELETE FROM descriptors WHERE image_id = 2;"
      "DELETE FROM images WHERE image_id = 2");
  const Json json = json_of(on_database("verify"), 1);
  EXPECT_EQ(json["missing"], 3);
  EXPECT_NE(last_error.find("w100.jpg with 2"), std::string::npos) << last_error;
  EXPECT_EQ(last_error.find("delete"), std::string::npos) << last_error;
  EXPECT_EQ(rows_in(database, "matches"), 6);
}

}  // namespace
}  // namespace cornea
