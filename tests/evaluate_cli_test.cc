// SPDX-License-Identifier: Apache-2.0
// Tests of `cornea evaluate` as a program: what it finds in a folder, what it refuses, and answers
// that are known beforehand.
#include <cmath>

#include "cli_testing.h"
#include "study/evaluate/measures.h"

#include "cornea/io/npy.h"

namespace cornea {
namespace {

class Evaluate : public Cli {
 protected:
  void SetUp() override {
    // Points of another program in two images; the second is shifted by 5 pixels to the right.
    fs::create_directories(folder / "data" / "pair");
    const Image<std::uint8_t> image = testing::random_image<std::uint8_t>(120, 90, 3);
    for (const char* name : {"img1.png", "img2.png"}) {
      write_image(folder / "data" / "pair" / name, image);
    }
    write("data/pair/H1to2.txt", "1 0 5\n0 1 0\n0 0 1\n");
    std::string first = "x,y,response\n", second = first;
    std::string descriptors;
    for (int i = 0; i < 20; ++i) {
      const int x = 10 + 4 * i, y = 10 + (i * 7) % 60;
      first += text(x, ",", y, ",", i, "\n");
      // The last five are off by 2 pixels.
      second += text(x + 5, ",", y + (i < 15 ? 0 : 2), ",", i, "\n");
      for (int k = 0; k < 4; ++k) descriptors += char((i * 37 + k * 101) % 251);
    }
    write("theirs/pair/img1.csv", first);
    write("theirs/pair/img2.csv", second);
    const std::vector<std::uint8_t> bytes(descriptors.begin(), descriptors.end());
    for (const char* name : {"theirs/pair/img1.npy", "theirs/pair/img2.npy"}) {
      write(name, io::encode_npy(20, 4, bytes));
    }
  }

  void write(const std::string& name, const std::string& contents) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << contents;
  }

