// SPDX-License-Identifier: Apache-2.0
// Tests of verification with the cameras of a database, on points with known geometry.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/random.h"
#include "cornea/core/testing.h"
#include "cornea/export/colmap/sqlite_testing.h"
#include "cornea/pipeline/folder/verify.h"
#include "cornea/scene/camera.h"

namespace cornea {
namespace {

using colmap::Database;
using colmap::Id;
using colmap::pair_id;
using colmap::TwoViewRow;

constexpr int kWidth = 640, kHeight = 480;
constexpr double kFocal = 600;
constexpr int kPoints = 200, kOutliers = 60;
// Degrees. The noise alone moves the pose: the least-squares pose over the correct matches of the
// second and third images is off by 0.55.
constexpr double kPoseError = 0.7;
const std::vector<Id> kAllPairs = {pair_id({1, 2}), pair_id({1, 3}), pair_id({2, 3})};

// The optical axes do not meet: if they did, any focal length would explain the points.
std::vector<Camera> three_cameras() {
  return {look_at({-1.5, -6, 0.5}, {0, 0, -0.9}, kWidth, kHeight, kFocal),
          look_at({0, -6.2, 0.8}, {0.45, 0, 0.9}, kWidth, kHeight, kFocal, 0.1),
          look_at({1.5, -5.5, 0.2}, {-0.9, 0, 0}, kWidth, kHeight, kFocal, -0.3)};
}

// Random points in a box in front of the cameras; on a plane if `flat`.
std::vector<Eigen::Vector3d> world(bool flat = false) {
  core::Random random(5);
  auto uniform = [&](double reach) { return reach * (2 * random.uniform() - 1); };
  std::vector<Eigen::Vector3d> all;
  for (int i = 0; i < kPoints; ++i) {
    all.emplace_back(uniform(1.6), flat ? 0 : uniform(1.5), uniform(1.2));
  }
  return all;
}

// Projects camera coordinates x / z and y / z through a lens: the model in intrinsics.h, written
// out.
Eigen::Vector2d shown(const Intrinsics& c, double x, double y) {
  const double r2 = x * x + y * y, radial = 1 + c.k1 * r2 + c.k2 * r2 * r2;
  return {c.fx * (x * radial + 2 * c.p1 * x * y + c.p2 * (r2 + 2 * x * x)) + c.cx,
          c.fy * (y * radial + c.p1 * (r2 + 2 * y * y) + 2 * c.p2 * x * y) + c.cy};
}

const Intrinsics kStraight{kFocal, kFocal, (kWidth - 1) / 2.0, (kHeight - 1) / 2.0};

struct RecordedSentences {
  std::vector<std::string> failures, notes;
  FolderEvents events() {
    FolderEvents made;
    made.report = [this](const std::string& sentence) { failures.push_back(sentence); };
    made.note = [this](const std::string& sentence) { notes.push_back(sentence); };
    return made;
  }
};

class VerifyCameras : public testing::OnEveryDevice {
 protected:
  // Three images of the points with 0.3 pixels of noise, matched, with some wrong matches per pair;
  // each image has a camera of its own.
  Database made(const std::vector<Eigen::Vector3d>& points, const Intrinsics& lens = kStraight,
                const std::vector<Camera>& cameras = three_cameras()) const {
    Database database(file, Database::Open::create);
    Database::Transaction transaction(database);
    core::Random random(9);
    auto noise = [&] { return 0.3 * random.normal(); };
    for (std::size_t i = 0; i < cameras.size(); ++i) {
      const Id camera = database.add_camera(known());
      const Id image = database.add_image(text("image", i + 1, ".jpg"), camera);
      Features features;
      for (const Eigen::Vector3d& point : points) {
        const Eigen::Vector3d p = cameras[i].R * point + cameras[i].t;
        const Eigen::Vector2d pixel = shown(lens, p.x() / p.z(), p.y() / p.z());
        features.keypoints.push_back(
            {float(pixel.x() + noise()), float(pixel.y() + noise()), 2, 0, 1, 0});
      }
      for (int k = 0; k < kOutliers; ++k) {
        features.keypoints.push_back(
            {float(kWidth * random.uniform()), float(kHeight * random.uniform()), 2, 0, 1, 0});
      }
      features.descriptors.assign(features.size() * Features::kLength, 0);
      database.write_features(image, features);
    }
    std::vector<colmap::IndexPair> matches;
    for (std::uint32_t k = 0; k < points.size() + kOutliers; ++k) matches.push_back({k, k});
    for (const Id pair : kAllPairs) database.write_matches(colmap::pair_of(pair), matches);
    transaction.commit();
    return database;
  }
  // The camera of all three images, in COLMAP's coordinates.
  static colmap::Camera known() {
    return {0, 1, kWidth, kHeight, {kFocal, kFocal, kWidth / 2.0, kHeight / 2.0}, true};
  }
  static void set_camera(Database& database, Id id, const colmap::Camera& camera) {
    Database::Transaction transaction(database);
    database.replace_camera(id, camera);
    transaction.commit();
  }
  static void set_cameras(Database& database, const colmap::Camera& camera) {
    for (const Id id : {1, 2, 3}) set_camera(database, id, camera);
  }
  void change(const std::string& sql) const { testing::change_file(file, sql); }
  VerifyReport again(Database& database, VerifyOptions options = {}) const {
    options.redo = true;
    return verify_all(context, database, options);
  }

