// SPDX-License-Identifier: Apache-2.0
// The one table of filters. The command line, the benches and other front ends read names, flags,
// help and defaults from here, so a filter added to the table is known to all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cornea/catalog/settings.h"
#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/filter/image_filter.h"

namespace cornea {

struct FilterEntry {
  std::string name = {};     // "bilateral"
  std::string summary = {};  // one line
  std::string source = {};   // the paper
  std::vector<Flag> flags = {};
  // An unknown flag or an invalid value is an error (invalid_argument) that names it.
  std::function<std::unique_ptr<ImageFilter>(const Context&, const Settings&)> make = {};
};

CORNEA_API const std::vector<FilterEntry>& filter_table();

// An unknown name is an error that lists the known ones.
CORNEA_API const FilterEntry& find_filter(const std::string& name);

}  // namespace cornea
