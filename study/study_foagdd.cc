// SPDX-License-Identifier: Apache-2.0
// FOAGDD: corners of a plain implementation, of the library on the CPU and on CUDA, image by image;
// milliseconds per stage by image size.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "study/plain_foagdd.h"
#include "study/study.h"

#include "cornea/cli/progress.h"
#include "cornea/core/stopwatch.h"
#include "cornea/detect/foagdd/foagdd.h"
#include "cornea/scene/checkerboard.h"

namespace cornea::cli {
namespace {

using study::Cell;
using study::kThreeDigits;

using Places = std::set<std::pair<int, int>>;

Places places_of(const std::vector<Corner>& corners) {
  Places places;
  for (const Corner& c : corners) places.emplace(int(c.y), int(c.x));
  return places;
}

int missing_of(const Places& from, const Places& in) {
  return int(std::count_if(from.begin(), from.end(), [&](const auto& p) { return !in.count(p); }));
}

// Whether rounding may decide about a pixel: its measure or a neighbour's is within a thousandth of
// the value it is compared with.
int within_rounding(const study::PlainFoagdd& plain, const Places& a, const Places& b, int width,
                    int height) {
  constexpr double kShare = 1e-3;
  const double threshold = FoagddOptions().peaks.threshold;
  int count = 0;
  for (const Places* one : {&a, &b}) {
    for (const auto& [y, x] : *one) {
      if ((one == &a ? b : a).count({y, x})) continue;
      const double own = plain.first[std::size_t(y) * width + x];
      bool near = std::abs(plain.least[std::size_t(y) * width + x] / threshold - 1) < kShare;
      for (int j = std::max(0, y - 2); j <= std::min(height - 1, y + 2); ++j) {
        for (int i = std::max(0, x - 2); i <= std::min(width - 1, x + 2); ++i) {
          const double other = plain.first[std::size_t(j) * width + i];
          near |= (i != x || j != y) && std::abs(other / own - 1) < kShare;
        }
      }
      count += near;
    }
  }
  return count;
}

study::Section detections(const StudyDevices& devices, const StudyCommand& c, Progress& progress,
                          const std::vector<StudyImage>& images, std::string& failure) {
  study::Table table{.title = "Corners by image"};
  table.caption =
      "Plain: every published step in double precision at every pixel. Differences count corners "
      "that one of the two finds and the other does not; within rounding are those of them whose "
      "measure is within 0.1% of the threshold or of a neighbour's. The original's GPU and CPU "
      "versions differ by up to 5 corners per image (Tesla T4).";
  table.columns = {{"image"},
                   {"size"},
                   {"plain", "", 0},
                   {"CPU", "", 0},
                   {"plain, not CPU", "", 0},
                   {"CPU, not plain", "", 0},
                   {"of these within rounding", "", 0}};
  if (devices.cuda) {
    table.columns.push_back({"CUDA", "", 0});
    table.columns.push_back({"CUDA and CPU"});
  }
  Foagdd cpu(devices.cpu);
  std::optional<Foagdd> cuda;
  if (devices.cuda) cuda.emplace(*devices.cuda);
  int differences = 0, rounding = 0, corners = 0;
  bool equal = true;
  for (const StudyImage& image : images) {
    const int width = image.pixels.width(), height = image.pixels.height();
    const study::PlainFoagdd plain = study::plain_foagdd(devices.cpu, image.pixels.host());
    Places of_plain;
    for (const study::PlainCorner& p : plain.corners) of_plain.emplace(p.y, p.x);
    const std::vector<Corner> of_cpu = cpu.detect(image.pixels);
    const Places found = places_of(of_cpu);
    const int lost = missing_of(of_plain, found), added = missing_of(found, of_plain);
    const int near = within_rounding(plain, of_plain, found, width, height);
    differences += lost + added;
    rounding += near;
    corners += int(of_plain.size());
    std::vector<Cell> row = {
        image.name, size_text(width, height), of_plain.size(), found.size(), lost, added, near};
    if (cuda) {
      const std::vector<Corner> of_cuda = cuda->detect(image.pixels);
      equal &= of_cuda == of_cpu;
      row.push_back(of_cuda.size());
      row.push_back(of_cuda == of_cpu ? "equal to the bit" : "differ");
    }
    table.add(std::move(row));
    progress.advance();
  }
  study::Section section{"Detections"};
  section.words.push_back(
      text(c.images.empty() ? "Generated images" : "The images of the folder",
           ": the library's CPU corners and "
           "the plain implementation's differ in ",
           differences, " of ", corners, " corners",
           differences ? text(", ", rounding, " of them within rounding") : std::string(), "."));
  if (cuda) {
    section.words.push_back(equal
                                ? "CUDA and the CPU found the same corners with the same measures "
                                  "in every image, to the bit."
                                : "CUDA and the CPU do not agree: see the table.");
  }
  if (!equal) failure = "CUDA and the CPU found different corners";
  section.tables.push_back(std::move(table));
  return section;
}

// Stages as in the published work; everything else is `rest`.
struct Stages {
  double derivatives = 0, measure = 0, suppression = 0, scales = 0, rest = 0, total = 0;
  int calls = 0;
  std::size_t corners = 0;
};

Stages stages_of(Foagdd& detector, const Image<std::uint8_t>& image, int repeat) {
  Stages stages;
  const MedianTime time =
      median_time(repeat, 4000, [&] { stages.corners = detector.detect(image).size(); });
  stages.total = time.milliseconds;
  stages.calls = time.calls;
  detector.time_stages(true);
  std::map<std::string, std::vector<double>> by_name;
  for (int i = 0; i < std::min(time.calls, 9); ++i) {
    detector.detect(image);
    for (const StageTime& s : detector.report().stages) by_name[s.stage].push_back(s.milliseconds);
  }
  detector.time_stages(false);
  for (auto& [name, times] : by_name) {
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    const double ms = times[times.size() / 2];
    (name == "derivatives"          ? stages.derivatives
     : name == "first measure"      ? stages.measure
     : name == "suppression"        ? stages.suppression
     : name == "remaining measures" ? stages.scales
                                    : stages.rest) += ms;
  }
  return stages;
}

// The values stated in the thesis; other cells of its table are not known to us.
Cell original(int width, int height) {
  if (width == 512 && height == 512) return 20.7;
  if (width == 1920 && height == 1080) return 132;
  return {};
}

study::Section times(const StudyDevices& devices, const StudyCommand& c, Progress& progress,
                     const std::vector<std::pair<int, int>>& sizes) {
  // Total time for the plain implementation; sizes that would exceed it are left out.
  constexpr double kPlainMilliseconds = 150e3;
  study::Table stages{.title = "Milliseconds per stage"};
  stages.columns = {{"size"},
                    {"implementation"},
                    {"derivatives", "ms", kThreeDigits},
                    {"measure", "ms", kThreeDigits},
                    {"suppression", "ms", kThreeDigits},
                    {"other scales", "ms", kThreeDigits},
                    {"rest", "ms", kThreeDigits},
                    {"total", "ms", kThreeDigits},
                    {"timed calls", "", 0},
                    {"corners", "", 0}};
  study::Table speed{.title = "Total time and speed-up"};
  speed.columns = {
      {"size"}, {"plain", "ms", kThreeDigits}, {"CPU", "ms", kThreeDigits}, {"plain / CPU", "", 1}};
  if (devices.cuda) {
    speed.columns.push_back({"CUDA", "ms", kThreeDigits});
    speed.columns.push_back({"plain / CUDA", "", 0});
    speed.columns.push_back({"CPU / CUDA", "", 1});
  }
  speed.columns.push_back({"original, Tesla T4", "ms", 1});
  study::Plot plot{.name = "foagdd-time", .title = "FOAGDD by image size"};
  plot.x = {"pixels (millions)", study::AxisScale::logarithmic};
  plot.y = {"time (ms)", study::AxisScale::logarithmic};
  plot.series = {{"plain, double", {}}, {"CPU", {}}};
  if (devices.cuda) plot.series.push_back({"CUDA", {}});
  plot.series.push_back({"original, Tesla T4", {}});
  Foagdd cpu(devices.cpu);
  std::optional<Foagdd> cuda;
  if (devices.cuda) cuda.emplace(*devices.cuda);
  double spent = 0, per_pixel = 0;
  for (const auto& [width, height] : sizes) {
    CheckerboardOptions board{.width = width, .height = height, .samples = 4};
    board.cell = 48;
    board.columns = width / 48 + 1;
    board.rows = height / 48 + 1;
    const Image<std::uint8_t> image = in_bytes(checkerboard(devices.cpu, board).image.host());
    const std::string size = size_text(width, height);
    const double pixels = double(width) * height;
    Cell plain_total;
    if (spent + per_pixel * pixels <= kPlainMilliseconds) {
      core::Stopwatch watch;
      const study::PlainFoagdd plain = study::plain_foagdd(devices.cpu, image.host());
      const double total = watch.milliseconds();
      spent += total;
      per_pixel = total / pixels;
      plain_total = total;
      const double named =
          plain.derivatives + plain.first_measure + plain.suppression + plain.other_scales;
      stages.add({size, "plain", plain.derivatives, plain.first_measure, plain.suppression,
                  plain.other_scales, total - named, total, 1, plain.corners.size()});
    }
    progress.advance();
    auto add = [&](const char* name, const Stages& s) {
      stages.add({size, name, s.derivatives, s.measure, s.suppression, s.scales, s.rest, s.total,
                  s.calls, s.corners});
    };
    const Stages of_cpu = stages_of(cpu, image, c.repeat);
    add("CPU", of_cpu);
    auto ratio = [](const Cell& a, double b) {
      return a.number() ? Cell(*a.number() / b) : Cell();
    };
    std::vector<Cell> row = {size, plain_total, of_cpu.total, ratio(plain_total, of_cpu.total)};
    std::vector<Cell> values = {plain_total, of_cpu.total};
    if (cuda) {
      const Stages of_cuda = stages_of(*cuda, image, c.repeat);
      add("CUDA", of_cuda);
      row.push_back(of_cuda.total);
      row.push_back(ratio(plain_total, of_cuda.total));
      row.push_back(of_cpu.total / of_cuda.total);
      values.push_back(of_cuda.total);
    }
    row.push_back(original(width, height));
    values.push_back(original(width, height));
    speed.add(std::move(row));
    for (std::size_t i = 0; i < values.size(); ++i) {
      plot.series[i].x.push_back(pixels / 1e6);
      plot.series[i].y.push_back(values[i].number() ? *values[i].number() : std::nan(""));
    }
    progress.advance();
  }
  const std::string what = text(
      "8-bit image in host memory to corners in host memory; checkerboards of 48-pixel cells. The "
      "plain implementation runs once on ",
      devices.cpu.threads(),
      " threads, the others as often as the table of stages says (medians).");
  stages.caption = what +
                   " The library measures further scales around candidates alone, the plain "
                   "implementation at every pixel. Rest: preparation, upload, download.";
  speed.caption = what +
                  " Of the original's table the two totals shown are known to us, for CUDA on a "
                  "Tesla T4.";
  plot.caption = text("Medians; plain: one call on ", devices.cpu.threads(), " threads. ",
                      devices.words(), ".");
  study::Section section{"Time by image size"};
  section.tables = {std::move(speed), std::move(stages)};
  section.plots = {std::move(plot)};
  return section;
}

}  // namespace

StudyResult study_foagdd(const StudyDevices& devices, const StudyCommand& c) {
  std::vector<std::pair<int, int>> sizes = {{512, 512},   {640, 480},   {1280, 720},
                                            {1600, 1200}, {1920, 1080}, {3840, 2160}};
  if (c.quick) sizes = {{128, 128}, {160, 120}};
  const auto images = study_images(devices.cpu, c, c.quick ? 160 : 640, c.quick ? 120 : 480);
  Progress progress("measuring", int(images.size() + 2 * sizes.size()), c.common.quiet);
  StudyResult result;
  result.report.title = "FOAGDD corners: a plain implementation, the CPU and CUDA";
  result.report.sections.push_back(detections(devices, c, progress, images, result.failure));
  result.report.sections.push_back(times(devices, c, progress, sizes));
  return result;
}

}  // namespace cornea::cli