  // The larger of the errors in rotation and in direction of translation between the pose of a row
  // and the true one.
  static double pose_error(const TwoViewRow& row, Id pair,
                           const std::vector<Camera>& cameras = three_cameras()) {
    const auto [first, second] = colmap::pair_of(pair);
    const Camera &a = cameras[first - 1], &b = cameras[second - 1];
    const Eigen::Matrix3d R = b.R * a.R.transpose();
    const Eigen::Vector3d t = (b.t - R * a.t).normalized();
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> found(row.R->data());
    const Eigen::Vector3d direction(row.t->data());
    const double turn = Eigen::AngleAxisd(Eigen::Matrix3d(found * R.transpose())).angle();
    const double off = std::acos(std::clamp(t.dot(direction.normalized()), -1.0, 1.0));
    return std::max(turn, off) * 180 / M_PI;
  }

  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / "c.db";
};
INSTANTIATE_TEST_SUITE_P(, VerifyCameras, testing::every_device(), testing::device_name);

TEST_P(VerifyCameras, KnownFocalLengthsGiveTheEssentialMatrixAndThePose) {
  Database database = made(world());
  const VerifyReport report = verify_all(context, database);
  EXPECT_EQ(report.of(Configuration::calibrated), 3);
  EXPECT_EQ(report.done(), 3);
  EXPECT_EQ(report.with_cameras, 3);
  EXPECT_EQ(report.guessed_cameras + report.unread_cameras + report.bad_cameras, 0);
  for (const Id pair : kAllPairs) {
    const TwoViewRow row = database.two_view(pair).value();
    ASSERT_TRUE(row.F && row.E && row.R && row.t);
    EXPECT_FALSE(row.H || row.camera1 || row.camera2);
    EXPECT_LT(pose_error(row, pair), kPoseError);
    EXPECT_GT(row.inliers.size(), std::size_t(kPoints * 0.95));
    EXPECT_LT(row.inliers.size(), std::size_t(kPoints + kOutliers / 4));
    // E equals [t]x R of the pose up to sign and scale.
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> E(row.E->data()),
        R(row.R->data());
    const Eigen::Vector3d t(row.t->data());
    EXPECT_NEAR(t.norm(), 1, 1e-9);
    Eigen::Matrix3d expected;
    expected << 0, -t.z(), t.y(), t.z(), 0, -t.x(), -t.y(), t.x(), 0;
    expected = (expected * R).normalized();
    EXPECT_NEAR(std::abs(expected.cwiseProduct(E.normalized()).sum()), 1, 1e-6);
  }
}

TEST_P(VerifyCameras, AGuessedFocalLengthIsNotUsed) {
  Database database = made(world());
  colmap::Camera guessed = known();
  guessed.prior_focal_length = false;
  set_camera(database, 2, guessed);
  const VerifyReport report = verify_all(context, database);
  EXPECT_EQ(report.of(Configuration::calibrated), 1);
  EXPECT_EQ(report.of(Configuration::uncalibrated), 2);
  EXPECT_EQ(report.with_cameras, 1);
  EXPECT_EQ(report.guessed_cameras, 2);
  const TwoViewRow row = database.two_view(pair_id({1, 2})).value();
  EXPECT_TRUE(row.F.has_value());
  EXPECT_FALSE(row.E || row.H || row.R || row.t);
}

TEST_P(VerifyCameras, AWrongFocalLengthLeavesThePairUncalibrated) {
  Database database = made(world());
  colmap::Camera wrong = known();
  wrong.params[0] = wrong.params[1] = 0.4 * kFocal;
  set_cameras(database, wrong);
  const VerifyReport report = verify_all(context, database);
  EXPECT_EQ(report.with_cameras, 3);
  EXPECT_EQ(report.of(Configuration::uncalibrated), 3);
  EXPECT_FALSE(database.two_view(kAllPairs[0]).value().R.has_value());
}

TEST_P(VerifyCameras, CamerasAreIgnoredIfAsked) {
  Database database = made(world()), guessed(folder / "guessed.db", Database::Open::create);
  const VerifyReport report = verify_all(context, database, {.use_cameras = false});
  EXPECT_EQ(report.of(Configuration::uncalibrated), 3);
  EXPECT_EQ(report.with_cameras + report.guessed_cameras + report.unread_cameras, 0);
  const TwoViewRow aside = database.two_view(kAllPairs[0]).value();
  // As with an unknown focal length.
  colmap::Camera camera = known();
  camera.prior_focal_length = false;
  set_cameras(database, camera);
  again(database);
  EXPECT_EQ(database.two_view(kAllPairs[0]).value().F, aside.F);
  EXPECT_EQ(database.two_view(kAllPairs[0]).value().inliers, aside.inliers);
  // Options other than those of the existing rows.
  EXPECT_THROW(verify_all(context, database, {.use_cameras = false}), Error);
}

TEST_P(VerifyCameras, AllFiveModelsAreTheSameCamera) {
  Database database = made(world());
  verify_all(context, database);
  const TwoViewRow expected = database.two_view(kAllPairs[1]).value();
  const double f = kFocal, x = kWidth / 2.0, y = kHeight / 2.0;
  const std::vector<double> params[] = {
      {f, x, y}, {f, f, x, y}, {f, x, y, 0}, {f, x, y, 0, 0}, {f, f, x, y, 0, 0, 0, 0}};
  for (int model = 0; model < 5; ++model) {
    set_cameras(database, {0, model, kWidth, kHeight, params[model], true});
    EXPECT_EQ(again(database).of(Configuration::calibrated), 3) << model;
    const TwoViewRow row = database.two_view(kAllPairs[1]).value();
    EXPECT_EQ(row.E, expected.E) << model;
    EXPECT_EQ(row.R, expected.R) << model;
    EXPECT_EQ(row.inliers, expected.inliers) << model;
  }
}

TEST_P(VerifyCameras, DistortionIsRemoved) {
  Intrinsics bent = kStraight;
  bent.k1 = -0.25, bent.k2 = 0.05, bent.p1 = 0.004, bent.p2 = -0.003;
  Database database = made(world(), bent);
  set_cameras(database,
              {0,
               4,
               kWidth,
               kHeight,
               {kFocal, kFocal, kWidth / 2.0, kHeight / 2.0, bent.k1, bent.k2, bent.p1, bent.p2},
               true});
  EXPECT_EQ(verify_all(context, database).of(Configuration::calibrated), 3);
  for (const Id pair : kAllPairs) {
    const TwoViewRow row = database.two_view(pair).value();
    EXPECT_LT(pose_error(row, pair), kPoseError);
    EXPECT_GT(row.inliers.size(), std::size_t(kPoints * 0.95));
  }
}

TEST_P(VerifyCameras, APlaneHasAHomographyAndWithCamerasAPose) {
  Database database = made(world(true));
  VerifyReport report = verify_all(context, database);
  EXPECT_EQ(report.planar(), 3);
  EXPECT_EQ(report.of(Configuration::panoramic), 0);
  const TwoViewRow row = database.two_view(kAllPairs[0]).value();
  EXPECT_TRUE(row.H.has_value());
  EXPECT_FALSE(row.F.has_value());
  report = again(database, {.use_cameras = false});
  EXPECT_EQ(report.of(Configuration::planar_or_panoramic), 3);
  EXPECT_FALSE(database.two_view(kAllPairs[0]).value().R.has_value());
}

TEST_P(VerifyCameras, ARotatingCameraHasARotationAndNoTranslation) {
  std::vector<Camera> rotated = three_cameras();
  for (int i = 1; i < 3; ++i) {
    const Eigen::Vector3d eye = rotated[0].centre();
    rotated[i] = look_at(eye, {0.4 * i, 0, 0.1 * i}, kWidth, kHeight, kFocal, 0.05 * i);
  }
  Database database = made(world(), kStraight, rotated);
  const VerifyReport report = verify_all(context, database);
  EXPECT_EQ(report.of(Configuration::panoramic), 3);
  for (const Id pair : kAllPairs) {
    const TwoViewRow row = database.two_view(pair).value();
    ASSERT_TRUE(row.H && row.R && row.t);
    EXPECT_FALSE(row.F || row.E);
    EXPECT_EQ(*row.t, (std::array<double, 3>{}));
    const auto [first, second] = colmap::pair_of(pair);
    const Eigen::Matrix3d R = rotated[second - 1].R * rotated[first - 1].R.transpose();
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> found(row.R->data());
    EXPECT_LT(Eigen::AngleAxisd(Eigen::Matrix3d(found * R.transpose())).angle(), 0.005);
  }
}

TEST_P(VerifyCameras, UnsupportedModelsAreNamedAndThePairsVerified) {
  Database database = made(world());
  set_camera(database, 1, {0, 5, kWidth, kHeight, {600, 600, 320, 240, 0, 0, 0, 0}, true});
  RecordedSentences recorded;
  const VerifyReport report = verify_all(context, database, {}, recorded.events());
  EXPECT_EQ(report.of(Configuration::uncalibrated), 2);
  EXPECT_EQ(report.of(Configuration::calibrated), 1);
  EXPECT_EQ(report.unread_cameras, 2);
  EXPECT_EQ(report.with_cameras, 1);
  EXPECT_EQ(report.bad_cameras, 0);
  EXPECT_TRUE(recorded.failures.empty());
  ASSERT_EQ(recorded.notes.size(), 1u);
  EXPECT_NE(recorded.notes[0].find("1 camera has the model OPENCV_FISHEYE"), std::string::npos)
      << recorded.notes[0];
}

TEST_P(VerifyCameras, InvalidCamerasAreReportedAndThePairsVerified) {
  Database database = made(world());
  change("UPDATE cameras SET params = x'0011' WHERE camera_id = 1");
  colmap::Camera camera = known();
  camera.params.pop_back();
  set_camera(database, 2, camera);
  RecordedSentences recorded;
  const VerifyReport report = verify_all(context, database, {}, recorded.events());
  EXPECT_EQ(report.bad_cameras, 2);
  EXPECT_EQ(report.unread_cameras, 3);
  EXPECT_EQ(report.of(Configuration::uncalibrated), 3);
  ASSERT_EQ(recorded.failures.size(), 2u);
  EXPECT_NE(recorded.failures[0].find("camera 1 has parameters of 2 bytes"), std::string::npos);
  EXPECT_NE(recorded.failures[1].find("camera 2 has 3 parameters"), std::string::npos);
  // Invalid cameras are not reported if cameras are not used.
  RecordedSentences nothing;
  VerifyOptions aside;
  aside.use_cameras = false;
  aside.redo = true;
  EXPECT_EQ(verify_all(context, database, aside, nothing.events()).bad_cameras, 0);
  EXPECT_TRUE(nothing.failures.empty());
}

TEST_P(VerifyCameras, PointsOfOtherProgramsAreVerified) {
  // Rows of two or four numbers per point, and without descriptors.
  Database database = made(world());
  verify_all(context, database);
  const TwoViewRow expected = database.two_view(kAllPairs[0]).value();
  for (const int columns : {2, 4}) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
    sqlite3_exec(handle, "DELETE FROM descriptors", nullptr, nullptr, nullptr);
    for (const Id image : {1, 2, 3}) {
      std::vector<float> blob;
      for (const colmap::Point& p : database.points(image)) {
        blob.insert(blob.end(), {p.x + 0.5f, p.y + 0.5f});
        blob.insert(blob.end(), std::size_t(columns - 2), 1.f);
      }
      sqlite3_stmt* update = nullptr;
      sqlite3_prepare_v2(handle, "UPDATE keypoints SET cols = ?, data = ? WHERE image_id = ?", -1,
                         &update, nullptr);
      sqlite3_bind_int(update, 1, columns);
      sqlite3_bind_blob(update, 2, blob.data(), int(blob.size() * sizeof(float)), SQLITE_STATIC);
      sqlite3_bind_int64(update, 3, image);
      EXPECT_EQ(sqlite3_step(update), SQLITE_DONE);
      sqlite3_finalize(update);
    }
    sqlite3_close(handle);
    EXPECT_EQ(again(database).of(Configuration::calibrated), 3);
    const TwoViewRow row = database.two_view(kAllPairs[0]).value();
    EXPECT_EQ(row.inliers, expected.inliers);
    EXPECT_LT(pose_error(row, kAllPairs[0]), 0.5);
  }
}

TEST_P(VerifyCameras, NewerAndOlderTablesAreFilled) {
  Database database = made(world());
  change("ALTER TABLE two_view_geometries ADD COLUMN camera1 BLOB");
  change("ALTER TABLE two_view_geometries ADD COLUMN camera2 BLOB");
  {
    Database newer(file);
    EXPECT_EQ(verify_all(context, newer).of(Configuration::calibrated), 3);
    EXPECT_TRUE(newer.two_view(kAllPairs[0]).value().R.has_value());
    EXPECT_FALSE(newer.two_view(kAllPairs[0]).value().camera1.has_value());
  }
  change("ALTER TABLE two_view_geometries DROP COLUMN qvec");
  change("ALTER TABLE two_view_geometries DROP COLUMN tvec");
  Database older(file);
  EXPECT_EQ(again(older).of(Configuration::calibrated), 3);
  EXPECT_TRUE(older.two_view(kAllPairs[0]).value().E.has_value());
}

TEST_P(VerifyCameras, AStampOnEveryPhotographIsAWatermark) {
  Database database(file, Database::Open::create);
  {
    Database::Transaction transaction(database);
    core::Random random(2);
    std::vector<colmap::IndexPair> matches;
    std::vector<Eigen::Vector2d> stamp;
    for (std::uint32_t k = 0; k < 60; ++k) {
      matches.push_back({k, k});
      stamp.emplace_back(500 + 120 * random.uniform(), 420 + 50 * random.uniform());
    }
    for (int i = 0; i < 2; ++i) {
      const Id image = database.add_image(text(i, ".jpg"), database.add_camera(known()));
      Features features;
      for (const Eigen::Vector2d& p : stamp) {
        features.keypoints.push_back({float(p.x() + 0.2 * random.normal()),
                                      float(p.y() + 0.2 * random.normal()), 2, 0, 1, 0});
      }
      features.descriptors.assign(features.size() * Features::kLength, 0);
      database.write_features(image, features);
    }
    database.write_matches({1, 2}, matches);
    transaction.commit();
  }
  EXPECT_EQ(verify_all(context, database).of(Configuration::watermark), 1);
  EXPECT_EQ(database.two_view(kAllPairs[0]).value().configuration, Configuration::watermark);
  EXPECT_GT(database.two_view(kAllPairs[0]).value().inliers.size(), 50u);
  VerifyOptions without;
  without.detect_watermark = false;
  EXPECT_EQ(again(database, without).of(Configuration::watermark), 0);
}

}  // namespace
}  // namespace cornea
