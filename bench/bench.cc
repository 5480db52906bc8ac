// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <iostream>
#include <optional>

#include "bench/bench_fundamental.h"
#include "bench/bench_match.h"
#include "bench/bench_timing.h"
#include "study/table.h"

#include "cornea/catalog/detectors.h"
#include "cornea/catalog/estimators.h"
#include "cornea/catalog/filters.h"
#include "cornea/cli/common.h"
#include "cornea/cli/progress.h"
#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/stage_clock.h"
#include "cornea/core/transfer.h"
#include "cornea/scene/scene.h"

namespace cornea::cli {
namespace {

struct BenchCommand {
  CommonOptions common;
  std::vector<std::string> detectors, filters, matches, match_files,
      sizes = {"640x480", "1280x960", "1920x1080", "3840x2160"};
  std::string image;
  int repeat = 200, batch = 16, tile = 0;
  std::vector<std::string> labels, settings;
  bool fundamental = false;
};

// A mural with corners at many scales, like a photograph. With `tile`, the image repeats a mural of
// that side with its mirror images, so that images of every size are equally dense. Pinned on CUDA,
// which makes uploads fastest.
Image<std::uint8_t> bench_image(const Context& context, int width, int height, int tile) {
  SceneOptions options;
  options.kind = SceneKind::plane;
  options.views = 1;
  options.width = tile > 0 ? tile : width;
  options.height = tile > 0 ? tile : height;
  options.samples = 2;
  const View view = std::move(make_views(context, options).front());
  Image<std::uint8_t> image(context, context.is_cuda() ? Place::pinned : Place::host, width, height,
                            "bench: image");
  auto source = [](int i, int size) {
    const int m = i % (2 * size);
    return m < size ? m : 2 * size - 1 - m;
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float v = view.image(source(x, options.width), source(y, options.height));
      image(x, y) = std::uint8_t(std::clamp(v, 0.0f, 1.0f) * 255 + 0.5f);
    }
  }
  return image;
}

Image<std::uint8_t> image_from_file(const Context& context, const BenchCommand& c) {
  const auto read = read_image<std::uint8_t>(c.image, c.common.reading());
  Image<std::uint8_t> image(context, context.is_cuda() ? Place::pinned : Place::host, read.width(),
                            read.height(), "bench: image");
  std::memcpy(image.host().data, read.host().data, std::size_t(read.width()) * read.height());
  return image;
}

// The time that the machine needs for moving the bytes alone, measured in the same run. CUDA: the
// upload of the image. CPU: reading the image, writing and reading the response map, at the speed
// of memcpy.
double limit_ms(const Context& context, const Image<std::uint8_t>& image) {
  const std::size_t pixels = std::size_t(image.width()) * image.height();
  if (context.is_cuda()) {
    Image<std::uint8_t> device(context, Place::device, image.width(), image.height(),
                               "bench: upload");
    core::StageClock clock(context);
    std::vector<double> times;
    for (int i = 0; i < 60; ++i) {
      clock.start();
      upload<std::uint8_t>(context, image.host(), device.device());
      clock.mark("upload");
      const double ms = clock.read()[0].milliseconds;
      if (i >= 10) times.push_back(ms);
    }
    return summarise(times).median;
  }
  constexpr std::size_t kCopyBytes = std::size_t{64} << 20;
  const Memory from = Memory::host(kCopyBytes), to = Memory::host(kCopyBytes);
  std::memset(from.data(), 1, kCopyBytes);
  const Timing copy = time_calls(10, [&] { std::memcpy(to.data(), from.data(), kCopyBytes); });
  const double bytes_per_ms = 2.0 * kCopyBytes / copy.median;
  return pixels * (1 + 2 * sizeof(float)) / bytes_per_ms;
}

// Float images that stay where the context works: on the host, or on the device.
Json measure_filter(const Context& context, const FilterEntry& entry, const Settings& settings,
                    const Image<std::uint8_t>& image, const BenchCommand& c) {
  const auto filter = entry.make(context, settings);
  Image<float> host(image.width(), image.height());
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) host(x, y) = float(image(x, y)) / 255.0f;
  }
  const Place place = context.is_cuda() ? Place::device : Place::host;
  Image<float> in(context, place, image.width(), image.height(), "bench: image");
  Image<float> out(context, place, image.width(), image.height(), "bench: result");
  if (context.is_cuda()) {
    upload<float>(context, host.host(), in.device());
  } else {
    std::memcpy(in.host().data, host.host().data, sizeof(float) * image.width() * image.height());
  }
  const Timing whole = time_calls(c.repeat, [&] { filter->apply(in, out); });
  // On CUDA also many calls queued at once, without waiting after each.
  constexpr int kQueued = 20;
  std::optional<double> queued;
  if (context.is_cuda()) {
    auto many = [&] {
      for (int i = 0; i < kQueued; ++i) filter->enqueue(in, out);
      filter->wait();
    };
    queued = time_calls(std::max(3, c.repeat / kQueued), many).median / kQueued;
  }
  filter->time_stages(true);
  const Json stages = stage_medians(c.repeat, [&] {
    filter->apply(in, out);
    return filter->report().stages;
  });
  Json result = {{"filter", entry.name},
                 {"settings", settings},
                 {"width", image.width()},
                 {"height", image.height()},
                 {"milliseconds", timing_json(whole)},
                 {"stages", stages},
                 {"memory_bytes", context.memory().bytes}};
  if (queued) result["milliseconds_queued"] = *queued;
  return result;
}

