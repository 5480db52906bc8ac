// SPDX-License-Identifier: Apache-2.0
// Options that are not in the catalog because no command of the program takes them from there,
// listed in the same way, so that Python reads all names, defaults and help texts from one source.
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
  v("mutual", o.mutual, "keep only mutual nearest neighbours");
  visit_float(v, "max-distance", o.max_distance, "largest distance of descriptors; 0: no limit");
}

template <class Visitor>
void visit(SvdOptions& o, Visitor& v) {
  v("max-sweeps", o.max_sweeps, "1 to 1000; a matrix that needs more counts as not converged");
}

template <class Visitor>
void visit(DrawOptions& o, Visitor& v) {
  v("most-lines", o.most_lines, "most matches that are drawn, chosen evenly; 0: all");
  v("smallest-side", o.smallest_side,
    "images with a shorter longest side are enlarged by an integer factor of up to 8");
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
