// A folder and a database that no longer belong together, rows that cannot be, interruptions, and
// what the program says of all that.
#include <limits>

#include "colmap_testing.h"
#include <pty.h>

namespace cornea {
namespace {

using namespace testing;

class Changes : public Colmap {
 protected:
  void run_all(const std::vector<std::string>& more = {}) {
    ASSERT_EQ(run(extract(more)).code, 0);
    ASSERT_EQ(run(on_database("match-all")).code, 0);
    ASSERT_EQ(run(on_database("verify")).code, 0);
  }
  // What a folder as it is now gives from the start.
  void expect_as_if_new(const std::vector<std::string>& more = {}) {
    const fs::path found = folder / "found.db";
    fs::rename(database, found);
    run_all(more);
    expect_same_database(found, database);
  }
  void touch(const fs::path& file) {
    fs::last_write_time(file, fs::last_write_time(file) + std::chrono::hours(1));
  }
  // The command ends with 1, says these words and writes nothing.
  void expect_stop(const std::vector<std::string>& arguments,
                   const std::vector<std::string>& words) {
    const auto before = dump(database);
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 1) << o.err;
    for (const std::string& word : words) {
      EXPECT_NE(o.err.find(word), std::string::npos) << word << ": " << o.err;
    }
    EXPECT_TRUE(dump(database) == before);
  }
  Json json_of(const std::vector<std::string>& arguments, int code = 0) {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    last_error = o.err;
    return Json::parse(o.out);
  }
  // The positions of all points of an image.
  void set_points(int image, float value) const {
    sqlite3* handle = nullptr;
    sqlite3_stmt* row = nullptr;
    ASSERT_EQ(sqlite3_open(database.c_str(), &handle), SQLITE_OK);
    const std::vector<float> values(2 * colmap::Database(database).points(image).size(), value);
    ASSERT_EQ(
        sqlite3_prepare_v2(handle, "UPDATE keypoints SET cols = 2, data = ? WHERE image_id = ?", -1,
                           &row, nullptr),
        SQLITE_OK);
    sqlite3_bind_blob(row, 1, values.data(), int(values.size() * sizeof(float)), SQLITE_STATIC);
    sqlite3_bind_int(row, 2, image);
    EXPECT_EQ(sqlite3_step(row), SQLITE_DONE);
    sqlite3_finalize(row);
    sqlite3_close(handle);
  }
  bool has_log() const {
    return fs::exists(database.string() + "-wal") || fs::exists(database.string() + "-shm");
  }

