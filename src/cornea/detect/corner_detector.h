// Frames in, corners out: what every detector that makes a response map shares. A detector is made
// once with its options and then takes frame after frame; after the first one of a size it
// allocates nothing.
//
// Images are 8-bit, 16-bit or float (0..1), gray or RGB. On a CPU context they lie in host memory.
// On a CUDA context they lie in host memory (one upload a frame; from pinned memory it is fastest)
// or on the device (nothing is uploaded). All operands of a call lie in the same place.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/core/stage_clock.h"
#include "cornea/detect/detect_report.h"
#include "cornea/detect/peaks/device_peaks.h"
#include "cornea/detect/peaks/peaks.h"

namespace cornea {

class CornerDetector {
 public:
  virtual ~CornerDetector() = default;
  CornerDetector(const CornerDetector&) = delete;
  CornerDetector& operator=(const CornerDetector&) = delete;

  // The corners of an image, in reading order. No pixel where the mask is 0 becomes a corner; a
  // position between pixels may lie just beyond the mask's edge.
  std::vector<Corner> detect(AnyView image, AnyView mask = {});

  // The same for many images of one size and type in one go.
  std::vector<std::vector<Corner>> detect_batch(std::span<const AnyView> images, AnyView mask = {});

  // The response at every pixel, in the detector's units.
  Image<float> response(AnyView image);

  // On CUDA, in two halves: enqueue() queues the work on a device image and returns at once, and
  // collect() waits and hands the corners over. Once a frame of that size and type has gone
  // through, enqueue() allocates nothing and does not wait, so that it can be captured in a graph:
  // collect() then returns the corners of the last replay.
  void enqueue(AnyView device_image, AnyView device_mask = {});
  std::vector<Corner> collect();

  // Of the last detect() or detect_batch(). Times by stage cost a little on CUDA; off unless asked
  // for.
  void time_stages(bool on) { time_stages_ = on; }
  const DetectReport& report() const { return report_; }
  const Context& context() const { return context_; }

 protected:
  CornerDetector(const Context& context, const PeakOptions& peaks);

  // A response map to write; one of float or double, on the host or the device.
  struct Map {
    void* data = nullptr;
    int width = 0, height = 0;
    template <class R>
    HostView<R> host() const {
      return {static_cast<R*>(data), width, height};
    }
    template <class R>
    DeviceView<R> device() const {
      return {static_cast<R*>(data), width, height};
    }
  };

  // What the algorithm makes of a gray pixel type: the type it works on (float may become u16), the
  // type of its map (f32 or f64), and the map's value of response 1.
  virtual Pixel working_pixel(Pixel gray) const = 0;
  virtual Pixel map_pixel(Pixel working) const = 0;
  virtual double response_unit(Pixel working) const = 0;
  // Pixels at each side where no corner can be.
  virtual Margin margin() const = 0;
  // What a map is for. For peaks only those values have to be right that decide which pixels exceed
  // the threshold (in the options, not relative) and are the largest of their square.
  enum class MapUse { every_value, peaks };
  // The response of `frames` images that lie one below the other, into maps that do likewise. On
  // the device it queues, and raises `strongest` (if not null; OrderedBits of the map's type, one a
  // frame) to the largest response inside the margin.
  virtual void respond(AnyView first, int frames, Map first_map, MapUse use, void* strongest) = 0;
  // For respond() on the device, for peaks: where a detector that knows which pixels may be peaks
  // has them marked.
  DevicePeaks& device_peaks() { return device_peaks_; }
  // A further test of the peaks before the caps, where the detector has one: see PeakTest and
  // DeviceCandidates.
  virtual bool confirms() const { return false; }
  virtual void confirm(AnyView, double, std::vector<PixelAt>&) {}
  virtual void enqueue_confirm(AnyView, const DeviceCandidates&) {}
  // The report's names of what respond() does last and of the search.
  struct StageNames {
    const char *response = "response", *peaks = "peaks";
  };
  virtual StageNames stage_names() const { return {}; }

  // Ends a stage of the report.
  void mark(const char* stage) {
    if (timing_) clock_.mark(stage);
  }
  // On the CPU: several stages that ran side by side, with their shares of the time.
  void mark(std::initializer_list<StageShare> shares) {
    if (timing_) clock_.mark(shares);
  }

 private:
  void check_call(std::span<const AnyView> images, AnyView mask) const;
  void check_size(const AnyView& image) const;
  AnyView to_working_pixels(AnyView host_image);
  void upload_frame(AnyView host_image, void* to);
  void convert_frame(AnyView device_image, void* to);
  AnyView stack_on_device(std::span<const AnyView> images);
  AnyView mask_on_device(AnyView mask);
  Map reserve_map(AnyView first, int frames);
  void check_flag();
  void enqueue_frames(std::span<const AnyView> images, AnyView mask);
  std::vector<std::vector<Corner>> collect_frames();
  std::vector<Corner> detect_on_host(AnyView image, AnyView mask);
  MapUse map_use() const;

  Context context_;
  PeakOptions peak_options_;
  DevicePeaks device_peaks_;
  StageClock clock_;
  bool time_stages_ = false;
  bool timing_ = false;  // within a call that is timed
  int queued_frames_ = 0;
  DetectReport report_;
  Buffer gray_{Place::host, "detect: gray image"};
  Buffer quantised_{Place::host, "detect: 16-bit image"};
  Buffer device_gray_{Place::device, "detect: gray image"};
  Buffer frames_{Place::device, "detect: frames"};
  Buffer device_mask_{Place::device, "detect: mask"};
  Buffer unusable_{Place::pinned, "detect: NaN flag"};
  Buffer map_;
};

}  // namespace cornea
