// Images in, filtered images out: what every filter shares. A filter is made once with its options
// and then takes image after image; on CUDA it allocates nothing after the first one of a size.
//
// Images are 8-bit, 16-bit or float (0..1), gray or RGB, which becomes gray. The result is gray,
// has the size of the image, and its type or float; of an 8-bit or 16-bit image a float result
// holds gray levels, 0..255. It may be written over the image. On a CPU context both lie in host
// memory; on a CUDA context both lie in host memory (one upload and one download per image) or both
// on the device.
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
  double milliseconds = 0;             // the whole call, on the host's clock
  std::vector<StageTime> stages = {};  // if asked for
};

class CORNEA_API ImageFilter {
 public:
  virtual ~ImageFilter();
  ImageFilter(ImageFilter&&) noexcept;

  // After an error the result may hold anything, unless it lies over the image.
  void apply(AnyView image, AnyTarget out) { apply_batch({&image, 1}, {&out, 1}); }
  // Many images of one size and type in one go. No result lies over an image but its own. On the
  // CPU one image after the other is filtered: those before an error have their results.
  void apply_batch(std::span<const AnyView> images, std::span<const AnyTarget> out);
  // A new gray image of the same type in the same kind of memory.
  template <class T>
  auto apply(const Image<T>& image) {
    Image<GrayOf<T>> out(context(), image.place(), image.width(), image.height(), "filter: result");
    apply(AnyView(image), AnyTarget(out));
    return out;
  }

  // On CUDA, without waiting: the work on device images is queued. Once an image of that size and
  // type has gone through nothing is allocated, so that it can be captured in a graph, which may be
  // replayed until the filter meets a larger image. wait() ends it, and complains about images that
  // could not be used.
  void enqueue(AnyView device_image, AnyTarget device_out);
  void wait();

  // Of the last apply() or apply_batch(). Times by stage cost a little on CUDA; off unless asked
  // for.
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