  std::string last_error;
};

TEST_F(Changes, APhotographThatChangedIsNamedAndDoneAgainIfAsked) {
  make_windows(4);
  run_all();
  write_image(images / "w101.png", window(160, 120, 500, 40));
  touch(images / "w101.png");
  expect_stop(extract(), {"w101.png: its file changed", "1 image is not what", "--changed redo",
                          "--changed keep"});
  const auto before = dump(database);
  const Json kept = json_of(extract({"--changed", "keep"}));
  EXPECT_EQ(kept["changed"], 1);
  EXPECT_EQ(kept["skipped"], 4);
  EXPECT_NE(last_error.find("w101.png: its file changed"), std::string::npos) << last_error;
  EXPECT_TRUE(dump(database) == before);
  const Json again = json_of(extract({"--changed", "redo"}));
  EXPECT_EQ(again["redone"], 1);
  EXPECT_EQ(again["extracted"], 1);
  EXPECT_EQ(again["skipped"], 3);
  EXPECT_EQ(rows_in(database, "matches"), 3);  // those of the others
  EXPECT_EQ(rows_in(database, "two_view_geometries"), 3);
  EXPECT_EQ(json_of(extract())["skipped"], 4);
  EXPECT_EQ(json_of(on_database("match-all"))["matched"], 3);
  EXPECT_EQ(json_of(on_database("verify"))["skipped"], 3);
  expect_as_if_new();
}

// Every way of writing other bytes is noticed, also with the old time or the old size.
TEST_F(Changes, SizeTimeAndBytesAreLookedAt) {
  make_windows(2);
  ASSERT_EQ(run(extract()).code, 0);
  const fs::path file = images / "w100.jpg";
  const auto time = fs::last_write_time(file);
  const std::string bytes = read_text(file);
  write_bytes(file, bytes + "!");  // a byte more, at the same time
  fs::last_write_time(file, time);
  expect_stop(extract(), {"w100.jpg: its file changed", text(bytes.size() + 1, " now")});
  std::string other = bytes;  // one byte is another, at another time
  other.back() = char(other.back() ^ 1);
  write_bytes(file, other);
  fs::last_write_time(file, time + std::chrono::seconds(1));
  expect_stop(extract(), {"w100.jpg: its file changed"});
  write_bytes(file, bytes);
  fs::last_write_time(file, time + std::chrono::seconds(2));
  EXPECT_EQ(json_of(extract())["changed"], 0);
  fs::remove(file);
  expect_stop(extract(), {"w100.jpg: is in the database and no longer in the folder"});
}

TEST_F(Changes, WhatVanishedIsNamedAndRemovedIfAsked) {
  make_windows(5);
  run_all();
  fs::remove(images / "w100.jpg");
  fs::rename(images / "w103.png", images / "x.png");
  expect_stop(extract(), {"w100.jpg: is in the database and no longer in the folder",
                          "w103.png: is in the database and no longer in the folder",
                          "2 images are no longer in the folder, and nothing was written",
                          "--changed redo", "removes what is gone"});
  const Json kept = json_of(extract({"--changed", "keep"}));
  EXPECT_EQ(kept["vanished"], 2);
  EXPECT_EQ(kept["removed"], 0);
  EXPECT_EQ(kept["extracted"], 1);  // x.png
  EXPECT_EQ(rows_in(database, "images"), 6);
  EXPECT_EQ(rows_in(database, "matches"), 10);
  const Json redone = json_of(extract({"--changed", "redo"}));
  EXPECT_EQ(redone["removed"], 2);
  EXPECT_EQ(redone["extracted"], 0);
  EXPECT_NE(last_error.find("w103.png: is in the database"), std::string::npos) << last_error;
  EXPECT_EQ(names(), (std::vector<std::string>{"w101.png", "w102.jpg", "w104.jpg", "x.png"}));
  for (const char* table : {"cameras", "keypoints", "descriptors", "cornea_images"}) {
    EXPECT_EQ(rows_in(database, table), 4) << table;
  }
  // Those of the three that stayed.
  EXPECT_EQ(rows_in(database, "matches"), 3);
  EXPECT_EQ(rows_in(database, "two_view_geometries"), 3);
  EXPECT_EQ(json_of(extract())["vanished"], 0);
  EXPECT_EQ(json_of(on_database("match-all"))["matched"], 3);
  EXPECT_EQ(run(on_database("verify")).code, 0);
  // A step that is done again leaves nothing of what is gone either, and the single camera stays.
  fs::remove(database);
  ASSERT_EQ(run(extract({"--single-camera"})).code, 0);
  fs::remove(images / "x.png");
  EXPECT_EQ(json_of(extract({"--redo", "--single-camera"}))["removed"], 1);
  EXPECT_EQ(rows_in(database, "images"), 3);
  EXPECT_EQ(rows_in(database, "cameras"), 1);
}

// Of a folder that was moved as a whole, and of one that is somewhere else.
TEST_F(Changes, OnlyWhatIsGoneIsTakenForVanished) {
  make_windows(3);
  run_all();
  const fs::path other = folder / "other", moved = folder / "moved";
  fs::create_directories(other);
  write_image(other / "o.png", window(160, 120, 40, 80));
  auto from = [&](const fs::path& place, std::vector<std::string> more = {}) {
    auto arguments = extract(std::move(more));
    arguments[1] = place;
    return arguments;
  };
  EXPECT_EQ(json_of(from(other, {"--changed", "redo"}))["removed"], 0);
  EXPECT_EQ(rows_in(database, "images"), 4);
  fs::rename(images, moved);
  fs::remove(moved / "w102.jpg");
  expect_stop(from(moved), {"w102.jpg: is in the database and no longer in the folder",
                            ": 1 image is no longer in the folder, and"});
  EXPECT_EQ(json_of(from(moved, {"--changed", "keep"}))["vanished"], 1);
  EXPECT_EQ(json_of(from(moved, {"--changed", "redo"}))["removed"], 1);
  EXPECT_EQ(names(), (std::vector<std::string>{"w100.jpg", "w101.png", "o.png"}));
}

// Features of other options would be matched with each other, whatever folder they are of.
TEST_F(Changes, OtherOptionsOfAnotherFolderAreNamed) {
  make_windows(3);
  fs::create_directories(folder / "masks");
  Image<std::uint8_t> mask(160, 120);
  for (int i = 0; i < 160 * 120; ++i) mask(i % 160, i / 160) = i % 160 < 80 ? 255 : 0;
  run_all();
  const fs::path other = folder / "other";
  fs::create_directories(other);
  write_image(other / "o.png", window(160, 120, 40, 80));
  auto from_other = [&](std::vector<std::string> more) {
    auto arguments = extract(std::move(more));
    arguments[1] = other;
    return arguments;
  };
  expect_stop(from_other({"--no-root"}),
              {"w100.jpg: its features were extracted with other options: root yes then and no "
               "now",
               "3 images of other folders have features of other options", "--changed keep"});
  const fs::path before = folder / "before.db";
  fs::copy_file(database, before);
  const Json kept = json_of(from_other({"--no-root", "--changed", "keep"}));
  EXPECT_EQ(kept["extracted"], 1);
  EXPECT_EQ(kept["elsewhere"], 3);
  EXPECT_EQ(rows_in(database, "matches"), 3);
  expect_stop(extract(), {"o.png: its features were extracted with other options"});
  // Made again where they are, they are what their own folder gives with these options.
  fs::copy_file(before, database, fs::copy_options::overwrite_existing);
  const Json redone = json_of(from_other({"--no-root", "--changed", "redo"}));
  EXPECT_EQ(redone["extracted"], 4);
  EXPECT_EQ(redone["redone"], 3);
  EXPECT_EQ(rows_in(database, "matches"), 0);
  EXPECT_EQ(json_of(extract({"--no-root"}))["skipped"], 3);
  EXPECT_EQ(json_of(from_other({"--no-root"}))["skipped"], 1);
  const fs::path found = folder / "found.db";
  fs::rename(database, found);
  ASSERT_EQ(run(extract({"--no-root"})).code, 0);
  ASSERT_EQ(run(from_other({"--no-root"})).code, 0);
  EXPECT_TRUE(dump(found).at("descriptors") == dump(database).at("descriptors"));
  EXPECT_TRUE(dump(found).at("cornea_images") == dump(database).at("cornea_images"));
  // A mask that is not known here, and a file that is gone with its folder.
  write_image(folder / "masks/w100.jpg.png", mask);
  ASSERT_EQ(run(extract({"--redo", "--mask", folder / "masks"})).code, 0);
  fs::remove(images / "w101.png");
  const Json failed = json_of(from_other({"--redo", "--no-root"}), 1);
  EXPECT_EQ(failed["redone"], 2);
  EXPECT_EQ(failed["failed"], 2);
  EXPECT_NE(last_error.find("w100.jpg: its features were extracted with a mask, and none is given"),
            std::string::npos)
      << last_error;
}

TEST_F(Changes, ATouchedOrCopiedFileIsNoOther) {
  make_windows(3);
  run_all();
  touch(images / "w100.jpg");
  EXPECT_EQ(json_of(extract())["skipped"], 3);
  const fs::path moved = folder / "moved";
  fs::rename(images, moved);
  auto from_moved = extract();
  from_moved[1] = moved;
  EXPECT_EQ(json_of(from_moved)["skipped"], 3);
  // And the new place is remembered.
  write_image(moved / "w100.jpg", window(160, 120, 900, 0));
  touch(moved / "w100.jpg");
  expect_stop(from_moved, {"w100.jpg: its file changed"});
}

TEST_F(Changes, AnotherFolderWithTheSameNamesIsNamed) {
  make_windows(3);
  run_all();
  const fs::path other = folder / "other";
  fs::create_directories(other);
  for (const char* name : {"w100.jpg", "w101.png"}) {
    write_image(other / name, window(160, 120, 700, 90));
    fs::last_write_time(other / name, fs::last_write_time(images / name));
  }
  auto from_other = extract();
  from_other[1] = other;
  expect_stop(from_other, {"w100.jpg: is another file than the one of this name in " +
                               fs::canonical(images).string(),
                           "2 images are not what"});
}

TEST_F(Changes, APhotographOfAnotherSizeGetsItsCamera) {
  make_windows(2);
  run_all();
  write_image(images / "w101.png", window(200, 100, 0, 0));
  EXPECT_EQ(json_of(extract({"--changed", "redo"}))["redone"], 1);
  const auto cameras = colmap::Database(database).cameras();
  ASSERT_EQ(cameras.size(), 2u);
  EXPECT_EQ(cameras[1].width, 200);
  EXPECT_EQ(cameras[1].params[1], 100);
  EXPECT_EQ(run(on_database("match-all")).code, 0);
  EXPECT_EQ(run(on_database("verify")).code, 0);
  expect_as_if_new();
  // Where others have the same camera that would be wrong for them.
  fs::remove(database);
  fs::remove(images / "w101.png");
  write_image(images / "w101.png", window(160, 120, 0, 0));
  ASSERT_EQ(run(extract({"--single-camera"})).code, 0);
  write_image(images / "w101.png", window(200, 100, 0, 0));
  touch(images / "w101.png");
  const Json shared = json_of(extract({"--changed", "redo"}), 1);
  EXPECT_EQ(shared["failed"], 1);
  EXPECT_NE(last_error.find("give the file another name"), std::string::npos) << last_error;
}

TEST_F(Changes, OtherOptionsAndMasksAreNamed) {
  make_windows(7);
  run_all();
  expect_stop(extract({"--contrast", "0.01"}),
              {"w100.jpg: its features were extracted with other options: contrast 0.02 then and "
               "0.01 now",
               "and 2 more", "7 images are not what"});
  expect_stop(extract({"--max-features", "100"}), {"--max-points 8192 then and 100 now"});
  fs::create_directories(folder / "masks");
  Image<std::uint8_t> mask(160, 120);
  for (int i = 0; i < 160 * 120; ++i) mask(i % 160, i / 160) = i % 160 < 80 ? 255 : 0;
  write_image(folder / "masks/w100.jpg.png", mask);
  expect_stop(extract({"--mask", folder / "masks"}), {"w100.jpg: its features were extracted "
                                                      "without a mask"});
  EXPECT_EQ(json_of(extract({"--mask", folder / "masks", "--changed", "redo"}))["redone"], 1);
  expect_stop(extract(), {"w100.jpg: its features were extracted with a mask"});
  std::vector<std::string> spoken = {"extract", images,           "--db",     database,
                                     "--mask",  folder / "masks", "--device", "cpu"};
  const Outcome unchanged = run(spoken);
  EXPECT_NE(unchanged.out.find("\n1 image with a mask\n"), std::string::npos) << unchanged.out;
  mask(0, 0) = 0;
  write_image(folder / "masks/w100.jpg.png", mask);
  touch(folder / "masks/w100.jpg.png");
  expect_stop(extract({"--mask", folder / "masks"}), {"w100.jpg: its mask changed"});
  EXPECT_EQ(json_of(extract({"--contrast", "0.01", "--changed", "redo"}))["redone"], 7);
  ASSERT_EQ(run(on_database("match-all")).code, 0);
  ASSERT_EQ(run(on_database("verify")).code, 0);
  expect_as_if_new({"--contrast", "0.01"});
}

TEST_F(Changes, OtherOptionsOfPairsAreNamed) {
  make_windows(4);
  run_all();
  expect_stop(on_database("match-all", {"--ratio", "0.9"}),
              {"of the 6 pairs", "ratio 0.8", "0.9", "--changed redo"});
  expect_stop(on_database("verify", {"--min-inliers", "20"}),
              {"--min-inliers 15 then and 20 now", "--changed keep"});
  EXPECT_EQ(json_of(on_database("match-all", {"--ratio", "0.9", "--changed", "keep"}))["skipped"],
            6);
  EXPECT_EQ(json_of(on_database("verify", {"--threshold", "2", "--changed", "redo"}))["redone"], 6);
  EXPECT_EQ(json_of(on_database("verify", {"--threshold", "2"}))["skipped"], 6);
  EXPECT_EQ(json_of(on_database("match-all", {"--ratio", "0.9", "--changed", "redo"}))["matched"],
            6);
  EXPECT_EQ(rows_in(database, "two_view_geometries"), 0);
  EXPECT_EQ(json_of(on_database("match-all", {"--ratio", "0.9"}))["skipped"], 6);
  // And back.
  EXPECT_EQ(json_of(on_database("match-all", {"--redo"}))["redone"], 6);
  ASSERT_EQ(run(on_database("verify")).code, 0);
  expect_as_if_new();
}

TEST_F(Changes, RedoDoesAStepAgain) {
  make_windows(4);
  run_all();
  const auto before = dump(database);
  // As if something had gone wrong with them that no record tells.
  change("UPDATE two_view_geometries SET config = 3, rows = 0, data = NULL");
  EXPECT_EQ(json_of(on_database("verify", {"--redo"}))["redone"], 6);
  EXPECT_TRUE(dump(database) == before);
  change("UPDATE matches SET rows = 0, data = NULL");
  EXPECT_EQ(json_of(on_database("match-all", {"--redo"}))["matched"], 6);
  EXPECT_EQ(rows_in(database, "two_view_geometries"), 0);
  EXPECT_EQ(json_of(on_database("verify"))["skipped"], 0);
  EXPECT_TRUE(dump(database) == before);
  change("UPDATE keypoints SET data = zeroblob(length(data))");
  EXPECT_EQ(json_of(extract({"--redo"}))["redone"], 4);
  EXPECT_EQ(rows_in(database, "matches"), 0);
  ASSERT_EQ(run(on_database("match-all")).code, 0);
  ASSERT_EQ(run(on_database("verify")).code, 0);
  EXPECT_TRUE(dump(database) == before);
  // Of some pairs only, the others stay.
  write_bytes(folder / "list.txt", "w100.jpg w101.png\n");
  EXPECT_EQ(json_of(on_database("match-all", {"--redo", "--pairs", folder / "list.txt"}))["redone"],
            1);
  EXPECT_EQ(rows_in(database, "two_view_geometries"), 5);
  ASSERT_EQ(run(on_database("verify")).code, 0);
  EXPECT_TRUE(dump(database) == before);
}

TEST_F(Changes, DatabasesWithoutARecordAreTakenAsTheyAre) {
  make_windows(3);
  run_all();
  change("DROP TABLE cornea_images; DROP TABLE cornea_steps");
  touch(images / "w100.jpg");
  write_image(images / "x.png", window(160, 120, 30, 60));
  const Json json = json_of(extract({"--contrast", "0.01"}));
  EXPECT_EQ(json["unrecorded"], 3);
  EXPECT_EQ(json["extracted"], 1);
  EXPECT_EQ(json_of(on_database("match-all", {"--ratio", "0.9"}))["matched"], 3);
  EXPECT_EQ(json_of(on_database("verify", {"--threshold", "2"}))["skipped"], 3);
  // Points of another program in the place of ours are not ours.
  change("UPDATE keypoints SET rows = 1, cols = 2, data = zeroblob(8) WHERE image_id = 4");
  write_image(images / "x.png", window(160, 120, 90, 60));
  touch(images / "x.png");
  EXPECT_EQ(json_of(extract())["unrecorded"], 4);
}

// Rows that cannot be, and the words that name them. All other pairs are verified.
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
    float points = 0;  // other than 0: the positions of image 2
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
    if (c.points != 0) set_points(2, c.points);
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
    // A pair of such an image, as a program that does not look makes it.
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
  // The advice works.
  EXPECT_EQ(json_of(extract({"--redo"}))["redone"], 4);
  EXPECT_EQ(json_of(on_database("match-all"))["matched"], 6);
}