  Json run(const std::string& line) {
    const Outcome o = shell("cornea evaluate " + line + " --device cpu --json -");
    EXPECT_EQ(o.code, 0) << o.err;
    return o.code == 0 ? Json::parse(o.out) : Json();
  }
};

std::vector<std::uint8_t> counting(int count) {
  std::vector<std::uint8_t> values;
  for (int i = 0; i < count; ++i) values.push_back(std::uint8_t(i));
  return values;
}

const std::string kTheirs = "data --only-theirs --theirs them=theirs --parts sequences";

TEST_F(Evaluate, MeasuresPointsOfOtherPrograms) {
  const Json json = run(kTheirs);
  ASSERT_FALSE(json.is_null());
  const Json& points = json.at("sequences").at("points").at(0);
  EXPECT_EQ(points.at("detector"), "them");
  EXPECT_EQ(points.at("points"), Json({20, 20}));
  EXPECT_EQ(points.at("repeated"), 20);
  EXPECT_DOUBLE_EQ(points.at("repeatability"), 1);
  EXPECT_NEAR(points.at("localisation"), std::sqrt(5 * 4 / 20.0), 1e-9);
  const Json& matches = json.at("sequences").at("matches").at(0);
  EXPECT_EQ(matches.at("matches"), 20);
  EXPECT_EQ(matches.at("correct"), Json({15, 20, 20}));
  const Json& found = matches.at("homographies").at(0);
  EXPECT_DOUBLE_EQ(found.at("corner_error"),
                   evaluate::corner_error(found.at("H").get<evaluate::Matrix>(),
                                          {1, 0, 5, 0, 1, 0, 0, 0, 1}, 120, 90));
  EXPECT_LT(found.at("corner_error"), 4);
}

TEST_F(Evaluate, UsesTheStrongestPointsAndMatchesOfOtherPrograms) {
  Json json = run(kTheirs + " --points 5");
  ASSERT_FALSE(json.is_null());
  EXPECT_EQ(json.at("sequences").at("points").at(0).at("points"), Json({5, 5}));
  EXPECT_EQ(json.at("sequences").at("matches").at(0).at("correct"), Json({0, 5, 5}));
  // Matches of a candidate take precedence over its descriptors.
  write("theirs/pair/img1-img2.csv", "x1,y1,x2,y2\n10,10,15,10\n20,20,25,24\n30,30,30,30\n");
  json = run(kTheirs);
  ASSERT_FALSE(json.is_null());
  EXPECT_EQ(json.at("sequences").at("matches").at(0).at("matches"), 3);
  EXPECT_EQ(json.at("sequences").at("matches").at(0).at("correct"), Json({1, 1, 3}));
}

TEST_F(Evaluate, RefusesFilesOfOtherProgramsThatDoNotFit) {
  const std::string line = "cornea evaluate " + kTheirs + " --device cpu";
  auto refused = [&](const std::string& name, const std::string& contents,
                     const std::string& word) {
    const std::string before = read_text(folder / name);
    write(name, contents);
    expect_refused(line, 1, word);
    if (before.empty()) {
      fs::remove(folder / name);
    } else {
      write(name, before);
    }
  };
  refused("theirs/pair/img2.csv", "a,b\n1,2\n",
          "img2.csv: line 1 does not name the columns x and y");
  refused("theirs/pair/img2.csv", "x,y\n1,nan\n", "line 2 has nan for y");
  refused("theirs/pair/img2.csv", "x,y\n1,2\n",
          "img2.npy: has 20 rows, but img2.csv lists 1 points");
  refused("theirs/pair/img2.csv", "x,y\n1000,2\n", "the point (1000, 2) lies outside of pair/img2");
  refused("theirs/pair/img2.npy", "no table", "img2.npy: is not a .npy file");
  refused("theirs/pair/img2.npy", io::encode_npy(20, 3, counting(60)),
          "descriptors of 4 and of 3 numbers");
  refused("theirs/pair/img2.npy", io::encode_npy(20, 4, std::vector<std::uint8_t>(80)),
          "img2.npy: all its 20 descriptors are equal");
  refused("theirs/pair/img1-img2.csv", "x1,y1,x2\n", "img1-img2.csv: line 1 names the columns");
  fs::rename(folder / "theirs/pair/img2.csv", folder / "away.csv");
  expect_refused(line, 1, "has files for 1 of 2 of this part, but none for pair/img2");
  expect_refused("cornea evaluate data --theirs them=nowhere", 1,
                 "nowhere: there is no such folder");
  expect_refused("cornea evaluate data --theirs them", 2, "--theirs takes NAME=FOLDER, not 'them'");
  expect_refused("cornea evaluate data --only-theirs", 2, "--only-theirs needs --theirs");
}

TEST_F(Evaluate, RefusesInvalidData) {
  fs::create_directories(folder / "empty");
  expect_refused("cornea evaluate empty", 1, "no image, sequence, labelled correspondences");
  expect_refused("cornea evaluate missing", 1, "missing: there is no such folder");
  expect_refused("cornea evaluate data --write-images data/new", 2, "name another folder");
  write("bad/H1to2.txt", "1 0 0 0 1 0 0 0\n");
  write_image(folder / "bad/img1.png", testing::random_image<std::uint8_t>(64, 48, 1));
  write_image(folder / "bad/img2.png", testing::random_image<std::uint8_t>(64, 48, 1));
  expect_refused("cornea evaluate bad", 1, "H1to2.txt: does not hold the nine numbers");
  write("bad/H1to2.txt", "1 0 0 0 1 0 0 0 0\n");
  expect_refused("cornea evaluate bad", 1, "H1to2.txt: the homography has no inverse");
  write("labels/a.csv", "x1,y1,x2,y2,label\n1,2,3,4,2\n");
  expect_refused("cornea evaluate labels", 1, "match 1 has the label '2'");
  write("labels/a.csv", "x1,y1,x2,y2,label\n1,2,3,4,1\n");
  expect_refused("cornea evaluate labels", 1, "labels 1 matches as correct; F needs 8");
  write("labels/a.csv", "note,x1,y1,x2,y2,label\n\"a,b\",10,20,30,1,0\n");
  expect_refused("cornea evaluate labels", 1, "labels 0 matches as correct; F needs 8");
  write("cameras/cameras.json", R"({"a.png": {"K": [[1,0,0],[0,1,0],[0,0,1]]}})");
  expect_refused("cornea evaluate cameras", 1, "names the image a.png");
  write_image(folder / "cameras/a.png", testing::random_image<std::uint8_t>(64, 48, 1));
  expect_refused("cornea evaluate cameras", 1, "cameras.json: is invalid");
  write("cameras/cameras.json", R"({"a.png": {"K": [[1,0,0],[0,1,0],[0,0,1]],
                                              "R": [[1,0,0],[0,1,0],[0,0,-1]], "t": [0,0,0]}})");
  expect_refused("cornea evaluate cameras", 1, "R is a reflection");
  // Two images with one name would get each other's points.
  fs::create_directories(folder / "twins");
  write_image(folder / "twins/a.png", testing::random_image<std::uint8_t>(64, 48, 1));
  write_image(folder / "twins/a.pgm", testing::random_image<std::uint8_t>(64, 48, 2));
  expect_refused("cornea evaluate twins --write-images written", 1, "is called a here");
  for (const char* name : {"one/graf", "two/graf"}) {
    fs::create_directories(folder / name);
    fs::copy(folder / "data/pair", folder / name, fs::copy_options::recursive);
  }
  expect_refused("cornea evaluate one/graf two/graf", 1, "two sequences are called graf");
}

