// Options that no command of the program takes from the catalog, listed in the same manner, so that
// Python reads all names, defaults and help from one place.
#pragma once

#include <string>
#include <vector>

#include "cornea/catalog/options_table.h"
#include "cornea/io/csv.h"
#include "cornea/linalg/svd/svd.h"
#include "cornea/match/match.h"
#include "cornea/report/draw.h"

namespace cornea::python {

template <class Visitor>
void visit_float(Visitor& v, const char* name, float& value, const char* help) {
  double number = io::shortest(value);  // 0.8, not 0.800000011920929
  v(name, number, help);
  value = float(number);
}

template <class Visitor>
void visit(MatchOptions& o, Visitor& v) {
  visit_float(v, "ratio", o.ratio,
              "largest distance as a share of the second nearest's; 1 or more: no test");
  v("mutual", o.mutual, "each is the nearest of the other");
  visit_float(v, "max-distance", o.max_distance, "largest distance of descriptors; 0: no limit");
}

template <class Visitor>
void visit(SvdOptions& o, Visitor& v) {
  v("max-sweeps", o.max_sweeps, "1 to 1000; a matrix that needs more counts as not converged");
}

template <class Visitor>
void visit(DrawOptions& o, Visitor& v) {
  v("most-lines", o.most_lines, "of matches; of more, evenly chosen ones; 0: all");
  v("smallest-side", o.smallest_side,
    "longer sides under this are enlarged by a whole number, 8 at most");
}

template <class Options>
std::vector<Flag> flags_of(Options values) {
  catalog::DescribeOptions describe;
  visit(values, describe);
  return std::move(describe.flags);
}

template <class Options>
Options options_from(const Settings& settings, const char* owner, Options options = {}) {
  catalog::ReadOptionValues read(settings);
  visit(options, read);
  read.check_all_used(owner);
  return options;
}

}  // namespace cornea::python
