// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include "binding.h"
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cornea/catalog/detectors.h"
#include "cornea/catalog/estimators.h"
#include "cornea/catalog/filters.h"
#include "cornea/core/build.h"
#if CORNEA_HAS_SQLITE
#include "cornea/colmap.h"
#endif
#if CORNEA_HAS_SCENE
#include "scene_options.h"
#endif

namespace cornea::python {
namespace {

const char* kind_name(Flag::Kind kind) {
  switch (kind) {
    case Flag::Kind::number:
      return "number";
    case Flag::Kind::integer:
      return "integer";
    case Flag::Kind::on_off:
      return "on_off";
    case Flag::Kind::choice:
      return "choice";
    case Flag::Kind::numbers:
      return "numbers";
  }
  return "number";
}

// (name, help, kind, default, choices) of every option.
nb::list list_of(const std::vector<Flag>& flags) {
  nb::list list;
  for (const Flag& flag : flags) {
    list.append(nb::make_tuple(flag.name, flag.help, kind_name(flag.kind), flag.default_text,
                               flag.choices));
  }
  return list;
}

// Name: (summary, source, options).
template <class Entry>
nb::dict table_of(const std::vector<Entry>& entries) {
  nb::dict table;
  for (const Entry& entry : entries) {
    table[nb::cast(entry.name)] = nb::make_tuple(entry.summary, entry.source, list_of(entry.flags));
  }
  return table;
}

nb::dict tables() {
  nb::dict all;
  all["detectors"] = table_of(detector_table());
  all["filters"] = table_of(filter_table());
  all["estimators"] = table_of(estimator_table());
  all["match"] = list_of(flags_of(MatchOptions()));
  all["svd"] = list_of(flags_of(SvdOptions()));
  all["draw"] = list_of(flags_of(DrawOptions()));
#if CORNEA_HAS_SQLITE
  all["extract"] = list_of(sift_flags(folder_sift_options()));
#endif
#if CORNEA_HAS_SCENE
  all["scene"] = list_of(flags_of(SceneOptions()));
#endif
  return all;
}

}  // namespace

void bind_tables(nb::module_& m) { m.def("tables", &tables); }

}  // namespace cornea::python
