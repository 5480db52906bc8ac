// SPDX-License-Identifier: Apache-2.0
// FOAGDD on CUDA. The image is uploaded; the map of measures stays on the device.
//
// Steps, one kernel each (the fourth two): derivatives of the first scale; an upper bound of the
// measure per cell of 2 x 2 pixels, which gives a list of open cells (whose bound exceeds the
// threshold); bounds of their pixels; the pixels that these bounds do not decide; their exact
// measures. Then the measure at each further scale around the peaks of the first scale, which
// confirms or drops a peak.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/host_device.h"
#include "cornea/core/image.h"
#include "cornea/detect/foagdd/foagdd_band.h"
#include "cornea/detect/foagdd/foagdd_bank.h"
#include "cornea/detect/foagdd/foagdd_plane.h"
#include "cornea/detect/peaks/device_peaks.h"
#include "cornea/detect/response.h"

namespace cornea::foagdd {

// Bounds of a pixel's measure. The sign of the upper one, whose value is never negative, marks the
// contenders: pixels that may be the largest of their square.
struct alignas(8) PixelBounds {
  float marked_upper, lower;

  CORNEA_HD float upper() const { return fabsf(marked_upper); }
  CORNEA_HD bool is_contender() const { return marked_upper < 0; }
};

class DeviceFoagdd {
 public:
  DeviceFoagdd(const Context& context, const std::vector<FoagddBank>& banks);

  // The bounds are implemented for eight directions.
  bool can_screen() const { return banks_[0].directions == 8; }

  // Allocates the memory for `frames` images of this size; with `screens` also that of screening.
  void prepare(int width, int height, int frames, bool screens);
  // Queues the maps of a call. With a screen they are as described for foagdd_map_rows(), and the
  // pixels that may be peaks are marked.
  void enqueue_response(const detect::ResponseCall& call, const FoagddScreen* screen,
                        peaks::Region region);
  // Queues the test of the peaks at the further scales.
  void enqueue_confirm(AnyView first, const peaks::DeviceCandidates& candidates);

 private:
  FoagddDeviceBank device_bank(std::size_t scale) const;
  template <class T>
  void enqueue_derivatives(DeviceView<const T> first, int frame, int frames);
  FoagddList enqueue_screen(const FoagddScreen& screen, int frame, int frames,
                            DeviceView<double> first_map);
  template <class T>
  void enqueue_confirm_pixels(DeviceView<const T> first, const peaks::DeviceCandidates& candidates);

  Context context_;
  std::vector<FoagddBank> banks_;
  std::vector<std::size_t> bank_offsets_;  // start of each scale's weights on the device
  FoagddPlane plane_;
  int frames_at_once_ = 1;  // for which there is memory for derivatives
  int multiprocessors_ = 1;
  int most_shared_bytes_ = 0;  // per block
  core::Buffer weights_{Place::device, "foagdd: filters"};
  core::Buffer derivatives_{Place::device, "foagdd: derivatives"};
  core::Buffer bounds_{Place::device, "foagdd: bounds"};
  core::Buffer open_cells_{Place::device, "foagdd: open cells"};
  core::Buffer open_pixels_{Place::device, "foagdd: open pixels"};
  core::Buffer open_counts_{Place::device, "foagdd: how many are open"};
};

}  // namespace cornea::foagdd
