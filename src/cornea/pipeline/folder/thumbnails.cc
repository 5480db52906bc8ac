// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/thumbnails.h"

#include <algorithm>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/io/image_file.h"
#include "cornea/report/preview.h"

namespace cornea::folder {
namespace {

namespace fs = std::filesystem;

// The side in pixels. Thumbnails of up to 400 images take about 5 MB; beyond that they are in
// several files, and their size grows with the number of images.
int side_for(std::size_t images) {
  return images <= 40 ? 800 : images <= 150 ? 480 : images <= 400 ? 320 : 160;
}

// A name in the database that leads out of the folder is not accepted.
bool leads_out(const fs::path& name) {
  return name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end();
}

// Why the thumbnail could not be made; empty if it was. `alone` is a single-threaded context,
// because photographs are processed in parallel.
std::string problem_of(const Context& alone, const fs::path& folder, int side,
                       std::uint64_t max_pixels, FolderPageImage& image) {
  const fs::path file = folder / image.name;
  std::error_code ignored;
  if (leads_out(image.name) || !fs::exists(file, ignored)) return "is not in the folder";
  try {
    ReadOptions reading;
    reading.max_pixels = max_pixels;
    const auto pixels = read_image<Rgb<std::uint8_t>>(file, reading);
    const bool sized = image.width > 0 && image.height > 0;
    if (sized && (pixels.width() != image.width || pixels.height() != image.height)) {
      return text("has ", pixels.width(), " x ", pixels.height(), " pixels and had ", image.width,
                  " x ", image.height, " when its points were found");
    }
    image.thumbnail = encode_jpeg(report::scaled_down(alone, pixels.host(), side), 82);
  } catch (const std::exception&) {
    return "cannot be read";
  }
  return "";
}

}  // namespace

void add_thumbnails(const Context& context, FolderPage& page, const fs::path& folder,
                    const ThumbnailOptions& options) {
  const std::size_t count = page.images.size();
  const int side = options.side > 0 ? options.side : side_for(count);
  const Context alone = Context::cpu(1);
  // In blocks, so that the calling thread can report progress and stop.
  constexpr std::size_t kBlock = 64;
  for (std::size_t from = 0; from < count; from += kBlock) {
    const std::size_t to = std::min(count, from + kBlock);
    const bool stopped = options.events.stop();
    core::parallel_for(context, int(to - from), 1, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        FolderPageImage& image = page.images[from + std::size_t(i)];
        image.problem =
            stopped ? "was not read" : problem_of(alone, folder, side, options.max_pixels, image);
      }
    });
    options.events.advance(int(to - from));
  }
}

}  // namespace cornea::folder
