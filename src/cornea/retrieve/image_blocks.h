// SPDX-License-Identifier: Apache-2.0
// The images of a collection in the order of their keys, read in blocks of descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cornea/retrieve/retrieve.h"

namespace cornea::retrieve {

// Thrown between steps if RetrieveEvents::stop returns true.
struct Stopped {};
inline void stop_if_asked(const RetrieveEvents& events) {
  if (events.stop()) throw Stopped{};
}

// Descriptors per block: 16 MB. A run can be stopped between blocks.
inline constexpr int kBlockRows = 1 << 17;

// The images that have descriptors. A place is the rank of an image in the order of keys.
struct Collection {
  Collection(const RetrieveInput& input, const RetrieveEvents& events);

  int size() const { return static_cast<int>(order.size()); }
  const RetrieveImage& image(int place) const { return input.images[order[place]]; }

  struct Block {
    int first = 0, count = 0;             // places
    std::vector<std::size_t> rows = {0};  // first row of each image; one entry more than images
    std::vector<std::uint8_t> descriptors = {};
  };
  // Reads all images, block by block; an image is never split. `stage` is the name for the
  // progress.
  void read(const char* stage, const std::function<void(const Block&)>& use) const;

  const RetrieveInput& input;
  const RetrieveEvents& events;
  std::vector<int> order;  // index in the input, by place
  std::int64_t descriptors = 0;
};

}  // namespace cornea::retrieve
