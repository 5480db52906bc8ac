// SPDX-License-Identifier: Apache-2.0
// One description of the commands and their options, read from the parser, for the help, the manual
// pages and the shell completion.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cornea/catalog/settings.h"

namespace cornea::cli {

// An option of a table, as one of its entries (a detector, a filter) has it.
struct FlagOwner {
  std::string name;
  Flag flag;
};

struct OptionEntry {
  std::vector<std::string> names;  // "-q", "--quiet"; a positional has none
  std::string value;               // "OUT.csv"; empty for a switch
  std::string help;
  std::string default_text;          // empty: none
  std::vector<std::string> choices;  // if the value is one of several words
  std::vector<FlagOwner> owners;     // the table entries that have it
};

struct OptionGroup {
  std::string title;
  // If options belong to entries of a table: the flag that selects an entry, and the selected one.
  std::string chooser, chosen;
  std::vector<OptionEntry> options;
};

struct CommandEntry {
  std::string name;  // empty: the program itself
  std::string summary;
  std::vector<std::string> examples;
  std::vector<OptionEntry> positionals;
  std::vector<OptionGroup> groups;
};

CommandEntry describe(const CLI::App& command);
// Commands that do the work, and those that measure and explain.
struct CommandList {
  std::vector<CommandEntry> work, about;
};
CommandList describe_commands(const CLI::App& program);

// In 80 columns; of a table's options only those of the selected entry.
std::string help_text(const CLI::App& command);

// In troff, for man.
std::string man_page(const CommandEntry& command);
std::string man_page(const CommandList& commands);
// For bash, zsh or fish.
std::string completion_script(const CommandList& commands, const std::string& shell);

}  // namespace cornea::cli
