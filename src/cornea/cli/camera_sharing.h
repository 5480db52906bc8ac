// SPDX-License-Identifier: Apache-2.0
// Command-line options for the cameras of a folder's images.
#pragma once

#include "cornea/cli/common.h"
#include "cornea/pipeline/folder/extract.h"

namespace cornea::cli {

// Adds --cameras, --single-camera, --camera-model and --camera-params.
void add_sharing_options(CLI::App& command, ExtractOptions& options);

// Adds --schema, for a new database.
void add_schema_option(CLI::App& command, std::optional<colmap::Schema>& schema);

}  // namespace cornea::cli
