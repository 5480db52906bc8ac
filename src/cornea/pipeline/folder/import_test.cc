// SPDX-License-Identifier: Apache-2.0
// Tests of importing features and matches of other programs, from files to verified pairs, on views
// with known geometry.
#include "cornea/pipeline/folder/import.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "cornea/io/file_testing.h"
#include "cornea/io/npy.h"
#include "cornea/io/npy_testing.h"
#include "cornea/pipeline/folder/folder_testing.h"

namespace cornea {
namespace {

using namespace testing;

class Import : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"images", "points", "described"})
      fs::create_directories(folder / name);
    for (const View& view : views()) write_image(images / (view.name + ".png"), view.image);
  }
  static void write_floats(const fs::path& file, std::size_t columns,
                           const std::vector<float>& values) {
    testing::write_bytes(file, bytes_of_text(npy_table(columns, values)));
  }
  // Runs extract, match-all and verify, and writes the results to files as another program would.
  Database made_by_cornea() const {
    Database database(folder / "cornea.db", Database::Open::create);
    const Context context = Context::cpu(1);
    extract_folder(context, images, database);
    match_all(context, database);
    verify_all(context, database);
    for (const auto& row : database.images()) {
      std::vector<float> points;
      for (const auto& p : database.points(row.id)) points.insert(points.end(), {p.x, p.y});
      write_floats(folder / "points" / (row.name + ".npy"), 2, points);
    }
    std::ofstream matches(folder / "matches.txt");
    for (const Id pair : kAllPairs) {
      const auto [first, second] = colmap::pair_of(pair);
      // In reverse order, because another program does not know the ids.
      matches << database.images()[std::size_t(second - 1)].name << " "
              << database.images()[std::size_t(first - 1)].name << "\n";
      for (const auto& match : database.matches(pair)) {
        matches << match.second << " " << match.first << "\n";
      }
      matches << "\n";
    }
    return database;
  }
  ImportOptions options() const { return {.keypoints = folder / "points", .images = images}; }
  Database created(const std::string& name, std::optional<colmap::Schema> schema = {}) const {
    return Database(folder / name, Database::Open::create, schema);
  }
  ImportReport matches_from(Database& database, const std::string& words, bool redo = false) const {
    std::istringstream in(words);
    return import_matches(database, in, "m.txt", redo);
  }
  // One point per image, at the same position.
  void one_point(float x, float y) const {
    for (const View& view : views()) {
      write_floats(folder / "points" / (view.name + ".png.npy"), 2, {x, y});
    }
  }
  void expect_failures(Database& database, const ImportOptions& given, const std::string& sentence,
                       int failed = 3) const {
    RecordedEvents recorded;
    EXPECT_EQ(import_features(database, given, recorded.events()).failed, failed);
    ASSERT_FALSE(recorded.sentences.empty()) << sentence;
    EXPECT_NE(recorded.sentences[0].find(sentence), std::string::npos) << recorded.sentences[0];
  }

  const TemporaryFolder folder;
  const fs::path images = folder / "images";
};

