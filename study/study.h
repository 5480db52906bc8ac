// The studies that `cornea study` runs: each prints its tables and returns them.
#pragma once

#include <string>

#include "cornea/cli/common.h"
#include "cornea/core/context.h"

namespace cornea::cli {

struct StudyCommand {
  CommonOptions common;
  std::string name, matches;
  int repeat = 20;
};

Json study_svd(const Context& context, const StudyCommand& command);
Json study_ransac(const Context& context, const StudyCommand& command);

}  // namespace cornea::cli
