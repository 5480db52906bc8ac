// SPDX-License-Identifier: Apache-2.0
// Internal to export: the tables of a new COLMAP database.
#pragma once

#include "cornea/export/colmap/database.h"

namespace cornea::colmap {

// SQL that creates them and sets user_version.
const char* tables_of(Schema schema);

}  // namespace cornea::colmap
