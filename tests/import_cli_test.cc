// SPDX-License-Identifier: Apache-2.0
// Tests of `cornea import` from outside: what it accepts, what it says of invalid files, and that
// it can be repeated and killed.
#include <algorithm>
#include <cmath>
#include <limits>

#include "colmap_testing.h"

#include "cornea/io/npy_testing.h"

namespace cornea {
namespace {

using namespace testing;

constexpr int kImported = 4, kPoints = 40;

class ImportCommandTest : public Colmap {
 protected:
  void SetUp() override {
    Colmap::SetUp();
    for (const fs::path& made : {points, described}) fs::create_directories(made);
    for (int i = 0; i < kImported; ++i) {
      write_image(images / name_of(i), window(160, 120, 9.0 * i, 0));
      write_bytes(points / (name_of(i) + ".npy"), npy_table(2, places(i)));
      write_bytes(described / (name_of(i) + ".npy"),
                  npy_table(128, std::vector<std::uint8_t>(128 * kPoints, std::uint8_t(i))));
    }
    write_bytes(matches, all_matches());
  }

  // A name with characters that separate words, cells and strings.
  static std::string name_of(int i) { return text("photo ", i, ", \"gr\u00fcn\".png"); }
  static std::string quoted(int i) { return text("\"photo ", i, ", \"\"gr\u00fcn\"\".png\""); }

  // Points of one texture: each image is shifted by 9 pixels to the left of the previous one.
  static std::vector<float> places(int i) {
    std::vector<float> all;
    for (int k = 0; k < kPoints; ++k) {
      all.insert(all.end(), {float(40 + k * 37 % 110 - 9 * i), float(3 + k * 53 % 113)});
    }
    return all;
  }
  static std::string pair_csv(int i, int j) {
    std::string lines;
    for (int k = 0; k < kPoints; ++k) {
      lines += text(quoted(i), ",", k, ",", quoted(j), ",", k, "\n");
    }
    return lines;
  }
  static std::string all_matches() {
    std::string lines = "image1,index1,image2,index2\n";  // columns are found by name
    for (int i = 0; i < kImported; ++i) {
      for (int j = i + 1; j < kImported; ++j) lines += pair_csv(j, i);
    }
    return lines;
  }

  std::vector<std::string> words(std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"import", "--db", database, "-q", "--json", "-"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<std::string> features(std::vector<std::string> more = {}) const {
    std::vector<std::string> all = words({"--images", images, "--keypoints", points});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<std::string> everything() const {
    return features({"--descriptors", described, "--matches", matches});
  }
  Json done(const std::vector<std::string>& arguments) {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err, "");
    return o.code == 0 ? Json::parse(o.out) : Json();
  }
  // The command must end with this code and this many lines, the first of which contains
  // `sentence`.
  void expect_lines(const std::vector<std::string>& arguments, int code, int lines,
                    const std::string& sentence) {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), lines) << o.err;
    EXPECT_NE(o.err.substr(0, o.err.find('\n')).find(sentence), std::string::npos) << o.err;
  }
  // The first image's points are invalid: it is named, and the other three are imported.
  void expect_first_refused(const std::string& npy_file, const std::string& sentence) {
    fs::remove(database);
    write_bytes(points / (name_of(0) + ".npy"), npy_file);
    expect_lines(features(), 1, 1, name_of(0));
    expect_lines(features(), 1, 1, sentence);
    EXPECT_EQ(rows_in(database, "images"), kImported - 1);
    EXPECT_EQ(rows_in(database, "cameras"), kImported - 1);
    EXPECT_EQ(rows_in(database, "keypoints"), kImported - 1);
  }
  // A file of matches of which nothing is written.
  void expect_matches_refused(const std::string& text, const std::string& sentence) {
    write_bytes(matches, text);
    expect_lines(words({"--matches", matches}), 1, 1, sentence);
    EXPECT_EQ(rows_in(database, "matches"), 0);
  }

  // The text that a query returns.
  std::string value(const std::string& sql) const {
    const std::string row = rows_of(database, sql).at(0);
    return row.substr(row.find(':', row.find(':') + 1) + 1);
  }

