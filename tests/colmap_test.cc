// SPDX-License-Identifier: Apache-2.0
// Tests of a folder and a COLMAP database as a user works with them: odd files, masks, pairs, and
// kills at any moment.
#include <set>

#include "colmap_testing.h"

namespace cornea {
namespace {

using namespace testing;

// Adds EXIF with an orientation, a focal length and its 35 mm equivalent to a JPEG.
std::string with_exif(const std::vector<std::uint8_t>& jpeg, int orientation, int focal_35mm) {
  std::string tiff("II*\0\x08\0\0\0", 8);
  auto number = [&](unsigned v, int size) {
    for (int i = 0; i < size; ++i) tiff += char(v >> 8 * i);
  };
  auto field = [&](unsigned tag, unsigned type, unsigned value) {
    number(tag, 2), number(type, 2), number(1, 4), number(value, 4);
  };
  number(2, 2), field(0x0112, 3, unsigned(orientation)), field(0x8769, 4, 8 + 2 + 24 + 4);
  number(0, 4);
  number(1, 2), field(0xa405, 3, unsigned(focal_35mm)), number(0, 4);
  const std::string body = std::string("Exif\0\0", 6) + tiff;
  const std::size_t length = body.size() + 2;
  std::string bytes(jpeg.begin(), jpeg.end());
  bytes.insert(2, std::string("\xff\xe1", 2) + char(length >> 8) + char(length) + body);
  return bytes;
}

TEST_F(Colmap, OddFilesAreReportedAndTheRestIsKept) {
  const std::string slashless = "a name with 'quotes' \"and\" <script>alert(1).png";
  fs::create_directories(images / "deep er/b");
  write_image(images / "good.jpg", window(200, 150, 0, 0));
  write_image(images / slashless, window(200, 150, 20, 10));
  write_image(images / "deep er/b/X.PNG", window(200, 150, 40, 0));
  write_image(images / "one.png", testing::random_image<std::uint8_t>(1, 1, 1));
  write_bytes(images / "sideways.jpg", with_exif(encode_jpeg(window(200, 150, 10, 30), 90), 6, 28));
  if constexpr (kHasTiff) {
    const Image<std::uint8_t> small = window(200, 150, 30, 30);
    Image<std::uint16_t> deep(200, 150);
    for (int y = 0; y < 150; ++y) {
      for (int x = 0; x < 200; ++x) deep(x, y) = std::uint16_t(257 * small(x, y));
    }
    write_image(images / "deep.tif", deep);
  }
  const std::string jpeg = read_text(images / "good.jpg");
  write_bytes(images / "broken.jpg", jpeg.substr(0, jpeg.size() / 2));
  write_bytes(images / "broken.png", std::string("\x89PNG\r\n\x1a\n", 8) + "rubbish");
  write_bytes(images / "text.jpg", "this is no photograph\n");
  write_bytes(images / "notes.txt", "nor is this");

  const int good = kHasTiff ? 6 : 5;
  for (int round = 0; round < 2; ++round) {
    const Outcome o = run(extract());
    EXPECT_EQ(o.code, 1) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 3) << o.err;
    for (const char* name : {"broken.jpg", "broken.png", "text.jpg"}) {
      EXPECT_NE(o.err.find(name), std::string::npos) << o.err;
    }
    const Json json = Json::parse(o.out);
    EXPECT_EQ(json["images"], good + 3);
    EXPECT_EQ(json["extracted"], round ? 0 : good);
    EXPECT_EQ(json["skipped"], round ? good : 0);
    EXPECT_EQ(json["failed"], 3);
  }

  const colmap::Database found(database);
  std::map<std::string, colmap::ImageRow> rows;
  std::map<colmap::Id, int> counts;
  std::map<colmap::Id, colmap::Camera> cameras;
  for (const auto& row : found.images()) rows[row.name] = row;
  for (const auto& [image, count] : found.point_counts()) counts[image] = count;
  for (const auto& camera : found.cameras()) cameras[camera.id] = camera;
  for (const std::string& name : {std::string("good.jpg"), slashless,
                                  std::string("deep er/b/X.PNG"), std::string("sideways.jpg")}) {
    ASSERT_TRUE(rows.contains(name)) << name;
    EXPECT_GT(counts[rows[name].id], 50) << name;
  }
  if constexpr (kHasTiff) {
    EXPECT_GT(counts[rows["deep.tif"].id], 50);
  }
  ASSERT_TRUE(counts.contains(rows["one.png"].id));
  EXPECT_EQ(counts[rows["one.png"].id], 0);
  // Pixels as stored, whatever the orientation; the focal length from EXIF.
  const colmap::Camera& sideways = cameras[rows["sideways.jpg"].camera];
  EXPECT_EQ(sideways.width, 200);
  EXPECT_EQ(sideways.height, 150);
  EXPECT_TRUE(sideways.prior_focal_length);
  EXPECT_EQ(sideways.params[0], 200 * 28 / 35.0);
  EXPECT_FALSE(cameras[rows["good.jpg"].camera].prior_focal_length);
  EXPECT_EQ(rows.size(), std::size_t(good));  // failed images left nothing behind
  EXPECT_EQ(cameras.size(), std::size_t(good));

