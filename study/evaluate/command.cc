// SPDX-License-Identifier: Apache-2.0
// cornea evaluate: which detector, scale space and estimator is best for given images?
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

#include "study/evaluate/evaluate.h"
#include "study/evaluate/transforms.h"

#include "cornea/cli/common.h"
#include "cornea/cli/progress.h"
#include "cornea/cli/shell_words.h"
#include "cornea/cli/two_view.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;
using namespace evaluate;

constexpr const char* kParts[] = {"changes", "corners", "sequences", "labelled", "poses"};
constexpr const char* kDetectors[] = {"moravec", "harris", "shi-tomasi: harris measure=shi-tomasi",
                                      "foagdd", "sift"};
constexpr const char* kEstimators[] = {"fundamental", "essential", "homography"};

struct EvaluateCommand {
  CommonOptions common;
  std::vector<std::string> folders, with, theirs, labels;
  std::string parts, images, output, words;
  bool only_theirs = false, fine = false;
  int points = 1000, seeds = 5;
  MatchOptions match;
};

std::pair<std::string, std::string> split_at_equals(const std::string& given, const char* flag,
                                                    const char* form) {
  const std::size_t equals = given.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == given.size()) {
    throw UsageError(text(flag, " takes ", form, ", not '", given, "'"));
  }
  return {given.substr(0, equals), given.substr(equals + 1)};
}

std::set<std::string> parts_of(const EvaluateCommand& c) {
  std::set<std::string> parts(std::begin(kParts), std::end(kParts));
  if (c.parts.empty()) return parts;
  std::set<std::string> asked;
  std::istringstream words(c.parts);
  for (std::string word; std::getline(words, word, ',');) {
    if (!parts.contains(word)) {
      throw UsageError("--parts takes some of changes,corners,sequences,labelled,poses, not '" +
                       word + "'");
    }
    asked.insert(word);
  }
  return asked;
}

void add_candidates(const EvaluateCommand& c, Evaluation& evaluation) {
  std::vector<Choice> choices;
  for (const std::string& words : c.with) {
    choices.push_back(usage_checked([&] { return read_choice(words); }));
  }
  auto add_missing = [&](bool (*of_kind)(const std::string&), const auto& defaults) {
    if (std::any_of(choices.begin(), choices.end(),
                    [&](const Choice& choice) { return of_kind(choice.entry); })) {
      return;
    }
    for (const char* words : defaults) choices.push_back(read_choice(words));
  };
  if (!c.only_theirs) add_missing(&is_detector, kDetectors);
  for (const char* entry : kEstimators) {
    const bool named = std::any_of(choices.begin(), choices.end(),
                                   [&](const Choice& choice) { return choice.entry == entry; });
    if (!named) choices.push_back(read_choice(entry));
  }
  std::set<std::string> names;
  auto check_name = [&](const std::string& name) {
    if (!names.insert(name).second) {
      throw UsageError("two candidates are called '" + name +
                       "'; give one of them another name: \"NAME: sift contrast=0.02\"");
    }
  };
  for (const Choice& choice : choices) {
    check_name(choice.label);
    usage_checked([&] {
      if (is_detector(choice.entry)) {
        if (c.only_theirs) throw UsageError("--only-theirs excludes " + choice.label);
        evaluation.candidates.push_back(detector_candidate(evaluation.context, choice));
      } else {
        evaluation.estimators.push_back(estimator_candidate(evaluation.context, choice, c.seeds));
      }
    });
  }
  for (const std::string& given : c.theirs) {
    const auto [name, folder] = split_at_equals(given, "--theirs", "NAME=FOLDER");
    check_name(name);
    evaluation.candidates.push_back(file_candidate(name, folder));
  }
  if (evaluation.candidates.empty()) throw UsageError("--only-theirs needs --theirs NAME=FOLDER");
}

