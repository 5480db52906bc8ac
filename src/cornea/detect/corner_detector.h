// Frames in, corners out: what every detector that makes a response map shares. A detector is made
// once with its options and then takes frame after frame; after the first one of a size it takes
// no more memory for images, on either device.
//
// Images are 8-bit, 16-bit or float (0..1), gray or RGB. On a CPU context they lie in host memory.
// On a CUDA context they lie in host memory (one upload per frame; from pinned memory it is
// fastest) or on the device (nothing is uploaded). All operands of a call lie in the same place.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/detect/detect_report.h"
#include "cornea/detect/peaks/peaks.h"

namespace cornea {

namespace detect {
class Response;
}

class CORNEA_API CornerDetector {
 public:
  virtual ~CornerDetector();
  CornerDetector(CornerDetector&&) noexcept;

  // The corners of an image, in reading order. No pixel where the mask is 0 becomes a corner; a
  // position between pixels may lie just beyond the mask's edge.
  std::vector<Corner> detect(AnyView image, AnyView mask = {});

  // The same for many images of one size and type in one go.
  std::vector<std::vector<Corner>> detect_batch(std::span<const AnyView> images, AnyView mask = {});

  // The response at every pixel, in the detector's units.
  Image<float> response(AnyView image);

  // On CUDA, in two halves: enqueue() queues the work on a device image and returns at once, and
  // collect() waits and hands the corners over. Once a frame of that size and type has gone
  // through, enqueue() allocates nothing and does not wait, so that it can be captured in a graph,
  // which may be replayed until the detector meets a larger image or batch: collect() then returns
  // the corners of the last replay.
  void enqueue(AnyView device_image, AnyView device_mask = {});
  std::vector<Corner> collect();

  // Of the last detect() or detect_batch(). Times by stage cost a little on CUDA; off unless asked
  // for.
  void time_stages(bool on);
  const DetectReport& report() const;
  const Context& context() const;

 protected:
  CornerDetector(std::unique_ptr<detect::Response> response, const PeakOptions& peaks);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace cornea
