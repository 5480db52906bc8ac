// SPDX-License-Identifier: Apache-2.0
// Everything that Cornea offers, in the order in which the data moves. It needs no other library's
// headers. Two parts need more and are headers of their own: cornea/scene.h (Eigen) and
// cornea/colmap.h (a build with SQLite).
#pragma once

// clang-format off

// What all share: where work runs, images, points, errors.
#include "cornea/core/build.h"
#include "cornea/core/context.h"
#include "cornea/core/error.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/core/transfer.h"
#include "cornea/linalg/svd/svd.h"

// Files.
#include "cornea/io/exif.h"
#include "cornea/io/image_file.h"
#include "cornea/io/matches_csv.h"

// Images to images.
#include "cornea/filter/gaussian/gaussian.h"
#include "cornea/filter/bilateral/bilateral.h"
#include "cornea/filter/trilateral/trilateral.h"

// Images to points.
#include "cornea/detect/moravec/moravec.h"
#include "cornea/detect/harris/harris.h"
#include "cornea/detect/foagdd/foagdd.h"
#include "cornea/detect/peaks/peaks.h"
#include "cornea/detect/refine/refine.h"

// Points with descriptors, and which of them belong together.
#include "cornea/describe/sift/sift.h"
#include "cornea/match/match.h"

// Which images of a collection look alike.
#include "cornea/retrieve/retrieve.h"

// Matches to the geometry of two views.
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/geometry/two_view/homography.h"
#include "cornea/geometry/two_view/relative_pose.h"
#include "cornea/geometry/two_view/two_view.h"
#include "cornea/geometry/two_view/watermark.h"

// Pictures and pages.
#include "cornea/report/draw.h"
#include "cornea/report/folder_page.h"
#include "cornea/report/page.h"

// Algorithms and their options by name; all stages for a pair of images; whether a machine gives the
// recorded answers.
#include "cornea/catalog/detectors.h"
#include "cornea/catalog/estimators.h"
#include "cornea/catalog/filters.h"
#include "cornea/pipeline/certificate.h"
#include "cornea/pipeline/features.h"
#include "cornea/pipeline/pair.h"
