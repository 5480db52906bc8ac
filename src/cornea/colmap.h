// SPDX-License-Identifier: Apache-2.0
// A folder of photographs into a COLMAP database. A component of the package, because it needs a
// build with SQLite: find_package(cornea COMPONENTS colmap), then link cornea::colmap.
//
// As the umbrella header of a component it may include every stage, and no stage includes it.
#pragma once

#include "cornea/core/build.h"

#if !CORNEA_HAS_SQLITE
#error "this Cornea was built without SQLite and has no COLMAP databases; rebuild it with SQLite"
#else

#include "cornea/export/colmap/camera.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/intrinsics.h"
#include "cornea/pipeline/folder/choose_pairs.h"
#include "cornea/pipeline/folder/extract.h"
#include "cornea/pipeline/folder/import.h"
#include "cornea/pipeline/folder/match_all.h"
#include "cornea/pipeline/folder/overview.h"
#include "cornea/pipeline/folder/run_folder.h"
#include "cornea/pipeline/folder/verify.h"
#include "cornea/pipeline/shards/shards.h"

#endif
