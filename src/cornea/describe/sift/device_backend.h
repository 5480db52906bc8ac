// SPDX-License-Identifier: Apache-2.0
// SIFT on CUDA: memory, order of the steps, graphs. The member functions are in sift_memory.cu
// (memory layout), sift_steps.cu (order of the kernels) and device_sift.cu (calls and results).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/cell_selection.h"
#include "cornea/core/frames.h"
#include "cornea/describe/sift/device_sift.h"
#include "cornea/describe/sift/sift_backend.h"
#include "cornea/describe/sift/sift_graph.h"

namespace cornea::sift {

inline constexpr int kMostImages = 16;  // most images that are processed together
// The octaves are processed in two parts: the first octave is described while the smaller ones,
// which do not fill the device, are still being computed.
inline constexpr int kParts = 2;

class DeviceSift : public SiftBackend {
 public:
  DeviceSift(const Context& context, const SiftOptions& options);
  ~DeviceSift() override;

  void detect(std::span<const AnyView> images, AnyView mask, std::span<Features> out,
              core::StageClock* clock) override;
  void describe(AnyView image, std::span<const Keypoint> points, Angles angles, Features& out,
                core::StageClock* clock) override;
  std::size_t memory_needed(const SiftShape& shape, int images) const override;
  Image<float> level(int octave, int level) const override;
  DeviceFeatures detect_on_device(AnyView image, AnyView mask, core::StageClock* clock) override;
  void keep_on_device(bool on) override { keeps_ = on; }
  const Context& context() const override { return context_; }
  const std::uint8_t* device_descriptors() const override {
    return keeps_ ? kept_descriptors_.data<std::uint8_t>() : nullptr;
  }

 private:
  // Counters, one per image: after the first part of the octaves and in total; kExtrema has one per
  // part.
  enum Count { kFirstPoints, kPoints, kKeptPoints, kFirstFeatures, kFeatures, kExtrema, kCounts };
  struct Sizes {
    std::size_t space, marks, rows, row_groups, point_groups, points, features;  // numbers of items
    std::size_t cleared() const { return marks + rows + row_groups + point_groups; }
    std::uint32_t extrema;
  };

  // The steps run on a stream of their own; it waits for the work that the caller has queued on the
  // context's stream.
  void follow_caller();

  // Memory.
  Sizes sizes_of(const SiftShape& shape, int images) const;
  std::size_t bytes_of_sizes(const Sizes& sizes, const SiftShape& shape, int images) const;
  int images_at_once(const SiftShape& shape, std::size_t images) const;
  void prepare(const SiftShape& shape, int images);
  void take_memory(const SiftShape& shape, int images);
  void forget_graphs_of_other_memory();
  void place(std::span<const AnyView> images);

  // Steps.
  void filter(cudaStream_t side, int octave, int level);
  static void record(cudaEvent_t event, cudaStream_t on);
  static void follow(cudaStream_t on, cudaEvent_t event);
  static int side_of(int octave);
  cudaStream_t fork(int octave, core::StageClock* clock);
  void join(core::StageClock* clock);
  void enqueue_clearing(int slot, core::StageClock* clock);
  void enqueue_lower_levels(int octave);
  void enqueue_upper_levels(int octave, cudaStream_t on);
  void enqueue_points(cudaStream_t on, int slot, int part, int first_octave, int octaves,
                      const PointLists& points, bool masked, cudaEvent_t before_order);
  void enqueue_features_of(cudaStream_t on, int part, const PointLists& points,
                           const FeatureLists& features, const FeatureTargets& out,
                           cudaEvent_t before_order, core::StageClock* clock);
  void enqueue_in_one(int slot, bool masked, core::StageClock* clock);
  void enqueue_in_parts(int slot, bool masked);
  bool runs_in_parts(const core::StageClock* clock) const {
    return forks_ && !clock && !caps_points() && space_.count > 1;
  }
  void enqueue_steps(int slot, bool masked, core::StageClock* clock);
  void enqueue_count_copy(cudaStream_t on, int slot, Count first, int kinds);
  void launch(int slot, bool masked, core::StageClock* clock);

  // Results.
  void wait(int slot);
  // After an error: waits for all work, so that a later call does not report the failure of this
  // one.
  void wait_for_all() noexcept;
  bool has_room(int slot, int images);
  void copy_out(int slot, Count count, std::span<Features> out);
  std::size_t slot_features(int slot) const {  // first feature of a slot
    return std::size_t(feature_capacity_) * slot_images_ * slot;
  }

