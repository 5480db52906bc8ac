// SPDX-License-Identifier: Apache-2.0
// Tests with COLMAP databases that other programs wrote, extended or damaged: columns and frames of
// COLMAP 4.x, files of another kind, and rows with invalid contents.
#include <unistd.h>

#include "cornea/export/colmap/database_testing.h"
#include "cornea/export/colmap/transfer.h"
#include "cornea/io/file_testing.h"

namespace cornea::colmap {
namespace {

using cornea::testing::expect_error;

TEST_F(ColmapDatabase, OtherFilesAreRefusedByName) {
  expect_error(ErrorCode::io, "c.db: there is no such database", [&] { Database d(file); });
  expect_error(ErrorCode::io, "is a folder", [&] { Database d(folder.path()); });
  testing::write_bytes(folder / "text.db", testing::bytes_of_text(std::string(5000, 'x')));
  expect_error(ErrorCode::io, "text.db: is not an SQLite database",
               [&] { Database d(folder / "text.db", Database::Open::create); });
  testing::change_file(folder / "other.db", "CREATE TABLE people(name TEXT)");
  expect_error(ErrorCode::io, "other.db: is a database of another kind",
               [&] { Database d(folder / "other.db", Database::Open::create); });
  expect_error(ErrorCode::io, "cannot be opened or created",
               [&] { Database d(folder / "missing/c.db", Database::Open::create); });
}

TEST_F(ColmapDatabase, AMissingPartIsNamedAndNotCreated) {
  Database database = create();
  const std::filesystem::path part = folder / "part.db";
  expect_error(ErrorCode::io, "part.db: is missing", [&] { Attached attached(database, part); });
  EXPECT_FALSE(std::filesystem::exists(part));
}

TEST_F(ColmapDatabase, AFolderThatMayNotBeEnteredIsNotCalledMissing) {
  if (geteuid() == 0) GTEST_SKIP() << "root may enter every folder";
  { create(); }
  std::filesystem::permissions(folder.path(), std::filesystem::perms::none);
  expect_error(ErrorCode::io, "Permission denied", [&] { Database d(file); });
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

// COLMAP 4.x adds columns and tables to a database that it opens.
TEST_F(ColmapDatabase, AcceptsTheColumnsOfColmap4) {
  { create(); }
  change(
      "DROP TABLE descriptors; CREATE TABLE descriptors(image_id INTEGER PRIMARY "
      "KEY NOT NULL, type INTEGER NOT NULL, rows INTEGER NOT NULL, cols INTEGER "
      "NOT NULL, data BLOB); CREATE TABLE rigs(rig_id INTEGER); PRAGMA "
      "user_version = 4010000");
  Features features;
  features.keypoints.resize(1);
  features.descriptors.resize(128, 7);
  {
    Database database = create();
    add_images(database, 1);
    Database::Transaction transaction(database);
    database.write_features(1, features);
    transaction.commit();
    std::vector<std::uint8_t> descriptors;
    EXPECT_EQ(database.read_descriptors(1, descriptors), 1);
    EXPECT_EQ(descriptors, features.descriptors);
  }
  EXPECT_EQ(value("SELECT type || ' ' || rows || ' ' || cols FROM descriptors"), "0 1 128");
  EXPECT_EQ(value("PRAGMA user_version"), "4010000");
}

// COLMAP 4.x requires frames for all images of a database that has frames.
TEST_F(ColmapDatabase, GivesNewImagesFramesIfTheOldHaveThem) {
  {
    Database database = create();
    add_images(database, 2);
  }
  change(
      "CREATE TABLE rigs(rig_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, "
      "ref_sensor_id INTEGER NOT NULL, ref_sensor_type INTEGER NOT NULL);"
      "CREATE TABLE rig_sensors(rig_id INTEGER NOT NULL, sensor_id INTEGER NOT "
      "NULL, sensor_type INTEGER NOT NULL, sensor_from_rig BLOB);"
      "CREATE TABLE frames(frame_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, "
      "rig_id INTEGER NOT NULL);"
      "CREATE TABLE frame_data(frame_id INTEGER NOT NULL, data_id INTEGER NOT "
      "NULL, sensor_id INTEGER NOT NULL, sensor_type INTEGER NOT NULL);"
      "INSERT INTO rigs VALUES(7, 1, 0); INSERT INTO frames VALUES(9, 7);"
      "INSERT INTO rig_sensors VALUES(7, 2, 0, NULL);"
      "INSERT INTO frame_data VALUES(9, 1, 1, 0), (9, 2, 2, 0)");
  {
    Database database = create();
    Database::Transaction transaction(database);
    database.add_image("of the first camera", 1);
    database.add_image("of the second", 2);
    database.add_image("of its own", database.add_camera(camera_of_image(640, 480, {})));
    transaction.commit();
    EXPECT_EQ(database.image_named("of the second"), 4);
    EXPECT_FALSE(database.image_named("of nobody"));
  }
  const char* frames =
      "SELECT group_concat(f.frame_id || ':' || rig_id || ':' || data_id || ':' || sensor_id || "
      "':' "
      "|| sensor_type) FROM frames f JOIN frame_data USING(frame_id)";
  EXPECT_EQ(value(frames), "9:7:1:1:0,9:7:2:2:0,10:7:3:1:0,11:7:4:2:0,12:8:5:3:0");
  EXPECT_EQ(value("SELECT ref_sensor_id || ' ' || ref_sensor_type FROM rigs WHERE rig_id = 8"),
            "3 0");
  {
    Database database = create();
    Database::Transaction transaction(database);
    database.delete_image(2);  // one of two images in its frame
    database.delete_image(5);  // alone in its frame and rig
    transaction.commit();
    EXPECT_EQ(database.count("cameras"), 2);
  }
  EXPECT_EQ(value(frames), "9:7:1:1:0,10:7:3:1:0,11:7:4:2:0");
  EXPECT_EQ(value("SELECT group_concat(rig_id) FROM rigs"), "7");
}

TEST_F(ColmapDatabase, OnlySiftsDescriptorsAreCounted) {
  Database database = create();
  add_images(database, 2);
  change(
      "INSERT INTO keypoints VALUES(1, 1, 2, x'0000000000000000'), (2, 0, 2, NULL);"
      "INSERT INTO descriptors VALUES(1, 1, 512, zeroblob(512))");
  EXPECT_EQ(database.point_counts().size(), 2u);
  expect_error(ErrorCode::io, "descriptors of 512 bytes", [&] { database.descriptor_counts(); });
}

TEST_F(ColmapDatabase, BlobsOfAnotherLengthAreDamage) {
  Database database = create();
  add_images(database, 2);
  Database::Transaction transaction(database);
  database.write_matches({1, 2}, std::vector<IndexPair>{{0, 1}, {2, 3}});
  transaction.commit();
  change("UPDATE matches SET rows = 3");
  change("INSERT INTO keypoints VALUES(1, 9223372036854775807, 6, x'00')");
  expect_error(ErrorCode::io, "matches should have 3 values", [&] {
    database.matches(pair_id({1, 2}));
  });
  expect_error(ErrorCode::io, "numbers; 2, 4 or 6 per point", [&] { database.points(1); });
  for (int columns : {3, 5}) {
    change("UPDATE keypoints SET rows = 0, data = NULL, cols = " + std::to_string(columns));
    expect_error(ErrorCode::io, "numbers; 2, 4 or 6 per point", [&] { database.points(1); });
  }
  for (int columns : {0, 3, 5, 7}) {
    ForeignFeatures features;
    features.columns = columns;
    EXPECT_THROW(database.write_foreign_features(1, features), Error) << columns;
  }
}

TEST_F(ColmapDatabase, FeaturesOfAnotherLengthAreNotWritten) {
  Database database = create();
  add_images(database, 1);
  Features without_descriptors;
  without_descriptors.keypoints = {{10, 10, 2, 0, 1, 0}};
  EXPECT_THROW(database.write_features(1, without_descriptors), Error);
  ForeignFeatures features;
  features.columns = 2;
  features.keypoints = {1, 2, 3};
  EXPECT_THROW(database.write_foreign_features(1, features), Error);
  features.keypoints = {1, 2};
  features.descriptor_bytes = 128;
  features.descriptors.resize(100);
  EXPECT_THROW(database.write_foreign_features(1, features), Error);
  EXPECT_EQ(value("SELECT count(*) FROM keypoints"), "0");
  features.descriptors.resize(128);
  database.write_foreign_features(1, features);
  EXPECT_EQ(database.points(1).size(), 1u);
}

// A pair_id of such images is not unique, or does not fit into 64 bits.
TEST_F(ColmapDatabase, ImageIdsThatDoNotFitAPairIdAreDamage) {
  for (const char* id : {"9223372036854775807", "2147483647", "-1"}) {
    SCOPED_TRACE(id);
    std::filesystem::remove(file);
    Database database = create();
    const std::string sql =
        text("PRAGMA ignore_check_constraints = ON; INSERT INTO images(image_id, ",
             "name, camera_id) VALUES(", id, ", 'a', 1);", "INSERT INTO keypoints VALUES(", id,
             ", 0, 6, NULL);", "INSERT INTO descriptors VALUES(", id, ", 0, 128, NULL)");
    change(sql);
    expect_error(ErrorCode::io, text("image a has the id ", id), [&] { database.images(); });
    // With `refused` they are left out and named once.
    std::vector<std::string> refused;
    EXPECT_TRUE(database.images(&refused).empty());
    EXPECT_TRUE(database.point_counts(&refused).empty());
    EXPECT_TRUE(database.descriptor_counts(&refused).empty());
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_TRUE(refused[0].starts_with(text("a: has the id ", id))) << refused[0];
  }
  expect_error(ErrorCode::invalid_argument, "ids of images", [] { pair_id({1, kMostImages}); });
  expect_error(ErrorCode::invalid_argument, "ids of images", [] { pair_id({-1, 1}); });
}

TEST_F(ColmapDatabase, DescriptorCountsWhoseProductOverflowsAreDamage) {
  Database database = create();
  add_images(database, 3);
  change(
      "INSERT INTO descriptors VALUES(1, 4294967296, 4294967296, NULL),"
      "(2, -1, -128, zeroblob(128)), (3, 72057594037927936, 128, NULL)");
  std::vector<std::uint8_t> bytes;
  for (const Id image : {1, 2, 3}) {
    expect_error(ErrorCode::io, text("image ", image, " has descriptors of "),
                 [&] { database.read_descriptors(image, bytes); });
  }
  EXPECT_TRUE(bytes.empty());
}

}  // namespace
}  // namespace cornea::colmap
