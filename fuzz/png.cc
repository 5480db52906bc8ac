// SPDX-License-Identifier: Apache-2.0
// PNG. A changed byte invalidates the checksum of its chunk, and libpng then stops; so each input
// is tried unchanged and with its checksums corrected.
#include <algorithm>
#include <vector>

#include "fuzz/checksum.h"
#include "fuzz/image.h"

namespace {

using cornea::fuzz::Bytes;

// The bytes with the checksum of every complete chunk (length, name, data, checksum) corrected.
std::vector<std::uint8_t> with_true_checksums(Bytes bytes) {
  std::vector<std::uint8_t> repaired(bytes.begin(), bytes.end());
  constexpr std::size_t kSignature = 8, kAround = 12;
  for (std::size_t at = kSignature; at + kAround <= repaired.size();) {
    const std::size_t length = cornea::fuzz::big_endian_32(Bytes(repaired).subspan(at));
    if (length > repaired.size() - at - kAround) break;
    const std::size_t end = at + 8 + length;
    cornea::fuzz::put_big_endian_32(
        cornea::fuzz::crc32(Bytes(repaired).subspan(at + 4, 4 + length)), &repaired[end]);
    at = end + 4;
  }
  return repaired;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cornea::io;
  constexpr cornea::fuzz::ImageFormat kPng = {is_png, probe_png, decode_png, encode_png};
  const Bytes bytes(data, size);
  cornea::fuzz::check_image(bytes, kPng);
  const std::vector<std::uint8_t> repaired = with_true_checksums(bytes);
  if (!std::equal(bytes.begin(), bytes.end(), repaired.begin())) {
    cornea::fuzz::check_image(repaired, kPng);
  }
  return 0;
}
