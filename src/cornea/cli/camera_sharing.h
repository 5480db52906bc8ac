// The cameras that a folder's images are given, on the command line.
#pragma once

#include "cornea/cli/common.h"
#include "cornea/pipeline/folder/extract.h"

namespace cornea::cli {

// --cameras, --single-camera, --camera-model and --camera-params.
void add_sharing_options(CLI::App& command, ExtractOptions& options);

// --schema, of a database that is made.
void add_schema_option(CLI::App& command, std::optional<colmap::Schema>& schema);

}  // namespace cornea::cli
