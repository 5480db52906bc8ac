// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/pair.h"

#include <memory>

#include "cornea/catalog/estimators.h"
#include "cornea/cli/browser.h"
#include "cornea/cli/mask.h"
#include "cornea/cli/pair_folder.h"
#include "cornea/cli/pair_report.h"
#include "cornea/cli/progress.h"
#include "cornea/cli/shell_words.h"
#include "cornea/cli/two_view.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

PairOptions options_of(const PairCommand& c) {
  PairOptions options = c.options;
  options.settings = c.flags.given();
  const Settings given = c.estimator.given();
  options.fundamental = fundamental_options(given);
  // Options that F shares with E and H apply to all of them, except `round`, whose default differs.
  Settings shared;
  for (const char* name : {"threshold", "threshold-per-line", "confidence", "max-hypotheses",
                           "seed", "optimise", "refine"}) {
    if (const auto it = given.find(name); it != given.end()) shared.insert(*it);
  }
  options.essential = essential_options(shared);
  shared.erase("threshold");
  shared.erase("threshold-per-line");
  options.homography = homography_options(shared);
  // For H the threshold is the sum of two distances between points.
  const double threshold = options.essential.threshold;
  if (threshold > 0) options.homography.threshold = 2 * threshold;
  return options;
}

// Empty if no file is given.
Image<std::uint8_t> mask_of(const PairCommand& c, const std::string& file, const std::string& image,
                            const GrayImage& pixels) {
  if (file.empty()) return {};
  Image<std::uint8_t> mask = read_mask(file, c.common.reading_masks());
  if (mask.width() != pixels.width() || mask.height() != pixels.height()) {
    fail(ErrorCode::io, file, ": a mask of ", mask.width(), " x ", mask.height(), " pixels for ",
         image, " of ", pixels.width(), " x ", pixels.height(), "; they must have the same size");
  }
  return mask;
}

int run_pair(const PairCommand& given) {
  PairCommand c = given;
  if (c.out.empty()) c.out = default_pair_folder(c.first, c.second);
  const Context context = c.common.context();
  c.camera.given();  // wrong usage is reported before anything is read
  PairPipeline pipeline = usage_checked([&] { return PairPipeline(context, options_of(c)); });
  const fs::path summary = c.in_folder("summary.json"), matches = c.in_folder("matches.csv"),
                 report = c.in_folder("report.html");
  std::vector<fs::path> outputs = {summary, matches, report};
  if (c.common.json_in_file()) outputs.push_back(c.common.json);
  std::vector<NamedInput> inputs = {{c.first}, {c.second}};
  for (const std::string& mask : {c.mask1, c.mask2}) {
    if (!mask.empty()) inputs.push_back({mask, "a mask"});
  }
  check_outputs(inputs, outputs);

  const core::Stopwatch watch;
  const Photograph photograph1 = photograph_from(c.first, c.common.reading());
  const Photograph photograph2 = photograph_from(c.second, c.common.reading());
  const GrayImage &first = photograph1.image, &second = photograph2.image;
  std::optional<KnownCameras> cameras =
      cameras_of(c.camera, {first.width(), first.height(), photograph1.exif},
                 {second.width(), second.height(), photograph2.exif});
  note_reading(c.common, input_name(c.first), first);
  note_reading(c.common, input_name(c.second), second);
  const Image<std::uint8_t> mask1 = mask_of(c, c.mask1, c.first, first);
  const Image<std::uint8_t> mask2 = mask_of(c, c.mask2, c.second, second);
  std::vector<StageTime> stages = {{"reading", watch.milliseconds()}};
  PairResult result;
  Progress progress("features, matches and geometry", 1, c.common.quiet);
  std::optional<IntrinsicsPair> known;
  if (cameras) known = cameras->cameras;
  pipeline.run(first.view(), second.view(), {mask1, mask2}, known, result);
  progress.finish();
  stages.insert(stages.end(), result.stages.begin(), result.stages.end());

  make_folder(c.out);
  const core::Stopwatch writing;
  write_text(matches, csv_text(result));
  PairCommand ran = c;  // with all options as they were used
  ran.options = pipeline.options();
  if (cameras && result.by_essential) {
    cameras->focal_factor = result.two_view->essential.focal_factor;
    cameras->cameras = cameras->cameras.refocused(cameras->focal_factor);
  }
  const PairOutcome outcome{ran, context, cameras, result, first, second};
  write_text(report, page_text(outcome, stages));
  Json json = summary_json(outcome);
  stages.push_back({"report", writing.milliseconds()});
  for (const StageTime& s : stages) json["milliseconds"][s.stage] = s.milliseconds;
  write_text(summary, json_text(json));
  c.common.write_json(json);
  if (c.common.talks()) print_result(outcome, stages);
  if (c.open) open_in_browser(report);
  return 0;
}

}  // namespace

Run add_pair(CLI::App& app, const std::vector<std::string>& words) {
  auto c = std::make_shared<PairCommand>();
  c->options.max_size = 3200;  // pixels, as for `extract`
  c->words = shell_line(words);
  CLI::App* command = app.add_subcommand(
      "pair",
      "the geometry of two photographs: from pixels to F, or to E and the pose if the cameras "
      "are known, with a page of results");
  command->add_option("first", c->first, "image file; - for standard input")
      ->required()
      ->type_name("A");
  command->add_option("second", c->second, "image file")->required()->type_name("B");
  command
      ->add_option("-o,--out", c->out,
                   "folder for report.html, summary.json and matches.csv; default: pair-A-B in "
                   "the current folder, after the names of the two files")
      ->type_name("DIR")
      ->check(&no_folder);
  command->add_flag("--open", c->open, "open the page in the browser");
  command
      ->add_option("--mask1", c->mask1,
                   "mask of the size of A as it is read; no points where it is black")
      ->type_name("FILE");
  command->add_option("--mask2", c->mask2, "the same for B")->type_name("FILE");
  add_described_detector_option(*command, c->options.detector);
  command
      ->add_option("--max-features,--max-points", c->options.max_features,
                   "most points per image, the strongest (SIFT: by --keep); 0: no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  add_max_size_option(*command, c->options.max_size);
  add_match_options(*command, c->options.match);
  add_camera_options(*command, c->camera);
  add_focal_options(*command, c->camera);
  c->estimator.add(*command, "Estimator", std::vector{find_estimator("fundamental")});
  c->flags.add(*command, "Detector", without_flag(detector_table(), "max-points"));
  add_common_options(*command, c->common);
  add_reading_options(*command, c->common);
  return [c] { return run_pair(*c); };
}

}  // namespace cornea::cli
