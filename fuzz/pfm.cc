// SPDX-License-Identifier: Apache-2.0
// PFM.
#include "fuzz/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cornea::io;
  cornea::fuzz::check_image({data, size}, {is_pfm, probe_pfm, decode_pfm, encode_pfm});
  return 0;
}
