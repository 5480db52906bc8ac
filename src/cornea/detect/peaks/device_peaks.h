// The peak search on CUDA: the map stays on the device, only the points come back.
//
// Steps, each a kernel: the strongest response (for relative thresholds under a mask; without one
// the response kernel knows it); marks, one bit per pixel and a count per row; the marked pixels in
// reading order, placed by a sum of the row counts before them, so that no atomic decides an order
// (twice, if a further test is asked for, around it); where points are moved or kept apart, the
// points of all pixels and which of them stay; those that the caps keep; the points; their copy
// into pinned host memory, as many as there are.
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
  const std::uint32_t* pixels = nullptr;  // y * width + x, in no order, frame by frame
  std::size_t capacity = 0;               // distance from a frame's pixels to the next one's
  const std::uint32_t* counts = nullptr;  // of each frame
  // What a peak exceeds: see peak_cutoff().
  double threshold = 0, unit = 1;
  bool relative = false;
  const void* strongest = nullptr;  // OrderedBits of the map's type, one a frame
  std::uint32_t* marks = nullptr;   // one bit per pixel
  int words_per_row = 0;
  std::uint32_t* row_counts = nullptr;
};
using DevicePeakTest = std::function<void(const DeviceCandidates&)>;
// Queues what moves the points of all peaks: counts[f] of them from points + f * capacity on.
using DevicePeakMove =
    std::function<void(Corner* points, const std::uint32_t* counts, std::size_t capacity)>;

class DevicePeaks {
 public:
  DevicePeaks(const Context& context, const PeakOptions& options)
      : context_(context), options_(options) {}

  // Takes the memory for `frames` maps of this size. After it nothing is allocated, and the two
  // enqueue functions may be captured in a graph.
  template <class R>
  void prepare(int width, int height, int frames);

  // Queues a fresh start of a search in a region and under a mask, which may be empty; `unit` is
  // the map's value of response 1. The strongest response of each frame is unknown. Returns where
  // it is kept, for a response kernel to raise on its way (strongest.h).
  template <class R>
  core::OrderedBits<R>* enqueue_reset(int frames, Region region,
                                      DeviceView<const std::uint8_t> mask, double unit);
  // For a detector that knows which pixels may be peaks: marks those of a list that are, so that
  // enqueue_search() does not look at the whole map. Called after enqueue_reset(), as often as the
  // frames come. A pixel is (frame * height + y) * width + x; frames count from `first_frame` on.
  template <class R>
  void enqueue_mark_listed(DeviceView<const R> first_map, int first_frame,
                           const std::uint32_t* pixels, const std::uint32_t* count);
  // Queues the search in `frames` maps that lie one below the other from `first` on. The points
  // then lie on the device. `strongest_known`: the response kernel has raised it.
  template <class R>
  void enqueue_search(DeviceView<const R> first, int frames, bool strongest_known,
                      const DevicePeakTest& test = {}, const DevicePeakMove& move = {});
  // Queues the points' way to the host.
  void enqueue_delivery(int frames);

  // The points of a frame, once the stream has been waited for.
  std::vector<Corner> fetch(int frame) const;

 private:
  Corner* device_points(int frame) const { return corners_.data<Corner>() + frame * capacity_; }
  void gather(int width, int height, int frames);
  // A cell of so few pixels that all may stay needs no cap.
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
  bool listed_ = false;              // marks were made from lists
  std::size_t pixel_capacity_ = 0;   // marks a frame that can be
  std::size_t capacity_ = 0;         // points a frame that can be
  std::size_t pinned_capacity_ = 0;  // points a frame that go straight to the host
  core::Buffer strongest_{Place::device, "peaks: strongest response"};
  core::Buffer marks_{Place::device, "peaks: marks"};
  core::Buffer row_counts_{Place::device, "peaks: row counts"};
  core::Buffer pixels_{Place::device, "peaks: pixels in reading order"};
  // Where points are moved or kept apart: those of all pixels, the ones that stay and their pixels.
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
