// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/random.h"

#include <cmath>
#include <numbers>

namespace cornea::core {

double Random::normal() {
  const double u = 1.0 - uniform();  // never 0
  const double v = uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace cornea::core
