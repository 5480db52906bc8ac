// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: splits pairs into blocks such that each block needs few images.
#pragma once

#include <vector>

#include "cornea/export/colmap/database.h"

namespace cornea::folder {

// The order of all images that are in pairs. The largest component comes first; within a component
// the next image is the one with the most pairs with the current cluster (ties: the lower id). A
// cluster has `cluster_images` images and may span components; its first image is the one with the
// most pairs with all images before it.
std::vector<colmap::Id> order_of(const std::vector<colmap::ImagePair>& pairs, int cluster_images);

// Splits pairs into blocks with at most the given numbers of images and pairs; every pair is in
// exactly one block, as its id. Blocks follow the order of clusters of half as many images. `order`
// holds every image of the pairs.
std::vector<std::vector<colmap::Id>> blocks_of(const std::vector<colmap::ImagePair>& pairs,
                                               const std::vector<colmap::Id>& order,
                                               int block_images, int block_pairs);

// The images of a block, in ascending order.
std::vector<colmap::Id> images_of(const std::vector<colmap::Id>& pairs);

}  // namespace cornea::folder
