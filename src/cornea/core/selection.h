// SPDX-License-Identifier: Apache-2.0
// Selects the strongest N items, or the strongest N per grid cell. Kept items stay in their order;
// ties keep the first. device_selection.h does the same on CUDA.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace cornea::core {

// Keeps the items whose indices are listed, in their order. Sorts the list of indices.
template <class Item>
void keep_places(std::vector<Item>& items, std::vector<std::uint32_t>& places) {
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) items[i] = items[places[i]];
  items.resize(places.size());
}

// value(item) is the strength of an item.
template <class Item, class Value>
void keep_strongest(std::vector<Item>& items, std::size_t most, const Value& value) {
  if (items.size() <= most) return;
  std::vector<std::uint32_t> places(items.size());
  std::iota(places.begin(), places.end(), 0u);
  std::nth_element(places.begin(), places.begin() + std::ptrdiff_t(most), places.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     const auto va = value(items[a]), vb = value(items[b]);
                     return va != vb ? va > vb : a < b;
                   });
  places.resize(most);
  keep_places(items, places);
}

// cell(item) is the index of an item's grid cell.
template <class Item, class Cell, class Value>
void keep_strongest_per_cell(std::vector<Item>& items, std::size_t most, const Cell& cell,
                             const Value& value) {
  std::vector<std::uint64_t> cells(items.size());
  std::transform(items.begin(), items.end(), cells.begin(), cell);
  std::vector<std::uint32_t> places(items.size());
  std::iota(places.begin(), places.end(), 0u);
  std::sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (cells[a] != cells[b]) return cells[a] < cells[b];
    const auto va = value(items[a]), vb = value(items[b]);
    return va != vb ? va > vb : a < b;
  });
  std::vector<std::uint32_t> kept;
  std::size_t rank = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    rank = i > 0 && cells[places[i]] == cells[places[i - 1]] ? rank + 1 : 0;
    if (rank < most) kept.push_back(places[i]);
  }
  keep_places(items, kept);
}

}  // namespace cornea::core
