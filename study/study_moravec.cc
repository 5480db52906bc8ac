// SPDX-License-Identifier: Apache-2.0
// Moravec: the ladder of kernels on CUDA, a plain loop, and the library.
#include <algorithm>

#include "study/moravec_ladder.h"
#include "study/plain_moravec.h"
#include "study/study.h"

#include "cornea/cli/progress.h"
#include "cornea/core/build.h"
#include "cornea/core/stopwatch.h"
#include "cornea/detect/moravec/moravec.h"
#include "cornea/scene/scene.h"

namespace cornea::cli {
namespace {

using study::Cell;
using study::kThreeDigits;

Image<std::uint8_t> mural(const Context& cpu, int width, int height) {
  SceneOptions options{.kind = SceneKind::plane, .views = 1, .width = width, .height = height};
  options.samples = 2;
  return in_bytes(make_views(cpu, options).front().image.host());
}

const char* equality(bool equal) { return equal ? "equal" : "NOT EQUAL"; }

struct Tables {
  study::Table whole, rungs;
  study::Plot plot;
  bool all_equal = true;
};

// Checks that the library finds the plain loop's corners with the same responses.
Cell library_row(Tables& tables, const Context& context, const char* name,
                 const Image<std::uint8_t>& image, const std::vector<Corner>& expected,
                 int repeat) {
  Moravec detector(context);
  std::vector<Corner> corners;
  const MedianTime time = median_time(repeat, 3000, [&] { corners = detector.detect(image); });
  tables.all_equal &= corners == expected;
  tables.whole.add({size_text(image.width(), image.height()), name, time.milliseconds, time.calls,
                    corners.size(), equality(corners == expected)});
  return time.milliseconds;
}

void ladder_rows(Tables& tables, const Context& cuda, const Image<std::uint8_t>& image,
                 const std::vector<std::int32_t>& map, const std::vector<Corner>& expected,
                 int repeat, double pixels) {
  if constexpr (kHasCuda) {
    const auto rungs = study::moravec_ladder(cuda, image.host(), repeat);
    for (const study::LadderRung& rung : rungs) {
      const bool coordinates = rung.map.empty();
      const bool equal = coordinates ? rung.corners == expected : rung.map == map;
      tables.all_equal &= equal;
      // The work left for the host if the whole map is downloaded.
      Cell host;
      if (!coordinates) {
        core::Stopwatch watch;
        const auto corners = study::plain_peaks(rung.map, image.width(), image.height());
        host = watch.milliseconds();
        tables.all_equal &= corners == expected;
      }
      const double moved = rung.upload_ms + rung.download_ms;
      tables.rungs.add({size_text(image.width(), image.height()), rung.name, rung.threads,
                        rung.upload_ms, rung.kernel_ms, rung.download_ms, moved + rung.kernel_ms,
                        host, equality(equal)});
      const std::string name = text(rung.name, ", ", rung.threads);
      auto series = std::find_if(tables.plot.series.begin(), tables.plot.series.end(),
                                 [&](const study::Series& s) { return s.name == name; });
      if (series == tables.plot.series.end()) {
        series = tables.plot.series.insert(series, {name, {}});
      }
      series->x.push_back(pixels);
      series->y.push_back(rung.kernel_ms);
    }
  }
}

}  // namespace

StudyResult study_moravec(const StudyDevices& devices, const StudyCommand& c) {
  std::vector<std::pair<int, int>> sizes = {
      {320, 240}, {640, 480}, {1280, 960}, {1920, 1080}, {3840, 2160}};
  if (c.quick) sizes = {{160, 120}, {320, 240}};
  Tables tables;
  tables.whole = {.title = "From an 8-bit image in host memory to corners in host memory"};
  tables.whole.columns = {{"size"},
                          {"what"},
                          {"time", "ms", kThreeDigits},
                          {"timed calls", "", 0},
                          {"corners", "", 0},
                          {"beside the plain loop"}};
  tables.whole.caption =
      "Window 3 x 3, threshold 1,500, the largest of 3 x 3; generated murals. The plain loop runs "
      "on "
      "one thread. Equal: the same corners with the same responses. The original took 3.2 ms for "
      "640x480 on a GeForce 9800GT, with threshold and maxima still to do on the CPU.";
  tables.rungs = {.title = "The ladder on CUDA"};
  tables.rungs.columns = {{"size"},
                          {"kernel"},
                          {"threads per block", "", 0},
                          {"upload", "ms", kThreeDigits},
                          {"kernel time", "ms", kThreeDigits},
                          {"download", "ms", kThreeDigits},
                          {"sum", "ms", kThreeDigits},
                          {"maxima on the host", "ms", kThreeDigits},
                          {"beside the plain loop"}};
  tables.rungs.caption =
      text("Medians of ", c.repeat,
           " runs by events on the stream, from and to pinned memory. All rungs but the last send "
           "the whole "
           "map of 32-bit sums back and leave threshold and maxima to the host; the last one finds "
           "them on the device and sends coordinates alone.");
  tables.plot = {.name = "moravec-kernels", .title = "Moravec: kernel time by image size"};
  tables.plot.x = {"pixels (millions)", study::AxisScale::logarithmic};
  tables.plot.y = {"kernel time (ms)", study::AxisScale::logarithmic};
  study::Plot whole{.name = "moravec-time", .title = "Moravec: image to corners by image size"};
  whole.x = tables.plot.x;
  whole.y = {"time (ms)", study::AxisScale::logarithmic};
  whole.series = {{"plain loop, one thread", {}}, {"library, CPU", {}}};
  if (devices.cuda) whole.series.push_back({"library, CUDA", {}});
  Progress progress("measuring", int(sizes.size()), c.common.quiet);
  for (const auto& [width, height] : sizes) {
    const Image<std::uint8_t> image = mural(devices.cpu, width, height);
    const double pixels = double(width) * height / 1e6;
    std::vector<std::int32_t> map;
    std::vector<Corner> expected;
    const MedianTime plain = median_time(c.repeat, 2000, [&] {
      map = study::plain_moravec(image.host());
      expected = study::plain_peaks(map, image.width(), image.height());
    });
    tables.whole.add({size_text(width, height), "plain loop", plain.milliseconds, plain.calls,
                      expected.size(), Cell()});
    std::vector<Cell> values = {plain.milliseconds};
    values.push_back(library_row(tables, devices.cpu, "library, CPU", image, expected, c.repeat));
    if (devices.cuda) {
      values.push_back(
          library_row(tables, *devices.cuda, "library, CUDA", image, expected, c.repeat));
      ladder_rows(tables, *devices.cuda, image, map, expected, c.repeat, pixels);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      whole.series[i].x.push_back(pixels);
      whole.series[i].y.push_back(*values[i].number());
    }
    progress.advance();
  }
  whole.caption = devices.words() + ". Medians; generated murals.";
  tables.plot.caption = text(devices.chosen().description(), "; medians of ", c.repeat,
                             ". The number is that of threads per block.");
  StudyResult result;
  result.report.title = "Moravec corners: a plain loop, the ladder of kernels and the library";
  study::Section section{"Image to corners"};
  section.words.push_back(
      tables.all_equal
          ? "Every result of this run is equal to the plain loop's, to the bit."
          : "NOT every result of this run is equal to the plain loop's: see the tables.");
  section.tables.push_back(std::move(tables.whole));
  section.plots.push_back(std::move(whole));
  result.report.sections.push_back(std::move(section));
  study::Section ladder{"The ladder"};
  if (devices.cuda) {
    ladder.tables.push_back(std::move(tables.rungs));
    ladder.plots.push_back(std::move(tables.plot));
  } else {
    ladder.words.push_back(
        "The ladder's rungs are CUDA kernels, and this run has no CUDA device: run it on a machine "
        "with a GPU, with `--device auto` or `--device cuda`.");
  }
  result.report.sections.push_back(std::move(ladder));
  result.more["equal"] = tables.all_equal;
  if (!tables.all_equal) result.failure = "results of the study differ from the plain loop's";
  return result;
}

}  // namespace cornea::cli