TEST_F(Import, GetsTheSameVerificationAsCorneasOwn) {
  const Database own = made_by_cornea();
  Database database = created("c.db");
  const ImportReport features = import_features(database, options());
  EXPECT_EQ(features.imported, 3);
  EXPECT_EQ(features.failed, 0);
  const std::string words = [&] {
    std::ifstream in(folder / "matches.txt");
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  EXPECT_EQ(matches_from(database, words).matched, 3);
  EXPECT_EQ(verify_all(Context::cpu(1), database).general(), 3);
  for (const Id pair : kAllPairs) {
    EXPECT_EQ(database.matches(pair), own.matches(pair));
    EXPECT_EQ(database.two_view(pair).value().inliers, own.two_view(pair).value().inliers);
  }
  // A second import finds everything there.
  EXPECT_EQ(import_features(database, options()).skipped, 3);
  EXPECT_EQ(matches_from(database, words).matched_skipped, 3);
}

TEST_F(Import, FirstPixelSetsTheOriginOfCoordinates) {
  one_point(10, 20);
  Database zero = created("0.db"), half = created("5.db");
  import_features(zero, options());
  ImportOptions as_colmap = options();
  as_colmap.first_pixel = 0.5;
  import_features(half, as_colmap);
  EXPECT_EQ(zero.points(1).at(0).x, 10);
  EXPECT_EQ(half.points(1).at(0).x, 9.5f);
  EXPECT_EQ(half.points(1).at(0).y, 19.5f);
}

TEST_F(Import, InvalidFilesAreReportedAndNothingIsWritten) {
  Database database = created("c.db");
  one_point(321, 20);
  expect_failures(database, options(),
                  "point 0 is at (321, 20), outside of the image of 320 x 240");
  one_point(10, -1);
  expect_failures(database, options(), "outside of the image of");
  for (const View& view : views()) {
    write_floats(folder / "points" / (view.name + ".png.npy"), 3, {1, 2, 3});
  }
  expect_failures(database, options(), "holds 1 x 3 numbers; points are n x 2");
  for (const View& view : views()) {
    write_floats(folder / "points" / (view.name + ".png.npy"), 2, {1, NAN});
  }
  expect_failures(database, options(), "holds nan in row 0");
  for (const View& view : views()) {
    write_floats(folder / "points" / (view.name + ".png.npy"), 4, {1, 2, 0, 1});
  }
  expect_failures(database, options(), "has the scale 0");
  one_point(10, 20);
  expect_failures(database, {.keypoints = folder / "points"}, "has no image of this name");
  write_floats(folder / "points/nobody.png.npy", 2, {1, 2});
  EXPECT_EQ(database.count("images"), 0);
  EXPECT_EQ(database.count("cameras"), 0);
  expect_failures(database, options(), "nobody.png", 1);
  EXPECT_EQ(database.count("images"), 3);
  // Features other than the existing ones.
  fs::remove(folder / "points/nobody.png.npy");
  one_point(11, 20);
  expect_failures(database, options(), "already has other features of this image");
  ImportOptions again = options();
  again.redo = true;
  EXPECT_EQ(import_features(database, again).redone, 3);
  EXPECT_EQ(database.points(1).at(0).x, 11);
}

TEST_F(Import, DescriptorsAreOnePerPointAndOfAKnownKind) {
  one_point(10, 20);
  ImportOptions described = options();
  described.descriptors = folder / "described";
  const auto put = [&](const std::string& bytes) {
    for (const View& view : views()) {
      testing::write_bytes(folder / "described" / (view.name + ".png.npy"), bytes_of_text(bytes));
    }
  };
  Database three = created("3.db"), four = created("4.db", colmap::Schema::colmap_4);
  put(io::encode_npy(2, 128, std::vector<std::uint8_t>(256)));
  expect_failures(three, described, "holds 2 descriptors for 1 points");
  put(io::encode_npy(1, 64, std::vector<std::uint8_t>(64)));
  expect_failures(three, described, "descriptors of 64 bytes");
  put(io::encode_npy(1, 128, std::vector<std::uint8_t>(128, 3)));
  EXPECT_EQ(import_features(three, described).imported, 3);
  EXPECT_EQ(three.descriptor_counts().size(), 3u);
  for (const View& view : views()) {
    write_floats(folder / "described" / (view.name + ".png.npy"), 32, std::vector<float>(32, 0.5f));
  }
  Database floats = created("f.db");
  expect_failures(floats, described, "has no column for the type of descriptors");
  EXPECT_EQ(import_features(four, described).imported, 3);
  std::vector<std::string> refused;
  EXPECT_TRUE(four.descriptor_counts(&refused).empty());
  EXPECT_EQ(refused.size(), 3u);
}

TEST_F(Import, InvalidMatchesAreRefusedByLineAndNothingIsWritten) {
  one_point(10, 20);
  Database database = created("c.db");
  import_features(database, options());
  const std::string a = views()[0].name + ".png", b = views()[1].name + ".png",
                    c = views()[2].name + ".png", good = a + " " + b + "\n0 0\n\n";
  const auto refused = [&](const std::string& words, const std::string& sentence) {
    testing::expect_error(ErrorCode::io, sentence, [&] { matches_from(database, words); });
    EXPECT_EQ(database.count("matches"), 0);
  };
  refused(good + a + " nobody\n0 0\n",
          "m.txt, line 4: '" + a + " nobody' does not name two images");
  refused(good + a + " " + c + "\n0 1\n", "line 5: there is no feature 1 of image 3, which has 1");
  refused(good + b + " " + a + "\n0 0\n", "line 4: this pair of images is already given in line 1");
  refused(a + " " + a + "\n0 0\n", "line 1: an image is matched with itself");
  refused("image1,image2,index1,index2\n" + a + ",x,0,0\n",
          "line 2: the database has no image 'x'");
  EXPECT_EQ(matches_from(database, good).matched, 1);
  testing::expect_error(ErrorCode::io, "have other matches already",
                        [&] { matches_from(database, a + " " + b + "\n"); });
  EXPECT_EQ(matches_from(database, a + " " + b + "\n", true).matched_redone, 1);
  EXPECT_TRUE(database.matches(pair_id({1, 2})).empty());
}

}  // namespace
}  // namespace cornea
