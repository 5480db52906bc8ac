// SPDX-License-Identifier: Apache-2.0
// Flags for the options of a whole table of detectors or filters.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cornea/catalog/settings.h"
#include "cornea/cli/manual.h"

namespace cornea::cli {

// The table without a flag that the command provides under another name.
template <class Entry>
std::vector<Entry> without_flag(std::vector<Entry> table, const std::string& name) {
  for (Entry& entry : table) {
    std::erase_if(entry.flags, [&](const Flag& flag) { return flag.name == name; });
  }
  return table;
}

// The entries of a table that an option belongs to; empty for options of the command itself.
std::vector<FlagOwner> owners_of(const CLI::Option& option);

class OptionFlags {
 public:
  // Adds one flag for every option of every entry; the help says which entries have it. An option
  // whose name the command already uses becomes --GROUP-NAME.
  template <class Entry>
  void add(CLI::App& command, const char* group, const std::vector<Entry>& table) {
    std::vector<Owner> owners;
    for (const Entry& entry : table) owners.emplace_back(entry.name, &entry.flags);
    add_all(command, group, owners);
  }

  // The options given on the command line.
  Settings given() const;

 private:
  using Owner = std::pair<std::string, const std::vector<Flag>*>;
  void add_all(CLI::App& command, const char* group, const std::vector<Owner>& owners);

  std::map<std::string, std::string> values_;  // by flag name
  std::map<std::string, CLI::Option*> options_;
};

}  // namespace cornea::cli
