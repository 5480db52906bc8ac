// SPDX-License-Identifier: Apache-2.0
// From two images to the geometry between them: the stages from pixels to F, in order.
//
//   features of both images -> matches -> correspondences -> fundamental matrix
//
// If both cameras are known, E is estimated as well and replaces F if it has at least 0.95 of F's
// inliers (COLMAP's rule, two_view.h). The result then contains a pose.
//
// A result does not depend on the device, the number of threads or earlier calls.
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
  std::string detector = "sift";  // a name in the catalog
  Settings settings = {};         // options of the detector
  // Maximum number of points per image; the strongest are kept (SIFT: by its option `keep`, with
  // all orientations of each point). 0: no limit. A "max-points" among the settings takes
  // precedence.
  int max_features = 20000;
  // Longest side of an image in host memory, pixels; a larger image is reduced to it before
  // detection. Coordinates always refer to the image that was given. 0: any size.
  int max_size = 0;
  MatchOptions match = {};
  FundamentalOptions fundamental = {};
  EssentialOptions essential = {};    // used where cameras are given
  HomographyOptions homography = {};  // used where cameras are given

  void validate() const;
};

struct CORNEA_API PairResult {
  Features first = {}, second = {};
  // In the order of the first image's points. Of several matches between the same two positions
  // only one is kept.
  std::vector<Match> matches = {};
  // The chosen model; its inliers index `matches`. If E was chosen, the kind is general, F is
  // computed from E and the cameras (fundamental_of, which refers to undistorted pixels), and all
  // counts are E's.
  FundamentalResult geometry = {};
  std::optional<TwoViewResult> two_view = {};  // where cameras were given
  bool by_essential = false;                   // E was chosen: two_view holds R, t and the points
  // For each match, pixels: the distance to the two epipolar lines or, if the kind is planar, the
  // transfer error of H in both images together. Empty if there is no F.
  std::vector<float> distances = {};
  double threshold = 0;  // inliers have a distance below this; 0: no geometry was found
  std::vector<StageTime> stages =
      {};                         // features, matching, geometry: milliseconds on the host's clock
  std::string match_kernel = {};  // the kernel that computed the descriptor products

  Correspondence correspondence(std::size_t match) const;
};

struct PairMasks {
  AnyView first = {}, second = {};
};

// Construct it once and reuse it for many pairs: it keeps its memory between calls.
class CORNEA_API PairPipeline {
 public:
  explicit PairPipeline(const Context& context, const PairOptions& options = {});

  PairResult run(AnyView first, AnyView second);
  // As above; a result passed by reference keeps its memory from call to call.
  void run(AnyView first, AnyView second, PairResult& out);
  // As above, but without points where an image's mask is 0 (as in FeatureExtractor). A mask has
  // the size of its image; an empty one masks nothing.
  void run(AnyView first, AnyView second, const PairMasks& masks, PairResult& out);
  // As above, with the cameras of both images if they are known.
  void run(AnyView first, AnyView second, const PairMasks& masks,
           const std::optional<IntrinsicsPair>& cameras, PairResult& out);

  const Context& context() const { return context_; }
  const PairOptions& options() const { return options_; }

 private:
  // find_features passes descriptors to match_features, in host memory or in the device memory
  // where they were computed.
  void find_features(AnyView first, AnyView second, const PairMasks& masks, PairResult& out);
  void match_features(PairResult& out);
  void find_geometry(const std::optional<IntrinsicsPair>& cameras, PairResult& out);
  void measure_distances(const std::optional<IntrinsicsPair>& cameras, PairResult& out) const;

  Context context_;
  PairOptions options_;
  // On CUDA there is one extractor per image, so that the descriptors of both stay in device memory
  // until they are matched.
  FeatureExtractor first_;
  std::unique_ptr<FeatureExtractor> second_;
  FeatureExtractor& second() { return second_ ? *second_ : first_; }
  Matcher matcher_;
  FundamentalEstimator estimator_;
  std::unique_ptr<TwoViewEstimator> two_view_;  // created for the first pair with cameras
  std::vector<Correspondence> correspondences_;
};

}  // namespace cornea
