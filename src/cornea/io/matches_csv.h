// Correspondences as text: a line each, x1,y1,x2,y2 and any further columns, which are not read.
// The first line may name the columns. Columns are split by commas, semicolons, tabs or spaces.
#pragma once

#include <filesystem>
#include <vector>

#include "cornea/core/export.h"
#include "cornea/core/features.h"

namespace cornea {

// An error names the file and the line. Numbers that are infinite or not numbers are read as such.
CORNEA_API std::vector<Correspondence> read_matches_csv(const std::filesystem::path& file);

}  // namespace cornea
