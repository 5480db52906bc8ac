// SPDX-License-Identifier: Apache-2.0
// cornea study NAME: the published systems' own experiments, one command each.
#include "study/study.h"

#include <iostream>

namespace cornea::cli {
namespace {

struct Study {
  const char *name, *help;
  StudyResult (*run)(const StudyDevices& devices, const StudyCommand& command);
};
constexpr Study kStudies[] = {
    {"foagdd", "corners of a plain implementation, CPU and CUDA; time per stage", study_foagdd},
    {"moravec", "the steps from one thread per pixel to shared memory", study_moravec},
    {"svd", "batches of small matrices: time and errors by size and number", study_svd},
    {"ransac", "F by threshold and hypotheses per round: time, inliers, distances", study_ransac},
    {"trilateral", "the filter's steps; SIFT in three scale spaces", study_trilateral},
};

std::string names() {
  std::string list;
  for (const Study& study : kStudies) list += (list.empty() ? "" : ", ") + std::string(study.name);
  return list;
}

StudyDevices devices_of(const CommonOptions& common) {
  const Context chosen = common.context();
  if (!chosen.is_cuda()) return {chosen, std::nullopt};
  return {Context::cpu(common.threads), chosen};
}

std::vector<std::pair<std::string, std::string>> pairs_of(const std::vector<std::string>& labels) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& label : labels) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError("--label takes KEY=VALUE, not '" + label + "'");
    }
    pairs.emplace_back(label.substr(0, equals), label.substr(equals + 1));
  }
  return pairs;
}

// The command line to run it again.
std::string command_line(const StudyCommand& c) {
  std::string line = "cornea study " + c.name + " --device " + c.common.device;
  if (c.common.threads > 0) line += text(" --threads ", c.common.threads);
  if (!c.matches.empty()) line += " --matches " + c.matches;
  if (!c.images.empty()) line += " --images " + c.images;
  if (c.quick) line += " --quick";
  return line + text(" --repeat ", c.repeat);
}

int run_study(const StudyCommand& c) {
  for (const Study& study : kStudies) {
    if (c.name != study.name) continue;
    check_outputs({{c.matches}}, c.common.outputs({}));
    check_outputs_in({c.images}, c.common.outputs({}));
    const auto labels = pairs_of(c.labels);
    if (!c.output.empty()) make_folder(c.output);  // fail now rather than after minutes of work
    const StudyDevices devices = devices_of(c.common);
    StudyResult result = study.run(devices, c);
    study::Report& report = result.report;
    report.command = command_line(c);
    report.facts = study::machine_facts(devices.descriptions(), labels);
    if (!c.output.empty()) study::write_results(c.output, report);
    if (c.common.talks()) {
      std::cout << study::terminal_text(report);
      if (!c.output.empty()) {
        std::cout << "\nwritten to " << (std::filesystem::path(c.output) / "index.html").string()
                  << "\n";
      }
      std::cout << std::flush;
    }
    Json json = {
        {"study", c.name}, {"device", devices.chosen().description()}, {"repeat", c.repeat}};
    for (const auto& [key, value] : result.more.items()) json[key] = value;
    const Json written = study::json_of(report);
    for (const auto& [key, value] : written.items()) json[key] = value;
    c.common.write_json(json);
    if (!result.failure.empty()) fail(ErrorCode::internal, result.failure);
    return 0;
  }
  throw UsageError("no study is called '" + c.name + "'; there are: " + names());
}

}  // namespace

std::vector<std::string> StudyDevices::descriptions() const {
  std::vector<std::string> list = {cpu.description()};
  if (cuda) list.push_back(cuda->description());
  return list;
}

std::string StudyDevices::words() const {
  return cuda ? cpu.description() + "; " + cuda->description() : cpu.description();
}

Run add_study(CLI::App& app) {
  auto c = std::make_shared<StudyCommand>();
  CLI::App* command = app.add_subcommand("study", "repeat the experiments of a published system");
  std::string help = "which:";
  for (const Study& study : kStudies) help += text(" ", study.name, " (", study.help, ")");
  command->add_option("name", c->name, help)->required()->type_name("NAME");
  command
      ->add_option("--output,-o", c->output,
                   "folder for results.md, results.json, plots as SVG and index.html")
      ->type_name("DIR")
      ->check([](const std::string& name) { return no_folder(name); });
  command
      ->add_option("--images", c->images,
                   "foagdd, trilateral: use the images of this folder instead of generated ones")
      ->type_name("DIR")
      ->check([](const std::string& name) { return no_folder(name); });
  command
      ->add_option("--matches", c->matches,
                   "ransac: use these matches (x1,y1,x2,y2 per line) instead of synthetic ones")
      ->type_name("MATCHES.csv");
  command
      ->add_option("--repeat", c->repeat, "number of timed calls; slow ones are timed less often")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  command->add_flag("--quick", c->quick, "only small sizes, for a quick look at a study");
  command
      ->add_option("--label", c->labels, "recorded with the results, as KEY=VALUE: commit=1a2b3c")
      ->type_name("KEY=VALUE...");
  add_common_options(*command, c->common);
  add_reading_options(*command, c->common);
  return [c] { return run_study(*c); };
}

}  // namespace cornea::cli
