// The images of a collection in the order of their keys, a block of descriptors at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cornea/retrieve/retrieve.h"

namespace cornea::retrieve {

// Thrown between steps where RetrieveEvents::stop says so.
struct Stopped {};
inline void stop_if_asked(const RetrieveEvents& events) {
  if (events.stop()) throw Stopped{};
}

// Rows of descriptors that are looked at together: 16 MB. Between them a run can be stopped.
inline constexpr int kBlockRows = 1 << 17;

// Those with descriptors. Places are numbers of images in the order of their keys.
struct Collection {
  Collection(const RetrieveInput& input, const RetrieveEvents& events);

  int size() const { return static_cast<int>(order.size()); }
  const RetrieveImage& image(int place) const { return input.images[order[place]]; }

  struct Block {
    int first = 0, count = 0;             // places
    std::vector<std::size_t> rows = {0};  // where each image's begin; one more than images
    std::vector<std::uint8_t> descriptors = {};
  };
  // Reads all of them, block by block; an image is never split. `stage` is what is told of it.
  void read(const char* stage, const std::function<void(const Block&)>& use) const;

  const RetrieveInput& input;
  const RetrieveEvents& events;
  std::vector<int> order;  // of places, in the input
  std::int64_t descriptors = 0;
};

}  // namespace cornea::retrieve