// `detect` detects the points of one image and returns their number, `detect_batch` those of many.
template <class Detector, class Detect, class DetectBatch>
Json measure_detector(const Context& context, const DetectorEntry& entry, const Settings& settings,
                      const Image<std::uint8_t>& image, const BenchCommand& c, Detector& detector,
                      const Detect& detect, const DetectBatch& detect_batch) {
  std::size_t points = 0;
  const Timing whole = time_calls(c.repeat, [&] { points = detect(); });

  detector.time_stages(true);
  const Json stages = stage_medians(c.repeat, [&] {
    detect();
    return detector.report().stages;
  });
  detector.time_stages(false);

  const Timing batch = time_calls(std::max(3, c.repeat / c.batch), detect_batch);
  const double limit = limit_ms(context, image);
  return {{"detector", entry.name},
          {"settings", settings},
          {"width", image.width()},
          {"height", image.height()},
          {"points", points},
          {"milliseconds", timing_json(whole)},
          {"stages", stages},
          {"limit_milliseconds", limit},
          {"share_of_limit", limit / whole.median},
          {"batch", c.batch},
          {"batch_frames_per_second", 1000.0 * c.batch / batch.median},
          {"memory_bytes", context.memory().bytes}};
}

Json measure(const Context& context, const DetectorEntry& entry, const Settings& settings,
             const Image<std::uint8_t>& image, const BenchCommand& c) {
  const std::vector<AnyView> frames(c.batch, AnyView(image));
  if (entry.make_sift) {
    const auto sift = entry.make_sift(context, settings);
    Features features;
    std::vector<Features> batch(c.batch);
    return measure_detector(
        context, entry, settings, image, c, *sift,
        [&] {
          sift->detect(image, features);
          return features.size();
        },
        [&] { sift->detect_batch(frames, batch); });
  }
  const auto detector = entry.make(context, settings);
  return measure_detector(
      context, entry, settings, image, c, *detector, [&] { return detector->detect(image).size(); },
      [&] { detector->detect_batch(frames); });
}

std::pair<int, int> parse_size(const std::string& size) {
  int width = 0, height = 0, used = 0;
  // At most five digits, so that the product of two stays small.
  if (std::sscanf(size.c_str(), "%5dx%5d%n", &width, &height, &used) != 2 ||
      used != static_cast<int>(size.size()) || width < 1 || height < 1) {
    throw UsageError("--sizes takes WIDTHxHEIGHT, not '" + size + "'");
  }
  return {width, height};
}