study::Section ranking(const std::vector<Best>& best) {
  study::Section section{"Which is best"};
  study::Table table{
      "", "", study::text_columns({"measure", "best", "value", "next", "its value"}), {}};
  table.title = "The best by each measure";
  for (const Best& b : best) {
    if (!b.who.empty()) table.add({b.measure, b.who, b.value, b.next, b.next_value});
  }
  section.tables.push_back(std::move(table));
  return section;
}

struct Results {
  study::Report report;
  Json json;
};

Results measure(Evaluation& evaluation, const Found& found, const std::set<std::string>& parts) {
  std::vector<std::pair<const char*, Part>> done;
  const std::vector<Picture> pictures = pictures_to_change(found);
  std::vector<Picture> with_corners;
  for (const Picture& p : found.pictures) {
    if (!p.corners.empty()) with_corners.push_back(p);
  }
  if (parts.contains("changes") && !pictures.empty()) {
    done.emplace_back("changes", measure_repeatability(evaluation, pictures));
  }
  if (parts.contains("corners") && !with_corners.empty()) {
    done.emplace_back("corners", measure_corners(evaluation, with_corners));
  }
  if (parts.contains("sequences") && !found.sequences.empty()) {
    done.emplace_back("sequences", measure_sequences(evaluation, found.sequences));
  }
  if (parts.contains("labelled") && !found.labelled.empty()) {
    done.emplace_back("labelled", measure_labelled(evaluation, found.labelled));
  }
  if (parts.contains("poses") && !found.views.empty()) {
    done.emplace_back("poses", measure_poses(evaluation, found.views));
  }
  if (done.empty()) {
    fail(ErrorCode::io, "none of the data found can be used for the requested parts (--parts)");
  }
  Results results{{.kind = "evaluation", .title = "Evaluation"}, Json::object()};
  std::vector<Best> best;
  for (auto& [name, part] : done) best.insert(best.end(), part.best.begin(), part.best.end());
  results.report.sections.push_back(ranking(best));
  results.json["best"] = Json::array();
  for (const Best& b : best) {
    results.json["best"].push_back({{"measure", b.measure},
                                    {"best", b.who},
                                    {"value", b.value},
                                    {"next", b.next},
                                    {"next_value", b.next_value}});
  }
  for (auto& [name, part] : done) {
    results.json[name] = std::move(part.details);
    results.json[name]["tables"] = Json::array();
    for (const study::Table& t : part.section.tables) {
      results.json[name]["tables"].push_back(study::json_of(t));
    }
    results.report.sections.push_back(std::move(part.section));
  }
  return results;
}

int run_evaluate(const EvaluateCommand& c) {
  const std::set<std::string> parts = parts_of(c);
  std::vector<std::pair<std::string, std::string>> labels;
  for (const std::string& label : c.labels) {
    labels.push_back(split_at_equals(label, "--label", "KEY=VALUE"));
  }
  Evaluation evaluation{
      c.common.context(), c.common.reading(), c.match, c.points, c.fine, c.common.quiet, {}, {}};
  usage_checked([&] { c.match.validate(); });
  add_candidates(c, evaluation);
  check_outputs({}, c.common.outputs({}));
  check_outputs_in(c.folders, c.common.outputs({}));
  for (const std::string& folder : c.folders) {
    if (c.images.empty() || !is_inside(folder, c.images)) continue;
    throw UsageError(c.images + ": is in the folder " + folder +
                     " that is evaluated; name another folder for the images");
  }
  if (!c.output.empty()) make_folder(c.output);  // fail now rather than after minutes of work
  const Found found =
      c.folders.empty() ? generated_scenes(evaluation.context) : look_into(c.folders);
  if (!c.theirs.empty() || !c.images.empty()) found.require_different_names();
  const bool talks = c.common.talks();
  if (talks) {
    std::cout << (c.folders.empty() ? "generated: " : "found: ") << found.summary() << std::endl;
  }
  if (!c.images.empty()) {
    const int count = write_images(evaluation, found, c.images);
    if (talks) std::cout << count << " images written to " << c.images << std::endl;
    return 0;
  }
  if (talks) {
    std::cout << evaluation.candidates.size() << " detectors and " << evaluation.estimators.size()
              << " estimators on " << evaluation.context.description() << "\n"
              << std::endl;
  }
  Results results = measure(evaluation, found, parts);
  study::Report& report = results.report;
  report.command = c.words;
  report.facts = study::machine_facts({evaluation.context.description()}, labels);
  report.facts.emplace_back("data", found.summary());
  if (!c.output.empty()) study::write_results(c.output, report);
  if (talks) {
    std::cout << study::terminal_text(report);
    if (!c.output.empty()) {
      std::cout << "\nwritten to " << (fs::path(c.output) / "index.html").string() << "\n";
    }
    std::cout << std::flush;
  }
  Json json = {{"device", evaluation.context.description()},
               {"data", found.summary()},
               {"points", c.points},
               {"seeds", c.seeds}};
  for (const auto& [key, value] : report.facts) json["facts"][key] = value;
  json.update(results.json);
  c.common.write_json(json);
  return 0;
}

