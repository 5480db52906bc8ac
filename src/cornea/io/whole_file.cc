#include "cornea/io/whole_file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

#include <unistd.h>

#include "cornea/core/error.h"
#include "cornea/io/decoded.h"

namespace cornea::io {
namespace {

namespace fs = std::filesystem;
using io::Bytes;

[[noreturn]] void fail_at(const fs::path& file, const char* what, const std::string& reason) {
  fail(ErrorCode::io, file.string(), ": ", what, " (", reason,
       "); check the folder, its permissions and the free space");
}

void write_and_close(const fs::path& file, io::File& out, Bytes bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), out.get()) == bytes.size();
  if (!written || std::fflush(out.get()) != 0 || std::fclose(out.release()) != 0) {
    fail_at(file, "cannot be written to its end", std::strerror(errno));
  }
}

// The file under its other name; gone with this object unless it was put in place.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& file, const fs::path& target) : file_(file), target_(target) {
    static std::atomic<unsigned> count = 0;
    const fs::path name = text(".cornea-", ::getpid(), "-", ++count, ".part");
    path_ = target.parent_path() / name;
    out_.reset(std::fopen(path_.c_str(), "wbx"));  // x: never over another file
    if (!out_) fail_at(file_, "cannot be written", std::strerror(errno));
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
    if (failed) fail_at(file_, "cannot be put in place", failed.message());
    in_place_ = true;
  }

 private:
  fs::path file_, target_, path_;
  io::File out_;
  bool in_place_ = false;
};

// What a name stands for in the end, and whether that is written to as it is.
struct Target {
  fs::path path;
  bool as_it_is;
};
Target target_of(const fs::path& file) {
  constexpr int kMostLinks = 40;
  std::error_code failed;
  fs::path path = file;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::string name = path.lexically_normal().string();
    if (name.starts_with("/dev/") || name.starts_with("/proc/")) return {path, true};
    if (!fs::is_symlink(path, failed)) break;
    const fs::path next = fs::read_symlink(path, failed);
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return {path, fs::exists(path, failed) && !fs::is_regular_file(path, failed)};
}

}  // namespace

void write_whole_file(const fs::path& file, Bytes bytes) {
  std::error_code ignored;
  const fs::path folder = file.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    fail(ErrorCode::io, file.string(), ": its folder does not exist; make ", folder.string(),
         " first");
  }
  if (fs::is_directory(file, ignored)) {
    fail(ErrorCode::io, file.string(), ": is a folder; name a file in it");
  }
  const Target target = target_of(file);
  if (target.as_it_is) {
    io::File out(std::fopen(target.path.c_str(), "wb"));
    if (!out) fail_at(file, "cannot be written", std::strerror(errno));
    write_and_close(file, out, bytes);
    return;
  }
  TemporaryFile temporary(file, target.path);
  temporary.write(bytes);
  temporary.put_in_place();
}

}  // namespace cornea::io
