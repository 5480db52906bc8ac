// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/whole_file.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "cornea/core/error.h"
#include "cornea/io/decoded.h"

namespace cornea::io {
namespace {

namespace fs = std::filesystem;
using io::Bytes;

[[noreturn]] void fail_at(const fs::path& file, const char* what, int system_error) {
  if (is_disk_full(system_error)) {
    fail(ErrorCode::io, file.string(),
         ": the disk is full; free some space and run the command again");
  }
  fail(ErrorCode::io, file.string(), ": ", what, " (", std::strerror(system_error),
       "); check the folder, its permissions and the free space");
}

void write_and_close(const fs::path& file, io::File& out, Bytes bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), out.get()) == bytes.size();
  if (!written || std::fflush(out.get()) != 0 || std::fclose(out.release()) != 0) {
    fail_at(file, "cannot be written to its end", errno);
  }
}

constexpr char kFront[] = ".cornea-", kEnding[] = ".part";

bool is_part_name(const std::string& name) {
  return name.starts_with(kFront) && name.ends_with(kEnding);
}

// It is random because process ids repeat between machines that write to the same folder.
std::string part_name() {
  std::random_device random;
  char digits[2 * sizeof(std::uint64_t) + 1];
  std::snprintf(digits, sizeof digits, "%08x%08x", unsigned(random()), unsigned(random()));
  return kFront + std::string(digits) + kEnding;
}

// Whether a process holds the file open for writing. The answer is a false no only on file systems
// without locks.
bool is_held(const fs::path& part) {
  const int descriptor = ::open(part.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return true;
  const bool held = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return held;
}

// The file under its temporary name; the destructor removes it unless it was put in place.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& file, const fs::path& target) : file_(file), target_(target) {
    constexpr int kTries = 100;
    for (int i = 0; i < kTries && !out_; ++i) {
      path_ = part_beside(target);
      errno = 0;
      out_.reset(std::fopen(path_.c_str(), "wbxe"));  // x: never over another file
      if (!out_ && errno != EEXIST) break;
    }
    if (!out_) fail_at(file_, "cannot be written", errno);
    // For is_held(); closing the file releases the lock. If locking fails, the file's age still
    // protects it for a day.
    (void)::flock(::fileno(out_.get()), LOCK_EX | LOCK_NB);
  }
  ~TemporaryFile() {
    out_.reset();
    std::error_code ignored;
    if (!in_place_) fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(Bytes bytes) { write_and_close(file_, out_, bytes); }
  void put_in_place() {
    std::error_code failed;
    const fs::file_status before = fs::status(target_, failed);
    if (fs::is_regular_file(before)) fs::permissions(path_, before.permissions(), failed);
    fs::rename(path_, target_, failed);
    if (failed) fail_at(file_, "cannot be put in place", failed.value());
    in_place_ = true;
  }

 private:
  fs::path file_, target_, path_;
  io::File out_;
  bool in_place_ = false;
};

bool is_of_the_system(const fs::path& path) {
  const std::string name = path.lexically_normal().string();
  return name.starts_with("/dev/") || name.starts_with("/proc/");
}

// Whether it is written to directly: a device or pipe.
bool is_written_as_it_is(const fs::path& target) {
  std::error_code failed;
  return is_of_the_system(target) ||
         (fs::exists(target, failed) && !fs::is_regular_file(target, failed));
}

}  // namespace

fs::path link_target(const fs::path& file) {
  constexpr int kMostLinks = 40;
  std::error_code failed;
  fs::path path = file;
  for (int i = 0; i < kMostLinks && !is_of_the_system(path); ++i) {
    if (!fs::is_symlink(path, failed)) break;
    const fs::path next = fs::read_symlink(path, failed);
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

fs::path part_beside(const fs::path& file) { return file.parent_path() / part_name(); }

void remove_leftovers_beside(const fs::path& file) {
  static std::mutex mutex;
  static std::set<fs::path> seen;
  std::error_code failed;
  const fs::path folder = fs::absolute(file, failed).parent_path();
  {
    const std::lock_guard lock(mutex);
    if (failed || !seen.insert(folder).second) return;
  }
  constexpr std::chrono::hours kOld(24);
  auto it = fs::directory_iterator(folder, failed);
  for (; !failed && it != fs::directory_iterator(); it.increment(failed)) {
    std::error_code ignored;
    if (!is_part_name(it->path().filename().string()) || it->is_symlink(ignored)) continue;
    const fs::file_time_type written = it->last_write_time(ignored);
    if (ignored || !it->is_regular_file(ignored)) continue;
    if (fs::file_time_type::clock::now() - written < kOld || is_held(it->path())) continue;
    fs::remove(it->path(), ignored);
  }
}

bool is_disk_full(int system_error) { return system_error == ENOSPC || system_error == EDQUOT; }

void write_whole_file(const fs::path& file, Bytes bytes) {
  std::error_code ignored;
  const fs::path folder = file.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    fail(ErrorCode::io, file.string(), ": its folder does not exist; create ", folder.string(),
         " first");
  }
  if (fs::is_directory(file, ignored)) {
    fail(ErrorCode::io, file.string(), ": is a folder; name a file in it");
  }
  const fs::path target = link_target(file);
  if (is_written_as_it_is(target)) {
    io::File out(std::fopen(target.c_str(), "wb"));
    if (!out) fail_at(file, "cannot be written", errno);
    write_and_close(file, out, bytes);
    return;
  }
  remove_leftovers_beside(target);
  TemporaryFile temporary(file, target);
  temporary.write(bytes);
  temporary.put_in_place();
}

}  // namespace cornea::io