  const fs::path points = folder / "points", described = folder / "described",
                 matches = folder / "matches.csv";
};

TEST_F(ImportCommandTest, FeaturesAndMatchesOfAnotherProgramAreVerified) {
  const Json json = done(everything());
  EXPECT_EQ(json["imported"], kImported);
  EXPECT_EQ(json["features"], kImported * kPoints);
  EXPECT_EQ(json["pairs_imported"], 6);
  EXPECT_EQ(json["matches"], 6 * kPoints);
  {
    const colmap::Database opened(database);
    const auto rows = opened.images();
    ASSERT_EQ(rows.size(), std::size_t(kImported));
    for (int i = 0; i < kImported; ++i) {
      EXPECT_EQ(rows[std::size_t(i)].name, name_of(i));
      const auto held = opened.points(rows[std::size_t(i)].id);
      ASSERT_EQ(held.size(), std::size_t(kPoints));
      EXPECT_EQ(held[7].x, places(i)[14]);
      EXPECT_EQ(held[7].y, places(i)[15]);
    }
    // The match was given in reverse order, and the indices are equal.
    EXPECT_EQ(opened.matches(colmap::pair_id({1, 2})).at(5), (colmap::IndexPair{5, 5}));
  }
  EXPECT_EQ(value("SELECT rows || ' ' || cols || ' ' || hex(substr(data, 1, 4)) FROM descriptors "
                  "WHERE image_id = 3"),
            text(kPoints, " 128 02020202"));
  const Json verified = Json::parse(run(on_database("verify")).out);
  EXPECT_EQ(value("SELECT MIN(rows) || ' ' || COUNT(*) FROM two_view_geometries"),
            text(kPoints, " 6"))
      << verified;
}

TEST_F(ImportCommandTest, TheSameImportTwiceChangesNothing) {
  done(everything());
  const auto before = dump(database);
  const Json again = done(everything());
  EXPECT_EQ(again["imported"], 0);
  EXPECT_EQ(again["skipped"], kImported);
  EXPECT_EQ(again["pairs_imported"], 0);
  EXPECT_EQ(again["pairs_skipped"], 6);
  EXPECT_TRUE(dump(database) == before);
  // Also without photographs, because the images are in the database.
  EXPECT_EQ(done(words({"--keypoints", points, "--descriptors", described}))["skipped"], kImported);
  // Different features are refused unless redo is given.
  write_bytes(points / (name_of(1) + ".npy"), npy_table(2, places(2)));
  expect_lines(everything(), 1, 2, "has other features of this image; the option --redo");
  write_bytes(matches, "image1,image2,index1,index2\n" + text(quoted(0), ",", quoted(1), ",3,4\n"));
  expect_lines(words({"--matches", matches}), 1, 1, "have other matches already");
  EXPECT_TRUE(dump(database) == before);
  const Json redone = done(features({"--descriptors", described, "--redo"}));
  EXPECT_EQ(redone["redone"], 1);
  EXPECT_EQ(rows_in(database, "matches"), 3);  // those of the other images
  EXPECT_EQ(done(words({"--matches", matches, "--redo"}))["pairs_imported"], 1);
}

// Their indices would be taken for those of the features that are there.
TEST_F(ImportCommandTest, MatchesOfPointsThatWereNotImportedAreNotWritten) {
  done(features({}));
  for (int i = 0; i < kImported; ++i) {
    write_bytes(points / (name_of(i) + ".npy"), npy_table(2, places((i + 1) % kImported)));
  }
  const Outcome o = run(everything());
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("no match was imported, since the points of 4 images were not"),
            std::string::npos)
      << o.err;
  EXPECT_EQ(rows_in(database, "matches"), 0);
}

TEST_F(ImportCommandTest, GeometriesWithoutMatchesAreNotDeletedUnasked) {
  done(everything());
  ASSERT_EQ(run(on_database("verify")).code, 0);
  change("DELETE FROM matches");
  const auto before = dump(database);
  expect_lines(words({"--matches", matches}), 1, 1, "the option --redo replaces them");
  EXPECT_TRUE(dump(database) == before);
}

TEST_F(ImportCommandTest, InvalidPointsAreNamedAndTheOtherImagesDone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  expect_first_refused(npy_table<float>(2, {1, 2, 3, nan}), "holds nan in row 1");
  expect_first_refused(npy_table<double>(2, {1, -infinity}), "in row 0");
  expect_first_refused(npy_table<double>(2, {1, 1e300}), "in row 0");
  expect_first_refused(npy_table<float>(3, {1, 2, 3}), "holds 1 x 3 numbers; points are n x 2");
  expect_first_refused(npy_table<std::uint8_t>(2, {1, 2}), "holds 1 x 2 bytes");
  expect_first_refused(npy_table<std::int64_t>(2, {1, 2}), "type '<i8'");
  expect_first_refused(npy_table<float>(2, {160.5f, 2}), "outside of the image of 160 x 120");
  expect_first_refused(npy_table<float>(2, {1, -0.6f}), "outside of the image of 160 x 120");
  expect_first_refused(npy_table<float>(4, {1, 2, -1, 0}), "has the scale -1");
  expect_first_refused(npy_table<float>(6, {1, 2, 1, 2, 2, 4}), "a singular frame");
  expect_first_refused(
      npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }\n", "12345678"),
      "column by column");
  expect_first_refused(
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "12345678"),
      "has the shape (2,)");
  expect_first_refused("x,y\n1,2\n", "is not a .npy file");
  expect_first_refused("", "is not a .npy file");
}

