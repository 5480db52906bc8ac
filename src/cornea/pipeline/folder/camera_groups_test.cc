// SPDX-License-Identifier: Apache-2.0
// Tests which images of a folder share a camera, wherever a run was stopped.
#include "cornea/pipeline/folder/camera_groups.h"

#include <algorithm>

#include "cornea/io/exif_testing.h"
#include "cornea/pipeline/folder/folder_testing.h"

namespace cornea {
namespace {

using namespace testing;

class SharedCameras : public ::testing::Test {
 protected:
  void photograph(const std::string& name, const Said& said, int width = 64, int height = 48) {
    fs::create_directories((images / name).parent_path());
    const auto seed = std::uint64_t(name.size() + std::uint64_t(name[0]));
    const ByteVector jpeg = encode_jpeg(random_image<std::uint8_t>(width, height, seed), 90);
    write_bytes(images / name, with_exif(jpeg, tiff_of(said)));
  }
  // Two focal lengths, another image size, two photographs without EXIF, two folders.
  void make_photographs() {
    photograph("a1.jpg", kWide);
    photograph("a2.jpg", kLong);
    photograph("a3.jpg", kWide);
    photograph("b/a4.jpg", kWide);
    photograph("b/a5.jpg", kLong, 48, 64);
    photograph("c.jpg", {});
    photograph("d.jpg", {});
  }
  Database made(const std::string& name, std::optional<colmap::Schema> schema = {}) const {
    return Database(folder / name, Database::Open::create, schema);
  }
  ExtractReport extract(Database& database, const ExtractOptions& options = {},
                        const FolderEvents& events = {}) const {
    return extract_folder(Context::cpu(1), images, database, options, events);
  }
  // "name camera" of each image, by name.
  static std::string sharing(const Database& database) {
    std::vector<std::string> all;
    for (const auto& row : database.images()) all.push_back(text(row.name, " ", row.camera));
    std::sort(all.begin(), all.end());
    std::string joined;
    for (const std::string& one : all) joined += (joined.empty() ? "" : ", ") + one;
    return joined;
  }
  static std::vector<std::string> rows(const Database& database) {
    std::vector<std::string> all;
    for (const char* table : {"cameras", "images", "keypoints", "cornea_cameras"}) {
      if (rows_of(database.file(), text("SELECT 1 FROM sqlite_master WHERE name = '", table, "'"))
              .empty()) {
        continue;
      }
      for (auto& row : rows_of(database.file(), text("SELECT * FROM ", table, " ORDER BY 1"))) {
        all.push_back(std::move(row));
      }
    }
    return all;
  }

