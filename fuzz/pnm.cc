// SPDX-License-Identifier: Apache-2.0
// PNM.
#include "fuzz/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cornea::io;
  cornea::fuzz::check_image({data, size}, {is_pnm, probe_pnm, decode_pnm, encode_pnm});
  return 0;
}