Settings parse_pairs(const std::vector<std::string>& pairs, const char* flag) {
  Settings result;
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos)
      throw UsageError(text(flag, " takes NAME=VALUE, not '", pair, "'"));
    result[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return result;
}

void print_results(const Json& results, const std::string& device) {
  study::Table table{.columns = study::text_columns({"detector", "size", "points", "median", "p90",
                                                     "of that", "limit", "share", "batch"})};
  for (const Json& r : results) {
    std::string stages;
    for (const auto& [stage, ms] : r["stages"].items()) {
      stages += text(stages.empty() ? "" : ", ", stage, " ", milliseconds_text(ms));
    }
    char share[16], rate[32];
    std::snprintf(share, sizeof share, "%.0f%%", 100 * r["share_of_limit"].get<double>());
    std::snprintf(rate, sizeof rate, "%.0f/s", r["batch_frames_per_second"].get<double>());
    table.add({r["detector"].get<std::string>(), text(r["width"], "x", r["height"]),
               text(r["points"]), milliseconds_text(r["milliseconds"]["median"]),
               milliseconds_text(r["milliseconds"]["p90"]), stages,
               milliseconds_text(r["limit_milliseconds"]), share, rate});
  }
  std::cout
      << device << ", 8-bit host image to points in host memory\n"
      << study::terminal_text(table)
      << (device.starts_with("CPU")
              ? "limit: one read of the image, one write and read of the map, at memcpy's speed"
              : "limit: the upload of the image from pinned memory, measured in this run")
      << std::endl;
}

void print_filters(const Json& results, const std::string& device) {
  study::Table table{.columns = study::text_columns(
                         {"filter", "settings", "size", "one call", "p90", "queued", "of that"})};
  for (const Json& r : results) {
    std::string stages, settings;
    for (const auto& [stage, ms] : r["stages"].items()) {
      stages += text(stages.empty() ? "" : ", ", stage, " ", milliseconds_text(ms));
    }
    for (const auto& [name, value] : r["settings"].items()) {
      settings += text(settings.empty() ? "" : " ", name, "=", value.get<std::string>());
    }
    table.add(
        {r["filter"].get<std::string>(), settings, text(r["width"], "x", r["height"]),
         milliseconds_text(r["milliseconds"]["median"]),
         milliseconds_text(r["milliseconds"]["p90"]),
         r.contains("milliseconds_queued") ? milliseconds_text(r["milliseconds_queued"]) : "-",
         stages});
  }
  std::cout << device << ", float image to float image where the device works\n"
            << study::terminal_text(table) << std::flush;
}

