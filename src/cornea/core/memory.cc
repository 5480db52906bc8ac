// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/memory.h"

#include <algorithm>
#include <new>
#include <utility>

#include "cornea/core/build.h"
#include "cornea/core/context_state.h"
#include "cornea/core/error.h"

namespace cornea {
namespace {

constexpr std::align_val_t kHostAlignment{64};  // a cache line

void* host_allocate(std::size_t bytes) {
  return ::operator new(bytes, kHostAlignment, std::nothrow);
}

void host_release(void* data) noexcept { ::operator delete(data, kHostAlignment); }

}  // namespace

std::string_view name(Place place) {
  switch (place) {
    case Place::host:
      return "host";
    case Place::pinned:
      return "pinned host";
    case Place::device:
      return "device";
  }
  return "unknown";
}

Memory::Memory(Memory&& other) noexcept { *this = std::move(other); }

Memory& Memory::operator=(Memory&& other) noexcept {
  // The block that this object held is released when `other` is destroyed.
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(place_, other.place_);
  std::swap(bytes_of_purpose_, other.bytes_of_purpose_);
  std::swap(pool_, other.pool_);
  return *this;
}

Memory::~Memory() {
  if (!data_) return;
  if (pool_) {
    pool_->release(*this);
  } else {
    host_release(data_);
  }
}

Memory Memory::host(std::size_t bytes) {
  Memory memory;
  if (bytes == 0) return memory;
  memory.data_ = host_allocate(bytes);
  if (!memory.data_) {
    fail(ErrorCode::out_of_memory, "no room for ", bytes, " bytes of host memory");
  }
  memory.bytes_ = bytes;
  return memory;
}

namespace core {

void refuse_allocation(const Context& context, std::uint64_t nth) {
  Ledger& ledger = *context.state_->ledger;
  const std::lock_guard lock(ledger.mutex);
  ledger.refuse_at = nth;
}

bool MemoryPool::refuses_this_one() {
  const std::lock_guard lock(ledger_->mutex);
  return ledger_->refuse_at > 0 && --ledger_->refuse_at == 0;
}

// Null if there is not enough memory.
void* MemoryPool::take(Place place, std::size_t bytes, const char* purpose) {
  if (place == Place::host) return refuses_this_one() ? nullptr : host_allocate(bytes);
  if constexpr (kHasCuda) {
    if (!cuda_) {
      fail(ErrorCode::invalid_argument, name(place), " memory (", purpose,
           ") was asked of a CPU context; use Context::cuda()");
    }
    return refuses_this_one() ? nullptr : cuda_->allocate(place, bytes);
  } else {
    fail(ErrorCode::device_unavailable, name(place), " memory (", purpose,
         ") was asked for, but this build has no CUDA support");
  }
}

Memory MemoryPool::allocate(Place place, std::size_t bytes, const char* purpose) {
  Memory memory;
  memory.place_ = place;
  if (bytes == 0) return memory;
  {
    // First, because it may fail for want of memory, and nothing after take() may.
    const std::lock_guard lock(ledger_->mutex);
    memory.bytes_of_purpose_ = &ledger_->memory.by_purpose[purpose];
  }
  memory.data_ = take(place, bytes, purpose);
  if (!memory.data_) {
    std::string free_text;
    if constexpr (kHasCuda) {
      if (place == Place::device) free_text = text("; ", cuda_->free_bytes(), " are free");
    }
    fail(ErrorCode::out_of_memory, "no room for ", bytes, " bytes of ", name(place), " memory (",
         purpose, ")", free_text);
  }
  memory.bytes_ = bytes;
  memory.pool_ = shared_from_this();
  const std::lock_guard lock(ledger_->mutex);
  MemoryUse& use = ledger_->memory;
  use.bytes += bytes;
  use.peak_bytes = std::max(use.peak_bytes, use.bytes);
  use.allocations += 1;
  *memory.bytes_of_purpose_ += bytes;
  return memory;
}

void MemoryPool::release(Memory& memory) noexcept {
  if (memory.place_ == Place::host) {
    host_release(memory.data_);
  } else if constexpr (kHasCuda) {
    cuda_->release(memory.place_, memory.data_);
  }
  memory.data_ = nullptr;
  const std::lock_guard lock(ledger_->mutex);
  ledger_->memory.bytes -= memory.bytes_;
  *memory.bytes_of_purpose_ -= memory.bytes_;
}

}  // namespace core
}  // namespace cornea
