// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of an evaluation: which candidates take part, and which is best.
#include <algorithm>
#include <limits>

#include "study/evaluate/evaluate.h"

#include "cornea/core/error.h"

namespace cornea::evaluate {
namespace {

// `knows(candidate, i)` for each of `count` things; `what(i)` names one.
template <class Knows, class What>
std::vector<Candidate*> those_who_know(const Candidates& candidates, std::size_t count,
                                       const Knows& knows, const What& what,
                                       std::vector<std::string>& words) {
  std::vector<Candidate*> list;
  for (const std::unique_ptr<Candidate>& candidate : candidates) {
    std::size_t known = 0, missing = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (knows(*candidate, i)) {
        ++known;
      } else if (missing == count) {
        missing = i;
      }
    }
    if (known == count) {
      list.push_back(candidate.get());
    } else if (known == 0) {
      words.push_back(candidate->name() + " has no files for this part and is left out of it.");
    } else {
      fail(ErrorCode::io, candidate->name(), ": has files for ", known, " of ", count,
           " of this part, but none for ", what(missing),
           "; add it, or leave this part out (--parts)");
    }
  }
  return list;
}

double number_in(const std::vector<study::Cell>& row, std::size_t column, double missing) {
  const double* const number = row[column].number();
  return number ? *number : missing;
}

}  // namespace

std::vector<EstimatorCandidate*> Evaluation::estimators_of(const std::string& entry) {
  std::vector<EstimatorCandidate*> list;
  for (EstimatorCandidate& e : estimators) {
    if (e.entry == entry) list.push_back(&e);
  }
  return list;
}

std::vector<Candidate*> who_knows(const Candidates& candidates,
                                  const std::vector<std::string>& images,
                                  std::vector<std::string>& words) {
  return those_who_know(
      candidates, images.size(),
      [&](const Candidate& c, std::size_t i) { return c.has_points(images[i]); },
      [&](std::size_t i) { return images[i]; }, words);
}

std::vector<Candidate*> who_knows(const Candidates& candidates, const std::vector<ImagePair>& pairs,
                                  std::vector<std::string>& words) {
  return those_who_know(
      candidates, pairs.size(),
      [&](const Candidate& c, std::size_t i) {
        return c.has_matches(pairs[i].first, pairs[i].second);
      },
      [&](std::size_t i) { return pairs[i].first + " and " + pairs[i].second; }, words);
}

int equal_number(const std::vector<Candidate*>& who, std::span<const Asked> images, int most) {
  constexpr std::int64_t kPixelsPerPoint = 400;
  for (const Asked& image : images) {
    const std::int64_t pixels = std::int64_t{image.pixels.width()} * image.pixels.height();
    most = int(std::min<std::int64_t>(most, std::max<std::int64_t>(1, pixels / kPixelsPerPoint)));
  }
  int fewest = most;
  for (Candidate* candidate : who) {
    for (const Asked& image : images) {
      if (!candidate->has_points(image.name)) continue;  // the candidate has its own matches
      const int points = int(candidate->places(image, most).size());
      if (4 * points >= most) fewest = std::min(fewest, points);
    }
  }
  return fewest;
}

const PointSet& PairMatcher::points(std::size_t i) {
  if (!sets_[i]) sets_[i] = candidate_.described(images_[i], most_);
  return *sets_[i];
}

std::vector<Correspondence> PairMatcher::match(std::size_t i, std::size_t j) {
  if (auto own = candidate_.own_matches(images_[i], images_[j])) return *own;
  const PointSet& first = points(i);
  return matcher_.match(first, points(j));
}

void sort_by(study::Table& table, std::size_t column, bool smallest_first) {
  constexpr double kLast = std::numeric_limits<double>::infinity();
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    return smallest_first ? number_in(a, column, kLast) < number_in(b, column, kLast)
                          : number_in(a, column, -kLast) > number_in(b, column, -kLast);
  });
}

Best best_of(const study::Table& sorted, std::size_t column, const std::string& measure) {
  auto who = [&](std::size_t row) {
    std::string name = *sorted.rows[row][0].text();
    if (sorted.rows[row][1].text()) name += ", " + *sorted.rows[row][1].text();
    return name;
  };
  auto value = [&](std::size_t row) {
    const std::string number =
        study::cell_text(sorted.rows[row][column], sorted.columns[column], "-");
    const std::string& unit = sorted.columns[column].unit;
    return unit.empty() ? number : number + " " + unit;
  };
  Best best{measure};
  for (std::size_t row = 0; row < sorted.rows.size(); ++row) {
    if (row == 0) {
      best.who = who(row);
      best.value = value(row);
    } else if (value(row) == best.value) {  // equal at the precision of the table
      best.who += ", " + who(row);
    } else {
      best.next = who(row);
      best.next_value = value(row);
      break;
    }
  }
  return best;
}

Json json_of(const Repeatability& r) {
  return {{"points", {r.first, r.second}},
          {"repeated", r.repeated},
          {"repeatability", r.share},
          {"localisation", r.localisation}};
}

}  // namespace cornea::evaluate
