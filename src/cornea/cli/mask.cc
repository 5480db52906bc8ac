// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/mask.h"

#include "cornea/cli/streams.h"
#include "cornea/io/mask.h"

namespace cornea::cli {

Image<std::uint8_t> read_mask(const std::string& file, const ReadOptions& options) {
  return io::as_mask(gray_from(file, options));
}

}  // namespace cornea::cli
