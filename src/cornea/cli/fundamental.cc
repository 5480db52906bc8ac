#include "cornea/geometry/two_view/fundamental.h"

#include <iostream>
#include <memory>

#include "cornea/catalog/estimators.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/cli/two_view.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"

namespace cornea::cli {
namespace {

struct FundamentalCommand {
  CommonOptions common;
  std::string matches, csv;
  OptionFlags flags;
};

const std::vector<std::string> kNewColumns = {"epipolar_distance", "inlier"};

void print_result(const FundamentalCommand& c, const FundamentalEstimator& estimator,
                  const FundamentalResult& result, double milliseconds) {
  print_counts(c.matches, estimator.context(), result, milliseconds);
  // The others end with a line on standard error.
  const std::string note = warning(result, estimator.options());
  if (ends_well(result.kind) && !note.empty()) std::cout << note << "\n";
  if (result.F != std::array<double, 9>{}) std::cout << "F\n" << matrix_text(result.F);
  if (result.kind == TwoView::planar) std::cout << "H\n" << matrix_text(result.H);
  std::cout << std::flush;
}

int run_fundamental(const FundamentalCommand& c) {
  const Context context = c.common.context();
  auto estimator = usage_checked([&] {
    return std::get<FundamentalEstimator>(
        find_estimator("fundamental").make(context, c.flags.given()));
  });
  const FundamentalOptions& options = estimator.options();
  check_outputs({{c.matches}}, c.common.outputs({c.csv}));
  const MatchTable table = matches_from(c.matches, kNewColumns);
  FundamentalResult result;
  const core::Stopwatch watch;
  try {
    result = estimator.estimate(table.matches);
  } catch (const Error& error) {
    fail(error.code(), input_name(c.matches), ": ", error.what());
  }
  const double milliseconds = watch.milliseconds();
  const bool has_f = result.F != std::array<double, 9>{};
  const auto distance = [&](const Correspondence& match) {
    return has_f ? std::optional(epipolar_distance(result.F, match)) : std::nullopt;
  };
  if (c.common.talks({c.csv})) print_result(c, estimator, result, milliseconds);
  if (!c.csv.empty()) write_text(c.csv, csv_text(table, kNewColumns[0], distance, result.inliers));
  Json json = {{"F", has_f ? matrix_json(result.F) : Json(nullptr)}};
  add_counts(json, context, result, milliseconds);
  json["warning"] = warning_json(result, options);
  json["threshold"] = result.threshold;
  if (result.kind == TwoView::planar) json["H"] = matrix_json(result.H);
  c.common.write_json(json);
  if (ends_well(result.kind)) return 0;
  print_error(input_name(c.matches) + ": " + explanation(result, options));
  return 1;
}

}  // namespace

Run add_fundamental(CLI::App& app) {
  auto c = std::make_shared<FundamentalCommand>();
  CLI::App* command =
      app.add_subcommand("fundamental", "the fundamental matrix of matched points, by RANSAC");
  add_matches_argument(*command, c->matches);
  c->flags.add(*command, "Estimator", std::vector{find_estimator("fundamental")});
  command
      ->add_option("--csv", c->csv,
                   "all columns of the input, then epipolar_distance (to both epipolar lines "
                   "together, pixels) and inlier")
      ->type_name("OUT.csv");
  add_common_options(*command, c->common);
  return [c] { return run_fundamental(*c); };
}

}  // namespace cornea::cli
