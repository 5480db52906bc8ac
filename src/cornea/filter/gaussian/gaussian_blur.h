// SPDX-License-Identifier: Apache-2.0
// The Gaussian blur on floats, for the Gaussian filter and for other algorithms that blur images.
#pragma once

#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/filter/float_filter.h"
#include "cornea/filter/gaussian/gaussian.h"

namespace cornea::gaussian {

// In pixels; far below the limit at which the radius would overflow an int.
inline constexpr double kLargestSigma = 10000;

// ceil(4 sigma): beyond it the weights are below 1/2900 of the peak. 0 for sigma = 0.
int gaussian_radius(double sigma);

// The 2 radius + 1 weights g(-radius) .. g(radius). They are computed in double and sum to 1.
std::vector<float> gaussian_kernel(double sigma, int radius);

// `sigma` in pixels; 0 copies. `out` has the size of `in` and is either the same memory or does not
// overlap it. The result does not depend on the number of threads.
void gaussian_blur(const Context& context, HostView<const float> in, HostView<float> out,
                   double sigma);

// A part of the same blur. The views are those of whole images, of which only some pixels have to
// be in memory: for `in` the part and, within the image, `radius` pixels around it; for `out` the
// part. They must not overlap. The sums equal those of gaussian_blur() bit for bit.
struct BlurPart {
  int top = 0, bottom = 0, left = 0, right = 0;  // rows [top, bottom), columns [left, right)
};
// `kernel` is from gaussian_kernel(). Runs on the calling thread.
void blur_part(const std::vector<float>& kernel, HostView<const float> in, HostView<float> out,
               const BlurPart& part);
// The rows [top, bottom), on the context's threads.
void blur_rows(const Context& context, const std::vector<float>& kernel, HostView<const float> in,
               HostView<float> out, int top, int bottom);

class Blur : public filter::FloatFilter {
 public:
  Blur(const Context& context, const GaussianOptions& options);

  void run(HostView<const float> image, HostView<float> out, float unit,
           core::StageClock& clock) override;
  void enqueue(DeviceView<const float> first, DeviceView<float> first_out, int images, float unit,
               core::StageClock& clock) override;

  // The same on a stream of the device other than the context's (a cudaStream_t). Only filters
  // without memory of their own support it: see runs_on_any_stream().
  void enqueue_on(void* stream, DeviceView<const float> first, DeviceView<float> first_out,
                  int images);
  bool runs_on_any_stream() const { return radius_ >= 1 && radius_ <= kMostTiled; }

 private:
  // Kernels up to this radius have specialised CUDA code.
  static constexpr int kMostTiled = 20;

  void upload_weights();

  double sigma_;
  int radius_ = 0;
  std::vector<float> weights_;                                       // from the centre outwards
  core::Buffer device_weights_{Place::device, "gaussian: weights"};  // of a wide kernel
  core::Buffer rows_{Place::device, "gaussian: rows"};               // blurred along x only
};

}  // namespace cornea::gaussian
