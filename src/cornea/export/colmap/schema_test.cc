// SPDX-License-Identifier: Apache-2.0
// Tests of the tables of a new database, of pose priors in each of their layouts, and of features
// of other programs.
#include <cmath>

#include "cornea/export/colmap/database_testing.h"
#include "cornea/export/colmap/intrinsics.h"
#include "cornea/io/file_testing.h"

namespace cornea::colmap {
namespace {

using cornea::testing::expect_error;

class ColmapSchema : public ColmapDatabase {
 protected:
  Database create_4() { return Database(file, Database::Open::create, Schema::colmap_4); }
  // "name type not-null primary-key" of each column.
  std::string columns(const std::string& table) const {
    return value(
        "SELECT group_concat(name || ' ' || type || ' ' || \"notnull\" || ' ' || pk, ', ') "
        "FROM pragma_table_info('" +
        table + "')");
  }
  std::string doubles(const std::string& column) const {
    const std::string hex = value("SELECT hex(" + column + ") FROM pose_priors");
    std::string all;
    for (std::size_t at = 0; at + 16 <= hex.size(); at += 16) {
      std::uint64_t bits = 0;
      for (int byte = 7; byte >= 0; --byte) {
        bits = bits << 8 | std::stoul(hex.substr(at + 2 * std::size_t(byte), 2), nullptr, 16);
      }
      const auto number = std::bit_cast<double>(bits);
      all += std::isnan(number) ? " nan" : text(" ", number);
    }
    return all;
  }
};

TEST_F(ColmapSchema, IsColmap38UnlessAskedOtherwise) {
  EXPECT_EQ(create().schema(), Schema::colmap_3_8);
  EXPECT_EQ(value("PRAGMA user_version"), "3800");
  EXPECT_EQ(columns("images"),
            "image_id INTEGER 1 1, name TEXT 1 0, camera_id INTEGER 1 0, prior_qw REAL 0 0, "
            "prior_qx REAL 0 0, prior_qy REAL 0 0, prior_qz REAL 0 0, prior_tx REAL 0 0, "
            "prior_ty REAL 0 0, prior_tz REAL 0 0");
  EXPECT_EQ(value("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
                  "'sqlite%' AND name NOT LIKE 'cornea%'"),
            "6");
}

TEST_F(ColmapSchema, HasTheTablesOfColmap421IfAsked) {
  EXPECT_EQ(create_4().schema(), Schema::colmap_4);
  EXPECT_EQ(value("PRAGMA user_version"), "4020100");
  EXPECT_EQ(value("SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = "
                  "'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'cornea%' ORDER BY name)"),
            "cameras,descriptors,frame_data,frames,images,keypoints,matches,pose_priors,"
            "rig_sensors,rigs,two_view_geometries");
  EXPECT_EQ(value("SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = "
                  "'index' AND name NOT LIKE 'sqlite%' ORDER BY name)"),
            "frame_sensor_assignment,index_name,pose_prior_data_assignment,"
            "rig_ref_sensor_assignment,rig_sensor_assignment");
  const std::string blob = "rows INTEGER 1 0, cols INTEGER 1 0, data BLOB 0 0";
  const std::string id = " INTEGER 1 1, ";
  EXPECT_EQ(columns("cameras"), "camera_id" + id +
                                    "model INTEGER 1 0, width INTEGER 1 0, height INTEGER 1 0, "
                                    "params BLOB 0 0, prior_focal_length INTEGER 1 0");
  EXPECT_EQ(columns("images"), "image_id" + id + "name TEXT 1 0, camera_id INTEGER 1 0");
  EXPECT_EQ(columns("keypoints"), "image_id" + id + blob);
  EXPECT_EQ(columns("descriptors"), "image_id" + id + "type INTEGER 1 0, " + blob);
  EXPECT_EQ(columns("matches"), "pair_id" + id + blob);
  EXPECT_EQ(columns("two_view_geometries"),
            "pair_id" + id + blob +
                ", config INTEGER 1 0, F BLOB 0 0, E BLOB 0 0, H BLOB 0 0, qvec BLOB 0 0, "
                "tvec BLOB 0 0, camera1 BLOB 0 0, camera2 BLOB 0 0");
  EXPECT_EQ(columns("pose_priors"),
            "pose_prior_id" + id +
                "corr_data_id INTEGER 1 0, corr_sensor_id INTEGER 1 0, corr_sensor_type INTEGER 1 "
                "0, position BLOB 0 0, position_covariance BLOB 0 0, gravity BLOB 0 0, "
                "coordinate_system INTEGER 1 0");
  EXPECT_EQ(columns("rigs"),
            "rig_id" + id + "ref_sensor_id INTEGER 1 0, ref_sensor_type INTEGER 1 0");
  EXPECT_EQ(columns("rig_sensors"),
            "rig_id INTEGER 1 0, sensor_id INTEGER 1 0, sensor_type INTEGER 1 0, sensor_from_rig "
            "BLOB 0 0");
  EXPECT_EQ(columns("frames"), "frame_id" + id + "rig_id INTEGER 1 0");
  EXPECT_EQ(columns("frame_data"),
            "frame_id INTEGER 1 0, data_id INTEGER 1 0, sensor_id INTEGER 1 0, sensor_type INTEGER "
            "1 0");
}

TEST_F(ColmapSchema, OfAnExistingFileIsKeptAndAnotherIsRefused) {
  { create_4(); }
  EXPECT_EQ(create().schema(), Schema::colmap_4);
  EXPECT_EQ(create_4().schema(), Schema::colmap_4);
  EXPECT_EQ(value("PRAGMA user_version"), "4020100");
  expect_error(ErrorCode::invalid_argument, "c.db: has the tables of COLMAP 4 already",
               [&] { Database d(file, Database::Open::create, Schema::colmap_3_8); });
  std::filesystem::remove(file);
  { create(); }
  expect_error(ErrorCode::invalid_argument, "c.db: has the tables of COLMAP 3 already",
               [&] { create_4(); });
}

TEST_F(ColmapSchema, NewImagesOfColmap4HaveRigsAndFrames) {
  {
    Database database = create_4();
    add_images(database, 2);
    Database::Transaction transaction(database);
    database.add_image("of the first camera", 1);
    transaction.commit();
  }
  EXPECT_EQ(value("SELECT group_concat(f.frame_id || ':' || rig_id || ':' || data_id || ':' || "
                  "sensor_id || ':' || sensor_type) FROM frames f JOIN frame_data USING(frame_id)"),
            "1:1:1:1:0,2:2:2:2:0,3:1:3:1:0");
  EXPECT_EQ(value("SELECT group_concat(rig_id || ':' || ref_sensor_id || ':' || ref_sensor_type) "
                  "FROM rigs"),
            "1:1:0,2:2:0");
}

const PosePrior kPlace = {.position = {{48.5, -11.25, 519.5}}, .gravity = {{0, 1, 0}}};

TEST_F(ColmapSchema, PosePriorsAreThoseOfColmap4) {
  Database database = create_4();
  add_images(database, 3);
  ASSERT_TRUE(database.has_pose_priors());
  Database::Transaction transaction(database);
  EXPECT_TRUE(database.write_pose_prior(2, kPlace));
  EXPECT_FALSE(database.write_pose_prior(3, {}));
  transaction.commit();
  EXPECT_EQ(value("SELECT group_concat(pose_prior_id || ':' || corr_data_id || ':' || "
                  "corr_sensor_id || ':' || corr_sensor_type || ':' || coordinate_system) FROM "
                  "pose_priors"),
            "1:2:2:0:0");
  EXPECT_EQ(doubles("position"), " 48.5 -11.25 519.5");
  EXPECT_EQ(doubles("gravity"), " 0 1 0");
  EXPECT_EQ(doubles("position_covariance"), " nan nan nan nan nan nan nan nan nan");
  Database::Transaction second(database);
  EXPECT_TRUE(database.write_pose_prior(2, {.gravity = {{1, 0, 0}}}));
  second.commit();
  EXPECT_EQ(doubles("position"), " nan nan nan");
  EXPECT_EQ(doubles("gravity"), " 1 0 0");
  EXPECT_EQ(value("SELECT coordinate_system FROM pose_priors"), "-1");
  // A prior that a user provided.
  change("UPDATE pose_priors SET coordinate_system = 1");
  Database::Transaction third(database);
  EXPECT_FALSE(database.write_pose_prior(2, kPlace));
  third.commit();
  EXPECT_EQ(doubles("gravity"), " 1 0 0");
  Database::Transaction last(database);
  database.delete_image(2);
  last.commit();
  EXPECT_EQ(value("SELECT COUNT(*) FROM pose_priors"), "0");
}

TEST_F(ColmapSchema, PosePriorsAreThoseOfColmap310And311) {
  for (const bool has_covariance : {false, true}) {
    std::filesystem::remove(file);
    Database database = create();
    add_images(database, 2);
    EXPECT_FALSE(database.has_pose_priors());
    {
      Database::Transaction transaction(database);
      EXPECT_FALSE(database.write_pose_prior(1, kPlace));  // 3.8 has no such table
    }
    change(
        text("CREATE TABLE pose_priors(image_id INTEGER PRIMARY KEY NOT NULL, position BLOB, "
             "coordinate_system INTEGER NOT NULL",
             has_covariance ? ", position_covariance BLOB" : "", ")"));
    Database::Transaction transaction(database);
    EXPECT_TRUE(database.write_pose_prior(1, kPlace));
    // These versions have no column for gravity.
    EXPECT_FALSE(database.write_pose_prior(2, {.gravity = {{0, 1, 0}}}));
    transaction.commit();
    EXPECT_EQ(value("SELECT group_concat(image_id || ':' || coordinate_system) FROM pose_priors"),
              "1:0");
    EXPECT_EQ(doubles("position"), " 48.5 -11.25 519.5");
    if (has_covariance) {
      EXPECT_EQ(doubles("position_covariance"), " nan nan nan nan nan nan nan nan nan");
    }
  }
}

TEST_F(ColmapSchema, PosePriorsComeFromExifAsInColmap) {
  EXPECT_FALSE(pose_prior_of(std::nullopt).gravity);
  Exif exif;
  EXPECT_FALSE(pose_prior_of(exif).gravity);  // the EXIF orientation is missing
  exif.gps = {{.latitude = 48.5, .longitude = -11.25}};
  EXPECT_FALSE(pose_prior_of(exif).position);  // without an altitude
  exif.gps->altitude_m = 519.5;
  EXPECT_EQ(pose_prior_of(exif).position, kPlace.position);
  exif.orientation_said = true;
  using Direction = std::optional<std::array<double, 3>>;
  const std::pair<int, Direction> directions[] = {
      {1, {{0, 1, 0}}}, {2, {}},          {3, {{0, -1, 0}}}, {4, {}},
      {5, {}},          {6, {{1, 0, 0}}}, {7, {}},           {8, {{-1, 0, 0}}}};
  for (const auto& [orientation, gravity] : directions) {
    exif.orientation = orientation;
    EXPECT_EQ(pose_prior_of(exif).gravity, gravity) << orientation;
  }
}

TEST_F(ColmapSchema, CamerasHaveTheRequestedModel) {
  Exif exif;
  exif.focal_35mm = 28;
  const auto params = [&](CameraModel model) {
    const Camera camera = camera_of_image(1000, 500, exif, model);
    EXPECT_EQ(camera.model, int(model));
    EXPECT_TRUE(camera.prior_focal_length);
    EXPECT_TRUE(intrinsics_of(camera));
    return camera.params;
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(params(CameraModel::simple_pinhole), (Numbers{800, 500, 250}));
  EXPECT_EQ(params(CameraModel::pinhole), (Numbers{800, 800, 500, 250}));
  EXPECT_EQ(params(CameraModel::simple_radial), (Numbers{800, 500, 250, 0}));
  EXPECT_EQ(params(CameraModel::radial), (Numbers{800, 500, 250, 0, 0}));
  EXPECT_EQ(params(CameraModel::opencv), (Numbers{800, 800, 500, 250, 0, 0, 0, 0}));
  EXPECT_EQ(model_named("SIMPLE_PINHOLE"), CameraModel::simple_pinhole);
  EXPECT_EQ(model_named("OPENCV"), CameraModel::opencv);
  for (const char* none : {"", "opencv", "OPENCV_FISHEYE", "4"}) EXPECT_FALSE(model_named(none));
}

TEST_F(ColmapSchema, CameraWordsDistinguishCameras) {
  EXPECT_EQ(camera_words(640, 480, std::nullopt), "");
  Exif exif;
  exif.make = "Maker";
  exif.model = "Z9";
  EXPECT_EQ(camera_words(640, 480, exif), "");  // no focal length
  exif.focal_mm = 35;
  const std::string words = camera_words(640, 480, exif);
  EXPECT_NE(words, "");
  EXPECT_EQ(camera_words(640, 480, exif), words);
  EXPECT_NE(camera_words(480, 640, exif), words);
  Exif other = exif;
  other.focal_35mm = 35;
  EXPECT_NE(camera_words(640, 480, other), words);
  other = exif;
  other.model = "Z8";
  EXPECT_NE(camera_words(640, 480, other), words);
  other.model = "";
  EXPECT_EQ(camera_words(640, 480, other), "");
  other = exif;
  other.make = "";
  EXPECT_EQ(camera_words(640, 480, other), "");
}

TEST_F(ColmapSchema, GroupsOfCamerasAreForgottenWithThem) {
  Database database = create();
  add_images(database, 2);
  EXPECT_TRUE(database.camera_groups().empty());
  // The table of shared cameras exists only if images share one.
  EXPECT_EQ(value("SELECT COUNT(*) FROM sqlite_master WHERE name = 'cornea_cameras'"), "0");
  Database::Transaction transaction(database);
  database.write_camera_group(1, "one");
  database.write_camera_group(2, "two");
  transaction.commit();
  EXPECT_EQ(database.camera_groups(), (std::map<std::string, Id>{{"one", 1}, {"two", 2}}));
  Database::Transaction removal(database);
  database.delete_image(2);
  database.forget_camera_group(1);
  removal.commit();
  EXPECT_TRUE(database.camera_groups().empty());
  EXPECT_EQ(value("SELECT COUNT(*) FROM cornea_cameras"), "0");
}

TEST_F(ColmapSchema, FeaturesOfOtherProgramsAreStoredUnchanged) {
  Database database = create_4();
  add_images(database, 3);
  const ForeignFeatures sift{.columns = 4,
                             .keypoints = {1, 2, 3, 4},
                             .descriptor_bytes = 128,
                             .descriptors = std::vector<std::uint8_t>(128, 7)};
  // As many bytes as SIFT's descriptors, but not to be matched with them.
  const ForeignFeatures learned{.columns = 2,
                                .keypoints = {1, 2},
                                .descriptor_bytes = 128,
                                .descriptors = std::vector<std::uint8_t>(128, 7),
                                .descriptor_type = 1};
  const ForeignFeatures bare{.columns = 2, .keypoints = {1, 2}};
  Database::Transaction transaction(database);
  EXPECT_FALSE(database.has_features(1, sift));
  database.write_foreign_features(1, sift);
  database.write_foreign_features(2, learned);
  database.write_foreign_features(3, learned);
  database.write_foreign_features(3, bare);
  transaction.commit();
  EXPECT_TRUE(database.has_features(1, sift));
  EXPECT_FALSE(database.has_features(1, learned));
  EXPECT_TRUE(database.has_features(2, learned));
  EXPECT_TRUE(database.has_features(3, bare));
  EXPECT_EQ(database.points(1).at(0).x, 0.5f);
  EXPECT_EQ(value("SELECT group_concat(image_id || ':' || type || ':' || cols) FROM descriptors"),
            "1:0:128,2:1:128");
  std::vector<std::string> refused;
  const auto counts = database.descriptor_counts(&refused);
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].image, 1);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_TRUE(refused[0].find("descriptors of type 1") != std::string::npos) << refused[0];
}

TEST_F(ColmapSchema, DescriptorsOfOtherTypesNeedATypeColumn) {
  Database database = create();
  add_images(database, 1);
  const ForeignFeatures learned{.columns = 2,
                                .keypoints = {1, 2},
                                .descriptor_bytes = 4,
                                .descriptors = {1, 2, 3, 4},
                                .descriptor_type = -1};
  Database::Transaction transaction(database);
  expect_error(ErrorCode::invalid_argument, "c.db: has no column for the type of descriptors",
               [&] { database.write_foreign_features(1, learned); });
}

}  // namespace
}  // namespace cornea::colmap
