// SPDX-License-Identifier: Apache-2.0
// Callbacks by which a run over a folder reports its progress.
#pragma once

#include <functional>
#include <string>

namespace cornea {

struct FolderEvents {
  std::function<void(int total)> begin = [](int) {};    // number of steps to do, per part of a call
  std::function<void(int count)> advance = [](int) {};  // number of steps done since the last call
  std::function<void(const std::string&)> report = [](const std::string&) {};  // a step failed
  // a difference the user should know of
  std::function<void(const std::string&)> note = [](const std::string&) {};
  // Called between steps on the calling thread: whether to end early. Finished work is kept.
  std::function<bool()> stop = [] { return false; };
};

// What to do with existing features, matches or geometries that were made from another file or with
// other options: stop with an error before anything is written, make them again, or keep them.
enum class Changed { stop, redo, keep };

}  // namespace cornea
