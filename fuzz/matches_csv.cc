// Correspondences as CSV text. Those that were read are written and read back as equal floats.
#include "cornea/io/matches_csv.h"

#include <cmath>
#include <vector>

#include "cornea/io/csv.h"
#include "fuzz/harness.h"

namespace {

using cornea::Correspondence;

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cornea;
  static fuzz::MemoryFile file;
  file.replace({data, size});
  std::vector<Correspondence> matches;
  if (!fuzz::succeeds([&] { matches = read_matches_csv(file.path()); })) return 0;
  fuzz::must(matches.size() <= size, "a match takes more than a byte");
  io::CsvWriter csv("x1,y1,x2,y2");
  for (const Correspondence& m : matches) csv.row({m.x1, m.y1, m.x2, m.y2});
  file.replace(fuzz::as_bytes(csv.contents()));
  const std::vector<Correspondence> again = read_matches_csv(file.path());
  fuzz::must(again.size() == matches.size(), "every line is read back");
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Correspondence &a = matches[i], &b = again[i];
    fuzz::must(same(a.x1, b.x1) && same(a.y1, b.y1) && same(a.x2, b.x2) && same(a.y2, b.y2),
               "numbers are read back equal");
  }
  return 0;
}
