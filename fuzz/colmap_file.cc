// SPDX-License-Identifier: Apache-2.0
// A COLMAP database, given as the bytes of its file.
#include "fuzz/colmap.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cornea::fuzz;
  static MemoryDatabase memory;
  memory.replace({data, size});
  check_database();
  return 0;
}
