// Photographs, masks and options that are no longer those of the last run: the program names them,
// stops, and does again what is asked for.
#include "changes_testing.h"

namespace cornea {
namespace {

using namespace testing;

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
  EXPECT_EQ(json_of(extract({"--changed", "keep"}))["vanished"], 1);
  EXPECT_EQ(json_of(extract({"--changed", "redo"}))["vanished"], 1);
  EXPECT_EQ(rows_in(database, "images"), 2);
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

}  // namespace
}  // namespace cornea
