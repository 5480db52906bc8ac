// SPDX-License-Identifier: Apache-2.0
// Tests of the layout of a COLMAP database, byte by byte, as SQLite and COLMAP 3.8 have it.
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <thread>

#include "cornea/export/colmap/database_testing.h"
#include "cornea/export/colmap/layout.h"
#include "cornea/io/file_testing.h"

namespace cornea::colmap {
namespace {

template <class T>
std::string hexadecimal(const std::vector<T>& values) {
  std::string digits;
  for (const T& v : values) {
    std::uint8_t bytes[sizeof(T)];
    std::memcpy(bytes, &v, sizeof v);
    for (const std::uint8_t b : bytes) {
      char two[3];
      std::snprintf(two, sizeof two, "%02X", b);
      digits += two;
    }
  }
  return digits;
}

TEST_F(ColmapDatabase, HasTheTablesOfColmap38) {
  create();
  EXPECT_EQ(value("PRAGMA user_version"), "3800");
  EXPECT_EQ(value("PRAGMA journal_mode"), "wal");
  auto schema = [&](const std::string& name) {
    return value("SELECT sql FROM sqlite_master WHERE name = '" + name + "'");
  };
  EXPECT_EQ(value("SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = "
                  "'table' AND name NOT LIKE 'sqlite_%' ORDER BY name)"),
            "cameras,cornea_images,cornea_steps,descriptors,images,keypoints,matches,two_view_"
            "geometries");
  EXPECT_EQ(schema("cameras"),
            "CREATE TABLE cameras   (camera_id            INTEGER  PRIMARY KEY AUTOINCREMENT  NOT "
            "NULL,    model                INTEGER                             NOT NULL,    width  "
            "              INTEGER                             NOT NULL,    height               "
            "INTEGER                             NOT NULL,    params               BLOB,    "
            "prior_focal_length   INTEGER                             NOT NULL)");
  EXPECT_EQ(schema("images"),
            "CREATE TABLE images   (image_id   INTEGER  PRIMARY KEY AUTOINCREMENT  NOT NULL,    "
            "name       TEXT                                NOT NULL UNIQUE,    camera_id  INTEGER "
            "                            NOT NULL,    prior_qw   REAL,    prior_qx   REAL,    "
            "prior_qy   REAL,    prior_qz   REAL,    prior_tx   REAL,    prior_ty   REAL,    "
            "prior_tz   REAL,CONSTRAINT image_id_check CHECK(image_id >= 0 and image_id < "
            "2147483647),FOREIGN KEY(camera_id) REFERENCES cameras(camera_id))");
  EXPECT_EQ(schema("index_name"), "CREATE UNIQUE INDEX index_name ON images(name)");
  for (const std::string table : {"keypoints", "descriptors"}) {
    EXPECT_EQ(schema(table),
              "CREATE TABLE " + table +
                  "   (image_id  INTEGER  PRIMARY KEY  NOT NULL,    rows      INTEGER              "
                  " NOT NULL,    cols      INTEGER               NOT NULL,    data      "
                  "BLOB,FOREIGN KEY(image_id) REFERENCES images(image_id) ON DELETE CASCADE)");
  }
  EXPECT_EQ(schema("matches"),
            "CREATE TABLE matches   (pair_id  INTEGER  PRIMARY KEY  NOT NULL,    rows     INTEGER  "
            "             NOT NULL,    cols     INTEGER               NOT NULL,    data     BLOB)");
  EXPECT_EQ(schema("two_view_geometries"),
            "CREATE TABLE two_view_geometries   (pair_id  INTEGER  PRIMARY KEY  NOT NULL,    rows  "
            "   INTEGER               NOT NULL,    cols     INTEGER               NOT NULL,    "
            "data     BLOB,    config   INTEGER               NOT NULL,    F        BLOB,    E     "
            "   BLOB,    H        BLOB,    qvec     BLOB,    tvec     BLOB)");
}

TEST_F(ColmapDatabase, PairIdsAreColmaps) {
  EXPECT_EQ(pair_id({1, 2}), 2147483649);
  EXPECT_EQ(pair_id({2, 1}), 2147483649);
  EXPECT_EQ(pair_id({3, 11}), 6442450952);
  EXPECT_EQ(pair_of(6442450952), (ImagePair{3, 11}));
  EXPECT_EQ(pair_of(pair_id({2147483645, 2147483646})), (ImagePair{2147483645, 2147483646}));
}

TEST_F(ColmapDatabase, AFileThatIsRemovedOrReplacedMeanwhileIsAnError) {
  for (const bool replaced : {false, true}) {
    Database database = create();
    add_images(database, 1);
    const std::filesystem::path other = file.string() + ".other";
    std::ofstream(other) << "of another program";
    if (replaced) std::filesystem::rename(other, file);
    if (!replaced) std::filesystem::remove(file);
    Database::Transaction transaction(database);
    cornea::testing::expect_error(ErrorCode::io, "was removed or replaced",
                                  [&] { transaction.commit(); });
    for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + ending);
  }
}

TEST_F(ColmapDatabase, CamerasAndImagesAreStored) {
  {
    Database database = create();
    add_images(database, 2);
    ASSERT_EQ(database.images().size(), 2u);
    EXPECT_EQ(database.images()[1].name, "image 1.jpg");
    EXPECT_EQ(database.images()[1].camera, 2);
    EXPECT_EQ(database.cameras()[0].params, (std::vector<double>{768, 320, 240, 0}));
  }
  EXPECT_EQ(value("SELECT model || ' ' || width || ' ' || height || ' ' || prior_focal_length FROM "
                  "cameras WHERE camera_id = 1"),
            "2 640 480 0");
  EXPECT_EQ(value("SELECT hex(params) FROM cameras WHERE camera_id = 1"),
            hexadecimal(std::vector<double>{768, 320, 240, 0}));
  EXPECT_EQ(value("SELECT COUNT(*) FROM images WHERE prior_qw IS NULL AND prior_tz IS NULL"), "2");
}

TEST_F(ColmapDatabase, FocalLengthsFollowColmap) {
  const Camera guess = camera_of_image(1024, 683, {});
  EXPECT_EQ(guess.params, (std::vector<double>{1.2 * 1024, 512, 341.5, 0}));
  EXPECT_FALSE(guess.prior_focal_length);
  Exif exif;
  exif.focal_mm = 5;
  EXPECT_FALSE(camera_of_image(1024, 683, exif).prior_focal_length);
  exif.focal_plane_pixels_per_mm = 200;
  exif.pixels_across = 2000;  // 10 mm
  EXPECT_EQ(camera_of_image(683, 1024, exif).params[0], 512);
  // A portrait photograph: the longer side of the sensor is the longer side of the image.
  exif.pixels_across = 1500, exif.pixels_down = 2000;
  EXPECT_EQ(camera_of_image(768, 1024, exif).params[0], 512);
  EXPECT_TRUE(camera_of_image(683, 1024, exif).prior_focal_length);
  exif.focal_35mm = 28;
  EXPECT_EQ(camera_of_image(1000, 500, exif).params[0], 800);
}

TEST_F(ColmapDatabase, FeaturesAreConvertedToColmaps) {
  Features features;
  features.keypoints = {{10, 20, 2, 0, 1, 0}, {30.25f, 40.75f, 4, float(M_PI / 2), 1, 0}};
  for (int i = 0; i < 256; ++i) features.descriptors.push_back(std::uint8_t(i));
  {
    Database database = create();
    add_images(database, 1);
    Database::Transaction transaction(database);
    database.write_features(1, features);
    transaction.commit();
    EXPECT_EQ(database.points(1)[1].x, 30.25f);
    EXPECT_EQ(database.points(1)[1].y, 40.75f);
    std::vector<std::uint8_t> descriptors;
    EXPECT_EQ(database.read_descriptors(1, descriptors), 2);
    EXPECT_EQ(descriptors, features.descriptors);
    ASSERT_EQ(database.descriptor_counts().size(), 1u);
    EXPECT_EQ(database.descriptor_counts()[0].count, 2);
    EXPECT_EQ(database.point_counts()[0].count, 2);
    EXPECT_TRUE(database.has_points(1));
  }
  const float c = float(4 * std::cos(double(float(M_PI / 2))));
  EXPECT_EQ(value("SELECT rows || 'x' || cols || ' ' || hex(data) FROM keypoints"),
            "2x6 " + hexadecimal(std::vector<float>{10.5f, 20.5f, 2, -0.0f, 0, 2, 30.75f, 41.25f, c,
                                                    -4, 4, c}));
  // The orientation bins of a cell in reverse order.
  std::vector<std::uint8_t> swapped;
  for (int i = 0; i < 256; ++i) swapped.push_back(std::uint8_t(i - i % 8 + (8 - i % 8) % 8));
  EXPECT_EQ(value("SELECT rows || 'x' || cols || ' ' || hex(data) FROM descriptors"),
            "2x128 " + hexadecimal(swapped));
}

TEST_F(ColmapDatabase, EllipsesAreConvertedToColmapsShapes) {
  auto shape = [](float angle, float stretch, float axis) {
    const std::vector<Keypoint> one = {{10, 20, 2, angle, 1, 0, stretch, axis}};
    const std::vector<float> blob = keypoint_blob(one);
    EXPECT_EQ(blob[0], 10.5f);
    EXPECT_EQ(blob[1], 20.5f);
    return std::vector<double>(blob.begin() + 2, blob.end());
  };
  auto expect = [](const std::vector<double>& found, const std::vector<double>& expected) {
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
  };
  const float quarter = float(M_PI / 2);
  expect(shape(0, 3, 0), {6, 0, 0, 2});
  expect(shape(0, 3, quarter), {2, 0, 0, 6});
  expect(shape(quarter, 3, 0), {0, -6, 2, 0});
  // An ellipse along a diagonal: a1 keeps the orientation, and F F^T is the ellipse.
  const auto f = shape(0.3f, 2, quarter / 2);
  EXPECT_NEAR(std::atan2(f[2], f[0]), 0.3, 1e-6);
  EXPECT_NEAR(f[0] * f[0] + f[1] * f[1], 10, 1e-5);
  EXPECT_NEAR(f[2] * f[2] + f[3] * f[3], 10, 1e-5);
  EXPECT_NEAR(f[0] * f[2] + f[1] * f[3], 6, 1e-5);
  EXPECT_NEAR(f[0] * f[3] - f[1] * f[2], 8, 1e-5);
}

TEST_F(ColmapDatabase, EmptyBlobsAreNull) {
  {
    Database database = create();
    add_images(database, 2);
    Database::Transaction transaction(database);
    database.write_features(1, {});
    database.write_matches({1, 2}, {});
    database.write_two_view(pair_id({1, 2}), {Configuration::degenerate, {}, {}, {}});
    transaction.commit();
    EXPECT_TRUE(database.points(1).empty());
    EXPECT_TRUE(database.matches(pair_id({1, 2})).empty());
    EXPECT_FALSE(database.two_view(pair_id({1, 2}))->F);
  }
  EXPECT_EQ(value("SELECT rows || cols || ifnull(data, 'NULL') FROM keypoints"), "06NULL");
  EXPECT_EQ(value("SELECT rows || cols || ifnull(data, 'NULL') FROM descriptors"), "0128NULL");
  EXPECT_EQ(value("SELECT rows || cols || ifnull(data, 'NULL') FROM matches"), "02NULL");
  EXPECT_EQ(value("SELECT rows || cols || config FROM two_view_geometries WHERE data IS NULL AND F "
                  "IS NULL AND E IS NULL AND H IS NULL AND qvec IS NULL AND tvec IS NULL"),
            "021");
}

// Two processes that create one file with different schemas: one of them wins, the other is told.
TEST_F(ColmapDatabase, IsNeverAMixtureOfTwoSchemas) {
  for (int round = 0; round < 8; ++round) {
    const std::filesystem::path file = folder / text("both", round, ".db");
    std::atomic<int> made = 0;
    const auto make = [&](Schema schema) {
      try {
        EXPECT_EQ(Database(file, Database::Open::create, schema).schema(), schema);
        ++made;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("has the tables of COLMAP"), std::string::npos)
            << error.what();
      }
    };
    std::thread other(make, Schema::colmap_4);
    make(Schema::colmap_3_8);
    other.join();
    EXPECT_EQ(made, 1);
    const Database database(file, Database::Open::existing);
    EXPECT_EQ(database.says_type_of_descriptors(), database.schema() == Schema::colmap_4);
  }
}

