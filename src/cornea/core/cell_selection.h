// The memory of items by grid cell on CUDA; device_selection.h queues their sorting and their cap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"

namespace cornea::core {

struct CellBuckets {
  std::uint32_t cells = 0;            // of a frame
  std::size_t capacity = 0;           // items of a frame
  std::uint32_t* counters = nullptr;  // all that follows up to `items`; zero before each use
  std::size_t counter_count = 0;
  std::uint32_t* counts = nullptr;  // of every cell, frame by frame: its items
  std::uint32_t* placed = nullptr;  // how many of them are placed
  std::uint32_t* begin = nullptr;   // where its bucket begins
  std::uint32_t* next = nullptr;    // of every frame: where the next bucket begins
  std::uint32_t* items = nullptr;
  std::uint8_t* keep = nullptr;
};

class CellSelection {
 public:
  // Takes the memory for lists of up to `capacity` items in `cells` cells each.
  void prepare(const Context& context, int frames, std::uint32_t cells, std::size_t capacity) {
    const std::size_t all = std::size_t(cells) * frames;
    buckets_.cells = cells;
    buckets_.capacity = capacity;
    buckets_.counter_count = 3 * all + frames;
    auto* counters = counters_.reserve<std::uint32_t>(context, buckets_.counter_count);
    buckets_.counters = buckets_.counts = counters;
    buckets_.placed = counters + all;
    buckets_.begin = counters + 2 * all;
    buckets_.next = counters + 3 * all;
    buckets_.items = items_.reserve<std::uint32_t>(context, capacity * frames);
    buckets_.keep = keep_.reserve<std::uint8_t>(context, capacity * frames);
  }
  const CellBuckets& buckets() const { return buckets_; }
  // Of item i of frame f at [f * capacity + i]: 1 if it is kept, 0 otherwise.
  const std::uint8_t* keep() const { return buckets_.keep; }

 private:
  CellBuckets buckets_;
  Buffer counters_{Place::device, "selection: counters of cells"};
  Buffer items_{Place::device, "selection: items by cell"};
  Buffer keep_{Place::device, "selection: items that are kept"};
};

}  // namespace cornea::core
