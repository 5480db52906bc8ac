// SPDX-License-Identifier: Apache-2.0
// A stage of a call and the time it took.
#pragma once

#include <string>

namespace cornea {

struct StageTime {
  std::string stage = {};
  double milliseconds = 0;
};

}  // namespace cornea
