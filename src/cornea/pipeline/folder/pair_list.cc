// SPDX-License-Identifier: Apache-2.0
// read_pair_list of match_all.h.
#include <fstream>
#include <string>

#include "cornea/core/error.h"
#include "cornea/io/text_lines.h"
#include "cornea/pipeline/folder/image_names.h"
#include "cornea/pipeline/folder/match_all.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;
using colmap::Database;
using colmap::ImagePair;

// The line in quotes, shortened to fit an error sentence.
std::string in_quotes(const std::string& line) {
  constexpr std::size_t kLongest = 200;
  return "'" + (line.size() > kLongest ? line.substr(0, kLongest) + "..." : line) + "'";
}

}  // namespace

PairList folder::read_pair_list(const fs::path& file, const ImageNames& names) {
  std::ifstream in(file, std::ios::binary);
  if (!in || fs::is_directory(file)) {
    fail(ErrorCode::io, file.string(),
         ": cannot be read; name a text file with two images per line");
  }
  PairList list;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (number == 1) line = std::string(io::without_byte_order_mark(line));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
      line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    const std::vector<ImagePair> ways = names.ways_to_split(line);
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
  if (in.bad()) fail(ErrorCode::io, file.string(), ": cannot be read to its end");
  if (list.pairs.empty() && !list.refused.empty()) fail(ErrorCode::io, list.refused.front());
  return list;
}

PairList read_pair_list(const fs::path& file, const Database& database) {
  return folder::read_pair_list(file, folder::ImageNames(database));
}

}  // namespace cornea
