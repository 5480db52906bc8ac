#include "cornea/geometry/two_view/fundamental.h"

#include <iostream>
#include <memory>

#include "cornea/catalog/estimators.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/cli/two_view.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/io/csv.h"

namespace cornea::cli {
namespace {

struct FundamentalCommand {
  CommonOptions common;
  std::string matches, csv;
  OptionFlags flags;
};

// The input's own columns as they were, and two behind them, in place of older ones of their names.
const std::vector<std::string> kNewColumns = {"epipolar_distance", "inlier"};
std::string csv_text(const MatchTable& table, const FundamentalResult& result) {
  std::string csv = table.header;
  for (const std::string& column : kNewColumns) csv += "," + column;
  csv += '\n';
  const bool has_f = result.F != std::array<double, 9>{};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    csv += table.rows[i] + ",";
    if (has_f) csv += io::shortest_text(float(epipolar_distance(result.F, table.matches[i])));
    csv += result.inliers[i] ? ",1\n" : ",0\n";
  }
  return csv;
}

void print_result(const FundamentalCommand& c, const FundamentalEstimator& estimator,
                  const FundamentalResult& result, std::size_t matches, double milliseconds) {
  const bool repeats = std::size_t(result.places) < matches;
  std::cout << input_name(c.matches) << "  " << matches << " correspondences"
            << (repeats ? text(" in ", result.places, " different places") : "") << ", "
            << result.inlier_count << " inliers  " << milliseconds_text(milliseconds) << " on "
            << estimator.context().description() << "\n"
            << result.hypotheses << " hypotheses in " << result.rounds << " round(s); stopped by "
            << name(result.stop) << "\n";
  // The others end with a line on standard error.
  const bool ends_well =
      result.kind != TwoView::degenerate && result.kind != TwoView::too_few_points;
  const std::string note = warning(result, estimator.options());
  if (ends_well && !note.empty()) std::cout << note << "\n";
  if (result.F != std::array<double, 9>{}) std::cout << "F\n" << matrix_text(result.F);
  if (result.kind == TwoView::planar) std::cout << "H\n" << matrix_text(result.H);
  std::cout << std::flush;
}

int run_fundamental(const FundamentalCommand& c) {
  const Context context = c.common.context();
  const auto estimator =
      usage_checked([&] { return find_estimator("fundamental").make(context, c.flags.given()); });
  const FundamentalOptions& options = estimator->options();
  check_outputs({{c.matches}}, c.common.outputs({c.csv}));
  const MatchTable table = matches_from(c.matches, kNewColumns);
  const std::vector<Correspondence>& matches = table.matches;
  FundamentalResult result;
  const core::Stopwatch watch;
  try {
    result = estimator->estimate(matches);
  } catch (const Error& error) {
    fail(error.code(), input_name(c.matches), ": ", error.what());
  }
  const double milliseconds = watch.milliseconds();
  if (c.common.talks({c.csv})) print_result(c, *estimator, result, matches.size(), milliseconds);
  if (!c.csv.empty()) write_text(c.csv, csv_text(table, result));
  const bool has_f = result.F != std::array<double, 9>{};
  Json json = {{"F", has_f ? matrix_json(result.F) : Json(nullptr)},
               {"inliers", result.inliers},
               {"inlier_count", result.inlier_count},
               {"places", result.places},
               {"hypotheses", result.hypotheses},
               {"rounds", result.rounds},
               {"converged", result.converged()},
               {"milliseconds", milliseconds},
               {"kind", name(result.kind)},
               {"warning", warning_json(result, options)},
               {"stopped_by", name(result.stop)},
               {"threshold", options.threshold},
               {"device", context.name()}};
  if (result.kind == TwoView::planar) json["H"] = matrix_json(result.H);
  c.common.write_json(json);
  // That no model fits is a result; that none can is a mistake in the points.
  if (result.kind != TwoView::degenerate && result.kind != TwoView::too_few_points) return 0;
  print_error(input_name(c.matches) + ": " + explanation(result, options));
  return 1;
}

}  // namespace

Run add_fundamental(CLI::App& app) {
  auto c = std::make_shared<FundamentalCommand>();
  CLI::App* command =
      app.add_subcommand("fundamental", "the fundamental matrix of matched points, by RANSAC");
  command
      ->add_option(
          "matches", c->matches,
          "text with a line per match, whose first line names the columns x1, y1, x2 and y2, "
          "in any order, among others; without names the first four are these; - for standard "
          "input")
      ->required()
      ->type_name("MATCHES.csv");
  c->flags.add(*command, "Estimator", estimator_table());
  command
      ->add_option("--csv", c->csv,
                   "all columns of the input, then epipolar_distance (to both epipolar lines "
                   "together, pixels) and inlier")
      ->type_name("OUT.csv");
  add_common_options(*command, c->common);
  return [c] { return run_fundamental(*c); };
}

}  // namespace cornea::cli
