// Inside of pipeline: the graph of images that share a geometry.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/export/colmap/database.h"

namespace cornea::folder {

struct Edge {
  colmap::ImagePair images = {};
  std::int64_t inliers = 0;
};

// A pair joins its images where it has inliers of a geometry that is the scene's: neither
// degenerate nor a watermark.
bool joins(colmap::Configuration configuration, std::int64_t inliers);
// By rising pair id.
std::vector<Edge> edges_of(const colmap::Database& database);

// The images of each component, rising; the largest component first, then by their first image.
// Images that are joined to none are components of one.
std::vector<std::vector<colmap::Id>> components_of(const std::vector<colmap::Id>& images,
                                                   const std::vector<Edge>& edges);

// further_pairs() of choose_pairs.h. `chosen` are rising pair ids.
std::vector<colmap::ImagePair> neighbours_of_neighbours(const std::vector<Edge>& edges,
                                                        const std::vector<colmap::Id>& chosen,
                                                        int per_image);

}  // namespace cornea::folder
