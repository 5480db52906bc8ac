// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: pairs of images that were taken near each other, by GPS.
#pragma once

#include <optional>
#include <vector>

#include "cornea/io/exif.h"
#include "cornea/pipeline/folder/sequences.h"

namespace cornea::folder {

// Pairs each image with its `nearest` others within the given number of metres (ties: the lower
// index); sorted, each pair once. Distances are straight lines between points on the WGS 84
// ellipsoid; GPS altitudes are too inaccurate to use. Images without a position have no neighbours.
std::vector<Neighbours> neighbours_by_position(
    const std::vector<std::optional<GpsPosition>>& positions, int nearest, double max_metres);

}  // namespace cornea::folder
