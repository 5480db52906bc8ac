// SPDX-License-Identifier: Apache-2.0
// Shared by extract, match-all and verify: the database, what to do with existing results, the
// progress bar, failures and interruptions, numbers in a summary.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cornea/cli/common.h"
#include "cornea/cli/interrupt.h"
#include "cornea/cli/progress.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea::cli {

// Shows a run over a folder: a progress bar, and a line on standard error for each failure or
// difference.
class FolderProgress {
 public:
  FolderProgress(std::string what, bool quiet) {
    events.begin = [this, what, quiet](int total) {
      bar_ = std::make_unique<Progress>(what, total, quiet);
    };
    events.advance = [this](int count) {
      for (int i = 0; i < count; ++i) bar_->advance();
    };
    events.report = events.note = [this](const std::string& sentence) {
      if (bar_) bar_->clear();
      print_error(sentence);
    };
    events.stop = &Interrupt::raised;
  }
  FolderProgress(const FolderProgress&) = delete;
  FolderProgress& operator=(const FolderProgress&) = delete;

  FolderEvents events;
  void clear() { bar_.reset(); }

 private:
  const Interrupt interrupt_;
  std::unique_ptr<Progress> bar_;
};

CLI::Option* add_database_option(CLI::App& command, std::string& database, const char* help);
// Adds --changed and --redo, for existing results of other files or options.
void add_changed_options(CLI::App& command, Changed& changed, bool& redo, const char* again);

// Says what is kept of an interrupted run and how to continue; returns the exit code.
int interrupted(const std::string& database, const std::string& kept, const std::string& go_on);
// "3 of 12 images are extracted", where `work` is "images are extracted".
inline constexpr char kGoesOn[] = "the same command continues";
int interrupted(const std::string& database, std::int64_t done, std::int64_t all, const char* work,
                const char* go_on);

std::string seconds_text(double milliseconds);
// "62,081"
std::string grouped(std::int64_t number);
// "8 images", "1 image"
std::string counted(std::int64_t number, const std::string& what);
// The first few of a list: "a, b, c and 4 more".
std::string first_of(const std::vector<std::string>& names);

}  // namespace cornea::cli