  EXPECT_EQ(run(on_database("match-all")).code, 0);
  const Json verified = Json::parse(run(on_database("verify")).out);
  EXPECT_EQ(verified["pairs"], good * (good - 1) / 2);
  EXPECT_GE(int(verified["general"]) + int(verified["planar"]), 6);
}

TEST_F(Colmap, FeaturesMatchesAndInliersAreTheLibrarys) {
  make_windows(3);
  ASSERT_EQ(run(extract({"--contrast", "0.01", "--max-features", "300"})).code, 0);
  ASSERT_EQ(run(on_database("match-all", {"--ratio", "0.9"})).code, 0);
  ASSERT_EQ(run(on_database("verify")).code, 0);
  SiftOptions options;
  options.contrast = 0.01;
  options.orientations = 2;
  options.root = true;
  options.max_points = 300;
  Sift sift(Context::cpu(), options);
  std::vector<Features> features;
  for (const std::string& name : names()) {
    features.push_back(sift.detect(read_gray(images / name).view()));
  }
  const colmap::Database found(database);
  for (int i = 0; i < 3; ++i) {
    const auto points = found.points(i + 1);
    ASSERT_EQ(points.size(), features[i].size());
    ASSERT_GT(points.size(), 50u);
    for (std::size_t k = 0; k < points.size(); ++k) {
      EXPECT_NEAR(points[k].x, features[i].keypoints[k].x, 2e-5);
      EXPECT_NEAR(points[k].y, features[i].keypoints[k].y, 2e-5);
    }
    std::vector<std::uint8_t> descriptors;
    found.read_descriptors(i + 1, descriptors);
    EXPECT_EQ(descriptors, features[i].descriptors);
  }
  const auto matches =
      one_per_place(Matcher(Context::cpu(), {.ratio = 0.9f}).match(features[0], features[2]),
                    features[0].keypoints, features[2].keypoints);
  const auto rows = found.matches(colmap::pair_id({1, 3}));
  ASSERT_EQ(rows.size(), matches.size());
  ASSERT_GT(rows.size(), 20u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].first, std::uint32_t(matches[i].a));
    EXPECT_EQ(rows[i].second, std::uint32_t(matches[i].b));
  }
  // An image shifted by (18, 10): a homography, in our pixels and in COLMAP's.
  const auto row = found.two_view(colmap::pair_id({1, 3}));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->configuration, colmap::Configuration::planar_or_panoramic);
  EXPECT_GE(row->inliers.size(), 15u);
  ASSERT_TRUE(row->H);
  const std::array<double, 9> h = *row->H;
  EXPECT_NEAR(h[2] / h[8], -18, 0.1);
  EXPECT_NEAR(h[5] / h[8], -10, 0.1);
}

TEST_F(Colmap, IdsFollowTheNamesAndNewImagesComeAfter) {
  make_windows(4);
  fs::rename(images / "w100.jpg", folder / "later.jpg");
  ASSERT_EQ(run(extract()).code, 0);
  EXPECT_EQ(names(), (std::vector<std::string>{"w101.png", "w102.jpg", "w103.png"}));
  fs::rename(folder / "later.jpg", images / "w100.jpg");
  const Outcome o = run(extract());
  EXPECT_EQ(Json::parse(o.out)["extracted"], 1);
  EXPECT_EQ(names(), (std::vector<std::string>{"w101.png", "w102.jpg", "w103.png", "w100.jpg"}));
  // Sequential pairs follow the names, whatever the ids.
  EXPECT_EQ(Json::parse(run(on_database("match-all", {"--sequential", "1"})).out)["matched"], 3);
  const colmap::Database found(database);
  EXPECT_EQ(found.matched_pairs(0, INT64_MAX),
            (std::vector<colmap::Id>{colmap::pair_id({1, 2}), colmap::pair_id({1, 4}),
                                     colmap::pair_id({2, 3})}));
}

