// Who takes part: detectors of the catalog with their settings, points of others from files, and
// estimators.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "study/evaluate/measures.h"

#include "cornea/catalog/estimators.h"
#include "cornea/catalog/settings.h"
#include "cornea/core/context.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/match/match.h"

namespace cornea::evaluate {

// An entry of the catalog with settings: "sift scale-space=bilateral", or with a name of one's own
// for the tables in front: "shi-tomasi: harris measure=shi-tomasi".
struct Choice {
  std::string label = {}, entry = {};
  Settings settings = {};
};
Choice read_choice(const std::string& words);

// An image as it is asked about.
struct Asked {
  std::string name = {};  // that points of others are looked up by
  AnyView pixels = {};    // 8-bit gray
  AnyView mask = {};      // no point counts where it is 0; empty: all do
};

// Points with what describes them: `length` numbers per point, bytes or floats.
struct PointSet {
  std::vector<Keypoint> points = {};
  int length = 0;
  std::vector<std::uint8_t> bytes = {};
  std::vector<float> floats = {};
};

class Candidate {
 public:
  explicit Candidate(std::string name) : name_(std::move(name)) {}
  virtual ~Candidate() = default;
  const std::string& name() const { return name_; }

  // The places of the `most` strongest points, each once.
  virtual std::vector<Point> places(const Asked& image, int most) = 0;
  virtual PointSet described(const Asked& image, int most) = 0;
  // Whether it can tell about this image, or about this pair.
  virtual bool has_points(const std::string&) const { return true; }
  virtual bool has_matches(const std::string&, const std::string&) const { return true; }
  // Where it brings matches of its own.
  virtual std::optional<std::vector<Correspondence>> own_matches(const Asked&, const Asked&) {
    return std::nullopt;
  }

 private:
  std::string name_;
};
using Candidates = std::vector<std::unique_ptr<Candidate>>;

// A detector whose threshold is lowered so far that most images have the points that are asked for,
// unless the settings have one.
std::unique_ptr<Candidate> detector_candidate(const Context& context, const Choice& choice);
// Points, descriptors and matches from the files of a folder (docs/evaluate.md).
std::unique_ptr<Candidate> file_candidate(const std::string& name,
                                          const std::filesystem::path& folder);

// From descriptors to matches, in the way that the library's matcher has: nearest by Euclidean
// distance, ratio, mutual, each two places once. 128 bytes go to the library itself.
class AnyMatcher {
 public:
  AnyMatcher(const Context& context, const MatchOptions& options)
      : context_(context), matcher_(context, options) {}
  std::vector<Correspondence> match(const PointSet& a, const PointSet& b);

 private:
  std::vector<Match> match_numbers(const PointSet& a, const PointSet& b) const;
  Context context_;
  Matcher matcher_;
};

// An estimator once per seed.
struct EstimatorCandidate {
  std::string name = {}, entry = {};
  std::vector<AnyEstimator> by_seed = {};
};
EstimatorCandidate estimator_candidate(const Context& context, const Choice& choice, int seeds);

bool is_detector(const std::string& entry);
bool is_estimator(const std::string& entry);

}  // namespace cornea::evaluate
