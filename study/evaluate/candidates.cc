// SPDX-License-Identifier: Apache-2.0
#include "study/evaluate/candidates.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "cornea/catalog/detectors.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/pipeline/features.h"

namespace cornea::evaluate {
namespace {

// The positions of the points, once for points with several orientations, in the order of the
// points.
std::vector<Point> distinct_places(const std::vector<Keypoint>& points) {
  std::vector<Point> places;
  for (const Keypoint& p : points) {
    // All orientations of a point are consecutive.
    if (places.empty() || !(places.back() == Point{p.x, p.y})) places.push_back({p.x, p.y});
  }
  return places;
}

// Lowers the threshold so far that every textured image has more points than requested.
Settings reaching(const Choice& choice, int most) {
  Settings settings = choice.settings;
  settings.try_emplace("max-points", std::to_string(most));
  for (const Flag& flag : find_detector(choice.entry).flags) {
    if (flag.name == "threshold") settings.try_emplace("threshold", "0");
    if (flag.name == "contrast") settings.try_emplace("contrast", "0.01");
  }
  return settings;
}

class DetectorCandidate : public Candidate {
 public:
  DetectorCandidate(const Context& context, const Choice& choice)
      : Candidate(choice.label), context_(context), choice_(choice) {
    keep_at_most(1);  // reports invalid settings at once
  }

  std::vector<Point> places(const Asked& image, int most) override {
    keep_at_most(most);
    if (!corners_) {
      extractor_->extract(image.pixels, features_, image.mask);
      return distinct_places(features_.keypoints);
    }
    std::vector<Point> places;
    for (const Corner& c : corners_->detect(image.pixels, image.mask)) places.push_back({c.x, c.y});
    return places;
  }

  PointSet described(const Asked& image, int most) override {
    keep_at_most(most);
    extractor_->extract(image.pixels, features_, image.mask);
    return {features_.keypoints, Features::kLength, features_.descriptors, {}};
  }

 private:
  void keep_at_most(int most) {
    if (extractor_ && most == most_) return;
    most_ = most;
    const Settings settings = reaching(choice_, most);
    extractor_ = std::make_unique<FeatureExtractor>(context_, choice_.entry, settings);
    // Corners need no descriptors to be counted.
    const DetectorEntry& entry = find_detector(choice_.entry);
    if (entry.make) corners_ = entry.make(context_, settings);
  }

  Context context_;
  Choice choice_;
  int most_ = 0;
  std::unique_ptr<FeatureExtractor> extractor_;
  std::unique_ptr<CornerDetector> corners_;  // null: SIFT detects
  Features features_;
};

// The descriptors as floats, which represent bytes exactly.
std::vector<float> numbers_of(const PointSet& set) {
  return set.bytes.empty() ? set.floats : std::vector<float>(set.bytes.begin(), set.bytes.end());
}

struct Neighbours {
  int index = -1;
  double first = HUGE_VAL, second = HUGE_VAL;  // squared distances
};

// For each row of `a` its nearest row of `b`. Ties keep the first.
std::vector<Neighbours> nearest(const Context& context, const std::vector<float>& a,
                                const std::vector<float>& b, int length) {
  std::vector<Neighbours> result(a.size() / std::size_t(length));
  const int others = int(b.size() / std::size_t(length));
  core::parallel_for(context, int(result.size()), 16, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const float* const p = a.data() + std::size_t(i) * length;
      Neighbours best;
      for (int j = 0; j < others; ++j) {
        const float* const q = b.data() + std::size_t(j) * length;
        double sum = 0;
        for (int k = 0; k < length; ++k) {
          const double d = double(p[k]) - q[k];
          sum += d * d;
        }
        if (sum < best.first) {
          best.second = best.first;
          best.first = sum;
          best.index = j;
        } else if (sum < best.second) {
          best.second = sum;
        }
      }
      result[i] = best;
    }
  });
  return result;
}

}  // namespace

bool is_detector(const std::string& entry) {
  const auto& table = detector_table();
  return std::any_of(table.begin(), table.end(), [&](const auto& e) { return e.name == entry; });
}

