// SPDX-License-Identifier: Apache-2.0
// The one table of detectors. The command line, the benches and other front ends read names, flags,
// help and defaults from here, so a detector added to the table is known to all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cornea/catalog/settings.h"
#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/describe/sift/sift.h"
#include "cornea/detect/corner_detector.h"

namespace cornea {

struct DetectorEntry {
  std::string name = {};     // "harris"
  std::string summary = {};  // one line
  std::string source = {};   // the paper
  std::vector<Flag> flags = {};
  // One of these is set: most detectors find corners, SIFT finds and describes features. An unknown
  // flag or an invalid value is an error (invalid_argument) that names it.
  std::function<std::unique_ptr<CornerDetector>(const Context&, const Settings&)> make = {};
  std::function<std::unique_ptr<Sift>(const Context&, const Settings&)> make_sift = {};
};

CORNEA_API const std::vector<DetectorEntry>& detector_table();

// SIFT's options with other defaults: the flags, and the options after reading them.
CORNEA_API std::vector<Flag> sift_flags(SiftOptions defaults);
CORNEA_API SiftOptions sift_options(const Settings& settings, SiftOptions defaults);

// An unknown name is an error that lists the known ones.
CORNEA_API const DetectorEntry& find_detector(const std::string& name);

}  // namespace cornea
