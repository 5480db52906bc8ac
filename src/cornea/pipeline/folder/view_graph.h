// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: the view graph, whose edges are pairs of images with a geometry.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/export/colmap/database.h"

namespace cornea::folder {

struct Edge {
  colmap::ImagePair images = {};
  std::int64_t inliers = 0;
};

// A pair is an edge if it has inliers of a geometry of the scene: neither degenerate nor a
// watermark.
bool joins(colmap::Configuration configuration, std::int64_t inliers);
// In ascending order of pair ids.
std::vector<Edge> edges_of(const colmap::Database& database);

// The images of each connected component in ascending order; the largest component first, ties by
// their first image. An image without edges is a component of one.
std::vector<std::vector<colmap::Id>> components_of(const std::vector<colmap::Id>& images,
                                                   const std::vector<Edge>& edges);

// further_pairs() of choose_pairs.h. `chosen` are pair ids in ascending order.
std::vector<colmap::ImagePair> neighbours_of_neighbours(const std::vector<Edge>& edges,
                                                        const std::vector<colmap::Id>& chosen,
                                                        int per_image);

}  // namespace cornea::folder
