#include "cornea/pipeline/folder/photograph.h"

#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/io/content_hash.h"
#include "cornea/io/mask.h"
#include "cornea/pipeline/folder/changes.h"

namespace cornea::folder {
namespace {

namespace fs = std::filesystem;
using colmap::FileStamp;

Image<std::uint8_t> read_mask(const Pending& pending, const ExtractOptions& options, int width,
                              int height, std::optional<FileStamp>& stamp) {
  const fs::path file = options.masks.empty() ? fs::path() : mask_of(options.masks, pending.name);
  if (file.empty() || !fs::exists(file)) {
    if (!pending.needs_mask) return {};
    fail(ErrorCode::io, "its features were extracted with a mask, and none is given here; extract ",
         pending.folder.string(), " with its masks and these options");
  }
  stamp = stamp_without_hash(file).value_or(FileStamp{});
  stamp->hash = io::content_hash_of_file(file);
  ReadOptions reading = options.reading;
  reading.range = {};
  Image<std::uint8_t> mask = io::as_mask(read_gray(file, reading));
  if (mask.width() != width || mask.height() != height) {
    fail(ErrorCode::invalid_argument, "the mask ", file.string(), " has ", mask.width(), " x ",
         mask.height(), " pixels and the image ", width, " x ", height, "; make them equal");
  }
  return mask;
}

}  // namespace

std::string naming(const fs::path& file, const std::exception& error) {
  const std::string sentence = error.what();
  const std::string front = file.string() + ": ";
  return sentence.starts_with(front) ? sentence : front + sentence;
}

Decoded decode(const Pending& pending, const ExtractOptions& options) {
  const core::Stopwatch watch;
  const fs::path file = pending.file();
  Decoded decoded;
  try {
    // Before it is read: one that changes on the way has another time afterwards.
    decoded.file = stamp_without_hash(file).value_or(FileStamp{});
    decoded.photograph = read_photograph(file, options.reading);
    decoded.file.bytes = std::int64_t(decoded.photograph.bytes);
    decoded.file.hash = decoded.photograph.hash;
    const GrayImage& image = decoded.photograph.image;
    decoded.mask = read_mask(pending, options, image.width(), image.height(), decoded.mask_file);
    decoded.reduced = core::Reduced(image.view(), decoded.mask, options.max_size);
  } catch (const std::exception& error) {
    decoded.error = naming(file, error);
  }
  decoded.milliseconds = watch.milliseconds();
  return decoded;
}

}  // namespace cornea::folder
