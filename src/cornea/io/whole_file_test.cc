// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/whole_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cornea/io/file_testing.h"

namespace cornea::io {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of_text;
using testing::ByteVector;

const ByteVector kText = bytes_of_text("whole");

int files_in(const fs::path& folder) {
  return int(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void make_old(const fs::path& file) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(25));
}

// Two processes in different containers may have the same process id and share a folder.
TEST(WholeFile, TemporaryNamesDifferBetweenProcessesWithTheSameId) {
  const testing::TemporaryFolder folder;
  constexpr int kTaken = 500;
  for (int i = 0; i < kTaken; ++i) {
    testing::write_bytes(folder / text(".cornea-", ::getpid(), "-", i, ".part"), kText);
  }
  write_whole_file(folder / "a.txt", kText);
  EXPECT_EQ(testing::bytes_of_file(folder / "a.txt"), kText);
  EXPECT_EQ(files_in(folder.path()), kTaken + 1);
}

TEST(WholeFile, LeftoversAreRemovedAfterADayUnlessAProcessHoldsThem) {
  const testing::TemporaryFolder folder;
  const fs::path old = folder / ".cornea-4711-1.part",
                 fresh = folder / ".cornea-0123456789abcdef.part";
  const fs::path held = folder / ".cornea-held.part", other = folder / "cornea-notes.part";
  const fs::path below = folder / ".cornea-folder.part", link = folder / ".cornea-link.part";
  for (const fs::path& file : {old, fresh, held, other}) testing::write_bytes(file, kText);
  fs::create_directory(below);
  fs::create_symlink(other, link);
  for (const fs::path& file : {old, held, other, below}) make_old(file);
  const int descriptor = ::open(held.c_str(), O_RDWR);
  ASSERT_EQ(::flock(descriptor, LOCK_EX | LOCK_NB), 0);
  write_whole_file(folder / "a.txt", kText);
  ::close(descriptor);
  EXPECT_FALSE(fs::exists(old));
  for (const fs::path& file : {fresh, held, other, below}) EXPECT_TRUE(fs::exists(file)) << file;
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(testing::bytes_of_file(folder / "a.txt"), kText);
}

TEST(WholeFile, AFullDiskIsCalledThat) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto write = [] { write_whole_file("/dev/full", kText); };
  testing::expect_error(ErrorCode::io, "/dev/full: the disk is full; free some space", write);
  EXPECT_TRUE(is_disk_full(EDQUOT));
  EXPECT_FALSE(is_disk_full(EFBIG));
}

TEST(WholeFile, PermissionsFollowTheUmask) {
  const testing::TemporaryFolder folder;
  const mode_t before = ::umask(027);
  write_whole_file(folder / "a.txt", kText);
  ::umask(before);
  struct stat status = {};
  ASSERT_EQ(::stat((folder / "a.txt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

}  // namespace
}  // namespace cornea::io
