// Two images in, the geometry between them out: the one order of stages from pixels to F.
//
//   features of both images -> matches -> correspondences -> fundamental matrix
//
// Where both cameras are known, E is estimated as well, and taken in place of F if its inliers are
// at least 0.95 of F's (COLMAP's rule, two_view.h): then there is a pose.
//
// A result does not depend on the device, the number of threads or what ran before.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cornea/catalog/settings.h"
#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/core/stage_time.h"
#include "cornea/geometry/two_view/two_view.h"
#include "cornea/match/match.h"
#include "cornea/pipeline/features.h"

namespace cornea {

struct CORNEA_API PairOptions {
  std::string detector = "sift";  // of the table
  Settings settings = {};         // of the detector
  // Most points of an image, the strongest (SIFT: by its option `keep`, with all orientations of
  // each); 0: no limit. A "max-points" among the settings goes before it.
  int max_features = 20000;
  // Longest side of an image in host memory, pixels; a larger one is reduced to it before features
  // are sought. Coordinates are always those of the image that was given. 0: any size.
  int max_size = 0;
  MatchOptions match = {};
  FundamentalOptions fundamental = {};
  EssentialOptions essential = {};    // where cameras are given
  HomographyOptions homography = {};  // likewise

  void validate() const;
};

struct CORNEA_API PairResult {
  Features first = {}, second = {};
  // In the order of the first image's points; those that join the same two places once.
  std::vector<Match> matches = {};
  // What was chosen; its inliers are of `matches`. Where E was, its kind is general, F is made of E
  // and of the cameras (fundamental_of, which is of undistorted pixels), and all counts are E's.
  FundamentalResult geometry = {};
  std::optional<TwoViewResult> two_view = {};  // where cameras were given
  bool by_essential = false;                   // E was chosen: two_view holds R, t and the points
  // Of every match, pixels: to the two epipolar lines; where the kind is planar, to where H puts
  // the points, in both images together. Empty where there is no F.
  std::vector<float> distances = {};
  double threshold = 0;  // an inlier's distance is below it; 0: there is no geometry
  std::vector<StageTime> stages =
      {};                         // features, matching, geometry: milliseconds on the host's clock
  std::string match_kernel = {};  // what made the products

  Correspondence correspondence(std::size_t match) const;
};

struct PairMasks {
  AnyView first = {}, second = {};
};

// Made once; then it takes pair after pair and keeps its memory.
class CORNEA_API PairPipeline {
 public:
  explicit PairPipeline(const Context& context, const PairOptions& options = {});

  PairResult run(AnyView first, AnyView second);
  // Results given by reference keep their memory from call to call.
  void run(AnyView first, AnyView second, PairResult& out);
  // The same, without points where an image's mask is 0. A mask has the size of its image; an empty
  // one hides nothing.
  void run(AnyView first, AnyView second, const PairMasks& masks, PairResult& out);
  // The same with the cameras of both images, where they are known.
  void run(AnyView first, AnyView second, const PairMasks& masks,
           const std::optional<IntrinsicsPair>& cameras, PairResult& out);

  const Context& context() const { return context_; }
  const PairOptions& options() const { return options_; }

 private:
  // Descriptors are handed from the first to the second of these: in host memory, or left where
  // they were made.
  void find_features(AnyView first, AnyView second, const PairMasks& masks, PairResult& out);
  void match_features(PairResult& out);
  void find_geometry(const std::optional<IntrinsicsPair>& cameras, PairResult& out);
  void measure_distances(const std::optional<IntrinsicsPair>& cameras, PairResult& out) const;

  Context context_;
  PairOptions options_;
  // On CUDA an image each, so that both images' descriptors stay there until they are matched.
  FeatureExtractor first_;
  std::unique_ptr<FeatureExtractor> second_;
  FeatureExtractor& second() { return second_ ? *second_ : first_; }
  Matcher matcher_;
  FundamentalEstimator estimator_;
  std::unique_ptr<TwoViewEstimator> two_view_;  // made for the first pair with cameras
  std::vector<Correspondence> correspondences_;
};

}  // namespace cornea