  cudaStream_t stream() const { return core::cuda_stream(context_); }
  // The extrema of a part of the octaves.
  ExtremumList extremum_list(int slot, int part) const {
    return {extrema_.data<Extremum>() + std::size_t(part) * extremum_capacity_, extremum_capacity_,
            counts(slot, kExtrema) + part};
  }
  PointLists point_lists(int slot) const {
    return {points_.data<SiftPoint>(), point_capacity_, counts(slot, kPoints)};
  }
  AngleLists angle_lists() const {
    return {turns_.data<float>(), angle_counts_.data<std::uint8_t>(),
            marks_.data<std::uint32_t>() + words_ + rows_ + row_groups_, point_shapes()};
  }
  PointShape* point_shapes() const {
    return options_.affine_shape ? shapes_.data<PointShape>() : nullptr;
  }
  DescriptorRule descriptor_rule() const {
    return {options_.root, options_.domain_size_pooling, sizes_, point_shapes()};
  }
  FeatureLists feature_lists(int slot) const {
    return {features_.data<OrientedPoint>(), feature_capacity_, counts(slot, kFeatures)};
  }
  FeatureTargets feature_targets(int slot) const {
    const std::size_t first = slot_features(slot);
    const std::size_t byte = first * kDescriptorLength;
    if (stays_) {
      return {kept_keypoints_.data<Keypoint>() + first,
              kept_descriptors_.data<std::uint8_t>() + byte, nullptr};
    }
    return {host_keypoints_.data<Keypoint>() + first, host_descriptors_.data<std::uint8_t>() + byte,
            keeps_ ? kept_descriptors_.data<std::uint8_t>() + byte : nullptr};
  }
  static constexpr std::size_t kCountWords = kCounts * kMostImages;
  std::uint32_t* counts(int slot, Count what) const {
    return device_counts_.data<std::uint32_t>() + slot * kCountWords + what * kMostImages;
  }
  std::uint32_t* host_counts(int slot) const {
    return host_counts_.data<std::uint32_t>() + slot * kCountWords;
  }
  std::size_t cells_of(const SiftShape& shape) const {
    return std::size_t(core::divide_up(shape.width, options_.cell)) *
           core::divide_up(shape.height, options_.cell);
  }
  bool caps_points() const { return options_.max_points > 0 || options_.max_per_cell > 0; }

  Context caller_;   // as given
  Context context_;  // with the stream of the steps
  SiftOptions options_;
  SiftLimits limits_;
  SizeLevels sizes_;
  core::Frames frames_;
  core::StageClock untimed_;             // for the filters, whose times are not reported
  DeviceView<const std::uint8_t> mask_;  // the last mask, at the address that graphs use
  Streams streams_;
  std::vector<std::unique_ptr<filter::FloatFilter>> filters_;  // by level
  bool forks_ = true;                                          // filters can run on side streams
  bool capturing_ = false;
  bool keeps_ = false;  // descriptors are also kept on the device
  bool stays_ = false;  // this call leaves its features on the device only
  SiftShape shape_;
  DeviceSpace space_;
  // Sizes of the memory that every call clears: marks, their counts per row and per group of rows,
  // angles per group of points, and the number of extrema.
  std::size_t words_ = 0, rows_ = 0, row_groups_ = 0, point_groups_ = 0;
  int slot_images_ = 0;  // capacity of a slot
  std::uint32_t extremum_capacity_ = 0, point_capacity_ = 0, feature_capacity_ = 0;
  std::vector<Graph> graphs_;
  std::vector<std::size_t> held_;                      // the addresses and capacities in the graphs
  std::size_t largest_image_ = 0, largest_group_ = 0;  // pixels of the first octaves

  core::CellSelection cells_;
  core::Buffer floats_{Place::device, "sift: scale space"};
  core::Buffer marks_{Place::device, "sift: marks, row counts"};
  core::Buffer extrema_{Place::device, "sift: extrema"};
  core::Buffer points_{Place::device, "sift: points"};
  core::Buffer kept_points_{Place::device, "sift: points under the caps"};
  core::Buffer turns_{Place::device, "sift: angles"};
  core::Buffer angle_counts_{Place::device, "sift: counts of angles"};
  core::Buffer shapes_{Place::device, "sift: shapes"};
  core::Buffer features_{Place::device, "sift: features in order"};
  core::Buffer device_counts_{Place::device, "sift: counts"};
  core::Buffer kept_keypoints_{Place::device, "sift: keypoints"};
  core::Buffer kept_descriptors_{Place::device, "sift: descriptors"};
  core::Buffer given_turns_{Place::device, "sift: given angles"};
  core::Buffer host_keypoints_{Place::pinned, "sift: keypoints for the host"};
  core::Buffer host_descriptors_{Place::pinned, "sift: descriptors for the host"};
  core::Buffer host_counts_{Place::pinned, "sift: counts for the host"};
};

}  // namespace cornea::sift
