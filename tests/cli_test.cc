// SPDX-License-Identifier: Apache-2.0
// Tests of what all commands of the program share (writing files, help, quiet), of its scenes and
// benches, and of the commands in the README.
#include "cli_testing.h"

#include "cornea/cornea.h"

namespace cornea {
namespace {

TEST_F(Cli, ResultsGoThroughLinksAndLeaveOtherFilesAlone) {
  const std::string detect = "cornea detect small.png --quiet --csv ";
  // Standard output under several names and redirections.
  fs::create_symlink("/proc/self/fd/1", folder / "stdout");
  ASSERT_EQ(shell(detect + "stdout > taken.csv").code, 0);
  EXPECT_TRUE(fs::is_symlink(folder / "stdout"));
  EXPECT_EQ(read_text(folder / "taken.csv").rfind("x,y,response\n", 0), 0u);
  // A link to a file stays a link, and the file keeps its permissions.
  std::ofstream(folder / "real.csv") << "old";
  fs::permissions(folder / "real.csv", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real.csv", folder / "link.csv");
  std::ofstream(folder / "link.csv.part") << "mine";
  ASSERT_EQ(shell(detect + "link.csv").code, 0);
  EXPECT_TRUE(fs::is_symlink(folder / "link.csv"));
  EXPECT_EQ(read_text(folder / "real.csv").rfind("x,y,response\n", 0), 0u);
  EXPECT_EQ(fs::status(folder / "real.csv").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(read_text(folder / "link.csv.part"), "mine");
  // One file under two names.
  expect_refused("cornea detect small.png --csv out.txt --json \"$PWD/out.txt\"", 2, "two results");
  expect_refused("cornea detect small.png --csv link.csv --json real.csv", 2, "two results");
}

TEST_F(Cli, NoResultOverwritesWhatTheUserGave) {
  write_image(folder / "other.png", testing::random_image<std::uint8_t>(64, 48, 2));
  const std::string before = read_text(folder / "small.png");
  expect_refused("cornea detect small.png --draw small.png", 2, "overwritten");
  expect_refused("cornea detect small.png --draw ./small.png", 2, "overwritten");
  expect_refused("cornea detect small.png --mask other.png --draw other.png", 2, "overwritten");
  expect_refused("cornea detect small.png --draw x --csv x", 2, "two results");
  fs::create_directory(folder / "sub");
  fs::copy_file(folder / "small.png", folder / "sub" / "small.png");
  expect_refused("cornea detect small.png sub/small.png --csv lists", 2, "two results");
  EXPECT_EQ(shell("cornea detect small.png other.png --draw .").code, 0);
  EXPECT_EQ(read_text(folder / "small.png"), before);
}

TEST_F(Cli, AFullDiskIsNoticed) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(shell("cornea detect small.png --json - >/dev/full").code, 1);
  expect_refused("cornea detect small.png --json /dev/full", 1, "/dev/full: the disk is full");
}

TEST_F(Cli, QuietPrintsNothing) {
  const Outcome o = shell("cornea detect small.png --quiet");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out + o.err, "");
}

TEST_F(Cli, SceneWritesImagesAndMatchingCameras) {
  const Outcome o = shell(
      "cornea scene -o s --kind plane --views 3 --width 96 --height 64 --samples 1 --noise 2");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(read_text(folder / "s" / "cameras.json"));
  ASSERT_EQ(json["views"].size(), 3u);
  ASSERT_EQ(json["pairs"].size(), 3u);
  for (const Json& view : json["views"]) {
    EXPECT_EQ(read_image<std::uint8_t>(folder / "s" / view["image"].get<std::string>()).width(),
              96);
    EXPECT_EQ(view["K"].size(), 3u);
    EXPECT_EQ(view["R"][2].size(), 3u);
    EXPECT_EQ(view["t"].size(), 3u);
  }
  for (const Json& pair : json["pairs"]) {
    EXPECT_EQ(pair["F"].size(), 3u);
    EXPECT_EQ(pair["H"].size(), 3u);
  }
  shell(
      "cornea scene -o again --kind plane --views 3 --width 96 --height 64 --samples 1 --noise 2");
  EXPECT_EQ(read_text(folder / "s" / "view_001.png"), read_text(folder / "again" / "view_001.png"));
  EXPECT_EQ(read_text(folder / "s" / "cameras.json"), read_text(folder / "again" / "cameras.json"));
}

TEST_F(Cli, InfoAndHelpAndVersionWork) {
  EXPECT_EQ(Json::parse(shell("cornea info --json -").out)["version"], kVersion);
  EXPECT_NE(shell("cornea --help").out.find("detect"), std::string::npos);
  for (const DetectorEntry& entry : detector_table()) {
    const std::string help = shell("cornea detect --help --detector " + entry.name).out;
    for (const Flag& flag : entry.flags) {
      EXPECT_NE(help.find("--" + flag.name), std::string::npos) << flag.name;
    }
  }
  EXPECT_EQ(shell("cornea --version").out, text("cornea ", kVersion, "\n"));
}

TEST_F(Cli, BenchMeasuresAndWritesJson) {
  const Outcome o = shell(
      "cornea bench --device cpu --sizes 64x48 --repeat 3 --batch 2 --label commit=abc --json "
      "b.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(read_text(folder / "b.json"));
  EXPECT_EQ(json["commit"], "abc");
  ASSERT_EQ(json["results"].size(), detector_table().size());
  for (const Json& result : json["results"]) EXPECT_GT(result["milliseconds"]["median"], 0);
}

TEST_F(Cli, BenchMeasuresFilters) {
  const Outcome o = shell(
      "cornea bench --device cpu --filter gaussian trilateral --sizes 64x48 --repeat 3 --tile 32 "
      "--set sigma=2 --json b.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(read_text(folder / "b.json"));
  EXPECT_TRUE(json["results"].empty());
  ASSERT_EQ(json["filters"].size(), 2u);
  EXPECT_EQ(json["filters"][1]["settings"]["sigma"], "2");
  EXPECT_GT(json["filters"][1]["stages"]["detail filter"], 0);
}

// Every line of every ```sh block of the README that starts with cornea.
TEST_F(Cli, TheReadmesCommandsWork) {
  const std::string readme = read_text(CORNEA_SOURCE_DIR "/README.md");
  int commands = 0;
  for (std::size_t at = 0; (at = readme.find("```sh\n", at)) != std::string::npos;) {
    const std::size_t end = readme.find("```", at + 6);
    std::istringstream block(readme.substr(at + 6, end - at - 6));
    for (std::string line; std::getline(block, line);) {
      if (line.rfind("cornea ", 0) != 0) continue;
      line = line.substr(0, line.find("  #"));
      const Outcome o = shell(line);
      EXPECT_EQ(o.code, 0) << line << "\n" << o.err;
      ++commands;
    }
    at = end;
  }
  EXPECT_GE(commands, 4);
}

}  // namespace
}  // namespace cornea
