// SPDX-License-Identifier: Apache-2.0
// The interface of all detectors that compute a response map: frames in, corners out. A detector is
// constructed once with its options and then applied to any number of frames; after the first frame
// of a size it allocates no more image memory, on either device.
//
// Images are 8-bit, 16-bit or float (0..1), gray or RGB. On a CPU context they lie in host memory.
// On a CUDA context they lie in host memory (one upload per frame, fastest from pinned memory) or
// on the device (nothing is uploaded). All operands of a call lie in the same kind of memory.
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

  // The corners of an image, in reading order. A pixel where the mask is 0 never becomes a corner;
  // a subpixel position may lie beyond the edge of the mask, by up to half a pixel, with
  // Subpixel::gradient by up to three quarters of subpixel_radius.
  std::vector<Corner> detect(AnyView image, AnyView mask = {});

  // The same for many images of one size and type in one call.
  std::vector<std::vector<Corner>> detect_batch(std::span<const AnyView> images, AnyView mask = {});

  // The response at every pixel, in the detector's units.
  Image<float> response(AnyView image);

  // On CUDA, the call in two halves: enqueue() queues the work on a device image and returns at
  // once; collect() waits and returns the corners. After the first frame of a size and type
  // enqueue() neither allocates nor waits, so that it can be captured in a graph. The graph may be
  // replayed until the next detect(), detect_batch(), response() or enqueue(); collect() then
  // returns the corners of the last replay. After the first three, and after an error of any of
  // these four or of collect(), there is nothing to collect until the next enqueue().
  void enqueue(AnyView device_image, AnyView device_mask = {});
  std::vector<Corner> collect();

  // The report of the last detect() or detect_batch(). Timing stages costs a little on CUDA, so it
  // is off by default.
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