TEST_F(Colmap, MasksKeepFeaturesOut) {
  fs::create_directories(images / "sub");
  fs::create_directories(folder / "masks/sub");
  write_image(images / "sub/a.jpg", window(200, 150, 0, 0));
  write_image(images / "b.jpg", window(200, 150, 0, 0));
  write_image(images / "c.jpg", window(200, 150, 0, 0));
  Image<std::uint8_t> mask(200, 150), small(20, 15);
  for (int y = 0; y < 150; ++y) {
    for (int x = 0; x < 200; ++x) mask(x, y) = x < 100 ? 255 : 0;
  }
  write_image(folder / "masks/sub/a.jpg.png", mask);
  write_image(folder / "masks/c.jpg.png", small);
  const Outcome o = run(extract({"--mask", folder / "masks"}));
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("c.jpg.png has 20 x 15"), std::string::npos) << o.err;
  const colmap::Database found(database);
  const auto left_half = [&](colmap::Id image) {
    std::pair<int, int> counts;
    for (const auto& p : found.points(image)) ++(p.x < 101 ? counts.first : counts.second);
    return counts;
  };
  ASSERT_EQ(found.images().size(), 2u);  // b.jpg, sub/a.jpg
  EXPECT_GT(left_half(1).second, 20);
  EXPECT_GT(left_half(2).first, 20);
  EXPECT_EQ(left_half(2).second, 0);
}

TEST_F(Colmap, MasksAreNotTakenForImages) {
  make_windows(2);
  fs::create_directories(images / "masks");
  Image<std::uint8_t> black(160, 120), small(20, 15);
  for (int y = 0; y < 120; ++y) std::fill_n(black.host().row(y), 160, std::uint8_t{0});
  write_image(images / "masks/w100.jpg.png", black);
  write_image(images / "masks/w101.png.png", small);
  const Outcome o = run(extract({"--mask", images / "masks"}));
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find((images / "w101.png: ").string()), std::string::npos) << o.err;
  EXPECT_EQ(Json::parse(o.out)["images"], 2);
  EXPECT_EQ(names(), std::vector<std::string>{"w100.jpg"});
  EXPECT_EQ(colmap::Database(database).points(1).size(), 0u);
  EXPECT_EQ(
      run(extract({"--mask", images / "masks", "--json", images / "masks/w100.jpg.png"})).code, 2);
  EXPECT_NE(run(extract({"--mask", images})).err.find("a folder of their own"), std::string::npos);
  EXPECT_EQ(Json::parse(o.out)["masked"], 1);
  fs::create_directories(folder / "other");
  fs::remove_all(images / "masks");
  const Outcome none = run(extract({"--mask", folder / "other"}));
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("w100.jpg would be"), std::string::npos) << none.err;
}

// SQLite would take such files for its own, or overwrite them.
TEST_F(Colmap, NoResultIsWrittenToAuxiliaryFilesOfSqlite) {
  make_windows(2);
  ASSERT_EQ(run(extract()).code, 0);
  const auto before = dump(database);
  fs::create_symlink(database, folder / "link.db");
  for (const char* ending : {"-wal", "-shm", "-journal"}) {
    const std::string part = database.string() + ending;
    for (auto arguments :
         {extract(), on_database("match-all"), on_database("verify"),
          std::vector<std::string>{"verify", "--db", folder / "link.db", "--json", "-"}}) {
      arguments.back() = part;  // the value of --json
      const Outcome o = run(arguments);
      EXPECT_EQ(o.code, 2) << o.err;
      EXPECT_NE(o.err.find("SQLite keeps a part of the database"), std::string::npos) << o.err;
    }
    EXPECT_FALSE(fs::exists(part));
  }
  EXPECT_TRUE(dump(database) == before);
}

