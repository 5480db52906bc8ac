// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/mapper.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cornea/cli/common.h"
#include "cornea/cli/interrupt.h"
#include "cornea/cli/shell_words.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"

extern char** environ;

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

bool program_is_there(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

// Runs a program with its output in a log; returns its exit status as waitpid() does.
int run_logged(std::vector<std::string> words, const fs::path& log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // If SIGCHLD is ignored, as some shells leave it, waitpid() gets no status.
  std::signal(SIGCHLD, SIG_DFL);
  pid_t process = 0;
  const int failed =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) fail(ErrorCode::io, words[0], ": cannot be started (", std::strerror(failed), ")");
  // An interruption of this program also ends the mapper, whichever process received the signal.
  int status = 0;
  for (bool signalled = false; waitpid(process, &status, WNOHANG) != process;) {
    if (!signalled && Interrupt::raised()) signalled = ::kill(process, SIGTERM) == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return status;
}

// The file images.bin of a model begins with the number of its images.
std::vector<std::int64_t> images_of_models(const fs::path& folder) {
  std::vector<std::int64_t> all;
  for (const fs::directory_entry& model : fs::directory_iterator(folder)) {
    std::ifstream in(model.path() / "images.bin", std::ios::binary);
    std::uint64_t count = 0;
    if (in.read(reinterpret_cast<char*>(&count), sizeof count)) all.push_back(std::int64_t(count));
  }
  std::sort(all.begin(), all.end(), std::greater<>());
  return all;
}

// Renames the folder to the first free name of NAME.1, NAME.2, ...; empty if there was nothing in
// it.
std::string put_aside(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored) || fs::is_empty(folder, ignored)) return "";
  for (int number = 1;; ++number) {
    const fs::path other = text(folder.string(), ".", number);
    if (fs::exists(other)) continue;
    fs::rename(folder, other);
    return other.string();
  }
}

}  // namespace

std::vector<std::string> MapperCall::words() const {
  return {"colmap",          "mapper",       "--database_path",
          database.string(), "--image_path", photographs.string(),
          "--output_path",   models.string()};
}

std::string MapperCall::shell() const {
  return shell_line({"mkdir", "-p", models.string()}) + " && " + shell_line(words());
}

void require_colmap() {
  if (program_is_there("colmap")) return;
  fail(ErrorCode::unsupported,
       "--map needs the program colmap, which is not in PATH; install COLMAP, or "
       "leave --map out and use the command that is shown at the end");
}

MapperResult run_mapper(const MapperCall& call, const fs::path& log, std::string& note) {
  const core::Stopwatch watch;
  const std::string aside = put_aside(call.models);
  if (!aside.empty()) {
    note = text(call.models.string(), " held models of an earlier run, which are now in ", aside);
  }
  make_folder(call.models);
  const int status = run_logged(call.words(), log);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(ErrorCode::io, "colmap mapper ended with an error; ", log.string(),
         " has its output; the database is complete");
  }
  MapperResult result{images_of_models(call.models), watch.milliseconds()};
  if (result.models.empty()) {
    fail(ErrorCode::io, "colmap mapper made no model of these photographs; ", log.string(),
         " has its output");
  }
  return result;
}

}  // namespace cornea::cli
