// cornea study NAME: the published systems' own experiments, in one command each.
#include "study/study.h"

namespace cornea::cli {
namespace {

struct Study {
  const char *name, *help;
  Json (*run)(const Context& context, const StudyCommand& command);
};
constexpr Study kStudies[] = {
    {"svd", "batches of small matrices: time and errors by size and number", study_svd},
    {"ransac", "F by threshold and hypotheses a round: time, inliers, distances", study_ransac},
};

std::string names() {
  std::string list;
  for (const Study& study : kStudies) list += (list.empty() ? "" : ", ") + std::string(study.name);
  return list;
}

int run_study(const StudyCommand& c) {
  for (const Study& study : kStudies) {
    if (c.name != study.name) continue;
    check_outputs({{c.matches}}, c.common.outputs({}));
    c.common.write_json(study.run(c.common.context(), c));
    return 0;
  }
  throw UsageError("no study is called '" + c.name + "'; there are: " + names());
}

}  // namespace

Run add_study(CLI::App& app) {
  auto c = std::make_shared<StudyCommand>();
  CLI::App* command = app.add_subcommand("study", "a published system's own experiment");
  std::string help = "which:";
  for (const Study& study : kStudies) help += text(" ", study.name, " (", study.help, ")");
  command->add_option("name", c->name, help)->required()->type_name("NAME");
  command
      ->add_option("--matches", c->matches,
                   "ransac: work on these matches (x1,y1,x2,y2 a line) instead of synthetic ones")
      ->type_name("MATCHES.csv");
  command->add_option("--repeat", c->repeat, "timed calls")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  add_common_options(*command, c->common);
  return [c] { return run_study(*c); };
}

}  // namespace cornea::cli
