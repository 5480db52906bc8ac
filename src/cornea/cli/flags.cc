#include "cornea/cli/flags.h"

#include <cctype>

#include "cornea/core/error.h"

namespace cornea::cli {

Settings OptionFlags::given() const {
  Settings settings;
  for (const auto& [name, option] : options_) {
    if (option->count() > 0) settings[name] = values_.at(name);
  }
  return settings;
}

namespace {

// A name that the command uses for something else gets the group's in front: --detector-threshold.
std::string free_name(const CLI::App& command, const std::string& group, const std::string& name) {
  if (!command.get_option_no_throw("--" + name)) return name;
  std::string small = group;
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small + "-" + name;
}

}  // namespace

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
    std::string help = flag.help, defaults;
    bool same = true;
    for (const auto& [owner, f] : list) same &= f->default_text == flag.default_text;
    for (const auto& [owner, f] : list) {
      defaults += text(defaults.empty() ? "" : ", ", owner, ": ", f->default_text);
    }
    const bool everyone = list.size() == owners.size();
    help += same && everyone ? text(" [", flag.default_text, "]") : text(" [", defaults, "]");
    std::string& value = values_[name];
    const std::string shown = free_name(command, group, name);
    if (flag.kind == Flag::Kind::on_off) {
      options_[name] = command
                           .add_flag_function(
                               "--" + shown + ",!--no-" + shown,
                               [&value](std::int64_t on) { value = on > 0 ? "yes" : "no"; }, help)
                           ->group(group);
      continue;
    }
    CLI::Option* option = command.add_option("--" + shown, value, help)->group(group);
    option->type_name(flag.kind == Flag::Kind::integer   ? "N"
                      : flag.kind == Flag::Kind::number  ? "X"
                      : flag.kind == Flag::Kind::numbers ? "X,X,..."
                                                         : CLI::detail::join(flag.choices, "|"));
    options_[name] = option;
  }
}

}  // namespace cornea::cli
