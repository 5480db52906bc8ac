// SPDX-License-Identifier: Apache-2.0
// Shared by the commands of estimators: reads matches from CSV, estimates a model, and writes text,
// CSV and JSON.
#pragma once

#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cornea/catalog/estimators.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/cli/two_view.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"

namespace cornea::cli {

struct EstimatorCommand {
  CommonOptions common;
  std::string matches, csv;
  OptionFlags flags;
};

// Adds the command of an estimator of the catalog, with MATCHES.csv, its flags and --csv;
// `distance` is the column of distances that --csv adds, and `meaning` explains it.
// add_further(command) adds options listed before the estimator's.
inline CLI::App* add_estimator_command(
    CLI::App& app, EstimatorCommand& c, const std::string& name, const std::string& summary,
    const std::string& distance, const std::string& meaning,
    const std::function<void(CLI::App&)>& add_further = nullptr) {
  CLI::App* command = app.add_subcommand(name, summary);
  add_matches_argument(*command, c.matches);
  if (add_further) add_further(*command);
  c.flags.add(*command, "Estimator", std::vector{find_estimator(name)});
  command
      ->add_option("--csv", c.csv,
                   "all columns of the input, then " + distance + " (" + meaning + ") and inlier")
      ->type_name("OUT.csv");
  add_common_options(*command, c.common);
  return command;
}

// What a command reports besides the counts.
struct Answer {
  std::string text;  // lines for the terminal
  Json matrices;     // the first keys of the JSON
  Json facts;        // its last keys
  std::function<std::optional<double>(const Correspondence&)> distance;
  std::string failure;  // the sentence for standard error if no model can exist
};

// estimate(estimator, matches) returns the result, answer(estimator, result) what to report of it.
template <class Estimator, class Estimate, class Describe>
int run_estimator(const EstimatorCommand& c, const std::string& name, const std::string& distance,
                  const Estimate& estimate, const Describe& answer) {
  const Context context = c.common.context();
  auto estimator = usage_checked(
      [&] { return std::get<Estimator>(find_estimator(name).make(context, c.flags.given())); });
  check_outputs({{c.matches}}, c.common.outputs({c.csv}));
  const std::vector<std::string> new_columns = {distance, "inlier"};
  const MatchTable table = matches_from(c.matches, new_columns);
  const core::Stopwatch watch;
  const auto result = [&] {
    try {
      return estimate(estimator, table.matches);
    } catch (const Error& error) {
      fail(error.code(), input_name(c.matches), ": ", error.what());
    }
  }();
  const double milliseconds = watch.milliseconds();
  const Answer described = answer(estimator, result);
  if (c.common.talks({c.csv})) {
    print_counts(c.matches, context, result, milliseconds);
    std::cout << described.text << std::flush;
  }
  if (!c.csv.empty()) {
    write_text(c.csv, csv_text(table, distance, described.distance, result.inliers));
  }
  Json json = described.matrices;
  add_counts(json, context, result, milliseconds);
  json.update(described.facts);
  c.common.write_json(json);
  if (ends_well(result.kind)) return 0;
  print_error(input_name(c.matches) + ": " + described.failure);
  return 1;
}

}  // namespace cornea::cli
