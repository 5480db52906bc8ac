// SPDX-License-Identifier: Apache-2.0
// An owning block of memory that knows which kind of memory it is in. Blocks allocated through a
// Context come from its pool and are counted there by purpose; device blocks are ordered on the
// pool's stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "cornea/core/export.h"

namespace cornea {

enum class Place {
  host,    // pageable host memory
  pinned,  // page-locked host memory that the device can read and write
  device   // GPU memory
};

CORNEA_API std::string_view name(Place place);

struct MemoryUse {
  std::size_t bytes = 0;                               // held now
  std::size_t peak_bytes = 0;                          // high-water mark
  std::uint64_t allocations = 0;                       // number of allocations so far
  std::map<std::string, std::size_t> by_purpose = {};  // bytes held now, by tag
};

namespace core {
class MemoryPool;
}

class CORNEA_API Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  // Pageable host memory outside any pool, aligned to 64 bytes.
  static Memory host(std::size_t bytes);

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Place place() const { return place_; }

 private:
  friend class core::MemoryPool;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  Place place_ = Place::host;
  std::size_t* bytes_of_purpose_ = nullptr;  // in the pool's MemoryUse
  std::shared_ptr<core::MemoryPool> pool_;
};

}  // namespace cornea
