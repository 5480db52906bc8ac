// SPDX-License-Identifier: Apache-2.0
// Part two: points, matches and homographies between the first image of a sequence and the others.
#include <array>
#include <limits>
#include <map>

#include "study/evaluate/evaluate.h"

#include "cornea/cli/progress.h"
#include "cornea/core/error.h"

namespace cornea::evaluate {
namespace {

using study::Table;

constexpr std::array<double, 3> kLimits = {1, 3, 5};     // pixels, for correct matches
constexpr std::array<double, 2> kCornerErrors = {3, 5};  // pixels, for the corner error

struct Size {
  int width = 0, height = 0;
  bool holds(const Point& p) const {
    return p.x >= 0 && p.x <= width - 1 && p.y >= 0 && p.y <= height - 1;
  }
};

// Uses only the points that are visible in both images.
Repeatability repeatability_of(const std::vector<Point>& first, const std::vector<Point>& second,
                               const Matrix& H, Size first_size, Size second_size) {
  std::vector<Point> expected, found;
  for (const Point& p : first) {
    const Point q = mapped(H, p);
    if (second_size.holds(q)) expected.push_back(q);
  }
  const Matrix back = inverse_of(H);
  for (const Point& p : second) {
    if (first_size.holds(mapped(back, p))) found.push_back(p);
  }
  return repeatability(expected, found);
}

// Sums of one candidate over all pairs.
struct SequenceSums {
  std::vector<double> points, shares, errors, matches, correct;
  std::array<std::vector<double>, kLimits.size()> within;
  std::map<std::string, std::vector<double>> by_sequence;    // within 3 pixels
  std::map<std::string, std::vector<double>> corner_errors;  // by estimator, all seeds
};

struct Images {
  std::vector<Pixels> pixels;
  std::vector<Asked> asked;
};
Images images_of(const Sequence& sequence, const ReadOptions& reading) {
  Images images;
  for (const Picture& p : sequence.pictures) {
    images.pixels.push_back(p.pixels(reading));
    images.asked.push_back({p.name, *images.pixels.back(), {}});
  }
  return images;
}

// All pairs of a sequence for one candidate.
class SequenceRun {
 public:
  SequenceRun(Evaluation& evaluation, const Sequence& sequence, const Images& images, int most)
      : most_(most), evaluation_(evaluation), sequence_(sequence), images_(images) {}

  void places(Candidate& candidate, SequenceSums& sums, Json& results) {
    std::vector<std::vector<Point>> places;
    for (const Asked& image : images_.asked) {
      places.push_back(candidate.places(image, most_));
      sums.points.push_back(double(places.back().size()));
    }
    for (std::size_t k = 1; k < places.size(); ++k) {
      const Repeatability r =
          repeatability_of(places[0], places[k], sequence_.from_first[k], size_of(0), size_of(k));
      sums.shares.push_back(r.share);
      if (r.repeated > 0) sums.errors.push_back(r.localisation);
      Json row = head(candidate, k);
      row.update(json_of(r));
      results.push_back(std::move(row));
    }
  }

  void matches(Candidate& candidate, SequenceSums& sums, Json& results) {
    PairMatcher matcher(evaluation_, candidate, images_.asked, most_);
    for (std::size_t k = 1; k < images_.asked.size(); ++k) {
      judge(candidate, k, matcher.match(0, k), sums, results);
    }
  }

 private:
  Size size_of(std::size_t k) const {
    return {images_.pixels[k]->width(), images_.pixels[k]->height()};
  }
  Json head(const Candidate& candidate, std::size_t k) const {
    return {{"detector", candidate.name()},
            {"sequence", sequence_.name},
            {"pair", {sequence_.pictures[0].name, sequence_.pictures[k].name}}};
  }