TEST_F(Changes, PairsOfImagesThatAreGoneAreNamedAndKept) {
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

TEST_F(Changes, AnInterruptedRunSaysWhatIsKeptAndLeavesNoLog) {
  make_windows(24);
  core::Random random(5);
  for (const char* command : {"extract", "match-all", "verify"}) {
    SCOPED_TRACE(command);
    const bool first = std::string(command) == "extract";
    const fs::path before = folder / "before.db", expected = folder / "expected.db";
    if (!first) fs::copy_file(database, before, fs::copy_options::overwrite_existing);
    const auto arguments = first ? extract() : on_database(command);
    const Outcome undisturbed = run(arguments);
    ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
    EXPECT_FALSE(has_log());
    fs::copy_file(database, expected, fs::copy_options::overwrite_existing);
    int interrupted = 0;
    for (int i = 0; i < 60 && interrupted < 3; ++i) {
      fs::remove(database);
      if (!first) fs::copy_file(before, database);
      const bool term = interrupted == 1;
      const Outcome o =
          run(arguments, random.uniform() * undisturbed.milliseconds, term ? SIGTERM : SIGINT);
      EXPECT_FALSE(has_log());
      if (o.killed || o.code == 0) continue;  // before it began, after it ended
      ++interrupted;
      EXPECT_EQ(o.code, term ? 143 : 130) << o.err;
      EXPECT_NE(o.err.find(" and kept in " + database.string() + "; the same command goes on"),
                std::string::npos)
          << o.err;
      EXPECT_EQ(Json::parse(o.out)["stopped"], true);
      ASSERT_EQ(run(arguments).code, 0);
      EXPECT_FALSE(has_log());
      expect_same_database(database, expected);
    }
    EXPECT_EQ(interrupted, 3);
  }
}

TEST_F(Changes, WhatIsNotTakenIsCountedAndNamed) {
  make_windows(2);
  fs::create_directories(images / ".thumbnails");
  write_image(images / ".thumbnails/w100.jpg", window(20, 20, 0, 0));
  for (const char* name : {"._w100.jpg", "IMG_1.HEIC", "raw.CR2", "b.gif", "notes.txt"}) {
    write_bytes(images / name, "no picture");
  }
  // Its first bytes tell a file's format; its name whether it is an image of the folder.
  fs::copy_file(images / "w101.png", images / "z.webp");
  const int ignored = kHasWebp ? 4 : 5;
  std::vector<std::string> arguments = {"extract", images, "--db", database, "--device", "cpu"};
  const Outcome o = run(arguments);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find(text(ignored,
                            " files passed over, not of a format that is taken: "
                            "._w100.jpg, IMG_1.HEIC, b.gif and ")),
            std::string::npos)
      << o.out;
  std::vector<std::string> taken = {"w100.jpg", "w101.png"};
  if (kHasWebp) taken.push_back("z.webp");
  EXPECT_EQ(names(), taken);
  EXPECT_EQ(json_of(extract())["ignored"], ignored);
}

