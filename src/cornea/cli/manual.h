// The commands and their options as help, manual pages and shell completion show them: one
// description, read off the parser, for all three.
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
  std::vector<std::string> choices;  // of the value, where they are words
  std::vector<FlagOwner> owners;     // where it belongs to entries of a table
};

struct OptionGroup {
  std::string title;
  // Where options belong to entries of a table: the flag that chooses one, and the choice.
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
// Those that do the work, and those that measure and explain.
struct CommandList {
  std::vector<CommandEntry> work, about;
};
CommandList describe_commands(const CLI::App& program);

// 80 columns; of a table's options those of the chosen entry.
std::string help_text(const CLI::App& command);

// Troff, for man.
std::string man_page(const CommandEntry& command);
std::string man_page(const CommandList& commands);
// For bash, zsh or fish.
std::string completion_script(const CommandList& commands, const std::string& shell);

}  // namespace cornea::cli
