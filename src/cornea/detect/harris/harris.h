// Harris and Shi-Tomasi corners (C. Harris and M. Stephens, "A combined corner and edge detector",
// 1988; J. Shi and C. Tomasi, "Good features to track", 1994).
//
//   M(p) = mean over a w x w window around p (or weighted by a Gaussian) of  | Ix Ix  Ix Iy |
//                                                                            | Ix Iy  Iy Iy |
//   Harris:      response = det M - k (trace M)^2
//   Shi-Tomasi:  response = the smaller eigenvalue of M
//
// Ix and Iy are the 3 x 3 Sobel derivatives over 4, of gray values 0..1; the image is mirrored at
// its border without repeating the edge. These are cv::cornerHarris and cv::cornerMinEigenVal at
// equal settings (blockSize = window, ksize = 3), to 1e-5 of the largest response. A pixel whose
// support leaves the image is no corner.
//
// Cost a pixel: two 3 x 3 derivatives and three separable window sums. With 8-bit images and the
// default window every sum is an exact integer; in all cases both devices add in the same order
// without fused operations, so that they give the same bytes.
#pragma once

#include "cornea/detect/corner_detector.h"
#include "cornea/detect/harris/harris_math.h"
#include "cornea/detect/peaks/peaks.h"
#include "cornea/detect/peaks/peaks_math.h"

namespace cornea {

enum class WindowShape { box, gaussian };

struct HarrisOptions {
  CornerMeasure measure = CornerMeasure::harris;
  int window = 3;  // side of the window, pixels, odd, 3 to 15
  WindowShape shape = WindowShape::box;
  double sigma = 1;  // of the Gaussian, pixels; a box has none
  double k = 0.04;   // Harris' constant, in [0, 0.25)
  PeakOptions peaks{.threshold = 0.01, .relative = true};

  void validate() const;
};

class Harris : public CornerDetector {
 public:
  explicit Harris(const Context& context, const HarrisOptions& options = {});

 private:
  Pixel working_pixel(Pixel gray) const override { return gray; }
  Pixel map_pixel(Pixel) const override { return Pixel::f32; }
  double response_unit(Pixel) const override { return 1; }
  Margin margin() const override { return options_.window / 2 + 1; }
  void respond(AnyView first, int frames, Map first_map, MapUse use, void* strongest) override;

  HarrisOptions options_;
  HarrisFormula formula_;
};

// The response map alone, for `frames` images one below the other, queued on the context's stream.
// `strongest`, if given, is raised to the largest response that may be a corner, one a frame.
template <class T>
void enqueue_harris_response(const Context& context, DeviceView<const T> first, int frames,
                             const HarrisFormula& formula, DeviceView<float> first_map,
                             OrderedBits<float>* strongest = nullptr);

}  // namespace cornea
