// SPDX-License-Identifier: Apache-2.0
// Tests of `cornea folder` from outside: its files, its output, every way to choose pairs, kills
// and interruptions, and invalid input.
#include <algorithm>

#include "colmap_testing.h"

#include "cornea/pipeline/folder/exif_testing.h"

namespace cornea {
namespace {

using namespace testing;

class FolderCommandTest : public Colmap {
 protected:
  std::vector<std::string> folder_words(std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"folder", images, "-o",     out, "--device",
                                    "cpu",    "-q",   "--json", "-"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Json done(const std::vector<std::string>& more = {}) {
    const Outcome o = run(folder_words(more));
    EXPECT_EQ(o.code, 0) << o.err;
    return o.code == 0 ? Json::parse(o.out) : Json();
  }
  // The command must end with this code and one line that contains `words`, and leave no database.
  void expect_refused(const std::vector<std::string>& arguments, int code,
                      const std::string& words) {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find(words), std::string::npos) << o.err;
    EXPECT_FALSE(fs::exists(out / "database.db"));
  }
  // The lines of pairs.csv without the header.
  std::vector<std::string> pairs() const {
    std::istringstream in(read_text(out / "pairs.csv"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    EXPECT_FALSE(lines.empty());
    if (!lines.empty()) lines.erase(lines.begin());
    return lines;
  }

  const fs::path out = folder / "out";
  // So few neighbours per image that the further round has something to do.
  const std::vector<std::string> retrieve = {"--pairs", "retrieve",  "--neighbours",
                                             "1",       "--further", "2"};
};

TEST_F(FolderCommandTest, GivesTheDatabaseOfTheThreeCommandsAndATable) {
  make_windows(6);
  const Json json = done();
  ASSERT_EQ(run(extract()).code, 0);
  ASSERT_EQ(run(on_database("match-all")).code, 0);
  ASSERT_EQ(run(on_database("verify")).code, 0);
  expect_same_database(out / "database.db", database);
  EXPECT_EQ(json["images"], 6);
  EXPECT_EQ(json["choice"], "all");
  EXPECT_EQ(json["tried"], 15);
  EXPECT_EQ(json["stopped"], false);
  EXPECT_EQ(json["nothing_to_do"], false);
  std::int64_t connected = std::int64_t(json["unconnected"].size());
  for (const Json& size : json["components"]) connected += size.get<std::int64_t>();
  EXPECT_EQ(connected, 6);
  for (const char* stage : {"extract", "choose", "match", "verify"}) {
    EXPECT_TRUE(json["milliseconds"].contains(stage)) << stage;
  }
  EXPECT_EQ(pairs().size(), 15u);
  std::int64_t verified = 0;
  for (const std::string& line : pairs()) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 6) << line;
    verified += line.find(",degenerate,") == std::string::npos;
  }
  EXPECT_EQ(verified, json["verified"].get<std::int64_t>());
  EXPECT_GT(verified, 0);
}

// Compares all tables of both schemas; EXIF adds a shared camera and, in schema 4, pose priors.
TEST_F(FolderCommandTest, BothSchemasAreThoseOfTheThreeCommands) {
  for (int i = 0; i < 4; ++i) {
    write_taken_jpeg(images / text("w", i, ".jpg"), window(160, 120, 9.0 * i, 0),
                     "2026:11:17 09:00:00", 180000, 36000);
  }
  for (const char* schema : {"3.8", "4"}) {
    fs::remove_all(out);
    fs::remove(database);
    done({"--schema", schema});
    ASSERT_EQ(run(extract({"--schema", schema})).code, 0);
    ASSERT_EQ(run(on_database("match-all")).code, 0);
    ASSERT_EQ(run(on_database("verify")).code, 0);
    expect_same_database(out / "database.db", database);
    EXPECT_EQ(dump(database).contains("pose_priors"), std::string(schema) == "4");
  }
}

TEST_F(FolderCommandTest, TheFountainGivesTheDatabaseOfTheThreeCommands) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(fountain, "data/fountain_p11/images");
  const auto on_cpu = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--device", "cpu", "-q"});
    return run(words).code;
  };
  ASSERT_EQ(on_cpu({"folder", fountain, "-o", out}), 0);
  ASSERT_EQ(on_cpu({"extract", fountain, "--db", database}), 0);
  ASSERT_EQ(on_cpu({"match-all", "--db", database}), 0);
  ASSERT_EQ(on_cpu({"verify", "--db", database}), 0);
  expect_same_database(out / "database.db", database);
  EXPECT_EQ(rows_in(database, "images"), 11);
  EXPECT_EQ(rows_in(database, "two_view_geometries"), 55);
}

