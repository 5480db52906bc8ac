// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/manual.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "cornea/cli/flags.h"
#include "cornea/core/error.h"
#include "cornea/core/lower_case.h"

namespace cornea::cli {
namespace {

constexpr std::size_t kColumns = 80, kLeft = 28;

const std::map<std::string, std::vector<std::string>>& examples() {
  static const std::map<std::string, std::vector<std::string>> table = {
      {"", {"cornea pair left.jpg right.jpg -o result", "cornea help detect"}},
      {"detect",
       {"cornea detect photo.jpg --draw corners.png",
        "cornea detect *.jpg --detector sift --max-points 2000 --json features.json"}},
      {"filter", {"cornea filter photo.jpg -o smooth.png --filter trilateral --sigma 4"}},
      {"match", {"cornea match left.jpg right.jpg --draw matches.png --csv matches.csv"}},
      {"fundamental", {"cornea fundamental matches.csv --csv inliers.csv"}},
      {"essential",
       {"cornea essential matches.csv --camera 1520,1520,959.5,539.5",
        "cornea essential matches.csv --camera SIMPLE_RADIAL:1200,960,540,-0.05"}},
      {"homography", {"cornea homography matches.csv --csv inliers.csv"}},
      {"pair",
       {"cornea pair left.jpg right.jpg --open", "cornea pair left.jpg right.jpg --focal 1520",
        "cornea pair left.jpg right.jpg -o result --max-features 8000"}},
      {"folder",
       {"cornea folder photos -o scene", "cornea folder video_frames -o scene --pairs sequential",
        "cornea folder photos -o scene --map"}},
      {"extract",
       {"cornea extract photos --db scene.db",
        "cornea extract photos --db scene.db --cameras per-folder --camera-model OPENCV",
        "cornea extract --work work --shard 3/40"}},
      {"import", {"cornea import --db a.db --images photos --keypoints points --matches m.txt"}},
      {"match-all",
       {"cornea match-all --db scene.db", "cornea match-all --work work --shard 3/40"}},
      {"verify", {"cornea verify --db scene.db", "cornea verify --work work --shard 3/40"}},
      {"shard",
       {"cornea shard plan photos -o work --size 1000", "cornea shard pairs work",
        "cornea shard further work", "cornea shard status work"}},
      {"merge",
       {"cornea merge work --db scene.db",
        "cornea merge work --by-component parts --no-descriptors"}},
      {"cluster",
       {"cornea cluster photos -o work --workers 4 --gpus-per-worker 0.5",
        "cornea cluster s3://bucket/photos -o /mnt/work --address auto"}},
      {"report", {"cornea report --db scene.db --images photos -o result --open"}},
      {"scene", {"cornea scene -o street --views 2 --width 640 --height 480"}},
      {"study",
       {"cornea study ransac --device cpu", "cornea study foagdd -o result",
        "cornea study trilateral --images photos -o result"}},
      {"evaluate",
       {"cornea evaluate", "cornea evaluate photos --with harris --with sift -o result",
        "cornea evaluate graf --parts sequences --theirs opencv=points"}},
      {"bench", {"cornea bench --detector sift --sizes 1920x1080"}},
      {"info", {"cornea info"}},
      {"certify", {"cornea certify --device cpu"}},
      {"completion",
       {"cornea completion bash > ~/.local/share/bash-completion/completions/cornea"}}};
  return table;
}

// Makes a sentence of a description, which is written for a list.
std::string as_sentence(std::string words) {
  if (words.empty()) return words;
  words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  if (words.back() != '.') words += '.';
  return words;
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_type_size() != 0) {
    entry.value = option.get_type_name();
    // Removes CLI11's checks.
    entry.value.erase(std::min(entry.value.find(':'), entry.value.size()));
    for (const auto& [word, ours] : {std::pair("INT", "N"), std::pair("UINT", "N"),
                                     std::pair("FLOAT", "X"), std::pair("TEXT", "NAME")}) {
      if (entry.value == word) entry.value = ours;
    }
    if (option.get_items_expected_max() > 1 && !entry.value.ends_with("...")) entry.value += "...";
  }
  entry.help = option.get_description();
  entry.default_text = option.get_default_str();
  if (entry.default_text.starts_with('[') && entry.default_text.ends_with(']')) {  // a list
    entry.default_text = entry.default_text.substr(1, entry.default_text.size() - 2);
  }
  entry.owners = owners_of(option);
  if (!entry.owners.empty()) entry.choices = entry.owners.front().flag.choices;
  return entry;
}

// The entry that is selected in a table: the given value, or its default.
std::string value_of(const CLI::App& command, const std::string& flag) {
  const CLI::Option* option = command.get_option_no_throw(flag);
  if (!option) return "";
  return option->count() > 0 ? option->results().back() : option->get_default_str();
}

void wrap(const std::string& words, std::size_t left, std::string& out) {
  std::size_t column = left;
  bool first = true;
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    begin = end + 1;
    if (!first && column + 1 + word.size() > kColumns) {
      out += "\n" + std::string(left, ' ');
      column = left;
      first = true;
    }
    if (!first) out += ' ', ++column;
    out += word;
    column += word.size();
    first = false;
  }
  out += '\n';
}

