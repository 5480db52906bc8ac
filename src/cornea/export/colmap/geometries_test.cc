// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "cornea/core/testing.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/rotation.h"
#include "cornea/export/colmap/sqlite_testing.h"

namespace cornea::colmap {
namespace {

using Matrix = std::array<double, 9>;

Matrix rotated(double angle, std::array<double, 3> axis) {
  const double n = std::hypot(axis[0], axis[1], axis[2]), s = std::sin(angle / 2) / n;
  return rotation_of({std::cos(angle / 2), s * axis[0], s * axis[1], s * axis[2]});
}

void expect_near(const Matrix& a, const Matrix& b, double tolerance) {
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

class ColmapGeometries : public ::testing::Test {
 protected:
  void change(const std::string& sql) const { testing::change_file(file, sql); }
  std::vector<double> doubles(const std::string& column) const {
    std::vector<double> values;
    const std::string bytes = blob(column);
    values.resize(bytes.size() / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::string blob(const std::string& column) const {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
    sqlite3_stmt* row = nullptr;
    const std::string sql = "SELECT " + column + " FROM two_view_geometries";
    EXPECT_EQ(sqlite3_prepare_v2(handle, sql.c_str(), -1, &row, nullptr), SQLITE_OK) << sql;
    EXPECT_EQ(sqlite3_step(row), SQLITE_ROW);
    std::string bytes;
    if (const void* data = sqlite3_column_blob(row, 0)) {
      bytes.assign(static_cast<const char*>(data), std::size_t(sqlite3_column_bytes(row, 0)));
    }
    sqlite3_finalize(row);
    sqlite3_close(handle);
    return bytes;
  }

  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / "c.db";
  const TwoViewRow row{Configuration::calibrated,
                       {{0, 1}, {2, 3}},
                       Matrix{1e-6, 2e-6, -1e-3, 3e-6, 1e-7, 2e-3, 4e-3, -5e-3, 1},
                       Matrix{1.1, 0.01, 5, -0.02, 0.9, -7, 1e-5, 2e-5, 1},
                       Matrix{0, -0.3, 0.2, 0.3, 0, -0.6, -0.2, 0.6, 0.1},
                       rotated(0.7, {1, -2, 0.5}),
                       std::array<double, 3>{0.6, 0, -0.8},
                       {},
                       {}};
};

TEST(ColmapRotation, EveryRotationIsAQuaternionAndBack) {
  // Includes rotations by 180 degrees, where a formula based on the trace alone divides by 0.
  for (const double angle : {0.0, 1e-9, 0.3, 1.7, 3.0, M_PI - 1e-9, M_PI}) {
    for (const std::array<double, 3> axis :
         {std::array<double, 3>{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 2, 3}, {1, 1, -1}}) {
      const Matrix R = rotated(angle, axis);
      const std::array<double, 4> q = quaternion_of(R);
      EXPECT_GE(q[0], 0);
      EXPECT_NEAR(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-15);
      EXPECT_NEAR(q[0], std::cos(angle / 2), 1e-8);
      expect_near(rotation_of(q), R, 1e-15);
    }
  }
}

TEST_F(ColmapGeometries, MatricesAndThePoseAreReadBack) {
  Database database(file, Database::Open::create);
  database.write_two_view(pair_id({1, 2}), row);
  const TwoViewRow found = database.two_view(pair_id({1, 2})).value();
  EXPECT_EQ(found.configuration, Configuration::calibrated);
  EXPECT_EQ(found.inliers, row.inliers);
  expect_near(*found.F, *row.F, 1e-12);
  expect_near(*found.H, *row.H, 1e-12);
  EXPECT_EQ(found.E, row.E);
  expect_near(*found.R, *row.R, 1e-15);
  EXPECT_EQ(found.t, row.t);
  EXPECT_FALSE(found.camera1 || found.camera2);
  // E and the pose are unchanged; the quaternion is that of a rotation by 0.7 about (1, -2, 0.5),
  // real part first.
  EXPECT_EQ(doubles("E"), std::vector<double>(row.E->begin(), row.E->end()));
  EXPECT_EQ(doubles("tvec"), (std::vector<double>{0.6, 0, -0.8}));
  const std::vector<double> q = doubles("qvec");
  ASSERT_EQ(q.size(), 4u);
  EXPECT_NEAR(q[0], std::cos(0.35), 1e-15);
  EXPECT_NEAR(q[1], std::sin(0.35) / std::sqrt(5.25), 1e-15);
  EXPECT_NEAR(q[2], -2 * std::sin(0.35) / std::sqrt(5.25), 1e-15);
  EXPECT_NEAR(q[3], 0.5 * std::sin(0.35) / std::sqrt(5.25), 1e-15);
  // F refers to COLMAP's pixels: the centre of the first is (0.5, 0.5).
  const std::vector<double> F = doubles("F");
  double there = 0, here = 0;
  const double x1[] = {100, 50, 1}, x2[] = {90, 70, 1};
  const double y1[] = {100.5, 50.5, 1}, y2[] = {90.5, 70.5, 1};
  for (int i = 0; i < 9; ++i) {
    here += x2[i / 3] * (*row.F)[i] * x1[i % 3];
    there += y2[i / 3] * F[i] * y1[i % 3];
  }
  EXPECT_NEAR(here, there, 1e-12);
}

TEST_F(ColmapGeometries, OlderDatabasesStoreOnlyTheirColumns) {
  { Database(file, Database::Open::create); }
  change("ALTER TABLE two_view_geometries DROP COLUMN qvec");
  change("ALTER TABLE two_view_geometries DROP COLUMN tvec");
  Database database(file);
  database.write_two_view(pair_id({1, 2}), row);
  TwoViewRow found = database.two_view(pair_id({1, 2})).value();
  EXPECT_EQ(found.E, row.E);
  EXPECT_TRUE(found.F && found.H);
  EXPECT_FALSE(found.R || found.t);
  // Before 3.2 there was only the configuration.
  for (const char* column : {"F", "E", "H"}) {
    change(text("ALTER TABLE two_view_geometries DROP COLUMN ", column));
  }
  Database oldest(file);
  oldest.write_two_view(pair_id({1, 2}), row);
  found = oldest.two_view(pair_id({1, 2})).value();
  EXPECT_EQ(found.inliers, row.inliers);
  EXPECT_EQ(found.configuration, Configuration::calibrated);
  EXPECT_FALSE(found.F || found.E || found.H);
}

TEST_F(ColmapGeometries, CamerasOfAPairAreStoredInNewerDatabases) {
  TwoViewRow with_cameras = row;
  with_cameras.camera1 = Camera{1, 2, 640, 480, {1000, 320, 240, 0}, true};
  with_cameras.camera2 = Camera{2, 4, 800, 600, {900, 910, 400, 300, 0.1, 0.2, 0.3, 0.4}, false};
  {
    Database database(file, Database::Open::create);
    database.write_two_view(pair_id({1, 2}), with_cameras);
    EXPECT_FALSE(database.two_view(pair_id({1, 2})).value().camera1.has_value());
  }
  change("ALTER TABLE two_view_geometries ADD COLUMN camera1 BLOB");
  change("ALTER TABLE two_view_geometries ADD COLUMN camera2 BLOB");
  Database database(file);
  database.write_two_view(pair_id({1, 2}), with_cameras);
  const TwoViewRow found = database.two_view(pair_id({1, 2})).value();
  ASSERT_TRUE(found.camera1 && found.camera2);
  EXPECT_EQ(found.camera2->id, 2);
  EXPECT_EQ(found.camera2->model, 4);
  EXPECT_EQ(found.camera2->width, 800);
  EXPECT_EQ(found.camera2->height, 600);
  EXPECT_EQ(found.camera2->params, with_cameras.camera2->params);
  EXPECT_FALSE(found.camera2->prior_focal_length);
  // The bytes that COLMAP 4.2.1 writes for the first camera.
  const std::string expected(
      "\1\0\0\0"
      "\2\0\0\0"
      "\x80\2\0\0\0\0\0\0"
      "\xe0\1\0\0\0\0\0\0"
      "\1"
      "\4\0\0\0\0\0\0\0"
      "\0\0\0\0\0\x40\x8f\x40"
      "\0\0\0\0\0\0\x74\x40"
      "\0\0\0\0\0\0\x6e\x40"
      "\0\0\0\0\0\0\0\0",
      65);
  EXPECT_EQ(blob("camera1"), expected);
  database.write_two_view(pair_id({1, 2}), row);
  EXPECT_FALSE(database.two_view(pair_id({1, 2})).value().camera1.has_value());
  change("UPDATE two_view_geometries SET camera2 = x'0102'");
  EXPECT_THROW(database.two_view(pair_id({1, 2})), DamagedRow);
}

}  // namespace
}  // namespace cornea::colmap
