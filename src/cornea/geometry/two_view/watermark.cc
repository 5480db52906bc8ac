// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/watermark.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cornea/core/error.h"
#include "cornea/geometry/two_view/batch.h"

namespace cornea {
namespace {

// The part of an image that is not near the border. The image begins half a pixel before the centre
// of its first pixel.
class Middle {
 public:
  Middle(const ImageExtent& image, double border)
      : margin_(border * std::hypot(image.width, image.height)),
        right_(image.width - margin_),
        bottom_(image.height - margin_) {}
  bool holds(double x, double y) const {
    return x + 0.5 >= margin_ && x + 0.5 <= right_ && y + 0.5 >= margin_ && y + 0.5 <= bottom_;
  }

 private:
  double margin_, right_, bottom_;
};

struct Shift {
  double x = 0, y = 0;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Shift median_of(std::span<const Shift> shifts) {
  std::vector<double> x, y;
  for (const Shift& shift : shifts) {
    x.push_back(shift.x);
    y.push_back(shift.y);
  }
  return {median(std::move(x)), median(std::move(y))};
}

// The number of shifts within `distance` of the centre to which mean shift converges from the
// median.
std::size_t alike(std::span<const Shift> shifts, double distance) {
  constexpr int kMostSteps = 20;  // it converges after three or four
  Shift centre = median_of(shifts);
  std::size_t most = 0;
  // The median of each coordinate lies within the cluster's bounding box, so that every shift of
  // the cluster is within (1 + sqrt 2) times the distance of it.
  constexpr double kFirstReach = 2.5;
  for (int step = 0; step < kMostSteps; ++step) {
    const double reach = step == 0 ? kFirstReach * distance : distance;
    std::size_t count = 0;
    Shift sum;
    for (const Shift& shift : shifts) {
      if (std::hypot(shift.x - centre.x, shift.y - centre.y) > reach) continue;
      sum = {sum.x + shift.x, sum.y + shift.y};
      ++count;
    }
    if (step > 0 && count <= most) break;
    if (step > 0) most = count;
    if (count == 0) break;
    centre = {sum.x / double(count), sum.y / double(count)};
  }
  return most;
}

}  // namespace

void WatermarkOptions::validate() const {
  require(border >= 0 && border <= 0.5, "border must be 0 to 0.5 of the diagonal, not ", border);
  require(share > 0.5 && share <= 1, "share must be more than 0.5 and at most 1, not ", share);
  require(distance > 0 && std::isfinite(distance),
          "distance must be a positive number of pixels, not ", distance);
}

bool is_watermark(std::span<const Correspondence> inliers, const ImageExtent& first,
                  const ImageExtent& second, const WatermarkOptions& options) {
  options.validate();
  for (const ImageExtent& image : {first, second}) {
    require(image.width > 0 && image.height > 0, "an image of ", image.width, " x ", image.height,
            " pixels has no border; give the sizes of both images");
  }
  geometry::check_correspondences(inliers);
  if (inliers.empty()) return false;
  const double least = options.share * double(inliers.size());
  const Middle middle1(first, options.border), middle2(second, options.border);
  const auto near_border = std::count_if(inliers.begin(), inliers.end(), [&](const auto& m) {
    return !middle1.holds(m.x1, m.y1) && !middle2.holds(m.x2, m.y2);
  });
  if (double(near_border) < least) return false;
  std::vector<Shift> shifts;
  shifts.reserve(inliers.size());
  for (const Correspondence& m : inliers) {
    shifts.push_back({double(m.x2) - m.x1, double(m.y2) - m.y1});
  }
  return double(alike(shifts, options.distance)) >= least;
}

}  // namespace cornea
