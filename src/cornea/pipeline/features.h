// From an image to points with descriptors, whatever the detector: the one order of stages before
// matching. SIFT describes its own points; corners of the others are described by SIFT at one
// scale.
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

// Of corners, which have none of their own: pixels, as sigma of a SIFT point.
inline constexpr float kCornerScale = 2.5f;

class CORNEA_API FeatureExtractor {
 public:
  // A detector of the table with its settings; a bad name or value is an error that names it. In an
  // image in host memory whose longest side has more than `max_size` pixels, features are sought
  // after it was reduced to that many; 0: at any size. Their places and scales are always those of
  // the image that was given.
  FeatureExtractor(const Context& context, const std::string& detector,
                   const Settings& settings = {}, int max_size = 0);

  // No point lies where the mask is 0.
  void extract(AnyView image, Features& out, AnyView mask = {});
  // Whether descriptors also stay where a matcher on the same context needs them. They are then
  // those of the last image until the next one; on the CPU, and if off, a matcher takes them from
  // `out`.
  void keep_on_device(bool on) { sift_->keep_on_device(on); }
  DescriptorView descriptors_of(const Features& last) const;

  // Of the last image, its points found and described.
  double milliseconds() const { return milliseconds_; }

 private:
  std::unique_ptr<CornerDetector> corners_;  // null: SIFT detects
  std::unique_ptr<Sift> sift_;
  int max_size_ = 0;
  double milliseconds_ = 0;
};

}  // namespace cornea
