#include "cornea/pipeline/folder/verify.h"

#include <iostream>
#include <map>

#include "cornea/catalog/estimators.h"
#include "cornea/cli/folder.h"

namespace cornea::cli {
namespace {

struct VerifyCommand {
  CommonOptions common;
  std::string database;
  VerifyOptions options;
};

// What was done and what is there now; some of the pairs whose images are not.
struct Summary {
  VerifyReport report;
  std::int64_t inliers = 0;
  std::vector<std::string> missing;
};

void print_report(const VerifyCommand& c, const Context& context, const Summary& summary) {
  const VerifyReport& report = summary.report;
  const std::int64_t done = report.general + report.planar + report.degenerate;
  std::cout << counted(report.pairs, "pair") << ": " << grouped(done) << " "
            << (report.redone > 0 ? "done again" : "new") << " (" << grouped(report.general)
            << " general, " << grouped(report.planar) << " planar or panoramic, "
            << grouped(report.degenerate) << " without a geometry), " << grouped(report.skipped)
            << " already there, " << grouped(report.bad + report.missing)
            << " left out; the database holds " << counted(summary.inliers, "inlier") << "\n"
            << seconds_text(report.milliseconds) << " on " << context.description();
  if (report.pairs == 0) {
    std::cout << "\nno pair has matches; run cornea match-all --db " << c.database;
  }
  std::cout << "\ndatabase: " << c.database << std::endl;
}

// "a.jpg and 17", where an image has no name any more.
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
  Summary summary;
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
                       {"general", report.general},
                       {"planar", report.planar},
                       {"degenerate", report.degenerate},
                       {"inliers", report.inliers},
                       {"inliers_in_database", summary.inliers},
                       {"milliseconds", report.milliseconds},
                       {"read_milliseconds", report.read_milliseconds},
                       {"compute_milliseconds", report.compute_milliseconds},
                       {"write_milliseconds", report.write_milliseconds},
                       {"threshold", c.options.fundamental.threshold},
                       {"database", c.database},
                       {"device", context.name()}});
  if (report.stopped) {
    return interrupted(
        c.database,
        text(grouped(report.general + report.planar + report.degenerate), " of ",
             grouped(report.pairs - report.skipped), " pairs are verified"),
        c.options.redo ? "the same command without --redo goes on" : "the same command goes on");
  }
  if (report.missing > 0) {
    print_error(text(c.database, ": ", counted(report.missing, "pair"),
                     " not verified, for want of an image in the database: ",
                     first_of(summary.missing), "; what is there of them stays as it is"));
  }
  return report.missing > 0 || report.bad > 0 || report.bad_images > 0 ? 1 : 0;
}

}  // namespace

Run add_verify(CLI::App& app) {
  auto c = std::make_shared<VerifyCommand>();
  CLI::App* command =
      app.add_subcommand("verify", "the geometry of every matched pair of a COLMAP database");
  add_database_option(*command, c->database,
                      "COLMAP database with matches; pairs that have a geometry are left alone");
  FundamentalOptions& fundamental = c->options.fundamental;
  CLI::Option* threshold = command->add_option("--threshold", fundamental.threshold, kThresholdHelp)
                               ->capture_default_str();
  command
      ->add_option_function<double>(
          "--threshold-per-line",
          [c](double given) { c->options.fundamental.threshold = 2 * given; },
          kThresholdPerLineHelp)
      ->excludes(threshold);
  command
      ->add_option("--confidence", fundamental.confidence,
                   "that a sample without outliers was drawn")
      ->capture_default_str();
  command->add_option("--max-hypotheses", fundamental.max_hypotheses, "most hypotheses a pair")
      ->capture_default_str();
  command
      ->add_option("--min-inliers", c->options.min_inliers,
                   "a pair with fewer is written as degenerate, without any")
      ->capture_default_str();
  command->add_option("--seed", fundamental.seed, "of the random samples")->capture_default_str();
  add_changed_options(*command, c->options.changed, c->options.redo, "verify all pairs again");
  add_common_options(*command, c->common);
  return [c] { return run_verify(*c); };
}

}  // namespace cornea::cli
