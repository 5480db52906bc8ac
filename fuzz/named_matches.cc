// SPDX-License-Identifier: Apache-2.0
// Matches by index, as CSV and in COLMAP's text format. The result is written in both formats and
// must be read back equal.
#include "cornea/io/named_matches.h"

#include <sstream>
#include <string>
#include <vector>

#include "cornea/core/error.h"
#include "fuzz/harness.h"

namespace {

using namespace cornea;

std::vector<io::NamedMatches> read(const std::string& bytes) {
  std::istringstream in(bytes);
  return io::read_named_matches(in, "m");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<io::NamedMatches> pairs;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!fuzz::succeeds([&] { pairs = read(bytes); })) return 0;
  std::string words;
  std::size_t matches = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const io::NamedMatches& pair = pairs[i];
    fuzz::must(pair.names.empty() != pair.first.empty(), "names stand in one place");
    // Names in CSV may contain the characters that begin or end a line.
    words += text(i == 0 ? "x y" : "\nx y", "\n");
    for (const io::IndexMatch& m : pair.matches) words += text(m.first, "\t", m.second, "\n");
    matches += pair.matches.size();
  }
  fuzz::must(matches <= size, "a match takes more than a byte");
  if (pairs.empty()) return 0;
  const std::vector<io::NamedMatches> again = read(words);
  fuzz::must(again.size() == pairs.size(), "pairs are read back");
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    fuzz::must(again[i].matches.size() == pairs[i].matches.size(), "matches are read back");
    for (std::size_t k = 0; k < pairs[i].matches.size(); ++k) {
      const io::IndexMatch &a = again[i].matches[k], &b = pairs[i].matches[k];
      fuzz::must(a.first == b.first && a.second == b.second, "indices are read back equal");
    }
  }
  return 0;
}
