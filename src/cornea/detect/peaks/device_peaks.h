// SPDX-License-Identifier: Apache-2.0
// The peak search on CUDA: the map stays on the device, only the points come back.
//
// Steps:
//   1. The strongest response, for relative thresholds under a mask; without a mask the response
//      kernel has computed it.
//   2. Marks: one bit per pixel and one count per row.
//   3. Stream compaction of the marked pixels in reading order, by prefix sums of the row counts,
//      so that the order does not depend on atomics. If the detector has a further test, it
//      follows, and this step is repeated.
//   4. If points are moved or have a minimum distance: the points of all pixels, and which of them
//      are kept.
//   5. Which of these the caps keep.
//   6. Their points, copied into pinned host memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/cell_selection.h"
#include "cornea/core/context.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/detect/peaks/peak_search.h"
#include "cornea/detect/peaks/peaks_math.h"

namespace cornea::peaks {

// Peaks after suppression and before the caps, on the device, for a further test. drop_candidate()
// (drop_candidate.h) removes one.
struct DeviceCandidates {
  int width = 0, height = 0, frames = 0;
  const std::uint32_t* pixels = nullptr;  // y * width + x, unordered, frame by frame
  std::size_t capacity = 0;               // distance between the lists of two frames
  const std::uint32_t* counts = nullptr;  // per frame
  // The parameters of peak_cutoff(), which a peak must exceed.
  double threshold = 0, unit = 1;
  bool relative = false;
  const void* strongest = nullptr;  // OrderedBits of the map's type, one per frame
  std::uint32_t* marks = nullptr;   // one bit per pixel
  int words_per_row = 0;
  std::uint32_t* row_counts = nullptr;
};
using DevicePeakTest = std::function<void(const DeviceCandidates&)>;
// Queues a kernel that moves the points of all peaks. The points of frame f are counts[f] entries
// from points + f * capacity on.
using DevicePeakMove =
    std::function<void(Corner* points, const std::uint32_t* counts, std::size_t capacity)>;

class DevicePeaks {
 public:
  DevicePeaks(const Context& context, const PeakOptions& options)
      : context_(context), options_(options) {}

  // Allocates the memory for `frames` maps of this size. Afterwards nothing is allocated, and the
  // two enqueue functions may be captured in a graph.
  template <class R>
  void prepare(int width, int height, int frames);

  // Queues the reset before a search in a region, under a mask that may be empty; `unit` is the
  // map value that corresponds to a response of 1. The strongest response of each frame becomes
  // unknown. Returns the address of these values, which a response kernel may raise (strongest.h).
  template <class R>
  core::OrderedBits<R>* enqueue_reset(int frames, Region region,
                                      DeviceView<const std::uint8_t> mask, double unit);
  // For a detector that knows which pixels may be peaks: marks those pixels of a list that are, so
  // that enqueue_search() does not read the whole map. Called after enqueue_reset(), once per group
  // of frames. A pixel is (frame * height + y) * width + x; frames are counted from `first_frame`
  // on.
  template <class R>
  void enqueue_mark_listed(DeviceView<const R> first_map, int first_frame,
                           const std::uint32_t* pixels, const std::uint32_t* count);
  // Queues the search in `frames` maps stacked vertically, starting with `first`. The resulting
  // points lie on the device. `strongest_known`: the response kernel has computed the strongest
  // responses.
  template <class R>
  void enqueue_search(DeviceView<const R> first, int frames, bool strongest_known,
                      const DevicePeakTest& test = {}, const DevicePeakMove& move = {});
  // Queues the transfer of the points to the host.
  void enqueue_delivery(int frames);

  // The points of a frame, after the stream was synchronized.
  std::vector<Corner> fetch(int frame) const;

 private:
  Corner* device_points(int frame) const { return corners_.data<Corner>() + frame * capacity_; }
  void gather(int width, int height, int frames);
  // A cell with at most max_per_cell possible peaks needs no cap.
  bool caps_cells() const {
    return options_.max_per_cell > 0 &&
           std::int64_t(options_.cell) * options_.cell > options_.max_per_cell;
  }
  bool caps() const { return options_.max_points > 0 || caps_cells(); }
  bool spaces() const;
  void prepare_spacing(int width, int height, int frames);
  template <class R>
  void space(DeviceView<const R> first, int frames);
  template <class R>
  void cap(DeviceView<const R> first, int frames);
  template <class R>
  void make_spots(DeviceView<const R> first, int frames);
  template <class R>
  void enqueue_points(DeviceView<const R> first, int frames);

  Context context_;
  PeakOptions options_;
  int height_ = 0, words_per_row_ = 0, frames_ = 0;
  Region region_;
  DeviceView<const std::uint8_t> mask_;
  double unit_ = 1;
  bool listed_ = false;              // enqueue_mark_listed() has made the marks
  std::size_t pixel_capacity_ = 0;   // most marks per frame
  std::size_t capacity_ = 0;         // most points per frame
  std::size_t pinned_capacity_ = 0;  // points per frame in pinned memory
  core::Buffer strongest_{Place::device, "peaks: strongest response"};
  core::Buffer marks_{Place::device, "peaks: marks"};
  core::Buffer row_counts_{Place::device, "peaks: row counts"};
  core::Buffer pixels_{Place::device, "peaks: pixels in reading order"};
  // If points are moved or have a minimum distance: the points of all pixels, those that are kept,
  // and their pixels.
  core::Buffer spots_{Place::device, "peaks: points of all pixels"};
  core::Buffer spaced_spots_{Place::device, "peaks: points far enough apart"};
  core::Buffer spaced_pixels_{Place::device, "peaks: pixels of these"};
  core::Buffer spaced_{Place::device, "peaks: counts of these"};
  core::CellSelection near_;
  core::Buffer chosen_{Place::device, "peaks: pixels or points under the caps"};
  core::CellSelection cells_;
  core::Buffer found_{Place::device, "peaks: counts before the cap"};
  core::Buffer counts_{Place::device, "peaks: counts"};
  core::Buffer corners_{Place::device, "peaks: points"};
  core::Buffer host_counts_{Place::pinned, "peaks: counts for the host"};
  core::Buffer host_corners_{Place::pinned, "peaks: points for the host"};
};

}  // namespace cornea::peaks