TEST_F(FolderCommandTest, ASecondRunDoesNothingAndSaysSo) {
  make_windows(5);
  done();
  const auto before = dump(out / "database.db");
  const auto written = fs::last_write_time(out / "pairs.csv");
  const Outcome again = run({"folder", images, "-o", out, "--device", "cpu"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(again.out.starts_with("nothing was left to do; 5 images, 10 pairs tried"))
      << again.out;
  EXPECT_TRUE(dump(out / "database.db") == before);
  EXPECT_EQ(fs::last_write_time(out / "pairs.csv"), written);
  EXPECT_EQ(done()["nothing_to_do"], true);
  // A missing or different table is written again.
  const std::string table = read_text(out / "pairs.csv");
  fs::remove(out / "pairs.csv");
  done();
  EXPECT_EQ(read_text(out / "pairs.csv"), table);
  write_bytes(out / "pairs.csv", "an old one");
  done();
  EXPECT_EQ(read_text(out / "pairs.csv"), table);
}

TEST_F(FolderCommandTest, PrintsTheNextCommand) {
  fs::rename(images, folder / "my photos");
  const fs::path photos = folder / "my photos";
  for (int i = 0; i < 3; ++i) {
    write_image(photos / text("w", i, ".png"), window(160, 120, 9.0 * i, 0));
  }
  const Outcome o = run({"folder", photos, "-o", out, "--device", "cpu"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find(text("next: mkdir -p ", (out / "sparse").string(),
                            " && colmap mapper --database_path ", (out / "database.db").string(),
                            " --image_path '", photos.string(), "' --output_path ",
                            (out / "sparse").string(), "\n")),
            std::string::npos)
      << o.out;
  EXPECT_NE(o.out.find("all 3 images are connected"), std::string::npos) << o.out;
}

TEST_F(FolderCommandTest, UnconnectedImagesAreNamed) {
  make_windows(3);
  write_image(images / "z.png", black(160, 120));
  const Outcome o = run({"folder", images, "-o", out, "--device", "cpu"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("1 component (of 3 images)\n1 unconnected image: z.png\n"),
            std::string::npos)
      << o.out;
}

TEST_F(FolderCommandTest, EveryWayToChoosePairs) {
  for (int i = 0; i < 6; ++i) {
    // Two locations 620 m apart, with three photographs each.
    const std::uint32_t north = 180000 + std::uint32_t(i / 3) * 20;
    write_taken_jpeg(images / text("w", i, ".jpg"), window(160, 120, 9.0 * i, 0),
                     "2026:11:17 09:00:00", north, 36000);
  }
  const auto tried = [&](const std::vector<std::string>& more) {
    fs::remove_all(out);
    return done(more);
  };
  EXPECT_EQ(tried({})["choice"], "all");
  EXPECT_EQ(tried({"--pairs", "all"})["tried"], 15);
  EXPECT_EQ(tried({"--pairs", "sequential", "--overlap", "2"})["tried"], 9);
  const Json near = tried({"--pairs", "spatial", "--further", "0"});
  EXPECT_EQ(near["choice"], "spatial");
  EXPECT_EQ(near["tried"], 6);
  const Json alike = tried(retrieve);
  EXPECT_EQ(alike["choice"], "retrieve");
  EXPECT_GE(alike["chosen"], 3);
  EXPECT_EQ(alike["tried"].get<int>(), alike["chosen"].get<int>() + alike["further"].get<int>());
  // Above the limit, auto uses retrieval and adds the sequence of names.
  const Json automatic =
      tried({"--all-up-to", "5", "--neighbours", "1", "--overlap", "1", "--further", "0"});
  EXPECT_EQ(automatic["choice"], "retrieve");
  EXPECT_GE(automatic["tried"], 5);
  for (int i = 0; i + 1 < 6; ++i) {
    const std::string wanted = text("w", i, ".jpg,w", i + 1, ".jpg,");
    const std::vector<std::string> all = pairs();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const std::string& line) {
      return line.starts_with(wanted);
    })) << wanted;
  }
  write_bytes(folder / "list.txt", "w0.jpg w5.jpg\nw1.jpg w3.jpg\n");
  const Json listed = tried({"--pairs", folder / "list.txt"});
  EXPECT_EQ(listed["choice"], "listed");
  EXPECT_EQ(listed["tried"], 2);
  // A line that does not name images is reported, and the others are processed.
  fs::remove_all(out);
  write_bytes(folder / "list.txt", "w0.jpg w5.jpg\nw1.jpg nobody.jpg\n");
  const Outcome o = run(folder_words({"--pairs", folder / "list.txt"}));
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("line 2: 'w1.jpg nobody.jpg'"), std::string::npos) << o.err;
  EXPECT_EQ(Json::parse(o.out)["tried"], 1);
}

