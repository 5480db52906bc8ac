// What `cornea folder` writes and says of its result.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cornea/cli/common.h"
#include "cornea/cli/folder_steps.h"
#include "cornea/cli/mapper.h"
#include "cornea/pipeline/folder/overview.h"
#include "cornea/pipeline/folder/run_folder.h"

namespace cornea::cli {

struct FolderCommand {
  ExtractFlags photographs;
  std::string out, pairs = "auto";
  FolderOptions options;
  bool map = false, open = false;
  std::string words = {};  // the command itself, for a shell

  const CommonOptions& common() const { return photographs.common; }
  std::filesystem::path in_folder(const char* name) const {
    return std::filesystem::path(out) / name;
  }
  MapperCall mapper() const {
    return {in_folder("database.db"), photographs.folder, in_folder("sparse")};
  }
};

// The options of choosing pairs, and with them those of all steps; what SIFT and all commands have
// comes after further options of the command (add_sift_options).
void add_step_options(CLI::App* command, FolderCommand* c);
// With all flags; wrong usage where they cannot be.
FolderOptions folder_options(const FolderCommand& c);

struct FolderOutcome {
  const FolderCommand& command;
  const Context& context;
  const FolderReport& report;
  std::vector<std::string> ignored = {};  // FolderListing::ignored
  std::optional<MapperResult> map = {};
};

// pairs.csv: of every pair that was tried its images, matches, inliers and kind, and where known
// the median distance of its inliers and the median angle between their rays, as the page has them.
std::string pairs_csv(const colmap::Database& database, const FolderPage& page);

std::vector<StageTime> stages_of(const FolderReport& report);
Json folder_json(const FolderOutcome& outcome);
void print_folder(const FolderOutcome& outcome);
// "100 of 300 images are extracted": how far a run came that was interrupted.
std::string kept_of(const FolderReport& report);

}  // namespace cornea::cli
