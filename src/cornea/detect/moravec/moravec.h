// Moravec's corner detector (H. Moravec, "Obstacle avoidance and navigation in the real world by a
// seeing robot rover", 1980).
//
//   response(p) = min over the 8 unit shifts s of  sum over q in a w x w window around p of
//                 (I(q + s) - I(q))^2
//
// in units of squared gray levels (0..255). A pixel whose support leaves the image is no corner.
//
// All arithmetic is on integers, so that the CPU and CUDA agree to the bit. The sum for a shift of
// -s at p is the sum for +s at p - s, so that four sums a pixel serve all eight shifts. 8-bit sums
// stay below 2^24 and lie exactly in a float map; 16-bit sums stay below 2^53 and lie exactly in a
// double map. Float images are rounded to 16 bit first.
#pragma once

#include "cornea/detect/corner_detector.h"
#include "cornea/detect/peaks/peaks.h"
#include "cornea/detect/peaks/peaks_math.h"

namespace cornea {

struct MoravecOptions {
  int window = 3;  // side of the window, pixels, odd, 3 to 15
  PeakOptions peaks{.threshold = 1500};

  void validate() const;
};

class Moravec : public CornerDetector {
 public:
  explicit Moravec(const Context& context, const MoravecOptions& options = {});

 private:
  Pixel working_pixel(Pixel gray) const override;
  Pixel map_pixel(Pixel working) const override;
  double response_unit(Pixel working) const override;
  Margin margin() const override { return options_.window / 2 + 1; }
  void respond(AnyView first, int frames, Map first_map, MapUse use, void* strongest) override;

  MoravecOptions options_;
};

// The response map alone, for `frames` images one below the other, queued on the context's stream.
// `strongest`, if given, is raised to the largest response that may be a corner, one a frame.
// T: std::uint8_t with R = float, or std::uint16_t with R = double.
template <class T, class R>
void enqueue_moravec_response(const Context& context, DeviceView<const T> first, int frames,
                              int window, DeviceView<R> first_map,
                              OrderedBits<R>* strongest = nullptr);

}  // namespace cornea
