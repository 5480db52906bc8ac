// Gaussian blur, separable:
//
//   out(x, y) = sum_j g(j) sum_i g(i) in(x + i, y + j),   |i|, |j| <= r
//   g(i) = exp(-i^2 / (2 sigma^2)) / sum_k exp(-k^2 / (2 sigma^2)),   r = ceil(4 sigma)
//
// with the image mirrored at its borders (reflect.h), however small it is. The cost is 2 (2r + 1)
// fused multiplications a pixel. On the CPU rows are blurred once and
// kept in a ring of 2r + 4, on CUDA tiles are blurred in shared memory, so that no intermediate
// image is needed (but for wide kernels on CUDA). The sums have one order: both devices give the
// same bits.
#pragma once

#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/filter/image_filter.h"

namespace cornea {

// ceil(4 sigma): beyond it the weights are under 1/2900 of the peak. 0 for sigma = 0.
int gaussian_radius(double sigma);

// The 2 radius + 1 weights g(-radius) .. g(radius). They are computed in double and sum to 1.
std::vector<float> gaussian_kernel(double sigma, int radius);

// `sigma` in pixels; 0 copies. `out` has the size of `in` and is either the same pixels or does not
// overlap them. The same bytes come out on any number of threads.
void gaussian_blur(const Context& context, HostView<const float> in, HostView<float> out,
                   double sigma);

struct GaussianOptions {
  double sigma = 1.6;  // pixels

  void validate() const;
};

class GaussianFilter : public ImageFilter {
 public:
  explicit GaussianFilter(const Context& context, const GaussianOptions& options = {});

  // Queues a blur of float images that lie one below the other; `first_out` does not overlap them.
  // On another stream of the device than the context's (a cudaStream_t) only some can run.
  void enqueue_blur(DeviceView<const float> first, DeviceView<float> first_out, int images,
                    void* other_stream = nullptr);
  bool runs_on_any_stream() const { return radius_ >= 1 && radius_ <= kMostTiled; }

 private:
  // CUDA kernels up to this radius have their own code.
  static constexpr int kMostTiled = 20;

  void upload_weights();
  void run(HostView<const float> image, HostView<float> out, float unit) override;
  void enqueue_stack(DeviceView<const float> first, DeviceView<float> first_out, int images,
                     float unit) override;

  GaussianOptions options_;
  int radius_ = 0;
  std::vector<float> weights_;                                 // from the centre outwards
  Buffer device_weights_{Place::device, "gaussian: weights"};  // of a wide kernel
  Buffer rows_{Place::device, "gaussian: rows"};               // blurred along x only
};

}  // namespace cornea
