#include "cornea/pipeline/pair.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "cornea/catalog/estimators.h"
#include "cornea/cli/browser.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/cli/mask.h"
#include "cornea/cli/pair_folder.h"
#include "cornea/cli/progress.h"
#include "cornea/cli/two_view.h"
#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/io/csv.h"
#include "cornea/report/html.h"
#include "cornea/report/page.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

struct PairCommand {
  CommonOptions common;
  std::string first, second, out;
  std::string mask1, mask2;  // empty: none
  bool open = false;         // the page, in the browser
  PairOptions options;
  OptionFlags flags, estimator;  // of every detector, and of F
  std::string words;             // the command itself, for a shell

  fs::path in_folder(const char* name) const { return fs::path(out) / name; }
  bool has_masks() const { return !mask1.empty() || !mask2.empty(); }
};

// A word as a shell reads it back. Bytes that no page can show are written by their numbers, in
// bash's and zsh's way.
std::string shell_quoted(const std::string& word) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  if (!report::is_printable(word)) {
    std::string escaped = "$'";
    for (const char c : word) {
      char number[8];
      std::snprintf(number, sizeof number, "\\x%02x", static_cast<unsigned char>(c));
      escaped += std::strchr(plain, c) ? std::string(1, c) : number;
    }
    return escaped + "'";
  }
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

PairOptions options_of(const PairCommand& c) {
  PairOptions options = c.options;
  options.settings = c.flags.given();
  options.fundamental = fundamental_options(c.estimator.given());
  return options;
}

// 12345 as 12,345.
std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (int at = int(digits.size()) - 3; at > 0; at -= 3) digits.insert(std::size_t(at), ",");
  return digits;
}

// "812 of 1,059 (77%)".
std::string share_text(std::size_t part, std::size_t all) {
  std::string words = text(grouped(part), " of ", grouped(all));
  if (all > 0) words += text(" (", std::lround(100.0 * double(part) / double(all)), "%)");
  return words;
}

// What the result means, in plain words, for the page.
std::string sentence_of(const PairResult& r, const FundamentalOptions& options) {
  const std::string count = grouped(r.matches.size());
  const std::string inliers = grouped(std::size_t(r.geometry.inlier_count));
  switch (r.geometry.kind) {
    case TwoView::general:
      return text(inliers, " of ", count, " matches agree with one fundamental matrix, within ",
                  options.threshold, " pixels of their epipolar lines",
                  r.geometry.may_be_chance() ? text("; ", kChance, ".") : ".");
    case TwoView::planar:
      return text("What agrees lies on one plane, or the camera only turned: ", inliers, " of ",
                  count,
                  " matches follow a homography. That is the result to use; a fundamental matrix "
                  "cannot be told from such a scene.");
    case TwoView::none:
      return text("No geometry was found: no fundamental matrix agrees with more of the ", count,
                  " matches than chance would. These may not be photographs of one scene, or they "
                  "differ too much; nearer views or a larger --threshold may help.");
    case TwoView::degenerate:
      return text("No geometry can be found: the ", count,
                  " matched points are equal or lie on a line, which fixes no fundamental matrix.");
    case TwoView::too_few_points:
      return text("No geometry can be found: ",
                  r.matches.empty() ? "there are no matches"
                  : count == "1"    ? "there is only 1 match"
                                    : text("there are only ", count, " matches"),
                  ", and a fundamental matrix takes at least ", options.sample,
                  ". Sharper or nearer photographs, more features or a larger --ratio may help.");
  }
  return "";
}

std::string csv_text(const PairResult& r) {
  io::CsvWriter csv("x1,y1,x2,y2,ratio,distance,inlier,descriptor_distance,index1,index2",
                    io::CsvNumbers::plain);
  for (std::size_t i = 0; i < r.matches.size(); ++i) {
    const Correspondence p = r.correspondence(i);
    std::optional<float> distance;
    if (!r.distances.empty()) distance = r.distances[i];
    const Match& m = r.matches[i];
    csv.row({p.x1, p.y1, p.x2, p.y2, m.ratio, distance, r.geometry.inliers[i], m.distance,
             float(m.a), float(m.b)});
  }
  return csv.contents();
}

