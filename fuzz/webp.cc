// SPDX-License-Identifier: Apache-2.0
// WebP, which Cornea does not write.
#include "fuzz/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cornea::io;
  cornea::fuzz::check_image({data, size}, {is_webp, probe_webp, decode_webp});
  return 0;
}