TEST_F(FolderCommandTest, KilledAtAnyMomentItContinuesToTheSameContents) {
  make_windows(10);
  for (const std::vector<std::string>& more : {std::vector<std::string>(), retrieve}) {
    fs::remove_all(out);
    const Outcome undisturbed = run(folder_words(more));
    ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
    const fs::path expected = folder / "expected";
    fs::remove_all(expected);
    fs::copy(out, expected, fs::copy_options::recursive);
    constexpr int kKills = 8;
    int killed = 0;
    for (int i = 0; i < 4 * kKills && killed < kKills; ++i) {
      const double share = (i % kKills + 0.5) / kKills;
      fs::remove_all(out);
      const Outcome o = run(folder_words(more), share * undisturbed.milliseconds);
      if (!o.killed) continue;
      ++killed;
      const Outcome next = run(folder_words(more));
      ASSERT_EQ(next.code, 0) << next.err;
      expect_same_database(out / "database.db", expected / "database.db");
      EXPECT_EQ(read_text(out / "pairs.csv"), read_text(expected / "pairs.csv"));
    }
    EXPECT_GE(killed, kKills / 2);
  }
}

TEST_F(FolderCommandTest, APageOfFewerImagesIsNotTakenForTheNewOne) {
  make_windows(3);
  done();
  const std::string old_page = read_text(out / "report.html"),
                    old_table = read_text(out / "pairs.csv");
  make_windows(4);
  done();
  const std::string table = read_text(out / "pairs.csv");
  EXPECT_NE(table, old_table);
  // The state after a run was killed after its last pair: the old page, with or without its table.
  for (const bool with_table : {true, false}) {
    write_bytes(out / "report.html", old_page);
    fs::remove(out / "pairs.csv");
    if (with_table) write_bytes(out / "pairs.csv", old_table);
    EXPECT_EQ(done()["nothing_to_do"], true);
    EXPECT_NE(read_text(out / "report.html").find("w103.png"), std::string::npos);
    EXPECT_EQ(read_text(out / "pairs.csv"), table);
  }
  EXPECT_EQ(old_page.find("w103.png"), std::string::npos);
  // An image in no pair changes only the page.
  write_image(images / "z.png", black(160, 120));
  done();
  EXPECT_NE(read_text(out / "report.html").find("z.png"), std::string::npos);
}

