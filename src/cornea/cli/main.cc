// SPDX-License-Identifier: Apache-2.0
// The program: its commands and its handling of errors. Exit code 0 on success; 1 on failure, with
// one line on standard error that names the problem and the way out; 2 for wrong usage.
#include <iostream>
#include <new>

#include "cornea/cli/common.h"
#include "cornea/cli/manual.h"
#include "cornea/core/build.h"
#include "cornea/core/error.h"

namespace {

int complain(const std::string& sentence, int code) {
  cornea::cli::print_error(sentence);
  return code;
}

// A result that could not be written to standard output is a failure.
int finish(int code) {
  std::cout.flush();
  return std::cout ? code : complain("standard output cannot be written", 1);
}

// "cornea detect" if that was called.
std::string command_of(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) return "cornea " + command->get_name();
  return "cornea";
}

// An unknown first word is more often a typing mistake than the value of an option.
void check_command(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1].empty() || words[1][0] == '-') return;
  std::string known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == words[1]) return;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  throw cornea::cli::UsageError("no command is called '" + words[1] + "'; there are " + known);
}

// "cornea help detect" is "cornea detect --help".
std::vector<std::string> with_help_last(std::vector<std::string> words) {
  if (words.size() < 2 || words[1] != "help") return words;
  words.erase(words.begin() + 1);
  words.push_back("--help");
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace cornea;
  CLI::App app{"Cornea: interest points and two-view geometry, on GPU and CPU", "cornea"};
  app.set_version_flag("--version", std::string("cornea ") + kVersion, "show the version");
  app.set_help_flag("-h,--help", "show this help");
  app.require_subcommand(1);
  app.formatter_fn([](const CLI::App* command, const std::string&, CLI::AppFormatMode) {
    return cli::help_text(*command);
  });
  std::vector<std::pair<CLI::App*, cli::Run>> commands;
  auto add = [&](const auto& add_command) {
    cli::Run run = add_command(app);
    commands.emplace_back(app.get_subcommands(nullptr).back(), std::move(run));
  };
  add(cli::add_detect);
  add(cli::add_filter);
  add(cli::add_match);
  add(cli::add_fundamental);
  add(cli::add_essential);
  add(cli::add_homography);
  const std::vector<std::string> words = with_help_last({argv, argv + argc});
  add([&](CLI::App& to) { return cli::add_pair(to, words); });
  add([&](CLI::App& to) { return cli::add_folder(to, words); });
  add(cli::add_extract);
  add(cli::add_import);
  add(cli::add_match_all);
  add(cli::add_verify);
  add([&](CLI::App& to) { return cli::add_report(to, words); });
  add(cli::add_shard);
  add(cli::add_merge);
  add([&](CLI::App& to) { return cli::add_cluster(to, words); });
  add(cli::add_scene);
  add(cli::add_study);
  add([&](CLI::App& to) { return cli::add_evaluate(to, words); });
  if constexpr (kHasBench) add(cli::add_bench);
  add(cli::add_info);
  add(cli::add_certify);
  add(cli::add_completion);
  add(cli::add_manual);
  cli::learn_flags(app);
  cli::check_whole_numbers(app);
  try {
    check_command(app, words);
    try {
      // CLI11 expects the words in reverse order.
      app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
    } catch (const std::logic_error&) {  // thrown by CLI11's conversion of --switch=VALUE
      throw cli::UsageError("a switch was given a value; write --NAME or --no-NAME");
    }
    for (const auto& [command, run] : commands) {
      if (command->parsed()) return finish(run());
    }
  } catch (const CLI::CallForHelp& e) {
    return finish(app.exit(e));
  } catch (const CLI::CallForVersion& e) {
    return finish(app.exit(e));
  } catch (const CLI::ParseError& e) {
    std::string sentence = e.what();
    while (!sentence.empty() && (sentence.back() == '\n' || sentence.back() == '.')) {
      sentence.pop_back();
    }
    return complain(sentence + " (see " + command_of(app) + " --help)", 2);
  } catch (const cli::UsageError& e) {
    return complain(e.what(), 2);
  } catch (const Error& e) {
    const bool no_device = e.code() == ErrorCode::device_unavailable;
    return complain(no_device ? text(e.what(), " (--device cpu)") : e.what(), 1);
  } catch (const std::bad_alloc&) {
    return complain("out of memory; try smaller images", 1);
  } catch (const std::exception& e) {
    return complain(e.what(), 1);
  }
  return 0;
}
