// SPDX-License-Identifier: Apache-2.0
// Files whose loops need instructions beyond the baseline (fused multiply-add, population count)
// are compiled once for the baseline of the architecture and, on x86-64, once more for AVX2
// (cornea_vector_files() in cmake/cornea_room.cmake). Each version lives in its own namespace,
// CORNEA_ISA, and is selected at run time by what the processor supports. Both give the same bits.
//
//   // rows.h
//   CORNEA_PER_ISA(void, add_rows, (const float* from, int count, float* to), (from, count, to))
//   // rows.cc
//   namespace cornea::room::CORNEA_ISA {
//   void add_rows(const float* from, int count, float* to) { .. }
//   }
#pragma once

#ifndef CORNEA_ISA
#define CORNEA_ISA baseline
#endif

namespace cornea::core {

// True if the build contains AVX2 code and this processor supports it. CORNEA_VECTORS=baseline in
// the environment turns it off, for tests.
bool uses_avx2();

}  // namespace cornea::core

#ifdef CORNEA_HAS_AVX2_FILES
#define CORNEA_PER_ISA(result, name, parameters, arguments)                     \
  namespace baseline {                                                          \
  result name parameters;                                                       \
  }                                                                             \
  namespace avx2 {                                                              \
  result name parameters;                                                       \
  }                                                                             \
  inline result name parameters {                                               \
    return core::uses_avx2() ? avx2::name arguments : baseline::name arguments; \
  }
#else
#define CORNEA_PER_ISA(result, name, parameters, arguments) \
  namespace baseline {                                      \
  result name parameters;                                   \
  }                                                         \
  using baseline::name;
#endif