TEST_F(FolderCommandTest, AnInterruptionSaysWhatIsKept) {
  make_windows(16);
  const Outcome undisturbed = run(folder_words(retrieve));
  ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
  fs::rename(out, folder / "expected");
  int interrupted = 0;
  for (int i = 0; i < 40 && interrupted < 4; ++i) {
    fs::remove_all(out);
    const Outcome o =
        run(folder_words(retrieve), (i % 10 + 0.5) / 10 * undisturbed.milliseconds, SIGINT);
    if (o.killed || o.code == 0) continue;  // killed before it began, or already finished
    ++interrupted;
    EXPECT_EQ(o.code, 130) << o.err;
    EXPECT_NE(o.err.find("interrupted; "), std::string::npos) << o.err;
    EXPECT_NE(o.err.find(text(" and kept in ", (out / "database.db").string(),
                              "; the same command continues")),
              std::string::npos)
        << o.err;
    EXPECT_EQ(Json::parse(o.out)["stopped"], true);
    EXPECT_FALSE(fs::exists(out / "database.db-wal"));
    done(retrieve);
    expect_same_database(out / "database.db", folder / "expected" / "database.db");
  }
  EXPECT_EQ(interrupted, 4);
}

TEST_F(FolderCommandTest, PhotographsAndOptionsThatChangedStopIt) {
  make_windows(4);
  done();
  const auto before = dump(out / "database.db");
  const Outcome ratio = run(folder_words({"--ratio", "0.7"}));
  EXPECT_EQ(ratio.code, 1);
  EXPECT_NE(ratio.err.find("ratio 0.8 then and 0.7 now"), std::string::npos) << ratio.err;
  write_image(images / "w101.png", window(160, 120, 30, 30));
  const Outcome changed = run(folder_words());
  EXPECT_EQ(changed.code, 1);
  EXPECT_NE(changed.err.find("--changed redo"), std::string::npos) << changed.err;
  EXPECT_TRUE(dump(out / "database.db") == before);
  const Json redone = done({"--changed", "redo"});
  EXPECT_EQ(redone["redone"], 1);
  EXPECT_EQ(redone["matched"], 3);
  const Json again = done({"--changed", "redo", "--ratio", "0.7"});
  EXPECT_EQ(again["extracted"], 0);
  EXPECT_EQ(again["matched"], 6);
}

TEST_F(FolderCommandTest, WrongInputIsRefusedBeforeAnyWork) {
  expect_refused(folder_words(), 1, "holds no .jpg");
  write_image(images / "only.png", window(160, 120, 0, 0));
  expect_refused(folder_words(), 1, "holds one photograph, only.png; a pair needs two");
  make_windows(2);
  expect_refused({"folder", folder / "none", "-o", out}, 1, "none");
  expect_refused({"folder", images}, 2, "--out");
  expect_refused(folder_words({"--pairs", "nearby"}), 2,
                 "auto, all, sequential, retrieve, spatial or a file");
  expect_refused(folder_words({"--overlap", "0"}), 2, "--overlap is at least 1 image");
  expect_refused(folder_words({"--upright"}), 2, "as they are stored");
  for (const fs::path& inside :
       {images, images / "out", images / "." / ".." / "images" / "a" / "b"}) {
    expect_refused({"folder", images, "-o", inside}, 2, "is inside the folder of the photographs");
    EXPECT_FALSE(fs::exists(images / "database.db"));
    EXPECT_FALSE(fs::exists(images / "a"));
  }
  write_bytes(out, "a file");
  expect_refused(folder_words(), 1, "is not a folder and cannot be created");
  fs::remove(out);
  expect_refused({"folder", images, "-o", out, "-q", "--json", out / "database.db-wal"}, 2,
                 "SQLite keeps");
}

