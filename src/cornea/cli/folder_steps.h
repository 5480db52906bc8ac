// SPDX-License-Identifier: Apache-2.0
// The options of extract and verify, which `folder` has as well.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/pipeline/folder/extract.h"
#include "cornea/pipeline/folder/verify.h"

namespace cornea::cli {

struct ExtractFlags {
  CommonOptions common;
  std::string folder, masks;
  ExtractOptions options;
  std::optional<colmap::Schema> schema;  // for a new database
  OptionFlags flags;                     // options of SIFT
};
CLI::Option* add_photographs_argument(CLI::App* command, ExtractFlags* c);
// Adds the options of extract, without those of the database and those common to all commands.
void add_extract_options(CLI::App* command, ExtractFlags* c);
// Adds the options of SIFT, renamed where the command has the same name, and --device etc.
void add_sift_options(CLI::App* command, ExtractFlags* c);
// The options from all flags; invalid ones are wrong usage.
ExtractOptions extract_options(const ExtractFlags& c);
// The photographs; an error if there are none, or if there are masks but none belongs to a
// photograph.
FolderListing listed_photographs(const ExtractFlags& c, const ExtractOptions& options);
// What no result may overwrite: photographs and their masks.
std::vector<NamedInput> inputs_of(const ExtractFlags& c, const FolderListing& listing);
// Notes if images were taken as 12-bit.
void note_twelve_bit(const CommonOptions& common, const ExtractReport& report);

void add_verify_options(CLI::App* command, VerifyOptions* options);

}  // namespace cornea::cli
