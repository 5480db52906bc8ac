// SPDX-License-Identifier: Apache-2.0
// Part one: do detectors find the same points when an image is rotated, scaled, sheared, blurred,
// compressed or noisy, and do they find the corners that people have labelled?
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "study/evaluate/evaluate.h"
#include "study/evaluate/transforms.h"

#include "cornea/cli/progress.h"
#include "cornea/core/error.h"

namespace cornea::evaluate {
namespace {

using study::Table;

std::vector<Point> mapped_all(const Matrix& M, const std::vector<Point>& points) {
  std::vector<Point> out;
  for (const Point& p : points) out.push_back(mapped(M, p));
  return out;
}

// Sums of one candidate, by kind of change.
struct RepeatabilitySums {
  std::map<std::string, std::vector<double>> shares, errors;
  std::vector<double> points;
};

// One number per kind, and their mean.
Table by_kind(const std::string& title, const std::string& unit, int decimals,
              const std::vector<Candidate*>& who, const std::vector<RepeatabilitySums>& sums,
              bool localisation) {
  Table table{title, "", {{"detector"}, {"points", "", 0}}, {}};
  for (const std::string& kind : transform_kinds()) table.columns.push_back({kind, unit, decimals});
  table.columns.push_back({"mean", unit, decimals});
  for (std::size_t i = 0; i < who.size(); ++i) {
    std::vector<study::Cell> row = {who[i]->name(), mean_of(sums[i].points)};
    std::vector<double> means;
    for (const std::string& kind : transform_kinds()) {
      const auto& lists = localisation ? sums[i].errors : sums[i].shares;
      const auto list = lists.find(kind);
      if (list == lists.end() || list->second.empty()) {
        row.push_back({});
        continue;
      }
      means.push_back(mean_of(list->second) * (localisation ? 1 : 100));
      row.push_back(means.back());
    }
    row.push_back(means.empty() ? study::Cell() : study::Cell(mean_of(means)));
    table.add(std::move(row));
  }
  sort_by(table, table.columns.size() - 1, localisation);
  return table;
}

study::Plot plot_of(const Table& table, const std::string& name, const std::string& label) {
  study::Plot plot{.name = name, .title = table.title, .caption = table.caption, .y = {label}};
  plot.groups = transform_kinds();
  for (const auto& row : table.rows) {
    study::Series series{*row[0].text(), {}};
    for (std::size_t k = 0; k < plot.groups.size(); ++k) {
      const double* const value = row[k + 2].number();
      series.y.push_back(value ? *value : std::numeric_limits<double>::quiet_NaN());
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace

std::vector<Picture> pictures_to_change(const Found& found) {
  std::vector<Picture> pictures = found.pictures;
  for (const Sequence& s : found.sequences) pictures.push_back(s.pictures.front());
  for (const Views& v : found.views) pictures.push_back(v.pictures.front());
  return pictures;
}

Part measure_repeatability(Evaluation& evaluation, const std::vector<Picture>& pictures) {
  const std::vector<Transform> changes = transforms(evaluation.fine);
  Part part{{"Repeatability and localisation under known changes"}};
  std::vector<std::string> names;
  for (const Picture& p : pictures) {
    names.push_back(p.name);
    for (const Transform& t : changes) names.push_back(p.name + t.ending());
  }
  const std::vector<Candidate*> who = who_knows(evaluation.candidates, names, part.section.words);
  std::vector<RepeatabilitySums> sums(who.size());
  std::vector<double> chances;
  part.details = {{"transforms", Json::array()}, {"results", Json::array()}};
  cli::Progress progress("changed images", int(names.size()), evaluation.quiet);
  for (const Picture& picture : pictures) {
    const Pixels pixels = picture.pixels(evaluation.reading);
    if (std::min(pixels->width(), pixels->height()) <= 2 * kMargin) {
      fail(ErrorCode::io, picture.name, ": an image of ", pixels->width(), " x ", pixels->height(),
           " pixels is too small to be changed; it needs more than ", 2 * kMargin, " per side");
    }
    const Transformed original = untransformed(pixels->host());
    const Asked asked{picture.name, original.image, original.mask};
    const int most = equal_number(who, {&asked, 1}, evaluation.points);
    std::vector<std::vector<Point>> reference;
    for (std::size_t i = 0; i < who.size(); ++i) {
      reference.push_back(who[i]->places(asked, most));
      sums[i].points.push_back(double(reference[i].size()));
    }
    chances.push_back(
        repeated_by_chance(most, pixels->width() - 2 * kMargin, pixels->height() - 2 * kMargin));
    progress.advance();
    for (const Transform& change : changes) {
      const Transformed changed = transformed(evaluation.context, pixels->host(), change);
      const std::string name = picture.name + change.ending();
      part.details["transforms"].push_back({{"image", name},
                                            {"original", picture.name},
                                            {"kind", change.kind},
                                            {"level", change.level},
                                            {"from_original", changed.from_original}});
      for (std::size_t i = 0; i < who.size(); ++i) {
        const std::vector<Point> found = who[i]->places({name, changed.image, changed.mask}, most);
        const Repeatability r =
            repeatability(mapped_all(changed.from_original, reference[i]), found);
        sums[i].shares[change.kind].push_back(r.share);
        if (r.repeated > 0) sums[i].errors[change.kind].push_back(r.localisation);
        Json row = {{"detector", who[i]->name()},
                    {"image", name},
                    {"kind", change.kind},
                    {"level", change.level}};
        row.update(json_of(r));
        part.details["results"].push_back(std::move(row));
      }
      progress.advance();
    }
  }
  progress.finish();
  Table shares = by_kind("Repeatability, percent", "%", 1, who, sums, false);
  Table errors = by_kind("Localisation error, pixels", "px", 2, who, sums, true);
  const std::string sample =
      text(pictures.size(), " images, ", changes.size(), " changes each, at most ",
           evaluation.points, " points per image");
  shares.caption = text("Repeated within ", kRepeatedPixels, " pixels; ", sample,
                        "; as many points in random places would reach about ",
                        study::number_text(percent(mean_of(chances)), 0), "%");
  errors.caption = "Root of the mean squared distance of the repeated; " + sample;
  const std::size_t last = shares.columns.size() - 1;
  part.best = {best_of(shares, last, "repeatability under known changes"),
               best_of(errors, last, "localisation under known changes")};
  part.section.plots = {plot_of(shares, "repeatability", "repeatability (%)"),
                        plot_of(errors, "localisation", "localisation error (px)")};
  part.section.tables = {std::move(shares), std::move(errors)};
  return part;
}

Part measure_corners(Evaluation& evaluation, const std::vector<Picture>& pictures) {
  Part part{{"Labelled corners"}};
  std::vector<std::string> names;
  for (const Picture& p : pictures) names.push_back(p.name);
  const std::vector<Candidate*> who = who_knows(evaluation.candidates, names, part.section.words);
  std::size_t labels = 0;
  for (const Picture& p : pictures) labels += p.corners.size();
  Table table{"Labelled corners that are found",
              text(labels, " corners of ", pictures.size(), " images, found within ",
                   kRepeatedPixels, " pixels, at most ", evaluation.points, " points per image"),
              {{"detector"}, {"points", "", 0}, {"found", "%", 1}, {"localisation", "px", 2}},
              {}};
  part.details = {{"results", Json::array()}};
  cli::Progress progress("labelled corners", int(pictures.size() * who.size()), evaluation.quiet);
  std::vector<int> numbers;
  for (const Picture& picture : pictures) {
    const Pixels pixels = picture.pixels(evaluation.reading);
    const Asked asked{picture.name, *pixels, {}};
    numbers.push_back(equal_number(who, {&asked, 1}, evaluation.points));
  }
  for (Candidate* candidate : who) {
    std::vector<double> points, errors;
    double found = 0;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const Picture& picture = pictures[i];
      const Pixels pixels = picture.pixels(evaluation.reading);
      const Repeatability r = repeatability(
          picture.corners, candidate->places({picture.name, *pixels, {}}, numbers[i]));
      points.push_back(r.second);
      found += r.repeated;
      if (r.repeated > 0) errors.push_back(r.localisation);
      part.details["results"].push_back({{"detector", candidate->name()},
                                         {"image", picture.name},
                                         {"labels", r.first},
                                         {"points", r.second},
                                         {"found", r.repeated},
                                         {"localisation", r.localisation}});
      progress.advance();
    }
    table.add({candidate->name(), mean_of(points), percent(found / double(labels)),
               errors.empty() ? study::Cell() : study::Cell(mean_of(errors))});
  }
  progress.finish();
  Table by_error = table;
  sort_by(by_error, 3, true);
  sort_by(table, 2);
  part.best = {best_of(table, 2, "labelled corners found"),
               best_of(by_error, 3, "distance from labelled corners")};
  part.section.tables = {std::move(table)};
  return part;
}

}  // namespace cornea::evaluate
