// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/browser.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cornea/core/error.h"

extern char** environ;

namespace cornea::cli {
namespace {

#ifdef __APPLE__
const std::vector<std::string> kOpeners = {"open"};
#else
const std::vector<std::string> kOpeners = {"xdg-open", "wslview"};
#endif

// Starts `opener file` detached from the terminal and returns its process id; 0 if there is no such
// program.
pid_t spawn(std::string opener, std::string file) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null",
                                     stream == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
  }
  char* words[] = {opener.data(), file.data(), nullptr};
  pid_t process = 0;
  const int failed = posix_spawnp(&process, words[0], &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed ? 0 : process;
}

// Whether the opener failed. Some openers run until the browser is closed, so the page counts as
// opened after two seconds without an error.
bool has_failed(pid_t process) {
  using namespace std::chrono_literals;
  for (int k = 0; k < 40; ++k) {
    int status = 0;
    if (waitpid(process, &status, WNOHANG) == process) {
      return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

}  // namespace

void open_in_browser(const std::filesystem::path& page) {
  const std::string file = std::filesystem::absolute(page).string();
  std::string names;
  for (const std::string& opener : kOpeners) {
    const pid_t process = spawn(opener, file);
    if (process == 0) {
      names += (names.empty() ? "" : " or ") + opener;
      continue;
    }
    if (!has_failed(process)) return;
    fail(ErrorCode::io, opener, " could not open the page; open ", file, " in a browser");
  }
  fail(ErrorCode::io, "there is no ", names, " to open the page with; open ", file,
       " in a browser");
}

}  // namespace cornea::cli
