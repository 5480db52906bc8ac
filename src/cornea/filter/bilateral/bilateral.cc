#include "cornea/filter/bilateral/bilateral.h"

#include <cmath>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/filter/bilateral/range_rows.h"
#include "cornea/filter/bilateral/range_weight.h"

namespace cornea {
namespace {

constexpr int kMostRadius = 4096;
constexpr int kRowsPerPiece = 8;

}  // namespace

void BilateralOptions::validate() const {
  require(sigma >= 0.1 && sigma <= 1000,
          "the bilateral filter's sigma lies in 0.1 to 1000 pixels, "
          "not ",
          sigma);
  require(sigma_range >= 1e-3 && sigma_range <= 1e6,
          "the bilateral filter's range sigma lies in 0.001 to 1e6 gray levels, not ", sigma_range);
  require(radius >= 0 && radius <= kMostRadius, "the bilateral filter's radius lies in 0 to ",
          kMostRadius, " pixels, not ", radius);
}

BilateralFilter::BilateralFilter(const Context& context, const BilateralOptions& options)
    : ImageFilter(context), options_(options) {
  options.validate();
  radius_ = options.radius > 0 ? options.radius : static_cast<int>(std::ceil(3 * options.sigma));
}

void BilateralFilter::run(HostView<const float> image, HostView<float> out, float unit) {
  const PaddedImage padded(context(), image, radius_, kOutside);
  const std::vector<float> exponents = window_exponents(options_.sigma, radius_);
  const auto range = static_cast<float>(exponent_scale(options_.sigma_range * unit));
  parallel_for(context(), image.height, kRowsPerPiece, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      bilateral_row(padded, y, radius_, exponents.data(), range, out.row(y));
    }
  });
  mark("windows");
}

void BilateralFilter::enqueue_stack(DeviceView<const float> first, DeviceView<float> first_out,
                                    int images, float unit) {
  if constexpr (kHasCuda) {
    enqueue_windows(first, first_out, images, unit);
    mark("windows");
  }
}

}  // namespace cornea
