// SPDX-License-Identifier: Apache-2.0
// Tests of what the program prints about a folder: when it is interrupted, about ignored files, in
// its summaries, and on a terminal while it works.
#include <algorithm>

#include "changes_testing.h"
#include <pty.h>

namespace cornea {
namespace {

using namespace testing;

TEST_F(Changes, AnInterruptedRunSaysWhatIsKeptAndLeavesNoLog) {
  make_windows(24);
  core::Random random(5);
  for (const char* command : {"extract", "match-all", "verify"}) {
    SCOPED_TRACE(command);
    const bool first = std::string(command) == "extract";
    const fs::path before = folder / "before.db", expected = folder / "expected.db";
    if (!first) fs::copy_file(database, before, fs::copy_options::overwrite_existing);
    const auto arguments = first ? extract() : on_database(command);
    const Outcome undisturbed = run(arguments);
    ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
    EXPECT_FALSE(has_log());
    fs::copy_file(database, expected, fs::copy_options::overwrite_existing);
    int interrupted = 0;
    for (int i = 0; i < 60 && interrupted < 3; ++i) {
      fs::remove(database);
      if (!first) fs::copy_file(before, database);
      const bool term = interrupted == 1;
      const Outcome o =
          run(arguments, random.uniform() * undisturbed.milliseconds, term ? SIGTERM : SIGINT);
      EXPECT_FALSE(has_log());
      if (o.killed || o.code == 0) continue;  // killed before it began, or already finished
      ++interrupted;
      EXPECT_EQ(o.code, term ? 143 : 130) << o.err;
      EXPECT_NE(o.err.find(" and kept in " + database.string() + "; the same command continues"),
                std::string::npos)
          << o.err;
      EXPECT_EQ(Json::parse(o.out)["stopped"], true);
      ASSERT_EQ(run(arguments).code, 0);
      EXPECT_FALSE(has_log());
      expect_same_database(database, expected);
    }
    EXPECT_EQ(interrupted, 3);
  }
}

TEST_F(Changes, IgnoredFilesAreCountedAndNamed) {
  make_windows(2);
  fs::create_directories(images / ".thumbnails");
  write_image(images / ".thumbnails/w100.jpg", window(20, 20, 0, 0));
  for (const char* name : {"._w100.jpg", "IMG_1.HEIC", "raw.CR2", "b.gif", "notes.txt"}) {
    write_bytes(images / name, "no picture");
  }
  // The format is recognised by the first bytes of a file; its name decides whether it is an image
  // of the folder.
  fs::copy_file(images / "w101.png", images / "z.webp");
  const int ignored = kHasWebp ? 4 : 5;
  std::vector<std::string> arguments = {"extract", images, "--db", database, "--device", "cpu"};
  const Outcome o = run(arguments);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find(text(ignored,
                            " files ignored, of an unsupported format: "
                            "._w100.jpg, IMG_1.HEIC, b.gif and ")),
            std::string::npos)
      << o.out;
  std::vector<std::string> taken = {"w100.jpg", "w101.png"};
  if (kHasWebp) taken.push_back("z.webp");
  EXPECT_EQ(names(), taken);
  EXPECT_EQ(json_of(extract())["ignored"], ignored);
}

TEST_F(Changes, SummariesCountNewAndExistingResults) {
  make_windows(9, 320, 240);
  auto spoken = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--db", database, "--device", "cpu"});
    return run(arguments).out;
  };
  auto expect_begin = [](const std::string& out, const std::string& begin) {
    EXPECT_TRUE(out.starts_with(begin)) << out;
  };
  const std::string first = spoken({"extract", images});
  const std::int64_t features = colmap::Database(database).total("keypoints");
  ASSERT_GT(features, 1000);
  const std::string with_comma =
      text(features / 1000, ",", std::to_string(1000 + features % 1000).substr(1));
  expect_begin(first, "9 images: 9 new, 0 already there, 0 failed; the database holds " +
                          with_comma + " features\n");
  expect_begin(spoken({"extract", images}),
               "9 images: 0 new, 9 already there, 0 failed; the database holds " + with_comma);
  expect_begin(spoken({"match-all"}),
               "36 pairs of 9 images: 36 new, 0 already there, 0 without features; the database "
               "holds ");
  expect_begin(spoken({"match-all"}), "36 pairs of 9 images: 0 new, 36 already there");
  expect_begin(spoken({"verify"}), "36 pairs: 36 new (");
  const std::string verified = spoken({"verify"});
  expect_begin(verified, "36 pairs: 0 new (0 without geometry");
  EXPECT_NE(verified.find("), 36 already there, 0 left out; the database holds "),
            std::string::npos)
      << verified;
}

// Columns of a line on a terminal: counts the bytes that do not continue a UTF-8 character.
int columns_of(const std::string& line) {
  return int(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

TEST_F(Changes, TheProgressBarFitsItsTerminal) {
  make_windows(12);
  for (const int width : {8, 20, 32, 60, 200}) {
    SCOPED_TRACE(width);
    fs::remove(database);
    winsize size = {};
    size.ws_col = static_cast<unsigned short>(width);
    size.ws_row = 24;
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
      execl(CORNEA_PROGRAM, CORNEA_PROGRAM, "extract", images.c_str(), "--db", database.c_str(),
            "--device", "cpu", "--json", "-", nullptr);
      _exit(127);
    }
    std::string said;
    char bytes[4096];
    for (ssize_t count; (count = read(terminal, bytes, sizeof bytes)) > 0;) {
      said.append(bytes, std::size_t(count));
    }
    int status = 0;
    waitpid(child, &status, 0);
    close(terminal);
    EXPECT_EQ(WEXITSTATUS(status), 0) << said;
    int bars = 0;
    const std::string begin = "\r\033[K";
    for (std::size_t at = said.find(begin); at != std::string::npos;) {
      const std::size_t next = said.find('\r', at + 1);
      const std::string line = said.substr(at + begin.size(), next - at - begin.size());
      if (line.starts_with("extrac")) {
        ++bars;
        EXPECT_LT(columns_of(line), width) << line;
      }
      at = said.find(begin, at + 1);
    }
    EXPECT_GE(bars, 2);
  }
}

}  // namespace
}  // namespace cornea
