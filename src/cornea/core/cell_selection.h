// SPDX-License-Identifier: Apache-2.0
// Device memory for binning items into grid cells; device_selection.h queues the binning and the
// cap per cell.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"

namespace cornea::core {

struct CellBuckets {
  std::uint32_t cells = 0;   // per frame
  std::size_t capacity = 0;  // items per frame
  // Start of the block that is zeroed before each use; it ends before `items`.
  std::uint32_t* counters = nullptr;
  std::size_t counter_count = 0;
  std::uint32_t* counts = nullptr;  // per frame and cell: number of items
  std::uint32_t* placed = nullptr;  // per frame and cell: items placed so far
  std::uint32_t* begin = nullptr;   // per frame and cell: first index of its bucket
  std::uint32_t* next = nullptr;    // per frame: first index of the next bucket
  std::uint32_t* items = nullptr;
  std::uint8_t* keep = nullptr;
};

class CellSelection {
 public:
  // Allocates memory for lists of up to `capacity` items in `cells` cells per frame.
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
  // The bytes that prepare() takes.
  static std::size_t bytes(int frames, std::size_t cells, std::size_t capacity) {
    return frames * ((3 * cells + 1) * sizeof(std::uint32_t) +
                     capacity * (sizeof(std::uint32_t) + sizeof(std::uint8_t)));
  }
  const CellBuckets& buckets() const { return buckets_; }
  // keep()[f * capacity + i] is 1 if item i of frame f is kept, 0 otherwise.
  const std::uint8_t* keep() const { return buckets_.keep; }

 private:
  CellBuckets buckets_;
  Buffer counters_{Place::device, "selection: counters of cells"};
  Buffer items_{Place::device, "selection: items by cell"};
  Buffer keep_{Place::device, "selection: items that are kept"};
};

}  // namespace cornea::core