TEST_F(Colmap, PointsOfOtherProgramsAreKept) {
  make_windows(2);
  ASSERT_EQ(run(extract()).code, 0);
  sqlite3* handle = nullptr;
  sqlite3_open(database.c_str(), &handle);
  sqlite3_exec(handle, "DELETE FROM descriptors WHERE image_id = 1", nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  EXPECT_EQ(Json::parse(run(extract()).out)["skipped"], 2);
  EXPECT_EQ(rows_in(database, "descriptors"), 1);
  EXPECT_EQ(Json::parse(run(on_database("match-all")).out)["images"], 1);
}

// Each run does what the other has not done; at the end everything is there once.
TEST_F(Colmap, TwoConcurrentRunsFillOneDatabase) {
  make_windows(24);
  Outcome other;
  std::thread second([&] {
    const std::string line = text("'", CORNEA_PROGRAM, "' extract '", images.string(), "' --db '",
                                  database.string(), "' --device cpu -q");
    other.code = std::system(line.c_str());
  });
  const Outcome o = run(extract());
  second.join();
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(other.code, 0);
  EXPECT_EQ(rows_in(database, "images"), 24);
  EXPECT_EQ(rows_in(database, "descriptors"), 24);
}

TEST_F(Colmap, OneCameraForAllIfAsked) {
  make_windows(3);
  write_image(images / "x.jpg", window(100, 100, 0, 0));
  const Outcome o = run(extract({"--single-camera"}));
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("ask for --cameras auto"), std::string::npos) << o.err;
  const colmap::Database found(database);
  EXPECT_EQ(found.cameras().size(), 1u);
  EXPECT_EQ(found.images().size(), 3u);
  for (const auto& row : found.images()) EXPECT_EQ(row.camera, 1);
  // If there are several cameras already, the single one would be ambiguous.
  ASSERT_EQ(run(extract()).code, 0);
  const Outcome several = run(extract({"--single-camera"}));
  EXPECT_EQ(several.code, 1);
  EXPECT_NE(several.err.find("has 2 cameras"), std::string::npos) << several.err;
}

TEST_F(Colmap, ListedPairsAreMatchedAndInvalidOnesNamed) {
  make_windows(3);
  fs::rename(images / "w102.jpg", images / "with space.jpg");
  ASSERT_EQ(run(extract()).code, 0);
  const fs::path list = folder / "list.txt";
  write_bytes(list,
              "# pairs\r\n\nwith space.jpg w100.jpg\r\nw100.jpg   w101.png\nw101.png w100.jpg\n");
  const Outcome o = run(on_database("match-all", {"--pairs", list}));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(Json::parse(o.out)["matched"], 2);
  EXPECT_EQ(Json::parse(run(on_database("match-all", {"--pairs", list})).out)["skipped"], 2);
  // The remaining pairs; those that are done stay.
  const Json rest = Json::parse(run(on_database("match-all")).out);
  EXPECT_EQ(rest["pairs"], 3);
  EXPECT_EQ(rest["matched"], 1);
  for (const auto& [line, word] :
       {std::pair("w100.jpg other.jpg", "line 1"), std::pair("w100.jpg", "two images"),
        std::pair("w100.jpg w100.jpg", "twice")}) {
    write_bytes(list, line);
    const Outcome wrong = run(on_database("match-all", {"--pairs", list}));
    EXPECT_EQ(wrong.code, 1);
    EXPECT_NE(wrong.err.find(word), std::string::npos) << wrong.err;
  }
  // An invalid line does not keep the others from being done.
  fs::remove(database);
  ASSERT_EQ(run(extract()).code, 0);
  write_bytes(list, "w100.jpg other.jpg\nw100.jpg w101.png\n");
  const Outcome some = run(on_database("match-all", {"--pairs", list}));
  EXPECT_EQ(some.code, 1);
  EXPECT_NE(some.err.find("line 1: 'w100.jpg other.jpg'"), std::string::npos) << some.err;
  EXPECT_EQ(Json::parse(some.out)["matched"], 1);
  EXPECT_EQ(Json::parse(some.out)["refused"], 1);
  EXPECT_EQ(run(on_database("match-all", {"--pairs", list, "--sequential", "2"})).code, 2);
}

TEST_F(Colmap, MistakesAreNamed) {
  Outcome o = run(on_database("match-all"));
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("there is no such database"), std::string::npos) << o.err;
  o = run({"extract", folder / "nowhere", "--db", database, "--device", "cpu"});
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("is not a folder"), std::string::npos) << o.err;
  EXPECT_FALSE(fs::exists(database));
  EXPECT_EQ(run(extract({"--contrast", "-1"})).code, 2);
  EXPECT_EQ(run(extract({"--mask", folder / "nowhere"})).code, 2);
  EXPECT_EQ(run(on_database("verify", {"--threshold", "-1"})).code, 2);
  EXPECT_EQ(run({"extract", images}).code, 2);
  // No result may overwrite the database or be written where nobody finds it.
  EXPECT_EQ(run(extract({"--json", database})).code, 2);
  EXPECT_FALSE(fs::exists(database));
  EXPECT_EQ(run({"extract", images, "--db", "", "--device", "cpu"}).code, 1);
  std::ofstream(database).close();
  o = run(on_database("verify"));
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("no tables"), std::string::npos) << o.err;
  o = run(extract());
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("holds no .jpg"), std::string::npos) << o.err;
  EXPECT_EQ(fs::file_size(database), 0u);
  // A single image is not an error.
  make_windows(1);
  EXPECT_EQ(run(extract()).code, 0);
  EXPECT_EQ(run(on_database("match-all")).code, 0);
  EXPECT_EQ(run(on_database("verify")).code, 0);
}

