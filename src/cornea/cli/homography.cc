#include "cornea/geometry/two_view/homography.h"

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

struct HomographyCommand {
  CommonOptions common;
  std::string matches, csv;
  OptionFlags flags;
};

const std::vector<std::string> kNewColumns = {"transfer_distance", "inlier"};

void print_result(const HomographyCommand& c, const Context& context,
                  const HomographyResult& result, double milliseconds) {
  print_counts(c.matches, context, result, milliseconds);
  const std::string note = explanation(result);
  if (ends_well(result.kind) && !note.empty()) std::cout << note << "\n";
  if (result.H != std::array<double, 9>{}) {
    std::cout << "H\n" << matrix_text(with_unit_corner(result.H));
  }
  std::cout << std::flush;
}

int run_homography(const HomographyCommand& c) {
  const Context context = c.common.context();
  auto estimator = usage_checked([&] {
    return std::get<HomographyEstimator>(
        find_estimator("homography").make(context, c.flags.given()));
  });
  check_outputs({{c.matches}}, c.common.outputs({c.csv}));
  const MatchTable table = matches_from(c.matches, kNewColumns);
  HomographyResult result;
  const core::Stopwatch watch;
  try {
    result = estimator.estimate(table.matches);
  } catch (const Error& error) {
    fail(error.code(), input_name(c.matches), ": ", error.what());
  }
  const double milliseconds = watch.milliseconds();
  const bool has_h = result.H != std::array<double, 9>{};
  const auto distance = [&](const Correspondence& match) {
    return has_h ? std::optional(transfer_distance(result.H, match)) : std::nullopt;
  };
  if (c.common.talks({c.csv})) print_result(c, context, result, milliseconds);
  if (!c.csv.empty()) write_text(c.csv, csv_text(table, kNewColumns[0], distance, result.inliers));
  Json json = {{"H", has_h ? matrix_json(result.H) : Json(nullptr)}};
  add_counts(json, context, result, milliseconds);
  json["threshold"] = result.threshold;
  const std::string note = explanation(result);
  json["warning"] = note.empty() ? Json(nullptr) : Json(note);
  c.common.write_json(json);
  if (ends_well(result.kind)) return 0;
  print_error(input_name(c.matches) + ": " + explanation(result));
  return 1;
}

}  // namespace

Run add_homography(CLI::App& app) {
  auto c = std::make_shared<HomographyCommand>();
  CLI::App* command = app.add_subcommand(
      "homography",
      "the homography of matched points of a plane, or of a camera that only turned, by RANSAC");
  add_matches_argument(*command, c->matches);
  c->flags.add(*command, "Estimator", std::vector{find_estimator("homography")});
  command
      ->add_option("--csv", c->csv,
                   "all columns of the input, then transfer_distance (from x2 to H x1 plus from x1 "
                   "to H^-1 x2, pixels) and inlier")
      ->type_name("OUT.csv");
  add_common_options(*command, c->common);
  return [c] { return run_homography(*c); };
}

}  // namespace cornea::cli
