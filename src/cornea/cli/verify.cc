// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/verify.h"

#include <algorithm>
#include <iostream>
#include <map>

#include "cornea/catalog/estimators.h"
#include "cornea/cli/folder.h"
#include "cornea/cli/folder_steps.h"
#include "cornea/cli/shard.h"

namespace cornea::cli {
namespace {

struct VerifyCommand {
  CommonOptions common;
  std::string database;
  VerifyOptions options;
  ItemFlags item;
};

// What was done, the totals of the database, and some of the pairs with missing images.
struct VerifySummary {
  VerifyReport report;
  std::int64_t inliers = 0;
  std::vector<std::string> missing;
};

// "3 calibrated, 1 planar or panoramic, 0 without geometry": the configurations that occur, and
// always the last.
std::string kinds_text(const VerifyReport& report) {
  std::string all;
  for (const Configuration kind :
       {Configuration::calibrated, Configuration::uncalibrated, Configuration::planar,
        Configuration::panoramic, Configuration::planar_or_panoramic, Configuration::watermark}) {
    if (report.of(kind) == 0) continue;
    all += text(grouped(report.of(kind)), " ", name(kind), ", ");
  }
  return text(all, grouped(report.of(Configuration::degenerate)), " without geometry");
}

// Empty if every pair had cameras, or cameras were not used.
std::string cameras_text(const VerifyReport& report) {
  if (report.guessed_cameras + report.unread_cameras == 0) return "";
  std::string all = text("\ncameras: ", counted(report.with_cameras, "pair"), " with both");
  if (report.guessed_cameras > 0) {
    all +=
        text(", ", grouped(report.guessed_cameras), " without because a focal length is a guess");
  }
  if (report.unread_cameras > 0) {
    all += text(", ", grouped(report.unread_cameras),
                " without because a camera is missing or damaged, or its model is not supported");
  }
  return all;
}

void print_report(const VerifyCommand& c, const Context& context, const VerifySummary& summary) {
  const VerifyReport& report = summary.report;
  std::cout << counted(report.pairs, "pair") << ": " << grouped(report.done()) << " "
            << (report.redone > 0 ? "done again" : "new") << " (" << kinds_text(report) << "), "
            << grouped(report.skipped) << " already there, " << grouped(report.bad + report.missing)
            << " left out; the database holds " << counted(summary.inliers, "inlier")
            << cameras_text(report) << "\n"
            << seconds_text(report.milliseconds) << " on " << context.description();
  if (report.pairs == 0) {
    std::cout << "\nno pair has matches; run cornea match-all --db " << c.database;
  }
  std::cout << "\ndatabase: " << c.database << std::endl;
}

Json configurations_json(const VerifyReport& report) {
  Json all = Json::object();
  for (int kind = int(Configuration::degenerate); kind <= int(Configuration::watermark); ++kind) {
    std::string key(name(Configuration(kind)));
    std::replace(key.begin(), key.end(), ' ', '_');
    all[key] = report.of(Configuration(kind));
  }
  return all;
}

// "a.jpg with 17" if an image has no name any more.
std::vector<std::string> missing_pairs(const colmap::Database& database) {
  constexpr int kMost = 4;
  const std::vector<colmap::Id> pairs = database.unverifiable_pairs(kMost);
  std::map<colmap::Id, std::string> names;
  std::vector<std::string> ignored, all;
  for (const colmap::ImageRow& row : database.images(&ignored)) names[row.id] = row.name;
  auto called = [&](colmap::Id id) { return names.contains(id) ? names[id] : text(id); };
  for (const colmap::Id pair : pairs) {
    const auto [first, second] = colmap::pair_of(pair);
    all.push_back(text(called(first), " with ", called(second)));
  }
  return all;
}

int run_verify(const VerifyCommand& c) {
  const Context context = c.common.context();
  usage_checked([&] { c.options.validate(); });
  if (c.common.json_in_file()) check_outputs({{c.database, "the database"}}, {c.common.json});
  FolderProgress progress("verify", c.common.quiet);
  VerifySummary summary;
  {
    colmap::Database database(c.database);
    summary.report = verify_all(context, database, c.options, progress.events);
    summary.inliers = database.total("two_view_geometries");
    if (summary.report.missing > 0) summary.missing = missing_pairs(database);
  }
  progress.clear();
  const VerifyReport& report = summary.report;
  if (c.common.talks()) print_report(c, context, summary);
  c.common.write_json({{"pairs", report.pairs},
                       {"skipped", report.skipped},
                       {"missing", report.missing},
                       {"redone", report.redone},
                       {"bad", report.bad},
                       {"bad_images", report.bad_images},
                       {"stopped", report.stopped},
                       {"bad_cameras", report.bad_cameras},
                       {"general", report.general()},
                       {"planar", report.planar()},
                       {"degenerate", report.of(Configuration::degenerate)},
                       {"configurations", configurations_json(report)},
                       {"with_cameras", report.with_cameras},
                       {"guessed_cameras", report.guessed_cameras},
                       {"unread_cameras", report.unread_cameras},
                       {"inliers", report.inliers},
                       {"inliers_in_database", summary.inliers},
                       {"milliseconds", report.milliseconds},
                       {"read_milliseconds", report.read_milliseconds},
                       {"compute_milliseconds", report.compute_milliseconds},
                       {"write_milliseconds", report.write_milliseconds},
                       {"threshold", c.options.two_view.fundamental.threshold},
                       {"database", c.database},
                       {"device", context.name()}});
  if (report.stopped) {
    return interrupted(c.database,
                       text(grouped(report.done()), " of ", grouped(report.pairs - report.skipped),
                            " pairs are verified"),
                       c.options.redo ? "the same command without --redo continues"
                                      : "the same command continues");
  }
  if (report.missing > 0) {
    print_error(text(c.database, ": ", counted(report.missing, "pair"),
                     " not verified because the id does not name two images of the database, the "
                     "lower id first: ",
                     first_of(summary.missing), "; their rows are kept unchanged"));
  }
  return report.missing + report.bad + report.bad_images + report.bad_cameras > 0 ? 1 : 0;
}

// Options that F, E and H share get one value.
void add_estimator_options(CLI::App& command, TwoViewOptions& options) {
  auto set_all = [&options](auto member_of) {
    member_of(options.fundamental), member_of(options.essential), member_of(options.homography);
  };
  // For H it is the sum of two distances between points, like COLMAP's 4 pixels in each image.
  auto set_threshold = [&options](double value) {
    options.fundamental.threshold = options.essential.threshold = value;
    if (value > 0) options.homography.threshold = 2 * value;
  };
  CLI::Option* threshold =
      command.add_option_function<double>("--threshold", set_threshold, kThresholdHelp)
          ->default_str(text(options.fundamental.threshold));
  command
      .add_option_function<double>(
          "--threshold-per-line", [set_threshold](double value) { set_threshold(2 * value); },
          kThresholdPerLineHelp)
      ->excludes(threshold);
  command
      .add_option_function<double>(
          "--confidence",
          [set_all](double value) { set_all([value](auto& o) { o.confidence = value; }); },
          "probability that an outlier-free sample was drawn")
      ->default_str(text(options.fundamental.confidence));
  command
      .add_option_function<int>(
          "--max-hypotheses",
          [set_all](int value) { set_all([value](auto& o) { o.max_hypotheses = value; }); },
          "most hypotheses per pair, for each of F, E and H")
      ->default_str(text(options.fundamental.max_hypotheses));
  command
      .add_option_function<std::uint64_t>(
          "--seed",
          [set_all](std::uint64_t value) { set_all([value](auto& o) { o.seed = value; }); },
          "seed of the random samples")
      ->default_str(text(options.fundamental.seed));
}

}  // namespace

void add_verify_options(CLI::App* command, VerifyOptions* options) {
  add_estimator_options(*command, options->two_view);
  command
      ->add_option("--min-inliers", options->min_inliers,
                   "a pair with fewer is written as degenerate, without inliers")
      ->capture_default_str();
  command->add_flag("!--no-cameras", options->use_cameras,
                    "ignore the database's cameras: only F and H");
  command->add_flag("!--no-watermark", options->detect_watermark,
                    "do not look for watermarks and time stamps");
}

Run add_verify(CLI::App& app) {
  auto c = std::make_shared<VerifyCommand>();
  CLI::App* command = app.add_subcommand(
      "verify", "estimate the geometry of every matched pair of a COLMAP database");
  CLI::Option* database =
      add_database_option(*command, c->database,
                          "COLMAP database with matches; pairs that have a geometry are skipped");
  add_item_options(command, &c->item, {database});
  add_further_option(command, &c->item);
  add_verify_options(command, &c->options);
  add_changed_options(*command, c->options.changed, c->options.redo, "verify all pairs again");
  add_common_options(*command, c->common);
  return [c, command] {
    if (c->item.is_asked(*command, {"--db"}, {"--redo"})) {
      c->item.redo = c->options.redo;
      return run_item(c->common, c->item, ShardStep::verify);
    }
    return run_verify(*c);
  };
}

}  // namespace cornea::cli
