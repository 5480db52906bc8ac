#include "cornea/pipeline/features.h"

namespace cornea {
FeatureExtractor::FeatureExtractor(const Context& context, const std::string& detector,
                                   const Settings& settings) {
  const DetectorEntry& entry = find_detector(detector);
  if (entry.make) corners_ = entry.make(context, settings);
  sift_ = entry.make_sift ? entry.make_sift(context, settings) : std::make_unique<Sift>(context);
}

void FeatureExtractor::extract(AnyView image, Features& out, AnyView mask) {
  if (!corners_) {
    sift_->detect(image, out, mask);
    milliseconds_ = sift_->report().milliseconds;
    return;
  }
  const std::vector<Keypoint> points = keypoints_of(corners_->detect(image, mask), kCornerScale);
  sift_->describe(image, points, out);
  milliseconds_ = corners_->report().milliseconds + sift_->report().milliseconds;
}

DescriptorView FeatureExtractor::descriptors_of(const Features& last) const {
  const std::uint8_t* kept = sift_->device_descriptors();
  return kept ? DescriptorView(kept, int(last.size()), Place::device) : DescriptorView(last);
}

}  // namespace cornea