TEST_F(ColmapDatabase, MatchesAndGeometriesHaveTheirBytes) {
  // Points of the two images in Cornea's pixels, related by F = [t]x with t = (3, 5, 2) and by a
  // homography; the relations must also hold in COLMAP's pixels.
  const std::array<double, 9> F = {0, -2, 5, 2, 0, -3, -5, 3, 0};
  const std::array<double, 9> H = {2, 0.5, 7, -0.25, 1, 3, 0.001, 0.002, 1};
  const std::vector<IndexPair> matches = {{0, 7}, {258, 65536}};
  {
    Database database = create();
    add_images(database, 3);
    Database::Transaction transaction(database);
    database.write_matches({3, 2}, std::vector<IndexPair>{{7, 0}, {65536, 258}});
    database.write_matches({1, 3}, matches);
    database.write_two_view(pair_id({2, 3}), {Configuration::uncalibrated, matches, F, H});
    transaction.commit();
    EXPECT_EQ(database.matches(pair_id({2, 3})), matches);
    EXPECT_EQ(database.unverified_count(), 1);
    EXPECT_EQ(database.unverified_pairs(0, pair_id({1, 3})), std::vector<Id>{pair_id({1, 3})});
    EXPECT_TRUE(database.unverified_pairs(pair_id({1, 4}), INT64_MAX).empty());
    EXPECT_EQ(database.matched_pairs(pair_id({1, 2}), pair_id({1, 9})),
              std::vector<Id>{pair_id({1, 3})});
    const TwoViewRow row = *database.two_view(pair_id({2, 3}));
    EXPECT_EQ(row.inliers, matches);
    for (int i = 0; i < 9; ++i) {
      EXPECT_NEAR((*row.F)[i], F[i], 1e-12);
      EXPECT_NEAR((*row.H)[i], H[i], 1e-12);
    }
  }
  EXPECT_EQ(value("SELECT rows || 'x' || cols || ' ' || hex(data) FROM matches WHERE pair_id = "
                  "4294967297"),
            "2x2 0000000007000000"
            "0201000000000100");
  // The shift by half a pixel moves the epipole from (3, 5, 2) ~ (1.5, 2.5) to (2, 3) ~ (4, 6, 2).
  EXPECT_EQ(value("SELECT hex(F) FROM two_view_geometries"),
            hexadecimal(std::vector<double>{0, -2, 6, 2, 0, -4, -6, 4, 0}));
  EXPECT_EQ(value("SELECT config || ifnull(E, 'NULL') || ifnull(qvec, 'NULL') FROM "
                  "two_view_geometries"),
            "3NULLNULL");
  // H maps COLMAP's coordinates of the first image to those of the second.
  const std::string digits = value("SELECT hex(H) FROM two_view_geometries");
  std::array<double, 9> h;
  for (int i = 0; i < 9; ++i) {
    std::uint64_t bits = 0;
    for (int b = 7; b >= 0; --b) {
      bits = bits << 8 | std::stoul(digits.substr(16 * i + 2 * b, 2), nullptr, 16);
    }
    h[i] = std::bit_cast<double>(bits);
  }
  auto apply = [](const std::array<double, 9>& m, double x, double y) {
    const double w = m[6] * x + m[7] * y + m[8];
    return std::pair((m[0] * x + m[1] * y + m[2]) / w, (m[3] * x + m[4] * y + m[5]) / w);
  };
  const auto [x, y] = apply(H, 100, 200);
  const auto [cx, cy] = apply(h, 100.5, 200.5);
  EXPECT_NEAR(cx, x + 0.5, 1e-9);
  EXPECT_NEAR(cy, y + 0.5, 1e-9);
}

