// read_pair_list of match_all.h.
#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cornea/core/error.h"
#include "cornea/pipeline/folder/match_all.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;
using colmap::Database;
using colmap::Id;
using colmap::ImagePair;

bool is_space(char c) { return c == ' ' || c == '\t'; }

// The images of a database by name.
class Names {
 public:
  explicit Names(const Database& database) {
    std::vector<std::string> refused;  // of impossible ids, which match_all() names
    for (colmap::ImageRow& row : database.images(&refused)) {
      longest_ = std::max(longest_, row.name.size());
      ids_[std::move(row.name)] = row.id;
    }
  }

  // Where a line that does not end in white space can be parted into two names. Only where both
  // parts are no longer than the longest name are they looked up: a line may be a whole file.
  std::vector<ImagePair> ways_to_part(std::string_view line) const {
    std::vector<ImagePair> ways;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    for (std::size_t end = 1; end < line.size() && end <= longest_; ++end) {
      if (!is_space(line[end]) || is_space(line[end - 1])) continue;
      const std::string_view second = line.substr(line.find_first_not_of(" \t", end));
      if (second.size() > longest_) continue;
      const auto a = ids_.find(std::string(line.substr(0, end)));
      const auto b = ids_.find(std::string(second));
      if (a != ids_.end() && b != ids_.end()) ways.push_back({a->second, b->second});
    }
    return ways;
  }

 private:
  std::unordered_map<std::string, Id> ids_;
  std::size_t longest_ = 0;
};

// For a sentence: the line, or as much of it as fits one.
std::string in_quotes(const std::string& line) {
  constexpr std::size_t kLongest = 200;
  return "'" + (line.size() > kLongest ? line.substr(0, kLongest) + "..." : line) + "'";
}

}  // namespace

PairList read_pair_list(const fs::path& file, const Database& database) {
  std::ifstream in(file, std::ios::binary);
  if (!in || fs::is_directory(file)) {
    fail(ErrorCode::io, file.string(),
         ": cannot be read; name a text file with two images per line");
  }
  const Names names(database);
  PairList list;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    while (!line.empty() && (line.back() == '\r' || is_space(line.back()))) line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    const std::vector<ImagePair> ways = names.ways_to_part(line);
    if (ways.size() != 1 || ways[0].first == ways[0].second) {
      list.refused.push_back(text(
          file.string(), ", line ", number, ": ", in_quotes(line), " ",
          ways.empty() ? "does not name two images of the database (extract leaves out what it "
                         "cannot read); names are paths below the folder of images"
          : ways.size() == 1 ? "names one image twice"
                             : "names two images in more than one way; rename one"));
      continue;
    }
    list.pairs.push_back(ways[0]);
  }
  if (list.pairs.empty() && !list.refused.empty()) fail(ErrorCode::io, list.refused.front());
  return list;
}

}  // namespace cornea
