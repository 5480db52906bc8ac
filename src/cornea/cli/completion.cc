// SPDX-License-Identifier: Apache-2.0
// `cornea completion SHELL`, and `cornea manual DIR` for packagers.
#include <iostream>

#include "cornea/cli/common.h"
#include "cornea/cli/manual.h"

namespace cornea::cli {

namespace fs = std::filesystem;

Run add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "print the completion script for a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->type_name("SHELL");
  return [shell, &app] {
    std::cout << usage_checked([&] { return completion_script(describe_commands(app), *shell); });
    return 0;
  };
}

Run add_manual(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("manual", "write manual pages and completion scripts to install");
  command->group("");
  command->add_option("folder", *folder, "destination, such as PREFIX/share")
      ->required()
      ->type_name("DIR");
  return [folder, &app] {
    const CommandList commands = describe_commands(app);
    auto write = [&](const std::string& file, const std::string& contents) {
      const fs::path path = fs::path(*folder) / file;
      make_folder(path.parent_path());
      write_text(path, contents);
    };
    write("man/man1/cornea.1", man_page(commands));
    for (const auto* list : {&commands.work, &commands.about}) {
      for (const CommandEntry& entry : *list) {
        write("man/man1/cornea-" + entry.name + ".1", man_page(entry));
      }
    }
    write("bash-completion/completions/cornea", completion_script(commands, "bash"));
    write("zsh/site-functions/_cornea", completion_script(commands, "zsh"));
    write("fish/vendor_completions.d/cornea.fish", completion_script(commands, "fish"));
    return 0;
  };
}

}  // namespace cornea::cli
