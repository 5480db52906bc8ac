#include "cornea/cli/missing.h"

namespace cornea::cli {

Run add_scene(CLI::App& app) { return add_missing(app, "scene", "Eigen", "libeigen3-dev"); }
Run add_study(CLI::App& app) { return add_missing(app, "study", "Eigen", "libeigen3-dev"); }

}  // namespace cornea::cli
