// SPDX-License-Identifier: Apache-2.0
// The interface of all filters: images in, filtered images out. A filter is constructed once with
// its options and then applied to any number of images; on CUDA it allocates nothing after the
// first image of a size.
//
// Images are 8-bit, 16-bit or float (0..1), gray or RGB, which becomes gray. The result is gray,
// has the size of the image, and is either of the image's type or float; a float result of an 8-bit
// or 16-bit image holds gray levels of 0..255. Filtering in place is allowed. On a CPU context both
// lie in host memory; on a CUDA context both lie in host memory (one upload and one download per
// image) or both on the device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/image.h"
#include "cornea/core/stage_time.h"

namespace cornea {

namespace filter {
class FloatFilter;
}

struct FilterReport {
  int width = 0, height = 0, images = 0;
  double milliseconds = 0;             // the whole call, wall-clock time
  std::vector<StageTime> stages = {};  // empty unless time_stages(true)
};

class CORNEA_API ImageFilter {
 public:
  virtual ~ImageFilter();
  ImageFilter(ImageFilter&&) noexcept;

  // After an error the contents of the result are undefined, unless it is filtered in place.
  void apply(AnyView image, AnyTarget out) { apply_batch({&image, 1}, {&out, 1}); }
  // Filters many images of one size and type in one call. A result may overlap only its own image.
  // On the CPU images are filtered one after the other: if one fails, the results of those before
  // it are complete.
  void apply_batch(std::span<const AnyView> images, std::span<const AnyTarget> out);
  // Returns a new gray image of the same type in the same kind of memory.
  template <class T>
  auto apply(const Image<T>& image) {
    Image<GrayOf<T>> out(context(), image.place(), image.width(), image.height(), "filter: result");
    apply(AnyView(image), AnyTarget(out));
    return out;
  }

  // On CUDA, without waiting: queues the work on device images. After the first image of a size and
  // type nothing is allocated, so that the call can be captured in a graph, which may be replayed
  // until the filter is given a larger image. wait() waits for it and throws if an image that was
  // queued since the last wait(), apply(), apply_batch() or level_map() could not be used.
  void enqueue(AnyView device_image, AnyTarget device_out);
  void wait();

  // The report of the last apply() or apply_batch(). Timing stages costs a little on CUDA, so it is
  // off by default.
  void time_stages(bool on);
  const FilterReport& report() const;
  const Context& context() const;

 protected:
  explicit ImageFilter(std::unique_ptr<filter::FloatFilter> filter);

  struct Inside;
  Inside& inside() { return *inside_; }

 private:
  std::unique_ptr<Inside> inside_;
};

}  // namespace cornea