TEST_F(ColmapDatabase, CountsPairsThatCannotBeVerified) {
  Database database = create();
  add_images(database, 3);
  Database::Transaction transaction(database);
  for (const ImagePair& pair : {ImagePair{1, 2}, {1, 3}, {2, 9}, {8, 9}, {7, 9}}) {
    database.write_matches(pair, {});
  }
  database.write_two_view(pair_id({1, 2}), {});
  database.write_two_view(pair_id({7, 9}), {});
  transaction.commit();
  EXPECT_EQ(database.unverified_count(), 3);
  EXPECT_EQ(database.unverifiable_count(), 2);
}

TEST_F(ColmapDatabase, UncommittedChangesAreDiscarded) {
  Database database = create();
  {
    Database::Transaction transaction(database);
    database.add_camera(camera_of_image(4, 4, {}));
  }
  EXPECT_EQ(database.count("cameras"), 0);
  add_images(database, 1);
  EXPECT_EQ(database.count("cameras"), 1);
  EXPECT_EQ(Database(file).count("images"), 1);
}

TEST_F(ColmapDatabase, NamesMayHoldAnyBytesAndQuotes) {
  const std::string name = "it's \"a\" <script>; DROP TABLE images;--\xff.jpg";
  Database database = create();
  Database::Transaction transaction(database);
  database.add_image(name, database.add_camera(camera_of_image(4, 4, {})));
  transaction.commit();
  EXPECT_EQ(database.images()[0].name, name);
}

