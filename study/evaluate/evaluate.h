// SPDX-License-Identifier: Apache-2.0
// The parts of `cornea evaluate`: each takes the data and the candidates, and returns a section of
// the report, the details for JSON, and the best candidates.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/evaluate/candidates.h"
#include "study/evaluate/found.h"
#include "study/study_page.h"

#include "cornea/io/image_file.h"

namespace cornea::evaluate {

using study::Json;

struct Evaluation {
  Context context;
  ReadOptions reading = {};
  MatchOptions match = {};
  int points = 0;      // maximum per image
  bool fine = false;   // all levels of the changes of part one
  bool quiet = false;  // no progress
  Candidates candidates = {};
  std::vector<EstimatorCandidate> estimators = {};

  // The estimators with this name in the catalog.
  std::vector<EstimatorCandidate*> estimators_of(const std::string& entry);
};

// The best candidate by one measure, and the runner-up.
struct Best {
  std::string measure = {}, who = {}, value = {}, next = {}, next_value = {};
};

struct Part {
  study::Section section = {};
  Json details = Json::object();
  std::vector<Best> best = {};
};

// Points under known changes of single images, and compared with labelled corners.
std::vector<Picture> pictures_to_change(const Found& found);
Part measure_repeatability(Evaluation& evaluation, const std::vector<Picture>& pictures);
Part measure_corners(Evaluation& evaluation, const std::vector<Picture>& pictures);
// Points, matches and H on sequences.
Part measure_sequences(Evaluation& evaluation, const std::vector<Sequence>& sequences);
// F on labelled correspondences.
Part measure_labelled(Evaluation& evaluation, const std::vector<Labelled>& labelled);
// Poses by E and by F on views with known cameras.
Part measure_poses(Evaluation& evaluation, const std::vector<Views>& views);

// Writes every image that the run would use as 8-bit PNG files; returns their number.
int write_images(const Evaluation& evaluation, const Found& found,
                 const std::filesystem::path& folder);

// --- Shared by the parts -----------------------------------------------------------------------

// The candidates that know all images (or all pairs) of a part. One that knows none is left out,
// with a sentence; one that knows only some is an error that names a missing file.
struct ImagePair {
  std::string first = {}, second = {};
};
std::vector<Candidate*> who_knows(const Candidates& candidates,
                                  const std::vector<std::string>& images,
                                  std::vector<std::string>& words);
std::vector<Candidate*> who_knows(const Candidates& candidates, const std::vector<ImagePair>& pairs,
                                  std::vector<std::string>& words);

// The largest number of points that all of these detectors have in all of these images, and at most
// one per 400 pixels: if there are too many points, they are repeated by chance. A detector that
// has less than a quarter of the requested number does not lower it and competes with the points it
// has.
int equal_number(const std::vector<Candidate*>& who, std::span<const Asked> images, int most);

// The matches of a candidate between images: its own, or those of its descriptors, which are
// computed on first use.
class PairMatcher {
 public:
  PairMatcher(const Evaluation& evaluation, Candidate& candidate, std::span<const Asked> images,
              int most)
      : candidate_(candidate),
        images_(images),
        most_(most),
        sets_(images.size()),
        matcher_(evaluation.context, evaluation.match) {}
  std::vector<Correspondence> match(std::size_t i, std::size_t j);

 private:
  const PointSet& points(std::size_t i);
  Candidate& candidate_;
  std::span<const Asked> images_;
  int most_;
  std::vector<std::optional<PointSet>> sets_;
  AnyMatcher matcher_;
};

// Sorts rows by the numbers of a column, the largest first; the best is then in the first row.
void sort_by(study::Table& table, std::size_t column, bool smallest_first = false);
Best best_of(const study::Table& sorted, std::size_t column, const std::string& measure);
inline double percent(double share) { return 100 * share; }
Json json_of(const Repeatability& r);

}  // namespace cornea::evaluate
