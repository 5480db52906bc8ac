// SPDX-License-Identifier: Apache-2.0
// For tests: collections of images with random descriptors, in groups that look alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cornea/core/random.h"
#include "cornea/retrieve/retrieve.h"
#include "cornea/retrieve/retrieve_math.h"

namespace cornea::testing {

struct DrawnImage {
  std::uint64_t key = 0;
  std::vector<std::uint8_t> descriptors = {};

  int count() const { return static_cast<int>(descriptors.size()) / retrieve::kLength; }
};
using DrawnImages = std::vector<DrawnImage>;

inline std::vector<std::uint8_t> drawn_descriptors(int count, std::uint64_t seed) {
  core::Random random(seed, 1);
  std::vector<std::uint8_t> bytes(std::size_t(count) * retrieve::kLength);
  for (std::uint8_t& v : bytes) {
    const int u = random.integer(0, 255);
    v = static_cast<std::uint8_t>(u * u / 255);
  }
  return bytes;
}

// Images of a group have the same descriptors with small random changes, the first image fewer than
// the next. Keys are random and unsorted.
inline DrawnImages drawn_groups(int groups, int images_per_group, int descriptors,
                                std::uint64_t seed) {
  core::Random random(seed);
  DrawnImages images;
  for (int group = 0; group < groups; ++group) {
    const std::vector<std::uint8_t> scene = drawn_descriptors(descriptors, seed * 1000 + group);
    for (int i = 0; i < images_per_group; ++i) {
      DrawnImage image;
      image.key = std::uint64_t{random.bits()} << 32 | random.bits();
      const std::size_t kept = descriptors - std::min(descriptors / 2, images_per_group - 1 - i);
      image.descriptors.assign(scene.begin(), scene.begin() + kept * retrieve::kLength);
      for (std::uint8_t& v : image.descriptors) {
        v = static_cast<std::uint8_t>(std::clamp(v + random.integer(-6, 6), 0, 255));
      }
      images.push_back(std::move(image));
    }
  }
  return images;
}

// Refers to the images, which must outlive it.
inline RetrieveInput input_of(const DrawnImages& images) {
  RetrieveInput input;
  for (const DrawnImage& image : images) input.images.push_back({image.key, image.count()});
  input.read = [&images](int image, std::vector<std::uint8_t>& out) {
    const std::vector<std::uint8_t>& from = images[image].descriptors;
    out.insert(out.end(), from.begin(), from.end());
  };
  return input;
}

}  // namespace cornea::testing
