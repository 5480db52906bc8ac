// In builds without Eigen the commands that draw synthetic views say so.
#include "cornea/cli/common.h"

namespace cornea::cli {
namespace {

Run add_missing(CLI::App& app, const char* name) {
  app.add_subcommand(name, "not in this build, which has no Eigen")->allow_extras();
  return []() -> int {
    fail(ErrorCode::unsupported,
         "this build has no Eigen, which synthetic views need; install libeigen3-dev and build "
         "Cornea again");
  };
}

}  // namespace

Run add_scene(CLI::App& app) { return add_missing(app, "scene"); }
Run add_study(CLI::App& app) { return add_missing(app, "study"); }

}  // namespace cornea::cli
