// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/isa.h"

#include <cstdlib>
#include <string_view>

namespace cornea::core {

bool uses_avx2() {
#ifdef CORNEA_HAS_AVX2_FILES
  static const bool answer = [] {
    const char* set = std::getenv("CORNEA_VECTORS");
    if (set && std::string_view(set) == "baseline") return false;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }();
  return answer;
#else
  return false;
#endif
}

}  // namespace cornea::core
