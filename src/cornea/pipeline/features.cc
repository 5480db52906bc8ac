// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/features.h"

#include "cornea/core/reduce.h"

namespace cornea {
FeatureExtractor::FeatureExtractor(const Context& context, const std::string& detector,
                                   const Settings& settings, int max_size)
    : max_size_(max_size) {
  core::check_max_size(max_size);
  const DetectorEntry& entry = find_detector(detector);
  if (entry.make) corners_ = entry.make(context, settings);
  sift_ = entry.make_sift ? entry.make_sift(context, settings) : std::make_unique<Sift>(context);
}

void FeatureExtractor::extract(AnyView image, Features& out, AnyView mask) {
  out.keypoints.clear(), out.descriptors.clear();  // remain so after an error
  const core::Reduced reduced(image, mask, max_size_);
  if (corners_) {
    const std::vector<Keypoint> points =
        keypoints_of(corners_->detect(reduced.image(), reduced.mask()), kCornerScale);
    sift_->describe(reduced.image(), points, out);
  } else {
    sift_->detect(reduced.image(), out, reduced.mask());
  }
  milliseconds_ = (corners_ ? corners_->report().milliseconds : 0) + sift_->report().milliseconds;
  reduced.to_given(out.keypoints);
}

DescriptorView FeatureExtractor::descriptors_of(const Features& last) const {
  const std::uint8_t* kept = sift_->device_descriptors();
  return kept ? DescriptorView(kept, int(last.size()), Place::device) : DescriptorView(last);
}

}  // namespace cornea
