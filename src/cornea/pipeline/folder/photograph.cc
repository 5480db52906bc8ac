// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/photograph.h"

#include "cornea/core/error.h"
#include "cornea/core/naming.h"
#include "cornea/core/stopwatch.h"
#include "cornea/io/mask.h"
#include "cornea/pipeline/folder/changes.h"

namespace cornea::folder {
namespace {

namespace fs = std::filesystem;
using colmap::FileStamp;

// The stamp belongs to the bytes that the pixels were decoded from.
Photograph read_stamped(const fs::path& file, const ReadOptions& reading, FileStamp& stamp) {
  // Taken before the file is read: a file that changes while it is read has another time
  // afterwards.
  stamp = stamp_without_hash(file).value_or(FileStamp{});
  Photograph photograph = read_photograph(file, reading);
  stamp.bytes = std::int64_t(photograph.bytes);
  stamp.hash = photograph.hash;
  return photograph;
}

Image<std::uint8_t> read_mask(const Pending& pending, const ExtractOptions& options, int width,
                              int height, std::optional<FileStamp>& stamp) {
  const fs::path file = options.masks.empty() ? fs::path() : mask_of(options.masks, pending.name);
  if (file.empty() || !fs::exists(file)) {
    if (!pending.needs_mask) return {};
    fail(ErrorCode::io, "its features were extracted with a mask, and none is given here; extract ",
         pending.folder.string(), " with its masks and these options");
  }
  ReadOptions reading = options.reading;
  reading.range = {};
  Image<std::uint8_t> mask = io::as_mask(read_stamped(file, reading, stamp.emplace()).image);
  if (mask.width() != width || mask.height() != height) {
    fail(ErrorCode::invalid_argument, "the mask ", file.string(), " has ", mask.width(), " x ",
         mask.height(), " pixels, but the image has ", width, " x ", height, "; make them equal");
  }
  return mask;
}

}  // namespace

Decoded decode(const Pending& pending, const ExtractOptions& options) {
  const core::Stopwatch watch;
  const fs::path file = pending.file();
  Decoded decoded;
  try {
    decoded.photograph = read_stamped(file, options.reading, decoded.file);
    const GrayImage& image = decoded.photograph.image;
    decoded.mask = read_mask(pending, options, image.width(), image.height(), decoded.mask_file);
    decoded.reduced = core::Reduced(image.view(), decoded.mask, options.max_size);
  } catch (const std::exception& error) {
    decoded.error = core::naming(file.string(), error.what());
  }
  decoded.milliseconds = watch.milliseconds();
  return decoded;
}

}  // namespace cornea::folder
