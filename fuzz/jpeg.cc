// SPDX-License-Identifier: Apache-2.0
// JPEG. Its writer is lossy, so nothing is read back.
#include "fuzz/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cornea::io;
  cornea::fuzz::check_image({data, size}, {is_jpeg, probe_jpeg, decode_jpeg});
  return 0;
}