bool is_estimator(const std::string& entry) {
  const auto& table = estimator_table();
  return std::any_of(table.begin(), table.end(), [&](const auto& e) { return e.name == entry; });
}

Choice read_choice(const std::string& words) {
  const auto names_of = [](const auto& table) {
    std::string names;
    for (const auto& entry : table) names += text(names.empty() ? "" : ", ", entry.name);
    return names;
  };
  Choice choice;
  const std::size_t colon = words.find(':');
  std::istringstream rest(colon == std::string::npos ? words : words.substr(colon + 1));
  rest >> choice.entry;
  require(is_detector(choice.entry) || is_estimator(choice.entry), "'", words,
          "' is not a detector (", names_of(detector_table()), ") or estimator (",
          names_of(estimator_table()), "); settings may follow it, as in sift contrast=0.02");
  choice.label = choice.entry;
  for (std::string setting; rest >> setting;) {
    const std::size_t equals = setting.find('=');
    require(equals != std::string::npos && equals > 0, "'", setting, "' in '", words,
            "' is not a setting of the form NAME=VALUE");
    std::string name = setting.substr(0, equals);
    std::replace(name.begin(), name.end(), '_', '-');
    require(name != "seed", "'", words, "' has a seed; --seeds says how many seeds are tried");
    choice.settings[name] = setting.substr(equals + 1);
    choice.label += " " + setting;
  }
  if (colon != std::string::npos) choice.label = words.substr(0, colon);
  require(!choice.label.empty(), "'", words, "' has no name before its colon");
  return choice;
}

std::unique_ptr<Candidate> detector_candidate(const Context& context, const Choice& choice) {
  return std::make_unique<DetectorCandidate>(context, choice);
}

EstimatorCandidate estimator_candidate(const Context& context, const Choice& choice, int seeds) {
  EstimatorCandidate candidate{choice.label, choice.entry, {}};
  for (int seed = 0; seed < seeds; ++seed) {
    Settings settings = choice.settings;
    settings["seed"] = std::to_string(seed);
    candidate.by_seed.push_back(find_estimator(choice.entry).make(context, settings));
  }
  return candidate;
}

std::vector<Correspondence> AnyMatcher::match(const PointSet& a, const PointSet& b) {
  require(a.length == b.length || a.points.empty() || b.points.empty(), "descriptors of ", a.length,
          " and of ", b.length, " numbers cannot be matched");
  if (a.points.empty() || b.points.empty()) return {};
  const bool ours = a.length == Features::kLength && !a.bytes.empty() && !b.bytes.empty();
  std::vector<Match> matches = ours ? matcher_.match({a.bytes.data(), int(a.points.size())},
                                                     {b.bytes.data(), int(b.points.size())})
                                    : match_numbers(a, b);
  std::vector<Correspondence> out;
  for (const Match& m : one_per_place(std::move(matches), a.points, b.points)) {
    const Keypoint &p = a.points[m.a], &q = b.points[m.b];
    out.push_back({p.x, p.y, q.x, q.y});
  }
  return out;
}

std::vector<Match> AnyMatcher::match_numbers(const PointSet& a, const PointSet& b) const {
  const std::vector<float> first = numbers_of(a), second = numbers_of(b);
  const std::vector<Neighbours> forth = nearest(context_, first, second, a.length);
  const MatchOptions& options = matcher_.options();
  std::vector<Neighbours> back;
  if (options.mutual) back = nearest(context_, second, first, a.length);
  const double ratio = options.ratio;
  std::vector<Match> matches;
  for (int i = 0; i < int(forth.size()); ++i) {
    const Neighbours& n = forth[i];
    const double d = std::sqrt(n.first);
    if (ratio < 1 && !(n.first < ratio * ratio * n.second)) continue;
    if (options.mutual && back[n.index].index != i) continue;
    if (options.max_distance > 0 && d > options.max_distance) continue;
    const double share = n.second > 0 ? std::sqrt(n.first / n.second) : 1;
    matches.push_back({i, n.index, float(d), float(share)});
  }
  return matches;
}

}  // namespace cornea::evaluate
