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

// A table without a flag that the command has under another name.
template <class Entry>
std::vector<Entry> without_flag(std::vector<Entry> table, const std::string& name) {
  for (Entry& entry : table) {
    std::erase_if(entry.flags, [&](const Flag& flag) { return flag.name == name; });
  }
  return table;
}

// The entries of a table that an option belongs to; none for options of the command itself.
std::vector<FlagOwner> owners_of(const CLI::Option& option);

class OptionFlags {
 public:
  // One flag for every option of every entry; the help says which entries have it. A name that the
  // command already has is kept apart as --GROUP-NAME.
  template <class Entry>
  void add(CLI::App& command, const char* group, const std::vector<Entry>& table) {
    std::vector<Owner> owners;
    for (const Entry& entry : table) owners.emplace_back(entry.name, &entry.flags);
    add_all(command, group, owners);
  }

  // What was given on the command line.
  Settings given() const;

 private:
  using Owner = std::pair<std::string, const std::vector<Flag>*>;
  void add_all(CLI::App& command, const char* group, const std::vector<Owner>& owners);

  std::map<std::string, std::string> values_;  // by flag name
  std::map<std::string, CLI::Option*> options_;
};

}  // namespace cornea::cli
