// Estimators of two-view geometry in the table that front ends read: names, flags, help, defaults.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/geometry/fundamental/fundamental.h"
#include "cornea/pipeline/settings.h"

namespace cornea {

struct EstimatorEntry {
  std::string name;     // "fundamental"
  std::string summary;  // one line
  std::string source;   // the paper
  std::vector<Flag> flags;
  // An unknown flag or a bad value is an error (invalid_argument) that names it.
  std::function<std::unique_ptr<FundamentalEstimator>(const Context&, const Settings&)> make;
};

const std::vector<EstimatorEntry>& estimator_table();

// The options of "fundamental", for front ends that hand them on; errors as above.
FundamentalOptions fundamental_options(const Settings& settings);

// An unknown name is an error that lists the known ones.
const EstimatorEntry& find_estimator(const std::string& name);

}  // namespace cornea
