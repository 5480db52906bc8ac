// SPDX-License-Identifier: Apache-2.0
// Placeholders for commands that a build lacks: they say so, and what to install.
#pragma once

#include "cornea/cli/common.h"

namespace cornea::cli {

inline Run add_missing(CLI::App& app, const char* name, const std::string& what,
                       const std::string& package) {
  app.add_subcommand(name, "not in this build, which has no " + what)->allow_extras();
  return [=]() -> int {
    fail(ErrorCode::unsupported, "this build has no ", what, ", which this command needs; install ",
         package, " and build Cornea again");
  };
}

}  // namespace cornea::cli
