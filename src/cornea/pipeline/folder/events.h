// What a run over a folder tells the one who started it, while it goes on.
#pragma once

#include <functional>
#include <string>

namespace cornea {

struct FolderEvents {
  std::function<void(int total)> begin = [](int) {};    // steps to do, once
  std::function<void(int count)> advance = [](int) {};  // steps done since the last call
  std::function<void(const std::string&)> report = [](const std::string&) {};  // a failed step
};

}  // namespace cornea
