// What a run over a folder tells the one who started it, while it goes on.
#pragma once

#include <functional>
#include <string>

namespace cornea {

struct FolderEvents {
  std::function<void(int total)> begin = [](int) {};    // steps to do, once
  std::function<void(int count)> advance = [](int) {};  // steps done since the last call
  std::function<void(const std::string&)> report = [](const std::string&) {};  // a failed step
  std::function<void(const std::string&)> note = [](const std::string&) {};    // what differs
  // Asked between steps, from the calling thread: whether to end early. What is done is kept.
  std::function<bool()> stop = [] { return false; };
};

// What to do with features, matches or geometries that are there and were made of another file or
// with other options: end with an error before anything is written; make them again; leave them.
enum class Changed { stop, redo, keep };

}  // namespace cornea
