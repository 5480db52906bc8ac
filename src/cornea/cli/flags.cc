// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/flags.h"

#include "cornea/core/error.h"
#include "cornea/core/lower_case.h"

namespace cornea::cli {

Settings OptionFlags::given() const {
  Settings settings;
  for (const auto& [name, option] : options_) {
    if (option->count() > 0) settings[name] = values_.at(name);
  }
  return settings;
}

namespace {

std::map<const CLI::Option*, std::vector<FlagOwner>>& all_owners() {
  static std::map<const CLI::Option*, std::vector<FlagOwner>> owners;
  return owners;
}

// A name that the command already uses is prefixed with that of the group: --detector-threshold.
std::string free_name(const CLI::App& command, const std::string& group, const std::string& name) {
  if (!command.get_option_no_throw("--" + name)) return name;
  return core::in_lower_case(group) + "-" + name;
}

}  // namespace

std::vector<FlagOwner> owners_of(const CLI::Option& option) {
  const auto it = all_owners().find(&option);
  return it == all_owners().end() ? std::vector<FlagOwner>() : it->second;
}

void OptionFlags::add_all(CLI::App& command, const char* group, const std::vector<Owner>& owners) {
  std::map<std::string, std::vector<std::pair<std::string, const Flag*>>> users;
  std::vector<std::string> order;
  for (const auto& [owner, flags] : owners) {
    for (const Flag& flag : *flags) {
      if (users[flag.name].empty()) order.push_back(flag.name);
      users[flag.name].emplace_back(owner, &flag);
    }
  }
  for (const std::string& name : order) {
    const auto& list = users[name];
    const Flag& flag = *list.front().second;
    auto remember = [&](const CLI::Option* option) {
      for (const auto& [owner, f] : list) all_owners()[option].push_back({owner, *f});
    };
    std::string& value = values_[name];
    const std::string shown = free_name(command, group, name);
    if (flag.kind == Flag::Kind::on_off) {
      options_[name] =
          command
              .add_flag_function(
                  "--" + shown + ",!--no-" + shown,
                  [&value](std::int64_t on) { value = on > 0 ? "yes" : "no"; }, flag.help)
              ->group(group);
      remember(options_[name]);
      continue;
    }
    CLI::Option* option = command.add_option("--" + shown, value, flag.help)->group(group);
    option->type_name(flag.kind == Flag::Kind::integer   ? "N"
                      : flag.kind == Flag::Kind::number  ? "X"
                      : flag.kind == Flag::Kind::numbers ? "X,X,..."
                                                         : CLI::detail::join(flag.choices, "|"));
    options_[name] = option;
    remember(option);
  }
}

}  // namespace cornea::cli
