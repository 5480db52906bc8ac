// SPDX-License-Identifier: Apache-2.0
// The trilateral filter's time per step, and SIFT in three scale spaces.
#include <algorithm>
#include <cmath>
#include <map>

#include "study/scale_spaces.h"
#include "study/study.h"

#include "cornea/cli/progress.h"
#include "cornea/core/stopwatch.h"
#include "cornea/filter/trilateral/trilateral.h"
#include "cornea/scene/scene.h"

namespace cornea::cli {
namespace {

using study::Cell;
using study::kThreeDigits;
using study::number_text;

Image<std::uint8_t> square(const Context& cpu, int side) {
  SceneOptions options{.kind = SceneKind::plane, .views = 1, .width = side, .height = side};
  options.samples = 3;
  return in_bytes(make_views(cpu, options).front().image.host());
}

constexpr const char* kSteps[] = {"gradients", "min-max stack", "gradient smoothing",
                                  "adaptive level", "detail filter"};

// Median milliseconds by stage, and of the whole call under "total".
std::map<std::string, double> steps_of(const Context& context, Grouping grouping,
                                       const Image<std::uint8_t>& image, int repeat) {
  TrilateralFilter filter(context, {.grouping = grouping});
  Image<std::uint8_t> out(image.width(), image.height());
  auto call = [&] { filter.apply(AnyView(image), AnyTarget(out)); };
  std::map<std::string, double> result;
  const MedianTime time = median_time(repeat, 1500, call);
  result["total"] = time.milliseconds;
  filter.time_stages(true);
  std::map<std::string, std::vector<double>> by_name;
  for (int i = 0; i < std::min(time.calls, 9); ++i) {
    call();
    for (const StageTime& s : filter.report().stages) by_name[s.stage].push_back(s.milliseconds);
  }
  for (auto& [name, times] : by_name) {
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    result[name] = times[times.size() / 2];
  }
  return result;
}

study::Section filter_steps(const StudyDevices& devices, const StudyCommand& c,
                            Progress& progress) {
  study::Table steps{.title = "Milliseconds per step"};
  steps.columns = {{"size"}, {"device"}};
  for (const char* step : kSteps) steps.columns.push_back({step, "ms", kThreeDigits});
  steps.columns.push_back({"whole call", "ms", kThreeDigits});
  const std::string where = text("Sigma 4, 8-bit murals, host to host; medians of ", c.repeat,
                                 " calls or as many as fit into 1.5 s. ", devices.words(), ".");
  steps.caption = where + " The original has one of its five steps on the GPU (RTX 2080).";
  for (const int side : c.quick ? std::vector<int>{48} : std::vector<int>{100, 160, 320}) {
    const Image<std::uint8_t> image = square(devices.cpu, side);
    auto add = [&](const char* device, const Context& context) {
      const auto times = steps_of(context, Grouping::fastest, image, c.repeat);
      std::vector<Cell> row = {size_text(side, side), device};
      for (const char* step : kSteps) {
        row.push_back(times.count(step) ? Cell(times.at(step)) : Cell());
      }
      row.push_back(times.at("total"));
      steps.add(std::move(row));
    };
    add("CPU", devices.cpu);
    if (devices.cuda) add("CUDA", *devices.cuda);
    progress.advance();
  }
  study::Table detail{.title = "The detail step and the whole call"};
  detail.columns = {{"size"}, {"detail, CPU", "ms", kThreeDigits}};
  if (devices.cuda) {
    detail.columns.push_back({"detail, CUDA", "ms", kThreeDigits});
    detail.columns.push_back({"detail, CUDA sorted", "ms", kThreeDigits});
  }
  detail.columns.push_back({"whole call, CPU", "ms", kThreeDigits});
  if (devices.cuda) detail.columns.push_back({"whole call, CUDA", "ms", kThreeDigits});
  detail.columns.push_back({"SIFT, trilateral, CPU", "ms", kThreeDigits});
  if (devices.cuda) detail.columns.push_back({"SIFT, trilateral, CUDA", "ms", kThreeDigits});
  detail.columns.push_back({"original's call, RTX 2080", "ms", 0});
  detail.columns.push_back({"original's SIFT", "ms", 0});
  detail.caption =
      where +
      (devices.cuda ? " Sorted: pixels with windows of one size are filtered together." : "") +
      " Of the original's tables one call and one SIFT at 640x640 are known to us: 43.5 s and "
      "600 s.";
  for (const int side : c.quick ? std::vector<int>{64} : std::vector<int>{160, 320, 640}) {
    const Image<std::uint8_t> image = square(devices.cpu, side);
    auto sift_ms = [&](const Context& context) {
      SiftOptions options;
      options.scale_space = ScaleSpace::trilateral;
      Sift sift(context, options);
      Features features;
      return median_time(c.repeat, 2000, [&] { sift.detect(image, features); }).milliseconds;
    };
    const auto cpu = steps_of(devices.cpu, Grouping::fastest, image, c.repeat);
    std::vector<Cell> row = {size_text(side, side), cpu.at("detail filter")};
    if (devices.cuda) {
      const auto plain = steps_of(*devices.cuda, Grouping::none, image, c.repeat);
      const auto sorted = steps_of(*devices.cuda, Grouping::sorted, image, c.repeat);
      row.insert(row.end(), {plain.at("detail filter"), sorted.at("detail filter"), cpu.at("total"),
                             sorted.at("total")});
    } else {
      row.push_back(cpu.at("total"));
    }
    row.push_back(sift_ms(devices.cpu));
    if (devices.cuda) row.push_back(sift_ms(*devices.cuda));
    row.push_back(side == 640 ? Cell(43500) : Cell());
    row.push_back(side == 640 ? Cell(600000) : Cell());
    detail.add(std::move(row));
    progress.advance();
  }
  study::Section section{"The filter"};
  section.tables = {std::move(steps), std::move(detail)};
  return section;
}

std::vector<Disturbance> disturbances_of(bool quick) {
  auto rotated = [](Degradation how) {
    how.rotate_degrees = 15;
    how.scale = 0.85;
    return how;
  };
  std::vector<Disturbance> list = {{"none", rotated({})},
                                   {"noise 10", rotated({.noise = 10})},
                                   {"noise 25", rotated({.noise = 25})},
                                   {"contrast 0.3", rotated({.contrast = 0.3})},
                                   {"JPEG 15", rotated({.jpeg_quality = 15})}};
  if (quick) list = {list[0], list[2]};
  return list;
}

// Sums over images, by disturbance, and per image.
struct Totals {
  PointSetting setting;
  int count = 0;  // number of points; 0: all
  std::vector<SpaceScores> by_disturbance, by_image;
  SpaceScores all() const {
    SpaceScores sum;
    for (const SpaceScores& scores : by_image) {
      for (int s = 0; s < kSpaceCount; ++s) sum[s] += scores[s];
    }
    return sum;
  }
};

// Totals, one for each number of points.
std::vector<Totals> totals_of(const Context& context, const std::vector<StudyImage>& images,
                              const std::vector<Disturbance>& disturbances,
                              const PointSetting& setting, Progress& progress) {
  std::vector<Totals> totals;
  for (const int count : setting.counts) {
    totals.push_back({setting, count, std::vector<SpaceScores>(disturbances.size()), {}});
  }
  for (const StudyImage& image : images) {
    const auto scores =
        score_spaces(context, image.pixels, disturbances, setting, [&] { progress.advance(); });
    for (std::size_t c = 0; c < totals.size(); ++c) {
      SpaceScores sum;
      for (std::size_t d = 0; d < disturbances.size(); ++d) {
        for (int s = 0; s < kSpaceCount; ++s) {
          totals[c].by_disturbance[d][s] += scores[c][d][s];
          sum[s] += scores[c][d][s];
        }
      }
      totals[c].by_image.push_back(sum);
    }
  }
  return totals;
}

std::vector<Cell> counts_row(const std::string& name, const SpaceScores& scores) {
  std::vector<Cell> row = {name};
  for (const SpaceScore& score : scores) {
    row.insert(row.end(), {score.points, score.matches, score.correct});
  }
  return row;
}

study::Table counts_table(const Totals& totals, const std::vector<Disturbance>& disturbances,
                          const std::string& sample) {
  study::Table table{.title = totals.setting.name, .caption = totals.setting.words + " " + sample};
  table.columns = {{"disturbance"}};
  for (const char* space : kSpaceNames) {
    for (const char* what : {"points", "matches", "correct"}) {
      table.columns.push_back({text(space, ": ", what), "", 0});
    }
  }
  for (std::size_t d = 0; d < disturbances.size(); ++d) {
    table.add(counts_row(disturbances[d].name, totals.by_disturbance[d]));
  }
  table.add(counts_row("all", totals.all()));
  return table;
}

study::Plot correct_plot(const Totals& totals, const std::vector<Disturbance>& disturbances,
                         const char* name, const std::string& title, const std::string& sample) {
  study::Plot plot{.name = name, .title = title, .caption = sample};
  plot.y = {"correct matches"};
  for (const Disturbance& d : disturbances) plot.groups.push_back(d.name);
  for (int s = 0; s < kSpaceCount; ++s) {
    study::Series series{kSpaceNames[s], {}};
    for (const SpaceScores& scores : totals.by_disturbance) series.y.push_back(scores[s].correct);
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::string percent(double part, double of) {
  return of > 0 ? text(std::lround(100 * part / of), "%") : std::string("none");
}

// States only what the numbers show.
std::vector<std::string> words_of(const std::vector<Totals>& totals,
                                  const std::vector<Disturbance>& disturbances) {
  const SpaceScores first = totals[0].all(), equal = totals[1].all();
  const SpaceScore &g0 = first[0], &t0 = first[kTrilateral], &g1 = equal[0],
                   &t1 = equal[kTrilateral];
  std::string more, other;
  for (std::size_t d = 0; d < disturbances.size(); ++d) {
    const SpaceScores& scores = totals[1].by_disturbance[d];
    std::string& list = scores[kTrilateral].correct > scores[0].correct ? more : other;
    const std::string& named = disturbances[d].name;
    list += (list.empty() ? "" : ", ") + (named == "none" ? "no disturbance" : named);
  }
  const std::string compared =
      more.empty()    ? text("It gives no more than the Gaussian under any condition (", other, ")")
      : other.empty() ? text("It gives more than the Gaussian under every condition (", more, ")")
                      : text("It gives more than the Gaussian with ", more, "; not with ", other);
  std::vector<std::string> words = {
      text("At default settings the trilateral scale space gives ", number_text(t0.correct, 0),
           " correct matches from ", number_text(t0.points, 0), " points, the Gaussian ",
           number_text(g0.correct, 0), " from ", number_text(g0.points, 0), ": ",
           percent(t0.points, g0.points), " of the points and ", percent(t0.correct, g0.correct),
           " of the correct matches."),
      text("At equal numbers of points it gives ", percent(t1.correct, g1.correct),
           " of the Gaussian's correct matches (", number_text(t1.correct, 0), " and ",
           number_text(g1.correct, 0), "). ", compared, "."),
      text("Of the points at equal numbers ", percent(t1.repeated, t1.seen),
           " of the trilateral and ", percent(g1.repeated, g1.seen),
           " of the Gaussian ones are found again within 4 pixels. With descriptors of the "
           "Gaussian scale "
           "space at the trilateral points there are ",
           number_text(t1.correct_gaussian, 0), " correct matches, ",
           percent(t1.correct_gaussian, g1.correct_gaussian), " of the Gaussian's ",
           number_text(g1.correct_gaussian, 0), " when both are described that way.")};
  return words;
}

study::Section scale_spaces(const StudyDevices& devices, const StudyCommand& c,
                            const std::vector<StudyImage>& images,
                            const std::vector<Disturbance>& disturbances, Progress& progress) {
  // The threshold is so low that every image has enough points in every scale space.
  constexpr double kLowContrast = 0.002;
  const std::vector<int> counts =
      c.quick ? std::vector<int>{20, 40} : std::vector<int>{50, 100, 200, 400, 800};
  const std::size_t middle = c.quick ? 1 : 2;  // the one that is shown in full
  const int points = counts[middle];
  const std::vector<PointSetting> settings = {
      {"Default settings", "Contrast 0.04, edge ratio 10, all points.", 0.04, 10, {0}},
      {text("Equal numbers: the strongest ", points),
       text("Contrast ", kLowContrast, ", edge ratio 10, the ", points,
            " points of the largest |D| of each image."),
       kLowContrast, 10, counts},
      {text("Equal numbers: the strongest ", points, ", no edge test"),
       text("Contrast ", kLowContrast, ", no edge test, as the original has it, the ", points,
            " points of the largest |D| of each image."),
       kLowContrast, 0, counts}};
  const std::string sample = text(
      "Sums over ", images.size(), c.images.empty() ? " generated images" : " images",
      ", each matched with itself rotated by 15 degrees, scaled by 0.85 and disturbed. Ratio 0.8, "
      "mutual; correct: within 4 pixels. Points are those of the first image. ",
      devices.chosen().description(), ".");
  std::vector<Totals> totals, by_count;
  for (const PointSetting& setting : settings) {
    std::vector<Totals> made = totals_of(devices.chosen(), images, disturbances, setting, progress);
    totals.push_back(made[made.size() == 1 ? 0 : middle]);
    if (&setting == &settings[1]) by_count = std::move(made);
  }
  study::Section section{"SIFT in three scale spaces"};
  section.words = words_of(totals, disturbances);
  for (const Totals& t : totals) section.tables.push_back(counts_table(t, disturbances, sample));
  study::Table numbers{.title = "By number of points"};
  numbers.columns = section.tables[0].columns;
  numbers.columns[0] = {"strongest", "", 0};
  numbers.caption = text("All disturbances together. Contrast ", kLowContrast,
                         ", edge ratio 10, as many points per image as the first column says, "
                         "those of the largest |D|. ",
                         sample);
  study::Plot curve{.name = "trilateral-numbers",
                    .title = "Correct matches by number of points, all disturbances",
                    .caption = sample};
  curve.x = {"points of each image", study::AxisScale::logarithmic};
  curve.y = {"correct matches", study::AxisScale::logarithmic};
  for (int s = 0; s < kSpaceCount; ++s) curve.series.push_back({kSpaceNames[s], {}});
  for (const Totals& t : by_count) {
    std::vector<Cell> row = counts_row("", t.all());
    row[0] = t.count;
    numbers.add(std::move(row));
    for (int s = 0; s < kSpaceCount; ++s) {
      // The number of points that were found, not the number requested.
      const double there = t.all()[s].points / double(images.size() * disturbances.size());
      curve.series[s].x.push_back(there);
      curve.series[s].y.push_back(t.all()[s].correct);
    }
  }
  section.tables.push_back(std::move(numbers));
  study::Table by_image{.title = "By image, equal numbers of points", .caption = sample};
  by_image.columns = section.tables[0].columns;
  by_image.columns[0] = {"image"};
  for (std::size_t i = 0; i < images.size(); ++i) {
    by_image.add(counts_row(images[i].name, totals[1].by_image[i]));
  }
  section.tables.push_back(std::move(by_image));
  study::Table why{.title = "Points or descriptors"};
  why.columns = {{"setting"},
                 {"scale space"},
                 {"points found again", "%", 1},
                 {"matches that are correct", "%", 1},
                 {"correct, own descriptors", "", 0},
                 {"correct, Gaussian descriptors", "", 0}};
  why.caption =
      sample +
      " Found again: of the points that stay in the picture those that have a point within 4 "
      "pixels. Gaussian descriptors: the same points, described in the Gaussian scale space, "
      "with one orientation each.";
  for (const Totals& t : totals) {
    const SpaceScores all = t.all();
    for (int s = 0; s < kSpaceCount; ++s) {
      why.add({t.setting.name, kSpaceNames[s], 100 * all[s].repeated / all[s].seen,
               100 * all[s].correct / all[s].matches, all[s].correct, all[s].correct_gaussian});
    }
  }
  section.tables.push_back(std::move(why));
  section.plots = {
      std::move(curve),
      correct_plot(totals[0], disturbances, "trilateral-default",
                   "Correct matches by scale space, default settings", sample),
      correct_plot(totals[1], disturbances, "trilateral-equal",
                   text("Correct matches by scale space, the strongest ", points, " points"),
                   sample)};
  return section;
}

}  // namespace

StudyResult study_trilateral(const StudyDevices& devices, const StudyCommand& c) {
  const auto images = study_images(devices.cpu, c, c.quick ? 128 : 256, c.quick ? 96 : 192);
  const auto disturbances = disturbances_of(c.quick);
  Progress progress("measuring", int(3 * images.size() * disturbances.size()) + (c.quick ? 2 : 6),
                    c.common.quiet);
  StudyResult result;
  result.report.title = "The trilateral filter, and SIFT in its scale space";
  result.report.sections.push_back(filter_steps(devices, c, progress));
  result.report.sections.push_back(scale_spaces(devices, c, images, disturbances, progress));
  return result;
}

}  // namespace cornea::cli
