// SPDX-License-Identifier: Apache-2.0
// Tests with photographs, masks and options that have changed since the last run: the program names
// them, stops, and redoes what is asked for.
#include "changes_testing.h"

namespace cornea {
namespace {

using namespace testing;

// A mask for the images of make_windows().
Image<std::uint8_t> left_half() {
  Image<std::uint8_t> mask(160, 120);
  for (int i = 0; i < 160 * 120; ++i) mask(i % 160, i / 160) = i % 160 < 80 ? 255 : 0;
  return mask;
}

TEST_F(Changes, APhotographThatChangedIsNamedAndDoneAgainIfAsked) {
  make_windows(4);
  run_all();
  write_image(images / "w101.png", window(160, 120, 500, 40));
  touch(images / "w101.png");
  expect_stop(extract(), {"w101.png: its file changed", "1 image has changed", "--changed redo",
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
  EXPECT_EQ(rows_in(database, "matches"), 3);  // those of the other images
  EXPECT_EQ(rows_in(database, "two_view_geometries"), 3);
  EXPECT_EQ(json_of(extract())["skipped"], 4);
  EXPECT_EQ(json_of(on_database("match-all"))["matched"], 3);
  EXPECT_EQ(json_of(on_database("verify"))["skipped"], 3);
  expect_as_if_new();
}

// Every kind of change of the bytes is noticed, even with the old time or the old size.
TEST_F(Changes, SizeTimeAndBytesAreCompared) {
  make_windows(2);
  ASSERT_EQ(run(extract()).code, 0);
  const fs::path file = images / "w100.jpg";
  const auto time = fs::last_write_time(file);
  const std::string bytes = read_text(file);
  write_bytes(file, bytes + "!");  // one more byte, with the same time
  fs::last_write_time(file, time);
  expect_stop(extract(), {"w100.jpg: its file changed", text(bytes.size() + 1, " now")});
  std::string other = bytes;  // one byte differs, with another time
  other.back() = char(other.back() ^ 1);
  write_bytes(file, other);
  fs::last_write_time(file, time + std::chrono::seconds(1));
  expect_stop(extract(), {"w100.jpg: its file changed"});
  write_bytes(file, bytes);
  fs::last_write_time(file, time + std::chrono::seconds(2));
  EXPECT_EQ(json_of(extract())["changed"], 0);
  fs::remove(file);
  expect_stop(extract(), {"w100.jpg: is in the database but no longer in the folder"});
}

TEST_F(Changes, VanishedImagesAreNamedAndRemovedIfAsked) {
  make_windows(5);
  run_all();
  fs::remove(images / "w100.jpg");
  fs::rename(images / "w103.png", images / "x.png");
  expect_stop(extract(), {"w100.jpg: is in the database but no longer in the folder",
                          "w103.png: is in the database but no longer in the folder",
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
  // Those of the three remaining images.
  EXPECT_EQ(rows_in(database, "matches"), 3);
  EXPECT_EQ(rows_in(database, "two_view_geometries"), 3);
  EXPECT_EQ(json_of(extract())["vanished"], 0);
  EXPECT_EQ(json_of(on_database("match-all"))["matched"], 3);
  EXPECT_EQ(run(on_database("verify")).code, 0);
  // A repeated step leaves nothing of a vanished image either, and the single camera stays.
  fs::remove(database);
  ASSERT_EQ(run(extract({"--single-camera"})).code, 0);
  fs::remove(images / "x.png");
  EXPECT_EQ(json_of(extract({"--redo", "--single-camera"}))["removed"], 1);
  EXPECT_EQ(rows_in(database, "images"), 3);
  EXPECT_EQ(rows_in(database, "cameras"), 1);
}

// A folder that was moved as a whole, and one that is somewhere else.
TEST_F(Changes, OnlyMissingFilesCountAsVanished) {
  make_windows(3);
  run_all();
  const fs::path other = folder / "other", moved = folder / "moved";
  fs::create_directories(other);
  write_image(other / "o.png", window(160, 120, 40, 80));
  EXPECT_EQ(json_of(extract_from(other, {"--changed", "redo"}))["removed"], 0);
  EXPECT_EQ(rows_in(database, "images"), 4);
  fs::rename(images, moved);
  fs::remove(moved / "w102.jpg");
  expect_stop(extract_from(moved), {"w102.jpg: is in the database but no longer in the folder",
                                    ": 1 image is no longer in the folder, and"});
  EXPECT_EQ(json_of(extract_from(moved, {"--changed", "keep"}))["vanished"], 1);
  EXPECT_EQ(json_of(extract_from(moved, {"--changed", "redo"}))["removed"], 1);
  EXPECT_EQ(names(), (std::vector<std::string>{"w100.jpg", "w101.png", "o.png"}));
}

// Features of different options would be matched with each other, whatever folder they are from.
TEST_F(Changes, OtherOptionsOfAnotherFolderAreNamed) {
  make_windows(3);
  fs::create_directories(folder / "masks");
  Image<std::uint8_t> mask = left_half();
  run_all();
  const fs::path other = folder / "other";
  fs::create_directories(other);
  write_image(other / "o.png", window(160, 120, 40, 80));
  expect_stop(extract_from(other, {"--no-root"}),
              {"w100.jpg: its features were extracted with other options: root yes then and no "
               "now",
               "3 images of other folders have features that were extracted with other options",
               "--changed keep"});
  const fs::path before = folder / "before.db";
  fs::copy_file(database, before);
  const Json kept = json_of(extract_from(other, {"--no-root", "--changed", "keep"}));
  EXPECT_EQ(kept["extracted"], 1);
  EXPECT_EQ(kept["elsewhere"], 3);
  EXPECT_EQ(rows_in(database, "matches"), 3);
  expect_stop(extract(), {"o.png: its features were extracted with other options"});
  // Extracted again from their own folder, they equal what that folder gives with these options.
  fs::copy_file(before, database, fs::copy_options::overwrite_existing);
  const Json redone = json_of(extract_from(other, {"--no-root", "--changed", "redo"}));
  EXPECT_EQ(redone["extracted"], 4);
  EXPECT_EQ(redone["redone"], 3);
  EXPECT_EQ(rows_in(database, "matches"), 0);
  EXPECT_EQ(json_of(extract({"--no-root"}))["skipped"], 3);
  EXPECT_EQ(json_of(extract_from(other, {"--no-root"}))["skipped"], 1);
  const fs::path found = folder / "found.db";
  fs::rename(database, found);
  ASSERT_EQ(run(extract({"--no-root"})).code, 0);
  ASSERT_EQ(run(extract_from(other, {"--no-root"})).code, 0);
  EXPECT_TRUE(dump(found).at("descriptors") == dump(database).at("descriptors"));
  EXPECT_TRUE(dump(found).at("cornea_images") == dump(database).at("cornea_images"));
  // A mask that is not known here, and a file that vanished with its folder.
  write_image(folder / "masks/w100.jpg.png", mask);
  ASSERT_EQ(run(extract({"--redo", "--mask", folder / "masks"})).code, 0);
  fs::remove(images / "w101.png");
  const Json failed = json_of(extract_from(other, {"--redo", "--no-root"}), 1);
  EXPECT_EQ(failed["redone"], 2);
  EXPECT_EQ(failed["failed"], 2);
  EXPECT_NE(last_error.find("w100.jpg: its features were extracted with a mask, and none is given"),
            std::string::npos)
      << last_error;
}

TEST_F(Changes, ATouchedOrCopiedFileIsUnchanged) {
  make_windows(3);
  run_all();
  touch(images / "w100.jpg");
  EXPECT_EQ(json_of(extract())["skipped"], 3);
  const fs::path moved = folder / "moved";
  fs::rename(images, moved);
  EXPECT_EQ(json_of(extract_from(moved))["skipped"], 3);
  // The new location is recorded.
  write_image(moved / "w100.jpg", window(160, 120, 900, 0));
  touch(moved / "w100.jpg");
  expect_stop(extract_from(moved), {"w100.jpg: its file changed"});
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
  expect_stop(extract_from(other), {"w100.jpg: is not the same file as the one of this name in " +
                                        fs::canonical(images).string(),
                                    "2 images have changed"});
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
  // If other images share the camera, replacing it would be wrong for them.
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
               "and 2 more", "7 images have changed"});
  expect_stop(extract({"--max-features", "100"}), {"--max-points 8192 then and 100 now"});
  fs::create_directories(folder / "masks");
  Image<std::uint8_t> mask = left_half();
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
  // And back again.
  EXPECT_EQ(json_of(on_database("match-all", {"--redo"}))["redone"], 6);
  ASSERT_EQ(run(on_database("verify")).code, 0);
  expect_as_if_new();
}

TEST_F(Changes, RedoDoesAStepAgain) {
  make_windows(4);
  run_all();
  const auto before = dump(database);
  // As if the rows had been damaged in a way that no record shows.
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
  // Only some pairs are redone; the others stay.
  write_bytes(folder / "list.txt", "w100.jpg w101.png\n");
  EXPECT_EQ(json_of(on_database("match-all", {"--redo", "--pairs", folder / "list.txt"}))["redone"],
            1);
  EXPECT_EQ(rows_in(database, "two_view_geometries"), 5);
  ASSERT_EQ(run(on_database("verify")).code, 0);
  EXPECT_TRUE(dump(database) == before);
}

TEST_F(Changes, DatabasesWithoutARecordAreNotCompared) {
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
  // Points that another program wrote in place of ours are not ours.
  change("UPDATE keypoints SET rows = 1, cols = 2, data = zeroblob(8) WHERE image_id = 4");
  write_image(images / "x.png", window(160, 120, 90, 60));
  touch(images / "x.png");
  EXPECT_EQ(json_of(extract())["unrecorded"], 4);
}

}  // namespace
}  // namespace cornea