TEST_F(Changes, SummariesSayWhatIsNewAndWhatIsThere) {
  make_windows(9, 320, 240);
  auto spoken = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--db", database, "--device", "cpu"});
    return run(arguments).out;
  };
  auto expect_begin = [](const std::string& out, const std::string& begin) {
    EXPECT_TRUE(out.starts_with(begin)) << out;
  };
  const std::string first = spoken({"extract", images});
  const std::int64_t features = colmap::Database(database).total("keypoints");
  ASSERT_GT(features, 1000);
  const std::string with_comma =
      text(features / 1000, ",", std::to_string(1000 + features % 1000).substr(1));
  expect_begin(first, "9 images: 9 new, 0 already there, 0 failed; the database holds " +
                          with_comma + " features\n");
  expect_begin(spoken({"extract", images}),
               "9 images: 0 new, 9 already there, 0 failed; the database holds " + with_comma);
  expect_begin(spoken({"match-all"}),
               "36 pairs of 9 images: 36 new, 0 already there, 0 without features; the database "
               "holds ");
  expect_begin(spoken({"match-all"}), "36 pairs of 9 images: 0 new, 36 already there");
  expect_begin(spoken({"verify"}), "36 pairs: 36 new (");
  const std::string verified = spoken({"verify"});
  expect_begin(verified, "36 pairs: 0 new (0 general");
  EXPECT_NE(verified.find("), 36 already there, 0 left out; the database holds "),
            std::string::npos)
      << verified;
}

