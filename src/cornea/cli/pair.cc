#include "cornea/pipeline/pair.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "cornea/catalog/estimators.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
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
  PairOptions options;
  OptionFlags flags, estimator;  // of every detector, and of F
  std::string words;             // the command itself, for a shell

  fs::path in_folder(const char* name) const { return fs::path(out) / name; }
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

// Among wrong matches some epipolar geometry always has a few more inliers than its own sample.
bool may_be_chance(const FundamentalResult& result) {
  constexpr int kFewest = 15;  // as COLMAP asks for
  return result.kind == TwoView::general && result.inlier_count < kFewest;
}
constexpr char kChance[] =
    "so few may agree by chance, and these may not be photographs of one scene";

// What the result means, in plain words, for the page.
std::string sentence_of(const PairResult& r, const FundamentalOptions& options) {
  const std::string count = grouped(r.matches.size());
  const std::string inliers = grouped(std::size_t(r.geometry.inlier_count));
  switch (r.geometry.kind) {
    case TwoView::general:
      return text(inliers, " of ", count, " matches agree with one fundamental matrix, within ",
                  options.threshold, " pixels of their epipolar lines",
                  may_be_chance(r.geometry) ? text("; ", kChance, ".") : ".");
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
      return text("No geometry can be found: ", count, count == "1" ? " match" : " matches",
                  ", and a fundamental matrix takes at least ", options.sample,
                  ". Sharper or nearer photographs, more features or a larger --ratio may help.");
  }
  return "";
}

std::string csv_text(const PairResult& r) {
  io::CsvWriter csv("x1,y1,x2,y2,ratio,distance,inlier", io::CsvNumbers::plain);
  for (std::size_t i = 0; i < r.matches.size(); ++i) {
    const Correspondence p = r.correspondence(i);
    std::optional<float> distance;
    if (!r.distances.empty()) distance = r.distances[i];
    csv.row({p.x1, p.y1, p.x2, p.y2, r.matches[i].ratio, distance, r.geometry.inliers[i]});
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
               {"hypotheses", g.hypotheses},
               {"rounds", g.rounds},
               {"converged", g.converged()},
               {"threshold", io::shortest(c.options.fundamental.threshold)},
               {"version", kVersion}};
  add_reading(json, c.common, {&first, &second});
  if (g.kind == TwoView::planar) json["H"] = matrix_json(g.H);
  return json;
}

std::string page_text(const PairCommand& c, const Context& context, const PairResult& r,
                      const std::vector<StageTime>& stages) {
  const auto first = read_image<Rgb<std::uint8_t>>(c.first, c.common.reading());
  const auto second = read_image<Rgb<std::uint8_t>>(c.second, c.common.reading());
  const FundamentalResult& g = r.geometry;
  PairPage page;
  page.first = {c.first, first.host(), r.first.keypoints};
  page.second = {c.second, second.host(), r.second.keypoints};
  page.matches = r.matches;
  page.geometry = &g;
  page.distances = r.distances;
  page.threshold = g.kind == TwoView::general ? c.options.fundamental.threshold : 0;
  page.sentence = sentence_of(r, c.options.fundamental);
  page.notice = g.kind != TwoView::general || may_be_chance(g);
  page.stages = stages;
  page.facts = {
      {"Ran on", context.description()},
      {"Features",
       c.options.detector == "sift" ? "sift" : c.options.detector + ", described by SIFT"},
      {"Matching", text("exact nearest neighbours", r.match_kernel.empty() ? "" : " (",
                        r.match_kernel, r.match_kernel.empty() ? "" : ")", ", ratio ",
                        c.options.match.ratio, c.options.match.mutual ? ", mutual" : "")},
      {"Geometry",
       text(grouped(std::size_t(g.hypotheses)), g.hypotheses == 1 ? " hypothesis" : " hypotheses",
            " of ", c.options.fundamental.sample, " matches, stopped by ", name(g.stop), ", seed ",
            c.options.fundamental.seed)},
      {"Version", text("Cornea ", kVersion)},
      {"In the folder", fs::current_path().string()}};
  page.command = c.words;
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

void print_result(const PairCommand& c, const Context& context, const PairResult& r,
                  const std::vector<StageTime>& stages) {
  std::vector<std::vector<std::string>> rows = {
      {"features", text(r.first.size(), " and ", r.second.size())},
      {"matches", text(r.matches.size())},
      {"inliers", text(r.geometry.inlier_count)}};
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
  if (r.geometry.kind != TwoView::general) {
    std::cout << explanation(r.geometry, c.options.fundamental) << "\n";
  }
  if (may_be_chance(r.geometry)) std::cout << kChance << "\n";
  std::cout << "page: " << c.in_folder("report.html").string() << std::endl;
}

int run_pair(const PairCommand& c) {
  const Context context = c.common.context();
  PairPipeline pipeline = usage_checked([&] { return PairPipeline(context, options_of(c)); });
  const fs::path summary = c.in_folder("summary.json"), matches = c.in_folder("matches.csv"),
                 report = c.in_folder("report.html");
  std::vector<fs::path> outputs = {summary, matches, report};
  if (c.common.json_in_file()) outputs.push_back(c.common.json);
  check_outputs({{c.first}, {c.second}}, outputs);

  const core::Stopwatch watch;
  const GrayImage first = read_gray(c.first, c.common.reading());
  const GrayImage second = read_gray(c.second, c.common.reading());
  note_reading(c.common, c.first, first);
  note_reading(c.common, c.second, second);
  std::vector<StageTime> stages = {{"reading", watch.milliseconds()}};
  const PairResult result = pipeline.run(first.view(), second.view());
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
  write_text(summary, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  c.common.write_json(json);
  if (c.common.talks()) print_result(ran, context, result, stages);
  return 0;
}

}  // namespace

Run add_pair(CLI::App& app, const std::vector<std::string>& words) {
  auto c = std::make_shared<PairCommand>();
  c->options.max_size = 3200;  // pixels, as `extract`
  c->words = shell_line(words);
  CLI::App* command = app.add_subcommand(
      "pair", "the geometry of two photographs, from pixels to F, with a page to look at");
  command->add_option("first", c->first, "image file")->required()->type_name("A");
  command->add_option("second", c->second, "image file")->required()->type_name("B");
  command->add_option("-o,--out", c->out, "folder for report.html, summary.json and matches.csv")
      ->required()
      ->type_name("DIR");
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
