// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/refine/refine.h"

#include <cmath>
#include <vector>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/detect/refine/refine_math.h"

namespace cornea {
namespace {

using namespace core;
using namespace refine;

constexpr int kCornersPerPiece = 64;

template <class T>
class Refiner {
 public:
  Refiner(HostView<const T> image, int radius)
      : image_(image),
        window_(make_refine_window(radius)),
        side_(2 * radius + 3),
        patch_(std::size_t(side_) * side_) {}

  void refine(Corner& corner) {
    RefinePath path(corner);
    int steps = 0;
    while (steps++ < kRefineSteps &&
           refine_step(sums_around(path.x, path.y), corner, window_.radius, path)) {
    }
    accept_refined(path, window_.radius, image_.width, image_.height, corner);
  }

 private:
  RefineSums sums_around(double x, double y) {
    const int r = window_.radius, width = 2 * r + 1;
    const PatchOrigin origin = patch_origin(x, y);
    for (int j = 0; j < side_; ++j) {
      for (int i = 0; i < side_; ++i) {
        patch_[j * side_ + i] = patch_value(image_, origin, i - r - 1, j - r - 1);
      }
    }
    RefineSums parts[kRefineParts];
    for (int tap = 0; tap < width * width; ++tap) {
      const int i = tap % width, j = tap / width;
      const float* p = patch_.data() + (j + 1) * side_ + i + 1;
      const float gx = 0.5f * (p[1] - p[-1]), gy = 0.5f * (p[side_] - p[-side_]);
      add_tap(parts[tap % kRefineParts], gx, gy, window_.weight[i] * window_.weight[j], i - r,
              j - r);
    }
    for (int step = kRefineParts / 2; step > 0; step /= 2) {
      for (int part = 0; part < step; ++part) {
        parts[part].xx += parts[part + step].xx;
        parts[part].xy += parts[part + step].xy;
        parts[part].yy += parts[part + step].yy;
        parts[part].bx += parts[part + step].bx;
        parts[part].by += parts[part + step].by;
        parts[part].c += parts[part + step].c;
      }
    }
    return parts[0];
  }

  HostView<const T> image_;
  RefineWindow window_;
  int side_;
  std::vector<float> patch_;
};

}  // namespace

void refine_corners(const Context& context, AnyView image, int radius, std::span<Corner> corners) {
  require(radius >= 1 && radius <= kLargestRefineRadius,
          "the radius of the refinement is from 1 to ", kLargestRefineRadius, " pixels, not ",
          radius);
  if (corners.empty()) return;
  visit_gray(image, [&](auto view) {
    for (const Corner& c : corners) {
      require(c.x >= 0 && c.y >= 0 && c.x <= view.width - 1 && c.y <= view.height - 1,
              "the corner at ", c.x, ", ", c.y, " is not in the image of ", view.width, " x ",
              view.height, " pixels");
    }
    using T = std::remove_const_t<std::remove_pointer_t<decltype(view.data)>>;
    parallel_for(context, static_cast<int>(corners.size()), kCornersPerPiece,
                 [&](int begin, int end) {
                   Refiner<T> refiner(view, radius);
                   for (int i = begin; i < end; ++i) refiner.refine(corners[i]);
                 });
  });
}

}  // namespace cornea