TEST_F(ColmapDatabase, RecordsWhatFeaturesWereExtractedFrom) {
  Database database = create();
  add_images(database, 2);
  const Features none;
  std::vector<ImageRecord> written;
  for (const ImageRow& row : database.images()) {
    ImageRecord record{row.id, row.name, "/photos", {5, -7, 0xffffffffffffffffu}, {}, "a=1", 0};
    if (row.id == 2) record.mask = FileStamp{1, 2, 3};
    database.write_features(row.id, none);
    database.write_record(record);
    written.push_back(record);
  }
  auto found = [&] {
    std::vector<ImageRecord> all;
    database.visit_records([&](const ImageRecord& record) { all.push_back(record); });
    return all;
  };
  EXPECT_EQ(found(), written);
  // A record is ignored if the points differ or the image has another name now.
  written[0].features = 3;
  database.write_record(written[0]);
  EXPECT_EQ(found().size(), 1u);
  written[1].name = "another";
  database.write_record(written[1]);
  EXPECT_TRUE(found().empty());
  database.add_options_of_step("match", "ratio=0.8");
  database.add_options_of_step("match", "ratio=0.8");
  database.add_options_of_step("verify", "threshold=4");
  EXPECT_EQ(database.options_of_step("match"), std::vector<std::string>{"ratio=0.8"});
  database.forget_options_of_step("match");
  EXPECT_TRUE(database.options_of_step("match").empty());
  EXPECT_EQ(database.options_of_step("verify").size(), 1u);
}