TEST_F(ImportCommandTest, DescriptorsThatDoNotFitAreNamed) {
  const auto refused = [&](const std::string& file, const std::string& sentence,
                           const std::vector<std::string>& more = {}) {
    fs::remove(database);
    write_bytes(described / (name_of(0) + ".npy"), file);
    std::vector<std::string> all = features({"--descriptors", described});
    all.insert(all.end(), more.begin(), more.end());
    expect_lines(all, 1, 1, sentence);
    EXPECT_EQ(rows_in(database, "descriptors"), kImported - 1);
    EXPECT_EQ(rows_in(database, "keypoints"), kImported - 1);
  };
  const auto bytes = [](int rows, int columns) {
    return npy_table(std::size_t(columns), std::vector<std::uint8_t>(std::size_t(rows * columns)));
  };
  refused(bytes(kPoints, 64), "descriptors of 64 bytes; SIFT's have 128");
  refused(bytes(kPoints - 1, 128), "holds 39 descriptors for 40 points");
  refused(npy_table(256, std::vector<float>(256 * kPoints)), "has no column for the type");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  refused(npy_table(8, std::vector<float>(8 * kPoints, nan)), "holds nan", {"--schema", "4"});
  fs::remove(described / (name_of(0) + ".npy"));
  fs::remove(database);
  expect_lines(features({"--descriptors", described}), 1, 1, name_of(0));
  // Images with byte and with float descriptors are distinguished by their type.
  fs::remove(database);
  write_bytes(described / (name_of(0) + ".npy"), npy_table(8, std::vector<float>(8 * kPoints, 1)));
  done(features({"--descriptors", described, "--schema", "4", "--descriptor-type", "aliked-n32"}));
  EXPECT_EQ(value("SELECT type || ' ' || cols FROM descriptors WHERE image_id = 1"), "2 32");
  EXPECT_EQ(value("SELECT type || ' ' || cols FROM descriptors WHERE image_id = 2"), "0 128");
}

TEST_F(ImportCommandTest, UnknownNamesAreReported) {
  // Neither a database nor photographs to make one from.
  expect_lines(words({"--keypoints", points}), 1, 1, database.string());
  EXPECT_FALSE(fs::exists(database));
  done(features());
  write_bytes(points / "nobody.png.npy", npy_table<float>(2, {1, 2}));
  expect_lines(words({"--keypoints", points}), 1, 1, "nobody.png");
  expect_lines(features(), 1, 1, "there is no such photograph");
  EXPECT_EQ(rows_in(database, "images"), kImported);
  // A photograph's name without its ending is not the image's name.
  fs::remove(points / "nobody.png.npy");
  const std::string stem = fs::path(name_of(0)).stem().string();
  write_bytes(points / (stem + ".npy"), npy_table(2, places(0)));
  expect_lines(words({"--keypoints", points}), 1, 1, "has no image of this name");
}