void add_evaluate_options(CLI::App& command, EvaluateCommand& c) {
  command
      .add_option("folders", c.folders,
                  "folders of images, of sequences (img1.png, H1to2.txt or 1.ppm, H_1_2), of "
                  "labelled correspondences (x1,y1,x2,y2,label) or with a cameras.json, or folders "
                  "of such; none: generated scenes")
      ->type_name("DIR...");
  command
      .add_option("--with", c.with,
                  "a candidate: a detector or estimator and its options, such as \"sift "
                  "scale-space=bilateral\" or, with a name in front, \"fine: fundamental "
                  "threshold=1\"; may be repeated [Moravec, Harris, Shi-Tomasi, FOAGDD, SIFT; F, "
                  "E, H]")
      ->type_name("WHO")
      ->allow_extra_args(false);
  command
      .add_option("--theirs", c.theirs,
                  "points of other programs: per image IMAGE.csv (x,y, and scale,angle,response if "
                  "known) and IMAGE.npy (a descriptor per row, uint8 or float32), or per pair "
                  "A-B.csv (x1,y1,x2,y2); may be repeated")
      ->type_name("NAME=FOLDER")
      ->allow_extra_args(false);
  command.add_flag("--only-theirs", c.only_theirs, "evaluate no detectors but those of --theirs");
  command
      .add_option("--points", c.points,
                  "most points per image; all detectors use as many as the one with the fewest has")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  command.add_option("--seeds", c.seeds, "runs of every estimator")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  command
      .add_option("--parts", c.parts,
                  "some of changes,corners,sequences,labelled,poses; default: all that the data "
                  "allows")
      ->type_name("LIST");
  command.add_flag("--fine", c.fine, "use more levels of each change; takes several times as long");
  command
      .add_option("--write-images", c.images,
                  "write every image that would be used to DIR, for other programs, and exit")
      ->type_name("DIR")
      ->check(&no_folder);
  command
      .add_option("-o,--output", c.output,
                  "folder for results.md, results.json, plots as SVG and index.html")
      ->type_name("DIR")
      ->check(&no_folder);
  command
      .add_option("--label", c.labels, "recorded with the results: commit=1a2b3c; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_match_options(command, c.match);
}

}  // namespace

Run add_evaluate(CLI::App& app, const std::vector<std::string>& words) {
  auto c = std::make_shared<EvaluateCommand>();
  c->words = shell_line(words);
  CLI::App* command = app.add_subcommand(
      "evaluate", "which detector, scale space and estimator is best for given images");
  add_evaluate_options(*command, *c);
  add_common_options(*command, c->common);
  add_reading_options(*command, c->common);
  return [c] { return run_evaluate(*c); };
}

}  // namespace cornea::cli