void add_line(const std::string& name, const std::string& words, std::string& out) {
  out += "  " + name;
  if (name.size() + 2 >= kLeft) {
    out += "\n" + std::string(kLeft, ' ');
  } else {
    out += std::string(kLeft - 2 - name.size(), ' ');
  }
  wrap(words, kLeft, out);
}

std::string left_column(const OptionEntry& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + name;
  return names + (names.empty() || option.value.empty() ? "" : " ") + option.value;
}

std::string with_default(const std::string& help, const std::string& default_text) {
  return default_text.empty() ? help : help + " [" + default_text + "]";
}

void add_group(const CommandEntry& command, const OptionGroup& group, std::string& out) {
  std::set<std::string> others;
  out += "\n" + (group.chosen.empty() ? group.title : "Options of " + group.chosen) + ":\n";
  for (const OptionEntry& option : group.options) {
    const FlagOwner* owner = nullptr;
    for (const FlagOwner& o : option.owners) {
      if (group.chosen.empty() || o.name == group.chosen) owner = &o;
      if (o.name != group.chosen) others.insert(o.name);
    }
    if (!option.owners.empty() && !owner) continue;
    add_line(left_column(option),
             owner ? with_default(owner->flag.help, owner->flag.default_text)
                   : with_default(option.help, option.default_text),
             out);
  }
  if (group.chosen.empty() || others.empty()) return;
  std::string names;
  for (const std::string& name : others) names += (names.empty() ? "" : "|") + name;
  out += "  Options of the others: cornea " + command.name + " " + group.chooser + " " + names +
         " --help\n";
}

void add_commands(const char* title, const std::vector<CommandEntry>& commands, std::string& out) {
  out += std::string("\n") + title + ":\n";
  for (const CommandEntry& command : commands) add_line(command.name, command.summary, out);
}

}  // namespace

CommandEntry describe(const CLI::App& command) {
  CommandEntry entry;
  if (command.get_parent()) entry.name = command.get_name();
  entry.summary = command.get_description();
  if (const auto it = examples().find(entry.name); it != examples().end()) {
    entry.examples = it->second;
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    if (option->get_positional()) {
      entry.positionals.push_back(entry_of(*option));
      continue;
    }
    const std::string title =
        option->get_group() == "Options" ? "Options" : option->get_group() + " options";
    auto group = std::find_if(entry.groups.begin(), entry.groups.end(),
                              [&](const OptionGroup& g) { return g.title == title; });
    if (group == entry.groups.end()) {
      group = entry.groups.insert(entry.groups.end(), {title, "", "", {}});
    }
    group->options.push_back(entry_of(*option));
    std::set<std::string> owners;
    for (const OptionEntry& o : group->options) {
      for (const FlagOwner& owner : o.owners) owners.insert(owner.name);
    }
    if (owners.size() > 1) {
      group->chooser = "--" + core::in_lower_case(option->get_group());
      const std::string chosen = value_of(command, group->chooser);
      if (owners.contains(chosen)) group->chosen = chosen;
    }
  }
  return entry;
}

CommandList describe_commands(const CLI::App& program) {
  static const std::set<std::string> about = {"study", "evaluate", "bench",
                                              "info",  "certify",  "completion"};
  CommandList list;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;  // hidden
    (about.contains(command->get_name()) ? list.about : list.work).push_back(describe(*command));
  }
  return list;
}

std::string help_text(const CLI::App& app) {
  const CommandEntry command = describe(app);
  std::string out;
  wrap(as_sentence(command.summary), 0, out);
  out += command.examples.size() == 1 ? "\nExample:\n" : "\nExamples:\n";
  for (const std::string& line : command.examples) out += "  " + line + "\n";
  out += "\nUsage: cornea ";
  out += command.name.empty() ? "COMMAND" : command.name;
  for (const OptionEntry& p : command.positionals) out += " " + p.value;
  out += " [OPTIONS]\n";
  if (!command.positionals.empty()) out += "\n";
  for (const OptionEntry& p : command.positionals) add_line(p.value, p.help, out);
  if (command.name.empty()) {
    const CommandList list = describe_commands(app);
    add_commands("Commands", list.work, out);
    add_commands("Measurements and the program itself", list.about, out);
  }
  for (const OptionGroup& group : command.groups) add_group(command, group, out);
  if (command.name.empty()) out += "\n'cornea help COMMAND' shows the options of a command.\n";
  return out;
}

}  // namespace cornea::cli
