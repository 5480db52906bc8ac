// SPDX-License-Identifier: Apache-2.0
// How images enter every algorithm: argument checks, conversion to the pixel type that the
// algorithm works on, upload to the device, the mask, and the check for values that cannot be used
// (NaN, infinity, out of range).
#pragma once

#include <cstdint>
#include <span>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/pixels.h"

namespace cornea::core {

// Largest number of images per call: CUDA's limit for the y and z dimensions of a grid.
inline constexpr std::size_t kLargestBatch = 65535;

// Throws unless these images, with this mask or none, can be processed in one call: one size within
// the limits, one pixel type, and one kind of memory that the context can reach. A mask is 8-bit
// gray.
void check_images(const Context& context, std::span<const AnyView> images,
                  const AnyView& mask = {});
// The same for an image of any size.
void check_image_of_any_size(const Context& context, const AnyView& image, const AnyView& mask);

// Throws if a view is empty or its rows overlap. `what` names it in the error.
void check_view(const AnyView& view, const char* what);

class Frames {
 public:
  Frames(const Context& context, Working working) : context_(context), working_(working) {}

  Pixel pixel_of(const AnyView& image) const { return working_pixel(working_, image.pixel()); }

  // On the CPU: the image converted to working pixels, or the image itself if it has that type
  // already and `copy` is false. Throws if it holds values that cannot be used. Valid until the
  // next call.
  AnyView on_host(const AnyView& image, bool copy = false);

  // On CUDA, queued: the images of a call converted to working pixels and stacked vertically;
  // returns the view of the first. Host images are uploaded. A single device image that has the
  // working type already is used in place unless `copy` is set. Nothing is allocated after the
  // first call with that size and number of images. Values that cannot be used raise a flag, which
  // check_usable() reads.
  AnyView on_device(std::span<const AnyView> images, bool copy = false);
  // The mask on the device, as a copy if `copy` is set; empty if there is none.
  DeviceView<const std::uint8_t> mask_on_device(const AnyView& mask, bool copy = false);

  // Throws if a value could not be used. Call it after the context was synchronized.
  void check_usable();
  // Runs a call. After an error it waits for the queued work, so that a later call does not report
  // the bad values of this one.
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
  // Queued: what was queued earlier and has not been checked is not reported any more.
  void forget_on_device();
  // An enqueue() leaves work whose values are checked later, and a captured graph repeats it. Every
  // other call begins with forget_enqueued(), so that it does not report the bad values of that
  // work as its own.
  void note_enqueued() { has_enqueued_ = true; }
  void forget_enqueued() noexcept {
    if (has_enqueued_) forget();
  }

 private:
  AnyView uploaded(const AnyView& image);
  void place(const AnyView& image, const AnyTarget& to);
  void flag_if_float(const AnyView& image);

  Context context_;
  Working working_;
  bool has_enqueued_ = false;
  Buffer host_{Place::host, "frames: working pixels"};
  Buffer stack_{Place::device, "frames: working pixels"};
  Buffer stored_{Place::device, "frames: uploaded pixels"};
  Buffer mask_{Place::device, "frames: mask"};
  Buffer unusable_{Place::pinned, "frames: flag of values that cannot be used"};
};

}  // namespace cornea::core
