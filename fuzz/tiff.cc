// SPDX-License-Identifier: Apache-2.0
// TIFF.
#include "fuzz/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cornea::io;
  cornea::fuzz::check_image({data, size}, {is_tiff, probe_tiff, decode_tiff, encode_tiff});
  return 0;
}
