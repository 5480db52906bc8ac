// SPDX-License-Identifier: Apache-2.0
// Still WebP images through libwebp's simple interface: 8-bit RGB. Built only if kHasWebp.
#include <webp/decode.h>

#include "cornea/io/decoded.h"

namespace cornea::io {
namespace {

WebPBitstreamFeatures read_header(const Source& source) {
  // The container states its length, which detects every truncation; the decoder may overlook a few
  // missing bytes at the end.
  const Bytes bytes = source.bytes;
  const std::uint64_t said = std::uint64_t{bytes[4]} | std::uint64_t{bytes[5]} << 8 |
                             std::uint64_t{bytes[6]} << 16 | std::uint64_t{bytes[7]} << 24;
  if (bytes.size() < said + 8) {
    fail_damaged(source, "WebP",
                 text("its header states ", said + 8, " bytes and it has ", bytes.size()));
  }
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK) {
    fail_damaged(source, "WebP", "libwebp cannot read the header");
  }
  check_size(source, static_cast<std::uint64_t>(features.width),
             static_cast<std::uint64_t>(features.height));
  return features;
}

}  // namespace

ImageFileInfo probe_webp(const Source& source) {
  const WebPBitstreamFeatures features = read_header(source);
  return {"WebP",
          features.width,
          features.height,
          features.has_alpha ? 4 : 3,
          8,
          /*is_float=*/false};
}

DecodedImage decode_webp(const Source& source) {
  const WebPBitstreamFeatures features = read_header(source);
  if (features.has_animation) {
    fail(ErrorCode::unsupported, source.name,
         ": is an animated WebP; save the frame you want as a still image");
  }
  DecodedImage image = make_image(Pixel::rgb_u8, features.width, features.height);
  const Rows rows = rows_of(image);
  if (!WebPDecodeRGBInto(source.bytes.data(), source.bytes.size(), rows.data,
                         rows.stride * static_cast<std::size_t>(features.height),
                         static_cast<int>(rows.stride))) {
    fail_damaged(source, "WebP", "libwebp cannot decode the pixels");
  }
  return image;
}

}  // namespace cornea::io
