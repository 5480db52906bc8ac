// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: a bounded queue whose items are produced ahead by several threads and
// consumed in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace cornea::folder {

template <class Item>
class InOrder {
 public:
  // At most `ahead` items are claimed or waiting at a time.
  InOrder(std::size_t count, std::size_t ahead) : count_(count), slots_(ahead) {}

  // For producers: the index of the next item to produce; empty if none is left or stop() was
  // called.
  std::optional<std::size_t> claim() {
    std::unique_lock lock(mutex_);
    changed_.wait(
        lock, [&] { return stopped_ || claimed_ == count_ || claimed_ < taken_ + slots_.size(); });
    if (stopped_ || claimed_ == count_) return std::nullopt;
    return claimed_++;
  }
  void put(std::size_t index, Item item) {
    const std::lock_guard lock(mutex_);
    slots_[index % slots_.size()] = std::move(item);
    changed_.notify_all();
  }

  // For the single consumer: waits for the next item; empty after the last one and after stop().
  std::optional<Item> take() {
    std::unique_lock lock(mutex_);
    std::optional<Item>& slot = slots_[taken_ % slots_.size()];
    changed_.wait(lock, [&] { return stopped_ || taken_ == count_ || slot; });
    if (stopped_ || taken_ == count_) return std::nullopt;
    std::optional<Item> item = std::exchange(slot, std::nullopt);
    ++taken_;
    changed_.notify_all();
    return item;
  }

  // No more items can be claimed; those already claimed are still consumed.
  void finish() {
    const std::lock_guard lock(mutex_);
    count_ = claimed_;
    changed_.notify_all();
  }

  // Wakes all waiting threads, which then return empty.
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::size_t count_;
  std::vector<std::optional<Item>> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t claimed_ = 0, taken_ = 0;
  bool stopped_ = false;
};

}  // namespace cornea::folder
