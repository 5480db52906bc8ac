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
  std::optional<colmap::Schema> schema;  // of a database that is made
  OptionFlags flags;                     // of SIFT
};
CLI::Option* add_photographs_argument(CLI::App* command, ExtractFlags* c);
// Those of extract alone: not of the database, and not what commands of all kinds have.
void add_extract_options(CLI::App* command, ExtractFlags* c);
// Those of SIFT, whose names give way to those that the command has; --device and the like.
void add_sift_options(CLI::App* command, ExtractFlags* c);
// With all flags; wrong usage where they cannot be.
ExtractOptions extract_options(const ExtractFlags& c);
// The photographs; an error where there are none, or masks of which none belongs to one of them.
FolderListing listed_photographs(const ExtractFlags& c, const ExtractOptions& options);
// What no result may overwrite: photographs and their masks.
std::vector<NamedInput> inputs_of(const ExtractFlags& c, const FolderListing& listing);
// That images were taken as 12-bit, where they were.
void note_twelve_bit(const CommonOptions& common, const ExtractReport& report);

void add_verify_options(CLI::App* command, VerifyOptions* options);

}  // namespace cornea::cli