TEST_F(ImportCommandTest, DescriptorsOfImagesWithoutPointsAreNamed) {
  write_bytes(described / "photo.png.npy", npy_table(128, std::vector<std::uint8_t>(128)));
  const Outcome o = run(features({"--descriptors", described}));
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_NE(o.err.find("photo.png"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("has no file of points"), std::string::npos) << o.err;
  EXPECT_EQ(Json::parse(o.out)["imported"], kImported);
}

TEST_F(ImportCommandTest, InvalidMatchesAreRefusedAsAWhole) {
  done(features());
  const std::string head = "image1,image2,index1,index2\n";
  const auto row = [](int i, int j, const std::string& indices) {
    return text(quoted(i), ",", quoted(j), ",", indices, "\n");
  };
  const std::string good = head + row(0, 1, "0,0");
  expect_matches_refused(good + row(0, 1, "-1,2"), "line 3: '-1' is not a feature index");
  expect_matches_refused(good + row(0, 1, "1.5,2"), "line 3: '1.5' is not a feature index");
  expect_matches_refused(good + row(0, 1, "4294967296,2"),
                         "line 3: '4294967296' is not a feature index");
  expect_matches_refused(good + row(0, 1, "nan,2"), "line 3: 'nan' is not a feature index");
  expect_matches_refused(good + row(0, 1, "40,2"), "line 3: there is no feature 40 of image 1");
  expect_matches_refused(good + row(0, 2, "0,0") + row(0, 1, "0,0"),
                         "line 4: the match 0 0 is already in line 2");
  expect_matches_refused(good + row(1, 0, "1,1"),
                         "line 3: this pair of images is already given in line 2");
  expect_matches_refused(good + row(2, 2, "1,1"), "line 3: an image is matched with itself");
  expect_matches_refused(good + "nobody.png," + quoted(1) + ",1,1\n",
                         "line 3: the database has no image 'nobody.png'");
  expect_matches_refused(good + row(0, 1, "1"), "line 3: does not have the 4 columns");
  expect_matches_refused("image1,image2,index1\n", "the columns image1, image2, index1 and index2");
  expect_matches_refused("image1,image2,index1,index1,index2\n", "must each be named once");
  expect_matches_refused(
      "x1,y1,x2,y2\n1,2,3,4\n",
      "line 2: a match is two indices of features, not '1,2,3,4'; the first line of a "
      "CSV names image1");
  expect_matches_refused("", "is empty");
  expect_matches_refused(text(name_of(0), " ", name_of(1), "\n0 0\n0 0\n"),
                         "line 3: the match 0 0 is already in line 2");
  expect_matches_refused(text(name_of(0), " ", name_of(1), "\n0 -1\n"),
                         "line 2: '-1' is not a feature index");
  // Refused files left nothing behind.
  write_bytes(matches, all_matches());
  EXPECT_EQ(done(words({"--matches", matches}))["pairs_imported"], 6);
}

TEST_F(ImportCommandTest, InvalidMatchesKeepTheFeaturesOfTheSameRun) {
  write_bytes(matches, "image1,image2,index1,index2\nno.png,nobody.png,0,0\n");
  const Outcome o = run(everything());
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("no match was written"), std::string::npos) << o.err;
  EXPECT_EQ(rows_in(database, "keypoints"), kImported);
  EXPECT_EQ(rows_in(database, "matches"), 0);
}

TEST_F(ImportCommandTest, ColmapsTextIsReadFromStandardInput) {
  done(features());
  const fs::path list = folder / "list.txt";
  write_bytes(list, text("# a comment\n", name_of(0), " ", name_of(1), "\n0 3\n5 7\n\n", name_of(3),
                         " ", name_of(2), "\n1 2\n"));
  const std::string command = text("'", CORNEA_PROGRAM, "' import --db '", database.string(),
                                   "' -q --matches - < '", list.string(), "'");
  ASSERT_EQ(std::system(command.c_str()), 0);
  const colmap::Database opened(database);
  EXPECT_EQ(opened.matches(colmap::pair_id({1, 2})),
            (std::vector<colmap::IndexPair>{{0, 3}, {5, 7}}));
  EXPECT_EQ(opened.matches(colmap::pair_id({3, 4})), (std::vector<colmap::IndexPair>{{2, 1}}));
}

TEST_F(ImportCommandTest, WrongUsageIsRefusedAndMakesNoDatabase) {
  expect_lines(words(), 2, 1, "there is nothing to import");
  expect_lines(features({"--first-pixel", "1"}), 2, 1, "takes 0 or 0.5, not 1");
  expect_lines(features({"--descriptor-type", "sift"}), 2, 1, "takes aliked-n16rot");
  expect_lines(words({"--matches", matches, "--descriptors", described}), 2, 1, "--keypoints");
  expect_lines(words({"--images", images, "--keypoints", folder / "none"}), 1, 1,
               "is not a folder");
  fs::create_directories(folder / "empty");
  expect_lines(words({"--images", images, "--keypoints", folder / "empty"}), 1, 1,
               "holds no .npy file");
  expect_lines(words({"--images", images, "--matches", folder / "none.csv"}), 1, 1,
               "cannot be read");
  EXPECT_FALSE(fs::exists(database));
}

TEST_F(ImportCommandTest, KilledAtAnyMomentItContinuesToTheSameContents) {
  const Outcome undisturbed = run(everything());
  ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
  const fs::path expected = folder / "expected.db";
  fs::rename(database, expected);
  constexpr int kKills = 6;
  int killed = 0, partly = 0;
  // Other moments in every attempt: how long the first run took says little about later ones.
  for (int i = 0; i < 20 * kKills && (killed < kKills || partly == 0); ++i) {
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(database.string() + ending);
    const Outcome o = run(everything(), std::fmod(0.618 * (i + 1), 1.0) * undisturbed.milliseconds);
    if (!o.killed) continue;
    ++killed;
    partly += fs::exists(database) && rows_in(database, "matches") < 6;
    done(everything());
    expect_same_database(database, expected);
  }
  EXPECT_GE(killed, kKills / 2);
  EXPECT_GE(partly, 1);
}

}  // namespace
}  // namespace cornea