TEST_F(Colmap, ThreadsAndBlocksChangeNothing) {
  make_windows(8);
  const fs::path first = folder / "first.db";
  for (const char* threads : {"1", "2"}) {
    if (*threads == '2') fs::rename(database, first);
    ASSERT_EQ(run(extract({"--threads", threads, "--decoders", threads})).code, 0);
    ASSERT_EQ(run(on_database("match-all", {"--threads", threads})).code, 0);
    ASSERT_EQ(run(on_database("verify", {"--threads", threads})).code, 0);
  }
  expect_same_database(first, database);
  // Through the library, with blocks of one or two images, and in two halves.
  const fs::path blocks = folder / "blocks.db";
  fs::rename(database, blocks);
  ASSERT_EQ(run(extract()).code, 0);
  colmap::Database small(database);
  MatchAllOptions options;
  options.block_bytes = 60000;
  options.sequential = 2;
  match_all(Context::cpu(), small, options);
  verify_all(Context::cpu(), small);
  options.sequential = 0;
  match_all(Context::cpu(), small, options);
  verify_all(Context::cpu(), small);
  expect_same_database(first, database);
}

TEST_F(Colmap, EveryDeviceFillsADatabase) {
  make_windows(4, 320, 240);
  for (const std::string& device : testing::devices()) {
    const Context context = Context::from_name(device);
    colmap::Database filled(folder / (device + ".db"), colmap::Database::Open::create);
    const ExtractReport extracted = extract_folder(context, images, filled);
    EXPECT_EQ(extracted.extracted, 4) << device;
    EXPECT_GT(extracted.features, 400u) << device;
    EXPECT_EQ(match_all(context, filled).matched, 6) << device;
    const VerifyReport verified = verify_all(context, filled);
    EXPECT_EQ(verified.planar() + verified.general(), 6) << device;
  }
}

// Kills a command 20 times at random moments; if it ends before, it starts again.
TEST_F(Colmap, KilledTwentyTimesItEqualsAnUninterruptedRun) {
  make_windows(32);
  core::Random random(11);
  const fs::path before = folder / "before.db";
  for (const char* command : {"extract", "match-all", "verify"}) {
    const bool first = std::string(command) == "extract";
    const bool second = std::string(command) == "match-all";
    const std::vector<std::string> arguments = first ? extract() : on_database(command);
    // The uninterrupted run starts from what was there before.
    if (!first) fs::copy_file(database, before, fs::copy_options::overwrite_existing);
    const Outcome undisturbed = run(arguments);
    ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
    const fs::path expected = folder / text("expected-", command, ".db");
    fs::copy_file(database, expected, fs::copy_options::overwrite_existing);
    auto start_anew = [&] {
      for (const char* ending : {"", "-wal", "-shm"}) fs::remove(database.string() + ending);
      if (!first) fs::copy_file(before, database);
    };
    start_anew();
    int kills = 0, halfway = 0;
    const std::string table = first ? "keypoints" : second ? "matches" : "two_view_geometries";
    const std::int64_t all = rows_in(expected, table);
    double longest = undisturbed.milliseconds;
    for (int runs = 0; kills < 20 && runs < 200; ++runs) {
      const Outcome o = run(arguments, random.uniform() * longest);
      // So that kills and normal ends are about equally frequent.
      longest *= o.killed ? 1.05 : 0.85;
      if (o.killed) {
        ++kills;
        const std::int64_t rows = rows_in(database, table);
        halfway += rows > 0 && rows < all;
        continue;
      }
      ASSERT_EQ(o.code, 0) << o.err;
      expect_same_database(database, expected);
      start_anew();
    }
    EXPECT_EQ(kills, 20);
    EXPECT_GE(halfway, 2) << command << " was never killed in the middle of its work";
    const Outcome last = run(arguments);
    ASSERT_EQ(last.code, 0) << last.err;
    expect_same_database(database, expected);
  }
}

}  // namespace
}  // namespace cornea
