// SPDX-License-Identifier: Apache-2.0
// Correspondences as CSV text. Those that were read are written and read back as equal floats, and
// so is the text of all columns.
#include "cornea/io/matches_csv.h"

#include <cmath>
#include <vector>

#include "cornea/io/csv.h"
#include "fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cornea;
  static fuzz::MemoryFile file;
  file.replace({data, size});
  std::vector<Correspondence> matches;
  if (!fuzz::succeeds([&] { matches = read_matches_csv(file.path()); })) return 0;
  fuzz::must(matches.size() <= size, "a match takes more than a byte");
  const MatchTable table = read_match_table(file.path());
  fuzz::must(table.matches == matches, "both readers give the same matches");
  fuzz::must(table.rows.size() == matches.size(), "every match has its text");
  io::CsvWriter csv("x1,y1,x2,y2");
  for (const Correspondence& m : matches) {
    for (const float v : {m.x1, m.y1, m.x2, m.y2}) fuzz::must(std::isfinite(v), "numbers are");
    csv.row({m.x1, m.y1, m.x2, m.y2});
  }
  file.replace(fuzz::as_bytes(csv.contents()));
  fuzz::must(read_matches_csv(file.path()) == matches, "numbers are read back equal");
  std::string text = table.header + "\n";
  for (const std::string& row : table.rows) text += row + "\n";
  file.replace(fuzz::as_bytes(text));
  const MatchTable again = read_match_table(file.path());
  fuzz::must(again.matches == matches && again.rows == table.rows, "columns are read back equal");
  return 0;
}