  const Said kWide = {.make = "Maker", .model = "Z9", .focal_35mm = 28};
  const Said kLong = {.make = "Maker", .model = "Z9", .focal_35mm = 85};
  const TemporaryFolder folder;
  const fs::path images = folder / "images";
};

TEST_F(SharedCameras, AutoGroupsByWhatExifSays) {
  make_photographs();
  Database database = made("c.db");
  EXPECT_EQ(extract(database).extracted, 7);
  EXPECT_EQ(sharing(database),
            "a1.jpg 1, a2.jpg 2, a3.jpg 1, b/a4.jpg 1, b/a5.jpg 3, c.jpg 4, d.jpg 5");
  const auto cameras = database.cameras();
  ASSERT_EQ(cameras.size(), 5u);
  EXPECT_DOUBLE_EQ(cameras[0].params[0], 64 * 28 / 35.0);
  EXPECT_TRUE(cameras[0].prior_focal_length);
  EXPECT_FALSE(cameras[3].prior_focal_length);
}

TEST_F(SharedCameras, PhotographsWithoutExifShareNoCamera) {
  photograph("a.jpg", {});
  photograph("b.jpg", {});
  Database database = made("c.db");
  extract(database);
  EXPECT_EQ(sharing(database), "a.jpg 1, b.jpg 2");
  EXPECT_TRUE(rows_of(database.file(), "SELECT 1 FROM sqlite_master WHERE name = 'cornea_cameras'")
                  .empty());
}

TEST_F(SharedCameras, PerFolderPerImageAndSingleGroupAsNamed) {
  make_photographs();
  fs::remove(images / "b/a5.jpg");
  Database per_folder = made("folder.db"), per_image = made("image.db"), single = made("single.db");
  extract(per_folder, {.cameras = CameraSharing::per_folder});
  EXPECT_EQ(sharing(per_folder), "a1.jpg 1, a2.jpg 1, a3.jpg 1, b/a4.jpg 2, c.jpg 1, d.jpg 1");
  extract(per_image, {.cameras = CameraSharing::per_image});
  EXPECT_EQ(sharing(per_image), "a1.jpg 1, a2.jpg 2, a3.jpg 3, b/a4.jpg 4, c.jpg 5, d.jpg 6");
  extract(single, {.cameras = CameraSharing::single});
  EXPECT_EQ(sharing(single), "a1.jpg 1, a2.jpg 1, a3.jpg 1, b/a4.jpg 1, c.jpg 1, d.jpg 1");
}

TEST_F(SharedCameras, AnotherSizeInAFolderIsNamed) {
  make_photographs();
  Database database = made("c.db");
  RecordedEvents recorded;
  EXPECT_EQ(extract(database, {.cameras = CameraSharing::per_folder}, recorded.events()).failed, 1);
  ASSERT_EQ(recorded.sentences.size(), 1u);
  EXPECT_NE(recorded.sentences[0].find(
                "b/a5.jpg: has 48 x 64 pixels, but the camera of its folder has 64 x "
                "48; move it into a folder of its own"),
            std::string::npos)
      << recorded.sentences[0];
}

// A run that is stopped after each possible number of images, and continued, ends with the same
// rows.
TEST_F(SharedCameras, DoNotDependOnWhereARunWasStopped) {
  make_photographs();
  fs::remove(images / "b/a5.jpg");
  for (const CameraSharing cameras : {CameraSharing::automatic, CameraSharing::per_folder,
                                      CameraSharing::per_image, CameraSharing::single}) {
    SCOPED_TRACE(int(cameras));
    const ExtractOptions options{.cameras = cameras};
    Database whole = made(text("whole", int(cameras), ".db"));
    extract(whole, options);
    const auto expected = rows(whole);
    for (int first = 1; first < 6; ++first) {
      SCOPED_TRACE(first);
      const std::string name = text("cut", int(cameras), "_", first, ".db");
      for (const int most : {first, 1, 100}) {
        int done = 0;
        Database database = made(name);
        FolderEvents events;
        events.advance = [&](int count) { done += count; };
        events.stop = [&] { return done >= most; };
        extract(database, options, events);
      }
      EXPECT_EQ(rows(made(name)), expected);
    }
  }
}

TEST_F(SharedCameras, ImagesThatComeLaterJoinTheirGroup) {
  make_photographs();
  Database database = made("c.db");
  extract(database);
  photograph("e.jpg", kLong);
  photograph("f.jpg", {.make = "Maker", .model = "Z8", .focal_35mm = 85});
  extract(database);
  EXPECT_EQ(sharing(database),
            "a1.jpg 1, a2.jpg 2, a3.jpg 1, b/a4.jpg 1, b/a5.jpg 3, c.jpg 4, d.jpg 5, e.jpg 2, "
            "f.jpg 6");
}

TEST_F(SharedCameras, APhotographOfAnotherSizeLeavesItsGroup) {
  photograph("a.jpg", kWide);
  Database database = made("c.db");
  extract(database);
  photograph("a.jpg", kWide, 80, 60);
  extract(database, {.changed = Changed::redo});
  EXPECT_EQ(database.cameras().at(0).width, 80);
  photograph("b.jpg", kWide);          // EXIF and size of the original a.jpg
  photograph("c.jpg", kWide, 80, 60);  // EXIF and size of the new a.jpg
  extract(database);
  EXPECT_EQ(sharing(database), "a.jpg 1, b.jpg 2, c.jpg 1");
  EXPECT_EQ(database.cameras().at(1).width, 64);
}

TEST_F(SharedCameras, ModelAndParametersAreThoseThatAreGiven) {
  make_photographs();
  fs::remove(images / "b/a5.jpg");
  Database database = made("c.db");
  const ExtractOptions options{.cameras = CameraSharing::single,
                               .camera_model = colmap::CameraModel::pinhole,
                               .camera_params = {70, 71, 32, 24}};
  extract(database, options);
  const auto cameras = database.cameras();
  ASSERT_EQ(cameras.size(), 1u);
  EXPECT_EQ(cameras[0].model, 1);
  EXPECT_EQ(cameras[0].params, options.camera_params);
  EXPECT_TRUE(cameras[0].prior_focal_length);

  Database guessed = made("guessed.db");
  extract(guessed, {.camera_model = colmap::CameraModel::opencv});
  for (const auto& camera : guessed.cameras()) {
    EXPECT_EQ(camera.model, 4);
    EXPECT_EQ(camera.params.size(), 8u);
  }
  EXPECT_EQ(guessed.cameras().size(), 4u);
}

// The group of a camera tells parameters apart that differ in the seventh digit.
TEST_F(SharedCameras, ParametersThatHardlyDifferAreTwoCameras) {
  photograph("a1.jpg", kWide);
  Database database = made("c.db");
  const auto parameters = [](double f) {
    return ExtractOptions{.camera_model = colmap::CameraModel::simple_pinhole,
                          .camera_params = {f, 32, 24}};
  };
  extract(database, parameters(3456.121));
  photograph("a2.jpg", kWide);
  extract(database, parameters(3456.124));
  ASSERT_EQ(database.cameras().size(), 2u);
  EXPECT_EQ(database.cameras()[1].params[0], 3456.124);
}

TEST_F(SharedCameras, InvalidParametersAreRefused) {
  using cornea::testing::expect_error;
  const auto validate = [](const ExtractOptions& options) { return [=] { options.validate(); }; };
  expect_error(ErrorCode::invalid_argument,
               "camera_params has 3 numbers, but the model SIMPLE_RADIAL",
               validate({.camera_params = {70, 32, 24}}));
  expect_error(ErrorCode::invalid_argument, "finite numbers",
               validate({.camera_params = {70, 32, 24, NAN}}));
  expect_error(ErrorCode::invalid_argument, "finite numbers",
               validate({.camera_params = {0, 32, 24, 0}}));
  // The photograph has another size than the parameters imply.
  photograph("a.jpg", {});
  Database database = made("c.db");
  RecordedEvents recorded;
  EXPECT_EQ(extract(database, {.camera_params = {700, 320, 240, 0}}, recorded.events()).failed, 1);
  ASSERT_EQ(recorded.sentences.size(), 1u);
  EXPECT_NE(recorded.sentences[0].find("the principal point of camera_params is outside"),
            std::string::npos);
  EXPECT_EQ(database.count("images"), 0);
}

// Existing images keep their cameras, and a note reports it.
TEST_F(SharedCameras, ChangedOptionsAreReported) {
  make_photographs();
  fs::remove(images / "b/a5.jpg");
  Database database = made("c.db");
  extract(database);
  EXPECT_EQ(extract(database).other_cameras, 0);
  RecordedEvents recorded;
  FolderEvents events = recorded.events();
  events.note = events.report;
  EXPECT_EQ(extract(database, {.cameras = CameraSharing::per_image}, events).other_cameras, 3);
  ASSERT_EQ(recorded.sentences.size(), 1u);
  EXPECT_NE(recorded.sentences[0].find("3 images that were there keep cameras"), std::string::npos);
  EXPECT_EQ(extract(database, {.camera_model = colmap::CameraModel::opencv}).other_cameras, 6);
  EXPECT_EQ(extract(database, {.camera_params = {70, 32, 24, 0}}).other_cameras, 6);
  EXPECT_EQ(extract(database, {.cameras = CameraSharing::per_folder}).other_cameras, 6);
  // A new image with other options does not get a camera that was made with the old ones.
  photograph("e.jpg", kWide);
  extract(database, {.camera_model = colmap::CameraModel::opencv});
  EXPECT_EQ(database.cameras().back().model, 4);
  photograph("f.jpg", kWide);
  extract(database);
  EXPECT_EQ(database.images().back().camera, 1);
}

TEST_F(SharedCameras, PositionsAndGravityAreWrittenIfTheSchemaHasThem) {
  photograph("a.jpg", {.orientation = 6, .gps = true});
  photograph("b.jpg", {});
  photograph("c.jpg", {.gps = true});
  Database three = made("3.db"), four = made("4.db", colmap::Schema::colmap_4);
  EXPECT_EQ(extract(three).pose_priors, 0);
  EXPECT_EQ(extract(four).pose_priors, 2);
  const auto found = rows_of(
      four.file(),
      "SELECT name, hex(position), hex(gravity), coordinate_system FROM pose_priors JOIN images ON "
      "image_id = corr_data_id WHERE camera_id = corr_sensor_id ORDER BY image_id");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].find("a.jpg"), std::string::npos);
  EXPECT_NE(found[0].find("000000000040484000000000008026C000000000003C8040"), std::string::npos)
      << found[0];
  EXPECT_NE(found[0].find("000000000000F03F00000000000000000000000000000000"), std::string::npos);
  // Extracted again from a photograph without GPS position and gravity.
  photograph("a.jpg", {});
  EXPECT_EQ(extract(four, {.changed = Changed::redo}).extracted, 1);
  EXPECT_EQ(rows_of(four.file(), "SELECT 1 FROM pose_priors").size(), 1u);
}

}  // namespace
}  // namespace cornea
