#include "cornea/geometry/fundamental/fundamental.h"

#include <chrono>
#include <iostream>
#include <memory>

#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/core/error.h"
#include "cornea/io/matches_csv.h"
#include "cornea/pipeline/estimators.h"

namespace cornea::cli {
namespace {

struct FundamentalCommand {
  CommonOptions common;
  std::string matches, csv;
  OptionFlags flags;
};

Json matrix_json(const std::array<double, 9>& m) {
  Json rows = Json::array();
  for (int i = 0; i < 3; ++i) rows.push_back({m[3 * i], m[3 * i + 1], m[3 * i + 2]});
  return rows;
}

std::string matrix_text(const std::array<double, 9>& m) {
  std::string lines;
  char line[96];
  for (int i = 0; i < 3; ++i) {
    std::snprintf(line, sizeof line, "  %15.8e %15.8e %15.8e\n", m[3 * i], m[3 * i + 1],
                  m[3 * i + 2]);
    lines += line;
  }
  return lines;
}

// What a person should know about a result.
std::string explanation(const FundamentalResult& result, const FundamentalOptions& options) {
  switch (result.kind) {
    case TwoView::general:
      return "";
    case TwoView::planar:
      return "planar: one homography explains nearly all that agrees, so the points lie on a plane "
             "or the camera only turned; F is one of many that fit, trust H";
    case TwoView::none:
      return "none: no fundamental matrix has 8 inliers; are these matches of one scene? A larger "
             "--threshold may help";
    case TwoView::degenerate:
      return "degenerate: these points fix no fundamental matrix, they are equal or lie on a line";
    case TwoView::too_few_points:
      return text("too few points: a sample takes ", options.sample, " correspondences");
  }
  return "";
}

// x1,y1,x2,y2,distance,inlier
std::string csv_text(const std::vector<Correspondence>& matches, const FundamentalResult& result) {
  std::ostringstream out;
  out << "x1,y1,x2,y2,distance,inlier\n";
  const bool has_f = result.F != std::array<double, 9>{};
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Correspondence& m = matches[i];
    out << shortest(m.x1) << ',' << shortest(m.y1) << ',' << shortest(m.x2) << ',' << shortest(m.y2)
        << ',';
    if (has_f) out << shortest(float(epipolar_distance(result.F, m)));
    out << ',' << int(result.inliers[i]) << '\n';
  }
  return out.str();
}

void print_result(const FundamentalCommand& c, const FundamentalEstimator& estimator,
                  const FundamentalResult& result, std::size_t matches, double milliseconds) {
  std::cout << c.matches << "  " << matches << " correspondences, " << result.inlier_count
            << " inliers  " << milliseconds_text(milliseconds) << " on "
            << estimator.context().description() << "\n"
            << result.hypotheses << " hypotheses in " << result.rounds << " round(s); stopped by "
            << name(result.stop) << "\n";
  if (result.kind != TwoView::general)
    std::cout << explanation(result, estimator.options()) << "\n";
  if (result.F != std::array<double, 9>{}) std::cout << "F\n" << matrix_text(result.F);
  if (result.kind == TwoView::planar) std::cout << "H\n" << matrix_text(result.H);
  std::cout << std::flush;
}

int run_fundamental(const FundamentalCommand& c) {
  const Context context = c.common.context();
  const auto estimator =
      usage_checked([&] { return find_estimator("fundamental").make(context, c.flags.given()); });
  const FundamentalOptions& options = estimator->options();
  const std::vector<Correspondence> matches = read_matches_csv(c.matches);
  FundamentalResult result;
  const auto begin = std::chrono::steady_clock::now();
  try {
    result = estimator->estimate(matches);
  } catch (const Error& error) {
    fail(error.code(), c.matches, ": ", error.what());
  }
  const double milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (c.common.talks()) print_result(c, *estimator, result, matches.size(), milliseconds);
  if (!c.csv.empty()) write_text(c.csv, csv_text(matches, result));
  const bool has_f = result.F != std::array<double, 9>{};
  Json json = {{"F", has_f ? matrix_json(result.F) : Json(nullptr)},
               {"inliers", result.inliers},
               {"inlier_count", result.inlier_count},
               {"hypotheses", result.hypotheses},
               {"rounds", result.rounds},
               {"converged", result.converged()},
               {"milliseconds", milliseconds},
               {"kind", name(result.kind)},
               {"stopped_by", name(result.stop)},
               {"threshold", options.threshold},
               {"device", context.name()}};
  if (result.kind == TwoView::planar) json["H"] = matrix_json(result.H);
  c.common.write_json(json);
  // That no model fits is a result; that none can is a mistake in the points.
  if (result.kind != TwoView::degenerate && result.kind != TwoView::too_few_points) return 0;
  print_error(c.matches + ": " + explanation(result, options));
  return 1;
}

}  // namespace

Run add_fundamental(CLI::App& app) {
  auto c = std::make_shared<FundamentalCommand>();
  CLI::App* command =
      app.add_subcommand("fundamental", "the fundamental matrix of matched points, by RANSAC");
  command
      ->add_option("matches", c->matches,
                   "text with a line x1,y1,x2,y2 a match; a line of names and further columns may "
                   "be there")
      ->required()
      ->type_name("MATCHES.csv");
  c->flags.add(*command, "Estimator", estimator_table());
  command->add_option("--csv", c->csv, "the matches with their distances and inliers")
      ->type_name("OUT.csv");
  add_common_options(*command, c->common);
  return [c] { return run_fundamental(*c); };
}

}  // namespace cornea::cli