  void judge(Candidate& candidate, std::size_t k, const std::vector<Correspondence>& matches,
             SequenceSums& sums, Json& results) {
    const Matrix& truth = sequence_.from_first[k];
    const std::vector<double> errors = transfer_errors(truth, matches);
    Json row = head(candidate, k);
    row["matches"] = matches.size();
    row["correct"] = Json::array();
    sums.matches.push_back(double(matches.size()));
    for (std::size_t i = 0; i < kLimits.size(); ++i) {
      const int correct = count_within(errors, kLimits[i]);
      row["correct"].push_back(correct);
      const double share = matches.empty() ? 0 : double(correct) / double(matches.size());
      sums.within[i].push_back(share);
      if (kLimits[i] == 3) {
        sums.correct.push_back(correct);
        sums.by_sequence[sequence_.name].push_back(share);
      }
    }
    row["homographies"] = Json::array();
    for (EstimatorCandidate* estimator : evaluation_.estimators_of("homography")) {
      for (AnyEstimator& seeded : estimator->by_seed) {
        const HomographyResult found = std::get<HomographyEstimator>(seeded).estimate(matches);
        const double error = corner_error(found.H, truth, size_of(0).width, size_of(0).height);
        sums.corner_errors[estimator->name].push_back(error);
        row["homographies"].push_back(
            {{"estimator", estimator->name}, {"H", found.H}, {"corner_error", error}});
      }
    }
    results.push_back(std::move(row));
  }

