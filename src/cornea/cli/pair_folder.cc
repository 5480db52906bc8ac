// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/pair_folder.h"

#include <filesystem>
#include <fstream>

#include "cornea/cli/common.h"
#include "cornea/core/error.h"

namespace cornea::cli {

namespace fs = std::filesystem;

std::string default_pair_folder(const std::string& first, const std::string& second) {
  const std::string folder =
      text("pair-", fs::path(first).stem().string(), "-", fs::path(second).stem().string());
  constexpr std::size_t kLongestName = 255;  // of a file, bytes, on most systems
  if (folder.size() > kLongestName) {
    throw UsageError(
        "the names of the photographs are too long for a folder that is named after "
        "both; name a folder with -o");
  }
  std::ifstream earlier(fs::path(folder) / "summary.json");
  const Json json = earlier ? Json::parse(earlier, nullptr, false) : Json();
  if (!json.is_object() || !json.contains("images")) {
    for (const char* file : {"report.html", "matches.csv", "summary.json"}) {
      if (fs::exists(fs::path(folder) / file)) {
        throw UsageError(
            text(folder, " holds a ", file, " of another result; name a folder with -o"));
      }
    }
    return folder;
  }
  std::error_code ignored;
  const auto place = [&](const std::string& file) { return fs::weakly_canonical(file, ignored); };
  const Json& images = json["images"];
  if (first == "-" || second == "-") {
    throw UsageError(text(folder,
                          " holds an earlier result, and photographs from standard input cannot be "
                          "compared with those of it; name a folder with -o"));
  }
  const bool same = images.is_array() && images.size() == 2 && images[0].is_string() &&
                    images[1].is_string() && place(images[0]) == place(first) &&
                    place(images[1]) == place(second);
  if (!same) {
    throw UsageError(text(folder, " holds the result of other photographs; name a folder with -o"));
  }
  return folder;
}

}  // namespace cornea::cli
