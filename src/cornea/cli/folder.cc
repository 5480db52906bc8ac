// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/folder.h"

#include <algorithm>
#include <cstdio>

namespace cornea::cli {

CLI::Option* add_database_option(CLI::App& command, std::string& database, const char* help) {
  return command.add_option("--db", database, help)
      ->required()
      ->type_name("FILE")
      ->check([](const std::string& file) {
        return is_standard(file) ? std::string("a database is a file, not a stream; name one")
                                 : std::string();
      });
}

void add_changed_options(CLI::App& command, Changed& changed, bool& redo, const char* again) {
  CLI::Option* what = command.add_option_function<std::string>(
      "--changed",
      [&changed](const std::string& given) {
        changed = given == "redo" ? Changed::redo : given == "keep" ? Changed::keep : Changed::stop;
      },
      "what to do with existing results of changed files or other options: stop before "
      "anything is written, redo them, or keep them [stop]");
  what->type_name("stop|redo|keep")->check([](const std::string& given) {
    return given == "stop" || given == "redo" || given == "keep"
               ? std::string()
               : "takes stop, redo or keep, not " + given;
  });
  command.add_flag("--redo", redo, again)->excludes(what);
}

int interrupted(const std::string& database, const std::string& kept, const std::string& go_on) {
  print_error(text("interrupted; ", kept, " and kept in ", database, "; ", go_on));
  return Interrupt::exit_code();
}

int interrupted(const std::string& database, std::int64_t done, std::int64_t all, const char* work,
                const char* go_on) {
  return interrupted(database, text(grouped(done), " of ", grouped(all), " ", work), go_on);
}

std::string seconds_text(double milliseconds) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*f s", milliseconds < 10000 ? 2 : 1, milliseconds / 1000);
  return buffer;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string counted(std::int64_t number, const std::string& what) {
  return grouped(number) + " " + what + (number == 1 ? "" : "s");
}

std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::string all;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    all += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMost) {
    all += " and " + grouped(std::int64_t(names.size() - kMost)) + " more";
  }
  return all;
}

}  // namespace cornea::cli
