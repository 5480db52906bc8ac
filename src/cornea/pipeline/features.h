// SPDX-License-Identifier: Apache-2.0
// From an image to points with descriptors, for every detector: the stages before matching, in
// order. SIFT describes its own points; corners of the other detectors are described by
// SIFT at one fixed scale.
#pragma once

#include <memory>
#include <string>

#include "cornea/catalog/detectors.h"
#include "cornea/catalog/settings.h"
#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/match/match.h"

namespace cornea {

// Scale given to corners, which have none of their own: sigma in pixels, as for a SIFT point.
inline constexpr float kCornerScale = 2.5f;

class CORNEA_API FeatureExtractor {
 public:
  // `detector` is a name in the catalog, `settings` are its options; an unknown name or invalid
  // value is an error that names it. An image in host memory whose longest side exceeds `max_size`
  // pixels is reduced to that size before detection; 0 means any size. Positions and scales always
  // refer to the image that was given.
  FeatureExtractor(const Context& context, const std::string& detector,
                   const Settings& settings = {}, int max_size = 0);

  // A pixel where the mask is 0 never becomes a point; a corner that is refined by gradients may
  // lie up to three quarters of subpixel_radius beyond the edge of the mask.
  // After an error `out` is empty.
  void extract(AnyView image, Features& out, AnyView mask = {});
  // Whether descriptors also stay in device memory for a matcher on the same context. They are
  // those of the last image and are valid until the next call; on the CPU, or if this is off, a
  // matcher takes them from `out`.
  void keep_on_device(bool on) { sift_->keep_on_device(on); }
  DescriptorView descriptors_of(const Features& last) const;

  // Time to detect and describe the points of the last image.
  double milliseconds() const { return milliseconds_; }

 private:
  std::unique_ptr<CornerDetector> corners_;  // null: SIFT detects
  std::unique_ptr<Sift> sift_;
  int max_size_ = 0;
  double milliseconds_ = 0;
};

}  // namespace cornea
