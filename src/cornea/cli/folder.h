// What extract, match-all and verify share: the database, the progress bar, failures on the way.
#pragma once

#include <memory>
#include <string>

#include "cornea/cli/common.h"
#include "cornea/cli/progress.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea::cli {

// Shows a run over a folder: a bar, and a line on standard error for what fails.
class FolderProgress {
 public:
  FolderProgress(std::string what, bool quiet) {
    events.begin = [this, what, quiet](int total) {
      bar_ = std::make_unique<Progress>(what, total, quiet);
    };
    events.advance = [this](int count) {
      for (int i = 0; i < count; ++i) bar_->advance();
    };
    events.report = [this](const std::string& sentence) {
      bar_->clear();
      print_error(sentence);
    };
  }
  FolderProgress(const FolderProgress&) = delete;
  FolderProgress& operator=(const FolderProgress&) = delete;

  FolderEvents events;
  void clear() { bar_.reset(); }

 private:
  std::unique_ptr<Progress> bar_;
};

inline void add_database_option(CLI::App& command, std::string& database, const char* help) {
  command.add_option("--db", database, help)
      ->required()
      ->type_name("FILE")
      ->check([](const std::string& file) {
        return is_standard(file) ? std::string("a database is a file, not a stream; name one")
                                 : std::string();
      });
}

inline std::string seconds_text(double milliseconds) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*f s", milliseconds < 10000 ? 2 : 1, milliseconds / 1000);
  return buffer;
}

}  // namespace cornea::cli
