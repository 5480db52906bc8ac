// write_image: the format of an extension, the pixels it holds, and a file that appears whole.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

#include <unistd.h>

#include "cornea/core/build.h"
#include "cornea/io/convert.h"
#include "cornea/io/decoded.h"
#include "cornea/io/image_file.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;
using io::Bytes;
using io::DecodedImage;

// A view, and the pixels behind it where they had to be converted.
struct Converted {
  DecodedImage pixels;
  AnyView view;
};

template <class T>
Converted converted(const AnyView& image) {
  if (image.pixel() == pixel_of<T>()) return {{}, image};
  Image<T> pixels = io::visit_pixels(image, [](auto from) { return io::convert_image<T>(from); });
  const AnyView view = pixels;
  return {std::move(pixels), view};
}

Converted as_8_bit(const AnyView& image) {
  return is_rgb(image.pixel()) ? converted<Rgb<std::uint8_t>>(image)
                               : converted<std::uint8_t>(image);
}

Converted as_float(const AnyView& image) {
  return is_rgb(image.pixel()) ? converted<Rgb<float>>(image) : converted<float>(image);
}

Converted as_integers(const AnyView& image) {
  return channel_of(image.pixel()) == Pixel::f32 ? as_8_bit(image) : Converted{{}, image};
}

Converted as_colour_integers(const AnyView& image) {
  if (image.pixel() == Pixel::u16) return converted<Rgb<std::uint16_t>>(image);
  return is_rgb(image.pixel()) ? as_integers(image) : converted<Rgb<std::uint8_t>>(image);
}

std::vector<std::uint8_t> encode(const fs::path& file, const AnyView& image,
                                 const WriteOptions& options) {
  const std::string extension = io::extension_in_small_letters(file);
  if (extension == ".png") return io::encode_png(as_integers(image).view);
  if (extension == ".jpg" || extension == ".jpeg") {
    return encode_jpeg(as_8_bit(image).view, options.jpeg_quality);
  }
  if (extension == ".pgm") {
    require(!is_rgb(image.pixel()), "PGM holds gray only; name the file .ppm or .png");
    return io::encode_pnm(as_integers(image).view);
  }
  if (extension == ".ppm") return io::encode_pnm(as_colour_integers(image).view);
  if (extension == ".pnm") return io::encode_pnm(as_integers(image).view);
  if (extension == ".pfm") return io::encode_pfm(as_float(image).view);
  if (extension == ".tif" || extension == ".tiff") {
    if constexpr (kHasTiff) return io::encode_tiff(image);
    fail(ErrorCode::unsupported,
         "this build has no TIFF support (libtiff was not found); name the file .png or .pfm");
  }
  fail(ErrorCode::unsupported, "no image format is written for the extension \"", extension,
       "\"; use .png, .jpg, .pgm, .ppm, .pnm, .pfm or .tif");
}

// The file under its other name; gone with this object unless it was put in place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target) : target_(target) {
    static std::atomic<unsigned> count = 0;
    const fs::path name = text(".cornea-", ::getpid(), "-", ++count, ".part");
    path_ = target.parent_path() / name;
    file_.reset(std::fopen(path_.c_str(), "wbx"));  // x: never over another file
    if (!file_) fail_here("cannot be written", std::strerror(errno));
  }
  ~TemporaryFile() {
    file_.reset();
    std::error_code ignored;
    if (!in_place_) fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(Bytes bytes) {
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size();
    if (!written || std::fflush(file_.get()) != 0) {
      fail_here("cannot be written to its end", std::strerror(errno));
    }
    if (std::fclose(file_.release()) != 0) {
      fail_here("cannot be written to its end", std::strerror(errno));
    }
  }
  void put_in_place() {
    std::error_code failed;
    fs::rename(path_, target_, failed);
    if (failed) fail_here("cannot be put in place", failed.message());
    in_place_ = true;
  }

 private:
  [[noreturn]] void fail_here(const char* what, const std::string& reason) const {
    fail(ErrorCode::io, target_.string(), ": ", what, " (", reason,
         "); check the folder, its permissions and the free space");
  }
  fs::path target_, path_;
  io::File file_;
  bool in_place_ = false;
};

void check_target(const fs::path& file) {
  std::error_code ignored;
  const fs::path folder = file.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    fail(ErrorCode::io, file.string(), ": its folder does not exist; make ", folder.string(),
         " first");
  }
  if (fs::is_directory(file, ignored)) {
    fail(ErrorCode::io, file.string(), ": is a folder; name a file in it");
  }
}

}  // namespace

void write_image(const fs::path& file, const AnyView& image, const WriteOptions& options) {
  std::vector<std::uint8_t> bytes;
  try {
    require(!image.empty(), "an image without pixels cannot be written");
    require(!image.on_device(), "the image lives in device memory; copy it first");
    require(image.pixel() != Pixel::f64, "a map of doubles has no image format; scale it to float");
    bytes = encode(file, image, options);
  } catch (const Error& error) {
    fail(error.code(), file.string(), ": ", error.what());
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::out_of_memory, file.string(), ": no room for its bytes; free memory first");
  }
  check_target(file);
  TemporaryFile temporary(file);
  temporary.write(bytes);
  temporary.put_in_place();
}

}  // namespace cornea
