// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/missing.h"

namespace cornea::cli {

Run add_scene(CLI::App& app) { return add_missing(app, "scene", "Eigen", "libeigen3-dev"); }
Run add_study(CLI::App& app) { return add_missing(app, "study", "Eigen", "libeigen3-dev"); }
Run add_evaluate(CLI::App& app, const std::vector<std::string>&) {
  return add_missing(app, "evaluate", "Eigen", "libeigen3-dev");
}

}  // namespace cornea::cli
