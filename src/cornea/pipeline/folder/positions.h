// Inside of pipeline: images that were taken near one another, by GPS.
#pragma once

#include <optional>
#include <vector>

#include "cornea/io/exif.h"
#include "cornea/pipeline/folder/sequences.h"

namespace cornea::folder {

// Each image with the `nearest` others within so many metres (ties: the lower index); rising, each
// once. Distances are straight lines between points of the WGS 84 ellipsoid: altitudes by GPS are
// too bad to count. Images without a position have none.
std::vector<Neighbours> neighbours_by_position(
    const std::vector<std::optional<GpsPosition>>& positions, int nearest, double max_metres);

}  // namespace cornea::folder