int run_bench(const BenchCommand& c) {
  const Context context = c.common.context();
  std::vector<std::string> names = c.detectors;
  const bool estimates = c.fundamental || !c.match_files.empty();
  if (names.empty() && c.filters.empty() && c.matches.empty() && !estimates) {
    for (const DetectorEntry& entry : detector_table()) names.push_back(entry.name);
  }
  std::vector<const DetectorEntry*> entries;
  const Settings settings = parse_pairs(c.settings, "--set");
  std::vector<const FilterEntry*> filters;
  usage_checked([&] {
    for (const std::string& name : names) entries.push_back(&find_detector(name));
    for (const std::string& name : c.filters) filters.push_back(&find_filter(name));
    for (const DetectorEntry* entry : entries) {
      entry->make ? void(entry->make(context, settings))
                  : void(entry->make_sift(context, settings));
    }
    for (const FilterEntry* entry : filters) entry->make(context, settings);
    if (estimates) find_estimator("fundamental").make(context, settings);
  });
  check_outputs({{c.image}}, c.common.outputs({}));
  Json json = {{"device", context.description()}, {"compiler", kCompiler}, {"cuda", kCudaVersion}};
  for (const auto& [key, value] : parse_pairs(c.labels, "--label")) json.emplace(key, value);
  json["repeat"] = c.repeat;
  json["warm_up"] = warm_up(c.repeat);
  json["threads"] = context.threads();
  json["image"] = !c.image.empty() ? c.image : "synthetic mural (cornea scene --kind plane)";
  if (c.tile > 0) json["tile"] = c.tile;
  json["results"] = Json::array();
  Json filtered = Json::array();
  const std::vector<MatchSize> match_sizes = parse_match_sizes(c.matches);
  const std::vector<std::string> sizes = entries.empty() && filters.empty()
                                             ? std::vector<std::string>{}
                                         : c.image.empty() ? c.sizes
                                                           : std::vector<std::string>{"file"};
  for (const std::string& size : sizes) {
    if (c.image.empty()) parse_size(size);  // an invalid size is found before hours of measuring
  }
  Progress progress("measuring", static_cast<int>(sizes.size() * (entries.size() + filters.size())),
                    c.common.quiet);
  for (const std::string& size : sizes) {
    const auto [width, height] = c.image.empty() ? parse_size(size) : std::pair(0, 0);
    const auto image =
        c.image.empty() ? bench_image(context, width, height, c.tile) : image_from_file(context, c);
    for (const DetectorEntry* entry : entries) {
      json["results"].push_back(measure(context, *entry, settings, image, c));
      progress.advance();
    }
    for (const FilterEntry* entry : filters) {
      filtered.push_back(measure_filter(context, *entry, settings, image, c));
      progress.advance();
    }
  }
  progress.clear();
  if (!match_sizes.empty()) {
    json["matches"] = measure_matches(context, match_sizes, c.repeat, c.common.quiet);
  }
  if (c.fundamental) json["fundamental"] = measure_fundamental(context, settings, c.repeat);
  if (!c.match_files.empty()) {
    json["match_files"] =
        measure_match_files(context, c.match_files, settings, c.repeat, c.common.quiet);
  }
  if (!filtered.empty()) json["filters"] = filtered;
  if (c.common.talks()) {
    if (!entries.empty()) print_results(json["results"], context.description());
    if (!filters.empty()) print_filters(filtered, context.description());
    if (!match_sizes.empty()) print_matches(json["matches"], context.description());
    if (c.fundamental) print_fundamental(json["fundamental"], context.description());
    if (!c.match_files.empty()) print_match_files(json["match_files"], context.description());
  }
  c.common.write_json(json);
  return 0;
}

}  // namespace

Run add_bench(CLI::App& app) {
  auto c = std::make_shared<BenchCommand>();
  CLI::App* command = app.add_subcommand(
      "bench", "measure detectors, filters, matching and estimators on this machine");
  command
      ->add_option("--detector", c->detectors,
                   "which detectors; default: all, or none if anything else is measured")
      ->type_name("NAME...");
  command->add_option("--filter", c->filters, "filters to measure")->type_name("NAME...");
  command->add_option("--match", c->matches, "numbers of descriptors to match")
      ->delimiter(',')
      ->type_name("N1xN2,...");
  command->add_flag("--fundamental", c->fundamental, "fundamental matrices of synthetic matches");
  command
      ->add_option("--match-files", c->match_files,
                   "fundamental matrices of these matches, one per seed")
      ->type_name("MATCHES.csv...");
  command->add_option("--sizes", c->sizes, "image sizes")
      ->capture_default_str()
      ->delimiter(',')
      ->type_name("WxH,...");
  command->add_option("--image", c->image, "measure on this image instead of a synthetic one")
      ->type_name("IMAGE");
  command
      ->add_option("--tile", c->tile,
                   "build the synthetic image from one mural of this side and its mirror images")
      ->check(CLI::Range(32, 8192))
      ->type_name("SIDE");
  command->add_option("--set", c->settings, "an option of the measured algorithm, as NAME=VALUE")
      ->type_name("NAME=VALUE...");
  command->add_option("--repeat", c->repeat, "timed calls")
      ->capture_default_str()
      ->check(CLI::Range(3, 1000000));
  command->add_option("--batch", c->batch, "frames in a batch")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command->add_option("--label", c->labels, "recorded in the JSON, as KEY=VALUE")
      ->type_name("KEY=VALUE...");
  add_common_options(*command, c->common);
  add_reading_options(*command, c->common);
  return [c] { return run_bench(*c); };
}

}  // namespace cornea::cli