TEST_F(Evaluate, RefusesUnknownDetectorsOptionsAndParts) {
  expect_refused("cornea evaluate data --with susan", 2,
                 "is not a detector (foagdd, harris, moravec, sift) or estimator (fundamental");
  expect_refused("cornea evaluate data --with 'sift octave=1'", 2, "octave");
  expect_refused("cornea evaluate data --with 'sift octaves'", 2, "'octaves' in 'sift octaves'");
  expect_refused("cornea evaluate data --with sift --with sift", 2, "are called 'sift'");
  expect_refused("cornea evaluate data --with 'fundamental seed=7'", 2, "--seeds");
  expect_refused("cornea evaluate data --parts colours", 2, "--parts takes some of");
  expect_refused("cornea evaluate data --parts poses", 1, "(--parts)");
}

// Views of a synthetic plane and their exact homography: correct results must be judged correct.
TEST_F(Evaluate, RanksDetectorsOnAFolderOfEveryKind) {
  fs::create_directories(folder / "all" / "flat");
  ASSERT_EQ(shell("cornea scene -o all/street --views 2 --width 320 --height 240 --quiet").code, 0);
  ASSERT_EQ(
      shell("cornea scene -o flat --kind plane --views 2 --width 320 --height 240 --quiet").code,
      0);
  const Json cameras = Json::parse(read_text(folder / "flat/cameras.json"));
  std::string H;
  for (const Json& row : cameras.at("pairs").at(0).at("H")) {
    for (const Json& v : row) H += text(v.get<double>(), " ");
  }
  fs::rename(folder / "flat/view_000.png", folder / "all/flat/1.png");
  fs::rename(folder / "flat/view_001.png", folder / "all/flat/2.png");
  write("all/flat/H_1_2", H + "\n");
  std::string labelled = "x1,y1,x2,y2,label\n";
  for (int i = 0; i < 60; ++i) {  // on rows, as between two cameras side by side
    const int x = (i * 37) % 300, y = (i * 53) % 200;
    labelled += text(x, ",", y, ",", x + 5 + (i * i) % 23, ",", y, ",1\n");
  }
  write("all/labelled.csv", labelled);
  const Json json = run("all --points 300 --seeds 1 --with harris --with sift -o out");
  ASSERT_FALSE(json.is_null());
  EXPECT_EQ(json.at("data"),
            "1 sequence with 1 homographies, 1 file of labelled correspondences, 1 set of known "
            "cameras with 1 pairs");
  EXPECT_EQ(json.at("changes").at("tables").size(), 2u);
  for (const Json& row : json.at("changes").at("results")) {
    EXPECT_GT(row.at("repeatability"), 0.05) << row;
    EXPECT_LE(row.at("repeatability"), 1) << row;
    EXPECT_LE(row.at("localisation"), 4) << row;
  }
  for (const Json& row : json.at("sequences").at("matches")) {
    EXPECT_GT(row.at("matches"), 30) << row.at("detector");
    EXPECT_GT(row.at("correct").at(1).get<double>(), 0.8 * row.at("matches").get<double>());
    EXPECT_LT(row.at("homographies").at(0).at("corner_error"), 2) << row.at("detector");
  }
  EXPECT_LT(json.at("labelled").at("results").at(0).at("errors").at(0), 0.01);
  for (const Json& row : json.at("poses").at("results")) {
    // F from the few matches of small views determines the direction much less accurately than E.
    for (const Json& pose : row.at("poses")) {
      EXPECT_LT(pose.at("error_degrees"), pose.at("estimator") == "essential" ? 5 : 30) << pose;
    }
  }
  EXPECT_GE(json.at("best").size(), 6u);
  for (const char* file : {"index.html", "results.md", "results.json", "repeatability.svg"}) {
    EXPECT_TRUE(fs::is_regular_file(folder / "out" / file)) << file;
  }
}

}  // namespace
}  // namespace cornea
