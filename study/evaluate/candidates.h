// SPDX-License-Identifier: Apache-2.0
// The candidates: detectors of the catalog with their settings, points of other programs from
// files, and estimators.
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

// An entry of the catalog with settings: "sift scale-space=bilateral", or preceded by a name for
// the tables: "shi-tomasi: harris measure=shi-tomasi".
struct Choice {
  std::string label = {}, entry = {};
  Settings settings = {};
};
Choice read_choice(const std::string& words);

// An image that a candidate is asked about.
struct Asked {
  std::string name = {};  // under which points of other programs are looked up
  AnyView pixels = {};    // 8-bit gray
  AnyView mask = {};      // points do not count where it is 0; empty: all count
};

// Points with descriptors of `length` numbers each, bytes or floats.
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

  // The positions of the `most` strongest points, each once.
  virtual std::vector<Point> places(const Asked& image, int most) = 0;
  virtual PointSet described(const Asked& image, int most) = 0;
  // Whether the candidate knows this image, or this pair.
  virtual bool has_points(const std::string&) const { return true; }
  virtual bool has_matches(const std::string&, const std::string&) const { return true; }
  // Matches, if the candidate has its own.
  virtual std::optional<std::vector<Correspondence>> own_matches(const Asked&, const Asked&) {
    return std::nullopt;
  }

 private:
  std::string name_;
};
using Candidates = std::vector<std::unique_ptr<Candidate>>;

// A detector whose threshold is lowered so far that most images have the requested number of
// points, unless the settings contain a threshold.
std::unique_ptr<Candidate> detector_candidate(const Context& context, const Choice& choice);
// Points, descriptors and matches from the files of a folder (docs/evaluate.md).
std::unique_ptr<Candidate> file_candidate(const std::string& name,
                                          const std::filesystem::path& folder);

// Matches descriptors like the library's matcher: nearest neighbour by Euclidean distance, ratio
// test, mutual, one match per pair of positions. Descriptors of 128 bytes are matched by the
// library itself.
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

// An estimator, run once per seed.
struct EstimatorCandidate {
  std::string name = {}, entry = {};
  std::vector<AnyEstimator> by_seed = {};
};
EstimatorCandidate estimator_candidate(const Context& context, const Choice& choice, int seeds);

bool is_detector(const std::string& entry);
bool is_estimator(const std::string& entry);

}  // namespace cornea::evaluate