// Columns of a line on a terminal: bytes that do not continue a character of UTF-8.
int columns_of(const std::string& line) {
  return int(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

TEST_F(Changes, TheProgressBarFitsItsTerminal) {
  make_windows(12);
  for (const int width : {8, 20, 32, 60, 200}) {
    SCOPED_TRACE(width);
    fs::remove(database);
    winsize size = {};
    size.ws_col = static_cast<unsigned short>(width);
    size.ws_row = 24;
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
      execl(CORNEA_PROGRAM, CORNEA_PROGRAM, "extract", images.c_str(), "--db", database.c_str(),
            "--device", "cpu", "--json", "-", nullptr);
      _exit(127);
    }
    std::string said;
    char bytes[4096];
    for (ssize_t count; (count = read(terminal, bytes, sizeof bytes)) > 0;) {
      said.append(bytes, std::size_t(count));
    }
    int status = 0;
    waitpid(child, &status, 0);
    close(terminal);
    EXPECT_EQ(WEXITSTATUS(status), 0) << said;
    int bars = 0;
    const std::string begin = "\r\033[K";
    for (std::size_t at = said.find(begin); at != std::string::npos;) {
      const std::size_t next = said.find('\r', at + 1);
      const std::string line = said.substr(at + begin.size(), next - at - begin.size());
      if (line.starts_with("extrac")) {
        ++bars;
        EXPECT_LT(columns_of(line), width) << line;
      }
      at = said.find(begin, at + 1);
    }
    EXPECT_GE(bars, 2);
  }
}

}  // namespace
}  // namespace cornea
