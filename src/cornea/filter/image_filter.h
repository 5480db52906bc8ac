// Images in, filtered images out: what every filter shares. A filter is made once with its options
// and then takes image after image; on CUDA it allocates nothing after the first one of a size.
//
// Images are 8-bit, 16-bit or float (0..1), gray or RGB, which becomes gray. The result is gray,
// has the size of the image, and its type or float; of an 8-bit or 16-bit image a float result
// holds gray levels, 0..255. It may be written over the image. On a CPU context both lie in host
// memory; on a CUDA context both lie in host memory (one upload and one download an image) or both
// on the device.
#pragma once

#include <span>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/stage_clock.h"

namespace cornea {

struct FilterReport {
  int width = 0, height = 0, images = 0;
  double milliseconds = 0;        // the whole call, on the host's clock
  std::vector<StageTime> stages;  // if asked for
};

class ImageFilter {
 public:
  virtual ~ImageFilter() = default;
  ImageFilter(const ImageFilter&) = delete;
  ImageFilter& operator=(const ImageFilter&) = delete;

  // After an error the result may hold anything, unless it would lie over the image.
  void apply(AnyView image, AnyTarget out) { apply_batch({&image, 1}, {&out, 1}); }
  // Many images of one size and type in one go. No result lies over an image but its own.
  void apply_batch(std::span<const AnyView> images, std::span<const AnyTarget> out);
  // A new gray image of the same type in the same kind of memory.
  template <class T>
  auto apply(const Image<T>& image) {
    Image<GrayOf<T>> out(context_, image.place(), image.width(), image.height(), "filter: result");
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
  void time_stages(bool on) { time_stages_ = on; }
  const FilterReport& report() const { return report_; }
  const Context& context() const { return context_; }

 protected:
  explicit ImageFilter(const Context& context);

  // The filter itself on floats that do not overlap; `unit` is a gray level of 0..255 in them. On
  // the device it queues, and takes `images` of them that lie one below the other.
  virtual void run(HostView<const float> image, HostView<float> out, float unit) = 0;
  virtual void enqueue_stack(DeviceView<const float> first, DeviceView<float> first_out, int images,
                             float unit) = 0;

  // Ends a stage of the report.
  void mark(const char* stage) {
    if (timing_) clock_.mark(stage);
  }

  // For results beside the filtered image: an image as the floats that run() or enqueue_stack()
  // take, and an error if it cannot be used.
  HostView<const float> levels_on_host(AnyView image);
  DeviceView<const float> levels_on_device(AnyView image);
  void check_image(const AnyView& image) const;

 private:
  void check_call(std::span<const AnyView> images, std::span<const AnyTarget> out) const;
  void apply_on_host(AnyView image, const AnyTarget& out);
  void place_on_device(AnyView image, DeviceView<float> to);
  void enqueue_images(std::span<const AnyView> images, std::span<const AnyTarget> out,
                      bool may_wait);
  int* flag();

  Context context_;
  StageClock clock_;
  bool time_stages_ = false;
  bool timing_ = false;  // within a call that is timed
  FilterReport report_;
  Buffer host_levels_{Place::host, "filter: levels"};
  Buffer host_result_{Place::host, "filter: result"};
  Buffer levels_{Place::device, "filter: levels"};
  Buffer result_{Place::device, "filter: result"};
  Buffer pixels_{Place::device, "filter: pixels"};
  Buffer unusable_{Place::pinned, "filter: NaN flag"};
};

}  // namespace cornea