Json summary_json(const PairCommand& c, const Context& context, const PairResult& r,
                  const GrayImage& first, const GrayImage& second) {
  const FundamentalResult& g = r.geometry;
  const bool has_f = g.F != std::array<double, 9>{};
  Json json = {{"keypoints", {r.first.size(), r.second.size()}},
               {"matches", r.matches.size()},
               {"inliers", g.inlier_count},
               {"F", has_f ? matrix_json(g.F) : Json(nullptr)},
               {"milliseconds", Json::object()},
               {"images", {c.first, c.second}},
               {"sizes", {{first.width(), first.height()}, {second.width(), second.height()}}},
               {"max_size", c.options.max_size},
               {"detector", c.options.detector},
               {"device", context.name()},
               {"device_name", context.description()},
               {"command", c.words},
               {"kind", name(g.kind)},
               {"warning", warning_json(g, c.options.fundamental)},
               {"hypotheses", g.hypotheses},
               {"rounds", g.rounds},
               {"converged", g.converged()},
               {"threshold", io::shortest(c.options.fundamental.threshold)},
               {"version", kVersion}};
  add_reading(json, c.common, {&first, &second});
  if (g.kind == TwoView::planar) json["H"] = matrix_json(g.H);
  const auto mask_json = [](const std::string& file) { return file.empty() ? Json() : Json(file); };
  if (c.has_masks()) json["masks"] = {mask_json(c.mask1), mask_json(c.mask2)};
  return json;
}

std::string page_text(const PairCommand& c, const Context& context, const PairResult& r,
                      const std::vector<StageTime>& stages) {
  const auto first = colours_from(c.first, c.common.reading());
  const auto second = colours_from(c.second, c.common.reading());
  const FundamentalResult& g = r.geometry;
  PairPage page;
  page.first = {c.first, first.host(), r.first.keypoints};
  page.second = {c.second, second.host(), r.second.keypoints};
  page.matches = r.matches;
  page.geometry = &g;
  page.distances = r.distances;
  const double threshold = c.options.fundamental.threshold;
  page.threshold = float(g.kind == TwoView::general  ? threshold
                         : g.kind == TwoView::planar ? kPlaneWidth * threshold
                                                     : 0);
  page.sentence = sentence_of(r, c.options.fundamental);
  page.notice = g.kind != TwoView::general || g.may_be_chance();
  page.stages = stages;
  page.facts = {
      {"Ran on", context.description()},
      {"Features",
       c.options.detector == "sift" ? "sift" : c.options.detector + ", described by SIFT"},
      {"Matching", text("exact nearest neighbours", r.match_kernel.empty() ? "" : " (",
                        r.match_kernel, r.match_kernel.empty() ? "" : ")", ", ratio ",
                        c.options.match.ratio, c.options.match.mutual ? ", mutual" : "")},
      {"Geometry", g.hypotheses == 0
                       ? "no hypothesis was tried"
                       : text(grouped(std::size_t(g.hypotheses)),
                              g.hypotheses == 1 ? " hypothesis" : " hypotheses", " of ",
                              c.options.fundamental.sample, " matches, stopped by ", name(g.stop),
                              ", seed ", c.options.fundamental.seed)},
      {"Version", text("Cornea ", kVersion)},
      {"In the folder", fs::current_path().string()}};
  if (c.has_masks()) {
    const std::string first_mask = c.mask1.empty() ? "none" : c.mask1;
    const std::string second_mask = c.mask2.empty() ? "none" : c.mask2;
    page.facts.insert(page.facts.begin() + 2, {"Masks", first_mask + " and " + second_mask});
  }
  page.command = c.words;
  page.files = {"matches.csv", "summary.json"};
  return pair_page(context, page);
}

double median_of_inliers(const PairResult& r) {
  std::vector<float> inliers;
  for (std::size_t i = 0; i < r.distances.size(); ++i) {
    if (r.geometry.inliers[i]) inliers.push_back(r.distances[i]);
  }
  if (inliers.empty()) return 0;
  const auto middle = inliers.begin() + std::ptrdiff_t(inliers.size() / 2);
  std::nth_element(inliers.begin(), middle, inliers.end());
  return *middle;
}

// F, or H where that is the result to use.
void print_model(const FundamentalResult& g) {
  if (g.kind == TwoView::planar) {
    std::cout << "H (x2 ~ H x1, pixels)\n" << matrix_text(with_unit_corner(g.H));
  } else if (g.F != std::array<double, 9>{}) {
    std::cout << "F (x2^T F x1 = 0, pixels)\n" << matrix_text(g.F);
  }
}

