// SPDX-License-Identifier: Apache-2.0
// The interface that a detector with a response map implements for CornerDetector.
#pragma once

#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/pixels.h"
#include "cornea/core/stage_clock.h"
#include "cornea/detect/peaks/device_peaks.h"
#include "cornea/detect/peaks/peak_search.h"

namespace cornea::detect {

// A response map to write: float or double, on the host or the device.
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

// What a map is used for. With `peaks`, only those values must be exact that decide which pixels
// exceed the absolute threshold and are the largest of their square.
enum class MapUse { every_value, peaks };

// The images of a call, stacked vertically and converted to the working pixels, and their maps,
// stacked likewise.
struct ResponseCall {
  AnyView first;
  int frames = 1;
  Map first_map;
  MapUse use = MapUse::every_value;
  // On the device, or null: OrderedBits of the map's type, one per frame, which respond() raises to
  // the largest response inside the margin.
  void* strongest = nullptr;
  // On the device, for peaks: an algorithm that knows which pixels may be peaks marks them here.
  peaks::DevicePeaks* device_peaks = nullptr;
  core::StageClock* clock = nullptr;
};

class Response {
 public:
  explicit Response(const Context& context) : context_(context) {}
  virtual ~Response() = default;

  // The pixels that the algorithm works on, the type of the map for them (f32 or f64), and the
  // map value that corresponds to a response of 1.
  virtual core::Working working() const { return core::Working::gray; }
  virtual Pixel map_pixel(Pixel working) const = 0;
  virtual double unit(Pixel working) const = 0;
  // Pixels on each side where there are no corners.
  virtual peaks::Margin margin() const = 0;
  // Computes the maps; on the device the work is queued.
  virtual void respond(const ResponseCall& call) = 0;

  // A further test of the peaks before the caps, if the algorithm has one: see PeakTest and
  // DeviceCandidates.
  virtual bool confirms() const { return false; }
  virtual void confirm(AnyView, double, std::vector<peaks::PixelAt>&, core::StageClock&) {}
  virtual void enqueue_confirm(AnyView, const peaks::DeviceCandidates&, core::StageClock&) {}

  // The names in the report for the last step of respond() and for the peak search.
  struct StageNames {
    const char *response = "response", *peaks = "peaks";
  };
  virtual StageNames stage_names() const { return {}; }

  const Context& context() const { return context_; }

 private:
  Context context_;
};

}  // namespace cornea::detect
