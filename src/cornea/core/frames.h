// How images enter every algorithm: the checks of a call, the pixels that the algorithm works on,
// their way to the device, the mask, and the test for values that cannot be used.
#pragma once

#include <cstdint>
#include <span>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/pixels.h"

namespace cornea::core {

// Images in one call: CUDA's limit for the y and z of a grid.
inline constexpr std::size_t kLargestBatch = 65535;

// An error unless these images, with this mask or none, can go through one call: one size, one type
// of pixels, one place, which is one that the context can reach. A mask is 8-bit gray.
void check_images(const Context& context, std::span<const AnyView> images,
                  const AnyView& mask = {});

// An error unless a view, which `what` names, has pixels and rows that follow one another.
void check_view(const AnyView& view, const char* what);

class Frames {
 public:
  Frames(const Context& context, Working working) : context_(context), working_(working) {}

  Pixel pixel_of(const AnyView& image) const { return working_pixel(working_, image.pixel()); }

  // On the CPU: an image as working pixels, the image itself where it has them and `copy` does not
  // ask for others. An error where its values cannot be used. Valid until the next call.
  AnyView on_host(const AnyView& image, bool copy = false);

  // On CUDA, queued: the images of a call as working pixels, one below the other; the view of the
  // first. Host images are uploaded. A single device image that has working pixels is used where it
  // lies, unless `copy` asks for others. Once images of that size and number have gone through,
  // nothing is allocated. Values that cannot be used raise a flag, which check_usable() reads.
  AnyView on_device(std::span<const AnyView> images, bool copy = false);
  // The mask on the device, a copy of it if asked for; empty where there is none.
  DeviceView<const std::uint8_t> mask_on_device(const AnyView& mask, bool copy = false);

  // After the context was waited for: an error if a value could not be used.
  void check_usable();
  // Runs a call; after an error it waits for what is queued, so that no later image is to blame for
  // values of this one.
  template <class Call>
  void guarded(const Call& call) {
    try {
      call();
    } catch (...) {
      forget();
      throw;
    }
  }
  void forget() noexcept;

 private:
  AnyView uploaded(const AnyView& image);
  void place(const AnyView& image, const AnyTarget& to);
  void flag_if_float(const AnyView& image);

  Context context_;
  Working working_;
  Buffer host_{Place::host, "frames: working pixels"};
  Buffer stack_{Place::device, "frames: working pixels"};
  Buffer stored_{Place::device, "frames: pixels as they came"};
  Buffer mask_{Place::device, "frames: mask"};
  Buffer unusable_{Place::pinned, "frames: flag of values that cannot be used"};
};

}  // namespace cornea::core