void print_result(const PairCommand& c, const Context& context, const PairResult& r,
                  const std::vector<StageTime>& stages) {
  std::vector<std::vector<std::string>> rows = {
      {"features", text(grouped(r.first.size()), " and ", grouped(r.second.size()))},
      {"matches", grouped(r.matches.size())},
      {"inliers", share_text(std::size_t(r.geometry.inlier_count), r.matches.size())}};
  if (r.geometry.inlier_count > 0 && !r.distances.empty()) {
    char median[32];
    std::snprintf(median, sizeof median, "%.3f px", median_of_inliers(r));
    rows.push_back({"median distance", median});
  }
  std::string all;
  for (const StageTime& s : stages) {
    all += text(all.empty() ? "" : ", ", s.stage, " ", milliseconds_text(s.milliseconds));
  }
  for (const auto& row : rows) {
    std::cout << row[0] << std::string(17 - row[0].size(), ' ') << row[1] << "\n";
  }
  std::cout << "time             " << all << "\n"
            << c.options.detector << " on " << context.description() << "\n";
  print_model(r.geometry);
  const std::string note = warning(r.geometry, c.options.fundamental);
  if (!note.empty()) std::cout << note << "\n";
  std::cout << "page: " << c.in_folder("report.html").string() << std::endl;
}

// Nothing where no file is given.
Image<std::uint8_t> mask_of(const PairCommand& c, const std::string& file, const std::string& image,
                            const GrayImage& pixels) {
  if (file.empty()) return {};
  Image<std::uint8_t> mask = read_mask(file, c.common.reading_masks());
  if (mask.width() != pixels.width() || mask.height() != pixels.height()) {
    fail(ErrorCode::io, file, ": a mask of ", mask.width(), " x ", mask.height(), " pixels for ",
         image, " of ", pixels.width(), " x ", pixels.height(), "; they must have one size");
  }
  return mask;
}

int run_pair(const PairCommand& given) {
  PairCommand c = given;
  if (c.out.empty()) c.out = default_pair_folder(c.first, c.second);
  const Context context = c.common.context();
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
  const GrayImage first = gray_from(c.first, c.common.reading());
  const GrayImage second = gray_from(c.second, c.common.reading());
  note_reading(c.common, input_name(c.first), first);
  note_reading(c.common, input_name(c.second), second);
  const Image<std::uint8_t> mask1 = mask_of(c, c.mask1, c.first, first);
  const Image<std::uint8_t> mask2 = mask_of(c, c.mask2, c.second, second);
  std::vector<StageTime> stages = {{"reading", watch.milliseconds()}};
  PairResult result;
  Progress progress("features, matches and geometry", 1, c.common.quiet);
  pipeline.run(first.view(), second.view(), {mask1, mask2}, result);
  progress.finish();
  stages.insert(stages.end(), result.stages.begin(), result.stages.end());

  make_folder(c.out);
  const core::Stopwatch writing;
  write_text(matches, csv_text(result));
  PairCommand ran = c;  // with all options as they were used
  ran.options = pipeline.options();
  write_text(report, page_text(ran, context, result, stages));
  Json json = summary_json(ran, context, result, first, second);
  stages.push_back({"report", writing.milliseconds()});
  for (const StageTime& s : stages) json["milliseconds"][s.stage] = s.milliseconds;
  write_text(summary, json_text(json));
  c.common.write_json(json);
  if (c.common.talks()) print_result(ran, context, result, stages);
  if (c.open) open_in_browser(report);
  return 0;
}

}  // namespace

Run add_pair(CLI::App& app, const std::vector<std::string>& words) {
  auto c = std::make_shared<PairCommand>();
  c->options.max_size = 3200;  // pixels, as `extract`
  c->words = shell_line(words);
  CLI::App* command = app.add_subcommand(
      "pair", "the geometry of two photographs, from pixels to F, with a page to look at");
  command->add_option("first", c->first, "image file; - for standard input")
      ->required()
      ->type_name("A");
  command->add_option("second", c->second, "image file")->required()->type_name("B");
  command
      ->add_option("-o,--out", c->out,
                   "folder for report.html, summary.json and matches.csv; without it pair-A-B in "
                   "the current folder, after the names of the two files")
      ->type_name("DIR")
      ->check(&no_folder);
  command->add_flag("--open", c->open, "open the page in the browser");
  command
      ->add_option("--mask1", c->mask1,
                   "image of the size of A (as it is read: upright); no points where it is black")
      ->type_name("FILE");
  command->add_option("--mask2", c->mask2, "likewise for B")->type_name("FILE");
  add_described_detector_option(*command, c->options.detector);
  command
      ->add_option("--max-features,--max-points", c->options.max_features,
                   "the strongest N of an image; 0: no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  add_max_size_option(*command, c->options.max_size);
  add_match_options(*command, c->options.match);
  c->estimator.add(*command, "Estimator", estimator_table());
  c->flags.add(*command, "Detector", without_flag(detector_table(), "max-points"));
  add_common_options(*command, c->common);
  add_reading_options(*command, c->common);
  return [c] { return run_pair(*c); };
}

}  // namespace cornea::cli
