// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: existing matches and geometries that were made with other options.
#pragma once

#include <cstdint>
#include <string>

#include "cornea/export/colmap/database.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea::folder {

// How the options of the existing rows of a step ("match", "verify") differ from `options`, for an
// error sentence; empty if they do not differ or are not known.
std::string earlier_options(const colmap::Database& database, const std::string& step,
                            const std::string& options);

// Deletes the recorded options of a step whose table is empty.
void forget_without_rows(colmap::Database& database, const std::string& step,
                         const std::string& table);

// Whether the `there` pairs with rows are to be made again because `difference` is not empty. If
// the run is to stop instead, throws an error that names the difference.
bool redo_for_options(const colmap::Database& database, std::int64_t there,
                      const std::string& difference, Changed changed, const FolderEvents& events);

}  // namespace cornea::folder
