// Inside of pipeline: matches and geometries that are there and were made with other options.
#pragma once

#include <cstdint>
#include <string>

#include "cornea/export/colmap/database.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea::folder {

// What the rows of a step ("match", "verify") that are there differ in from `options`, for a
// sentence; empty where they do not, or where nothing is known of them.
std::string earlier_options(const colmap::Database& database, const std::string& step,
                            const std::string& options);

// Of a table that was emptied there is nothing to remember.
void forget_without_rows(colmap::Database& database, const std::string& step,
                         const std::string& table);

// Whether the `there` pairs with rows are to be made again, since `difference` is not empty. An
// error that names it where the run is to stop.
bool redo_for_options(const colmap::Database& database, std::int64_t there,
                      const std::string& difference, Changed changed, const FolderEvents& events);

}  // namespace cornea::folder
