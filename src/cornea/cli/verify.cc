#include "cornea/pipeline/folder/verify.h"

#include <iostream>

#include "cornea/catalog/estimators.h"
#include "cornea/cli/folder.h"

namespace cornea::cli {
namespace {

struct VerifyCommand {
  CommonOptions common;
  std::string database;
  VerifyOptions options;
};

void print_report(const VerifyCommand& c, const Context& context, const VerifyReport& report) {
  std::cout << report.pairs << (report.pairs == 1 ? " pair, " : " pairs, ") << report.skipped
            << " had a geometry; " << report.general << " general, " << report.planar
            << " planar or panoramic, " << report.degenerate << " without; " << report.inliers
            << " inliers\n"
            << seconds_text(report.milliseconds) << " on " << context.description();
  if (report.pairs == 0) {
    std::cout << "\nno pair has matches; run cornea match-all --db " << c.database;
  } else if (report.skipped > 0) {
    std::cout << "\npairs that had a geometry are as they were, whatever the options";
  }
  std::cout << "\ndatabase: " << c.database << std::endl;
}

int run_verify(const VerifyCommand& c) {
  const Context context = c.common.context();
  usage_checked([&] { c.options.validate(); });
  if (c.common.json_in_file()) check_outputs({{c.database, "the database"}}, {c.common.json});
  colmap::Database database(c.database);
  FolderProgress progress("verify", c.common.quiet);
  const VerifyReport report = verify_all(context, database, c.options, progress.events);
  progress.clear();
  if (c.common.talks()) print_report(c, context, report);
  c.common.write_json({{"pairs", report.pairs},
                       {"skipped", report.skipped},
                       {"missing", report.missing},
                       {"general", report.general},
                       {"planar", report.planar},
                       {"degenerate", report.degenerate},
                       {"inliers", report.inliers},
                       {"milliseconds", report.milliseconds},
                       {"read_milliseconds", report.read_milliseconds},
                       {"compute_milliseconds", report.compute_milliseconds},
                       {"write_milliseconds", report.write_milliseconds},
                       {"threshold", c.options.fundamental.threshold},
                       {"database", c.database},
                       {"device", context.name()}});
  if (report.missing > 0) {
    print_error(text(c.database, ": ", report.missing,
                     " pair(s) in matches name images that are not there; delete those rows"));
    return 1;
  }
  return 0;
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
  add_common_options(*command, c->common);
  return [c] { return run_verify(*c); };
}

}  // namespace cornea::cli
