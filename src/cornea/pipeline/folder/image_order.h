// Inside of pipeline: pairs cut into blocks, so that each block needs few images.
#pragma once

#include <vector>

#include "cornea/export/colmap/database.h"

namespace cornea::folder {

// The images that are in pairs: the largest component first; within one, each next image is the one
// that has the most pairs with the cluster so far (ties: the lower id). Clusters have
// `cluster_images` images, over the ends of components; the first image of the next one is that
// with the most pairs with all before it.
std::vector<colmap::Id> order_of(const std::vector<colmap::ImagePair>& pairs, int cluster_images);

// Every pair once, by its id; blocks of at most so many images and pairs, in the order of clusters
// of half of these images. `order` holds every image of the pairs.
std::vector<std::vector<colmap::Id>> blocks_of(const std::vector<colmap::ImagePair>& pairs,
                                               const std::vector<colmap::Id>& order,
                                               int block_images, int block_pairs);

// The images of a block, rising.
std::vector<colmap::Id> images_of(const std::vector<colmap::Id>& pairs);

}  // namespace cornea::folder