TEST_F(FolderCommandTest, PhotographsMayBeInTheFolderOfResults) {
  fs::create_directories(out);
  fs::rename(images, out / "images");
  for (int i = 0; i < 2; ++i) {
    write_image(out / "images" / text("w", i, ".png"), window(160, 120, 9.0 * i, 0));
  }
  EXPECT_EQ(run({"folder", out / "images", "-o", out, "--device", "cpu", "-q"}).code, 0);
  EXPECT_TRUE(fs::exists(out / "database.db"));
}

TEST_F(FolderCommandTest, APhotographThatCannotBeReadIsReportedAndTheRestDone) {
  make_windows(3);
  write_bytes(images / "bad.jpg", "no picture");
  const Outcome o = run(folder_words());
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("bad.jpg"), std::string::npos) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["verified"], 3);
  EXPECT_EQ(pairs().size(), 3u);
}

// A fake program `colmap` that does what the script says.
class MappingFolder : public FolderCommandTest {
 protected:
  void SetUp() override {
    FolderCommandTest::SetUp();
    path_ = std::getenv("PATH");
    make_windows(3);
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }
  void install(const std::string& script) {
    const fs::path programs = folder / "programs";
    fs::create_directories(programs);
    write_bytes(programs / "colmap", "#!/bin/sh\n" + script);
    fs::permissions(programs / "colmap", fs::perms::owner_all);
    ::setenv("PATH", (programs.string() + ":" + path_).c_str(), 1);
  }
  std::string path_;
};

TEST_F(MappingFolder, RunsTheMapperAndCountsItsImages) {
  install(text("echo \"$@\"\nmkdir ", (out / "sparse/0").string(),
               "\nprintf '\\003\\000\\000\\000\\000\\000\\000\\000' > ",
               (out / "sparse/0/images.bin").string(), "\n"));
  EXPECT_EQ(done({"--map"})["models"], Json({3}));
  EXPECT_EQ(read_text(out / "mapper.log"),
            text("mapper --database_path ", (out / "database.db").string(), " --image_path ",
                 images.string(), " --output_path ", (out / "sparse").string(), "\n"));
  // Earlier models are renamed, not overwritten.
  const Outcome again = run({"folder", images, "-o", out, "--device", "cpu", "--map"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("colmap mapper: 3 of 3 images in one model"), std::string::npos)
      << again.out;
  EXPECT_TRUE(fs::exists(out / "sparse.1/0/images.bin"));
  EXPECT_TRUE(fs::exists(out / "sparse/0/images.bin"));
}

TEST_F(MappingFolder, AMapperThatFailsIsNamed) {
  install("echo why; exit 3\n");
  const Outcome o = run(folder_words({"--map"}));
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find(text("colmap mapper ended with an error; ", (out / "mapper.log").string())),
            std::string::npos)
      << o.err;
  EXPECT_EQ(read_text(out / "mapper.log"), "why\n");
  EXPECT_TRUE(fs::exists(out / "database.db"));
  install("exit 0\n");
  EXPECT_NE(run(folder_words({"--map"})).err.find("made no model"), std::string::npos);
}

TEST_F(MappingFolder, AnInterruptedMapperLeavesTheDatabaseAndSaysSo) {
  install("kill -INT $PPID; exit 3\n");
  const Outcome o = run(folder_words({"--map"}));
  EXPECT_EQ(o.code, 130) << o.err;
  EXPECT_NE(o.err.find("interrupted; all pairs are verified and kept in "), std::string::npos)
      << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["stopped"], true);
  EXPECT_EQ(json["nothing_to_do"], false);
  EXPECT_EQ(json["tried"], 3);
  EXPECT_FALSE(json.contains("models"));
}

TEST_F(MappingFolder, WithoutColmapItIsAnErrorBeforeAnyWork) {
  ::setenv("PATH", (folder / "nothing").c_str(), 1);
  expect_refused(folder_words({"--map"}), 1, "--map needs the program colmap");
}

}  // namespace
}  // namespace cornea