TEST_F(ColmapDatabase, DeletesThePairsOfAnImage) {
  Database database = create();
  add_images(database, 4);
  for (Id a = 1; a < 5; ++a) {
    for (Id b = a + 1; b < 5; ++b) {
      database.write_matches({a, b}, {});
      database.write_two_view(pair_id({a, b}), {});
    }
  }
  database.delete_pairs_of(3);
  const std::vector<Id> left = {pair_id({1, 2}), pair_id({1, 4}), pair_id({2, 4})};
  EXPECT_EQ(database.matched_pairs(0, INT64_MAX), left);
  EXPECT_EQ(database.count("two_view_geometries"), 3);
  database.delete_pair(left[1]);
  EXPECT_EQ(database.count("matches"), 2);
  // a geometry without matches cannot be made again, so it is kept
  database.write_two_view(pair_id({3, 4}), {});
  database.delete_two_views_of_matches();
  EXPECT_EQ(database.count("two_view_geometries"), 1);
}

TEST_F(ColmapDatabase, DeletesAnImageWithAllItsRows) {
  Database database = create();
  add_images(database, 3);
  const Id shared = database.images()[0].camera;
  const Id fourth = database.add_image("fourth", shared);
  Features features;
  features.keypoints.resize(2);
  features.descriptors.resize(256, 7);
  for (Id image = 1; image <= fourth; ++image) {
    database.write_features(image, features);
    database.write_record({image, text("image ", image), "/", {}, {}, "a=1", 2});
    for (Id other = image + 1; other <= fourth; ++other) database.write_matches({image, other}, {});
  }
  const std::int64_t cameras = database.count("cameras");
  database.delete_image(2);
  database.delete_image(77);  // does not exist
  EXPECT_EQ(database.count("images"), 3);
  EXPECT_EQ(database.count("keypoints"), 3);
  EXPECT_EQ(database.count("descriptors"), 3);
  EXPECT_EQ(database.count("matches"), 3);
  EXPECT_EQ(value("SELECT group_concat(image_id) FROM cornea_images"), "1,3,4");
  EXPECT_EQ(database.count("cameras"), cameras - 1);
  database.delete_image(1);  // the fourth image shares its camera
  EXPECT_EQ(database.count("cameras"), cameras - 1);
  EXPECT_EQ(database.options_of_images(), std::vector<std::string>{"a=1"});
}

}  // namespace
}  // namespace cornea::colmap