  int most_;
  Evaluation& evaluation_;
  const Sequence& sequence_;
  const Images& images_;
};

Table points_table(const std::vector<Candidate*>& who, std::map<Candidate*, SequenceSums>& sums) {
  Table table{
      "Points of sequences",
      "",
      {{"detector"}, {"points", "", 0}, {"repeatability", "%", 1}, {"localisation", "px", 2}},
      {}};
  for (Candidate* c : who) {
    SequenceSums& s = sums[c];
    table.add({c->name(), mean_of(s.points), percent(mean_of(s.shares)),
               s.errors.empty() ? study::Cell() : study::Cell(mean_of(s.errors))});
  }
  sort_by(table, 2);
  return table;
}

Table matches_table(const std::vector<Candidate*>& who, std::map<Candidate*, SequenceSums>& sums) {
  Table table{"Matches of sequences", "", {{"detector"}, {"matches", "", 0}}, {}};
  table.columns.push_back({"correct within 3 px", "", 0});
  for (const double limit : kLimits)
    table.columns.push_back({text("within ", limit, " px"), "%", 1});
  for (Candidate* c : who) {
    SequenceSums& s = sums[c];
    std::vector<study::Cell> row = {c->name(), mean_of(s.matches), mean_of(s.correct)};
    for (const auto& shares : s.within) row.push_back(percent(mean_of(shares)));
    table.add(std::move(row));
  }
  sort_by(table, 4);
  return table;
}

Table by_sequence_table(const std::vector<Candidate*>& who,
                        std::map<Candidate*, SequenceSums>& sums,
                        const std::vector<Sequence>& sequences) {
  Table table{"Matches correct within 3 pixels, by sequence", "", {{"detector"}}, {}};
  for (const Sequence& s : sequences) table.columns.push_back({s.name, "%", 1});
  for (Candidate* c : who) {
    std::vector<study::Cell> row = {c->name()};
    for (const Sequence& s : sequences)
      row.push_back(percent(mean_of(sums[c].by_sequence[s.name])));
    table.add(std::move(row));
  }
  return table;
}

Table homography_table(const std::vector<Candidate*>& who,
                       std::map<Candidate*, SequenceSums>& sums) {
  Table table{"Homographies of sequences", "", {{"detector"}, {"estimator"}}, {}};
  for (const double area : kCornerErrors)
    table.columns.push_back({text("AUC at ", area, " px"), "%", 1});
  table.columns.push_back({"median corner error", "px", 2});
  for (Candidate* c : who) {
    for (const auto& [estimator, errors] : sums[c].corner_errors) {
      std::vector<study::Cell> row = {c->name(), estimator};
      for (const double area : kCornerErrors)
        row.push_back(percent(area_under_recall(errors, area)));
      row.push_back(median_of(errors));
      table.add(std::move(row));
    }
  }
  sort_by(table, 3);
  return table;
}

// Columns first to last of a table as groups, one series per row.
study::Plot bars_of(const Table& table, std::size_t first, std::size_t last,
                    const std::string& name, const std::string& label) {
  study::Plot plot{.name = name, .title = table.title, .caption = table.caption, .y = {label}};
  for (std::size_t k = first; k <= last; ++k) plot.groups.push_back(table.columns[k].name);
  for (const auto& row : table.rows) {
    std::string who = *row[0].text();
    if (row[1].text()) who += ", " + *row[1].text();
    study::Series series{who, {}};
    for (std::size_t k = first; k <= last; ++k) {
      const double* const value = row[k].number();
      series.y.push_back(value ? *value : std::numeric_limits<double>::quiet_NaN());
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace

Part measure_sequences(Evaluation& evaluation, const std::vector<Sequence>& sequences) {
  Part part{{"Sequences with known homographies"}};
  std::vector<std::string> names;
  std::vector<ImagePair> pairs;
  for (const Sequence& s : sequences) {
    for (const Picture& p : s.pictures) {
      names.push_back(p.name);
      if (&p != &s.pictures.front()) pairs.push_back({s.pictures.front().name, p.name});
    }
  }
  std::vector<std::string>& words = part.section.words;
  const std::vector<Candidate*> with_points = who_knows(evaluation.candidates, names, words);
  const std::vector<Candidate*> with_matches = who_knows(evaluation.candidates, pairs, words);
  std::map<Candidate*, SequenceSums> sums;
  Json points = Json::array(), matches = Json::array();
  cli::Progress progress("sequences",
                         int(sequences.size() * (with_points.size() + with_matches.size())),
                         evaluation.quiet);
  for (const Sequence& sequence : sequences) {
    const Images images = images_of(sequence, evaluation.reading);
    SequenceRun run(evaluation, sequence, images,
                    equal_number(with_points, images.asked, evaluation.points));
    for (Candidate* c : with_points) {
      run.places(*c, sums[c], points);
      progress.advance();
    }
    for (Candidate* c : with_matches) {
      run.matches(*c, sums[c], matches);
      progress.advance();
    }
  }
  progress.finish();
  part.details = {{"limits", kLimits}, {"points", points}, {"matches", matches}};
  const std::string sample = text(pairs.size(), " pairs of ", sequences.size(),
                                  sequences.size() == 1 ? " sequence" : " sequences", ", at most ",
                                  evaluation.points, " points per image");
  Table of_points = points_table(with_points, sums), of_matches = matches_table(with_matches, sums),
        by_sequence = by_sequence_table(with_matches, sums, sequences),
        of_homographies = homography_table(with_matches, sums);
  of_points.caption = text("Repeated within ", kRepeatedPixels,
                           " pixels, of the points that both images show; ", sample);
  of_matches.caption = "Means over pairs; " + sample;
  by_sequence.caption = "Means over the pairs of a sequence; " + sample;
  of_homographies.caption = text(
      "Error: mean distance of the image's four corners; ", sample, ", ",
      evaluation.estimators.empty() ? 0 : evaluation.estimators.front().by_seed.size(), " seeds");
  part.best = {best_of(of_points, 2, "repeatability on sequences"),
               best_of(of_matches, 4, "share of matches correct within 3 pixels"),
               best_of(of_homographies, 3, "homographies, AUC at 5 pixels")};
  part.section.plots = {bars_of(of_matches, 3, 5, "matches", "correct matches (%)"),
                        bars_of(of_homographies, 2, 3, "homographies", "AUC (%)")};
  part.section.tables = {std::move(of_points), std::move(of_matches), std::move(by_sequence),
                         std::move(of_homographies)};
  return part;
}

}  // namespace cornea::evaluate
