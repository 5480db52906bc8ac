// SPDX-License-Identifier: Apache-2.0
// What `cornea folder` writes and prints.
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
  std::string words = {};  // the command line, for a shell

  const CommonOptions& common() const { return photographs.common; }
  std::filesystem::path in_folder(const char* name) const {
    return std::filesystem::path(out) / name;
  }
  MapperCall mapper() const {
    return {in_folder("database.db"), photographs.folder, in_folder("sparse")};
  }
};

// Adds the options of choosing pairs and those of all steps; options of SIFT and those common to
// all commands are added last (add_sift_options).
void add_step_options(CLI::App* command, FolderCommand* c);
// The options of the steps from all flags; invalid ones are wrong usage. Without `files_must_exist`
// the list of pairs and the folder of masks may be missing, as on a machine that does not use them.
FolderOptions folder_options(const FolderCommand& c, bool files_must_exist = true);

struct FolderOutcome {
  const FolderCommand& command;
  const Context& context;
  const FolderReport& report;
  std::vector<std::string> ignored = {};  // FolderListing::ignored
  std::optional<MapperResult> map = {};
};

// pairs.csv: for every pair that was tried its images, matches, inliers and kind and, if known, the
// median distance of its inliers and the median angle between their rays, as on the page.
std::string pairs_csv(const colmap::Database& database, const FolderPage& page);

std::vector<StageTime> stages_of(const FolderReport& report);
Json folder_json(const FolderOutcome& outcome);
void print_folder(const FolderOutcome& outcome);
// "100 of 300 images are extracted": the progress of an interrupted run.
std::string kept_of(const FolderReport& report);

}  // namespace cornea::cli
