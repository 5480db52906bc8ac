// The program: commands, and what becomes of errors. Exit 0; 1 when something failed, with one line
// on standard error that says what and how to go on; 2 for wrong usage.
#include <iostream>
#include <new>

#include "cornea/cli/common.h"
#include "cornea/core/build.h"
#include "cornea/core/error.h"

namespace {

int complain(const std::string& sentence, int code) {
  std::cerr << "cornea: " << sentence << std::endl;
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace cornea;
  CLI::App app{"Cornea: interest points and two-view geometry, on GPU and CPU", "cornea"};
  app.set_version_flag("--version", std::string("cornea ") + kVersion);
  app.require_subcommand(1);
  app.footer("'cornea COMMAND --help' lists the options of a command.");
  std::vector<std::pair<CLI::App*, cli::Run>> commands;
  for (const auto& add : {cli::add_detect, cli::add_scene, cli::add_bench, cli::add_info}) {
    cli::Run run = add(app);
    commands.emplace_back(app.get_subcommands(nullptr).back(), std::move(run));
  }
  try {
    app.parse(argc, argv);
    for (const auto& [command, run] : commands) {
      if (command->parsed()) return run();
    }
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::string sentence = e.what();
    while (!sentence.empty() && (sentence.back() == '\n' || sentence.back() == '.')) {
      sentence.pop_back();
    }
    return complain(sentence + " (see cornea --help)", 2);
  } catch (const cli::UsageError& e) {
    return complain(e.what(), 2);
  } catch (const Error& e) {
    return complain(e.what(), 1);
  } catch (const std::bad_alloc&) {
    return complain("out of memory; try smaller images", 1);
  } catch (const std::exception& e) {
    return complain(e.what(), 1);
  }
  return 0;
}
