// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cornea/core/context_state.h"
#include "cornea/describe/sift/device_backend.h"
#include "cornea/filter/gaussian/gaussian_blur.h"

namespace cornea::sift {

using namespace core;
using namespace filter;
using namespace gaussian;

DeviceSift::DeviceSift(const Context& context, const SiftOptions& options)
    : caller_(context),
      context_(core::with_own_stream(context)),
      options_(options),
      limits_(sift_limits(options)),
      sizes_(size_levels(options)),
      frames_(context_, Working::stored),
      untimed_(context_),
      streams_(context.cuda_index()) {
  for (int l = 0; l < options.intervals + 3; ++l) {
    filters_.push_back(make_level_filter(context_, options, l));
    const auto* gaussian = dynamic_cast<const Blur*>(filters_.back().get());
    if (l > options.intervals) forks_ &= gaussian && gaussian->runs_on_any_stream();
  }
}

DeviceSift::~DeviceSift() {
  const DeviceGuard device(context_.cuda_index(), std::nothrow);
  wait_for_all();
}

void DeviceSift::follow_caller() {
  record(streams_.called, cuda_stream(caller_));
  follow(stream(), streams_.called);
}

void DeviceSift::filter(cudaStream_t side, int octave, int level) {
  const DeviceView<float> to = space_.level(octave, level, 0);
  const DeviceView<float> from =
      level > 0 ? space_.level(octave, level - 1, 0) : space_.level(0, options_.intervals + 2, 0);
  if (auto* blur = dynamic_cast<Blur*>(filters_[level].get())) {
    return blur->enqueue_on(side ? side : stream(), from, to, space_.images);
  }
  // One by one: a filter's memory grows with the number of images.
  for (int i = 0; i < space_.images; ++i) {
    const std::size_t at = space_.octaves[octave].image_floats() * i;
    filters_[level]->enqueue(
        DeviceView<const float>(from.data + at, from.width, from.height, from.stride),
        DeviceView<float>(to.data + at, to.width, to.height, to.stride), 1, level_unit(Pixel::f32),
        untimed_);
  }
}

void DeviceSift::record(cudaEvent_t event, cudaStream_t on) {
  cuda_check(cudaEventRecord(event, on), "recording an event");
}
void DeviceSift::follow(cudaStream_t on, cudaEvent_t event) {
  cuda_check(cudaStreamWaitEvent(on, event), "waiting for an event");
}

// Computes, on the main stream, the levels of an octave that the next octave needs.
void DeviceSift::enqueue_lower_levels(int octave) {
  octave == 0 ? filter(nullptr, 0, 0) : enqueue_half(stream(), space_, octave);
  for (int l = 1; l <= options_.intervals; ++l) filter(nullptr, octave, l);
}
// Computes the remaining levels.
void DeviceSift::enqueue_upper_levels(int octave, cudaStream_t on) {
  for (int l = options_.intervals + 1; l < options_.intervals + 3; ++l) {
    filter(on == stream() ? nullptr : on, octave, l);
  }
}

// Queues the fits of the extrema of some octaves, and appends the resulting points, in order, to
// those of the octaves before.
void DeviceSift::enqueue_points(cudaStream_t on, int slot, int part, int first_octave, int octaves,
                                const PointLists& points, bool masked, cudaEvent_t before_order) {
  auto* bits = marks_.data<std::uint32_t>();
  const Marks marks{bits, bits + words_, bits + words_ + rows_};
  enqueue_settle(on, space_, limits_, extremum_list(slot, part),
                 masked ? mask_ : DeviceView<const std::uint8_t>(), marks);
  if (before_order) follow(on, before_order);
  enqueue_gather(on, space_, first_octave, octaves, limits_, marks, points);
  if (part == 0) record(streams_.gathered, on);
}

// The features of points.
void DeviceSift::enqueue_features_of(cudaStream_t on, int part, const PointLists& points,
                                     const FeatureLists& features, const FeatureTargets& out,
                                     cudaEvent_t before_order, StageClock* clock) {
  enqueue_angles(on, space_, points, options_.orientations, angle_lists());
  if (before_order) follow(on, before_order);
  enqueue_features(on, space_.images, points, angle_lists(), features);
  if (part == 0) record(streams_.listed, on);
  if (clock) clock->mark("angles");
  enqueue_descriptors(on, space_, points, features, descriptor_rule(), out);
  if (clock) clock->mark("descriptors");
}

// All octaves first, and then all points.
void DeviceSift::enqueue_in_one(int slot, bool masked, StageClock* clock) {
  for (int octave = 0; octave < space_.count; ++octave) {
    const cudaStream_t side = fork(octave, clock);
    enqueue_upper_levels(octave, side);
    if (clock) clock->mark("scale space");
    enqueue_extrema(side, space_, octave, limits_, extremum_list(slot, 0));
    if (clock) clock->mark("extrema");
  }
  join(clock);
  PointLists points = point_lists(slot);
  enqueue_points(stream(), slot, 0, 0, space_.count, points, masked, nullptr);
  if (caps_points()) {
    const bool by_cell = options_.max_per_cell > 0;
    if (by_cell) {
      enqueue_cell_cap(stream(), space_, shape_.width, points, options_.keep, options_.cell,
                       options_.max_per_cell, cells_);
    }
    const PointLists kept{kept_points_.data<SiftPoint>(), point_capacity_,
                          counts(slot, kKeptPoints)};
    enqueue_point_cap(stream(), space_, points, options_.keep, by_cell ? cells_.keep() : nullptr,
                      options_.max_points, kept);
    points = kept;
  }
  if (clock) clock->mark("points");
  enqueue_features_of(stream(), 0, points, feature_lists(slot), feature_targets(slot), nullptr,
                      clock);
}

// The first octave goes through all steps while the others are processed on other streams. Its
// points come before all others, so that their output positions are known.
void DeviceSift::enqueue_in_parts(int slot, bool masked) {
  const cudaStream_t first_stream = fork(0, nullptr);
  enqueue_upper_levels(0, first_stream);
  enqueue_extrema(first_stream, space_, 0, limits_, extremum_list(slot, 0));
  PointLists first_points = point_lists(slot);
  first_points.counts = counts(slot, kFirstPoints);
  enqueue_points(first_stream, slot, 0, 0, 1, first_points, masked, nullptr);
  FeatureLists first_features = feature_lists(slot);
  first_features.counts = counts(slot, kFirstFeatures);
  enqueue_features_of(first_stream, 0, first_points, first_features, feature_targets(slot), nullptr,
                      nullptr);
  // The host may start reading them.
  enqueue_count_copy(first_stream, slot, kFirstFeatures, 1);
  cuda_check(
      cudaEventRecordWithFlags(streams_.first_done[slot], first_stream,
                               capturing_ ? cudaEventRecordExternal : cudaEventRecordDefault),
      "recording an event");
  for (int octave = 1; octave < space_.count; ++octave) {
    const cudaStream_t side = fork(octave, nullptr);
    enqueue_upper_levels(octave, side);
    enqueue_extrema(side, space_, octave, limits_, extremum_list(slot, 1));
    record(streams_.join[side_of(octave)], side);
  }
  for (int side = 1; side < std::min(kSides, space_.count); ++side) {
    follow(stream(), streams_.join[side]);
  }
  PointLists points = point_lists(slot);
  enqueue_points(stream(), slot, 1, 1, space_.count - 1, points, masked, streams_.gathered);
  points.first = first_points.counts;
  FeatureLists features = feature_lists(slot);
  features.first = first_features.counts;
  enqueue_features_of(stream(), 1, points, features, feature_targets(slot), streams_.listed,
                      nullptr);
  record(streams_.join[0], first_stream);
  follow(stream(), streams_.join[0]);
}

// The side stream of an octave; the first octave has one to itself.
int DeviceSift::side_of(int octave) { return octave == 0 ? 0 : 1 + (octave - 1) % (kSides - 1); }

// Queues the levels that the next octave needs on the main stream, and returns the stream for the
// remaining work of this octave.
cudaStream_t DeviceSift::fork(int octave, StageClock* clock) {
  enqueue_lower_levels(octave);
  if (!forks_ || clock) return stream();
  const cudaStream_t side = streams_.side[side_of(octave)];
  record(streams_.fork, stream());
  follow(side, streams_.fork);
  follow(side, streams_.cleared);
  return side;
}
void DeviceSift::join(StageClock* clock) {
  if (!forks_ || clock) return;
  for (int i = 0; i < std::min(kSides, space_.count); ++i) {
    record(streams_.join[i], streams_.side[i]);
    follow(stream(), streams_.join[i]);
  }
}

// Clears the counters and marks of the search, in parallel with the first levels, which do not need
// them.
void DeviceSift::enqueue_clearing(int slot, StageClock* clock) {
  const bool beside = forks_ && !clock;
  const cudaStream_t on = beside ? streams_.side[0] : stream();
  if (beside) {
    record(streams_.fork, stream());
    follow(on, streams_.fork);
  }
  auto clear = [&](void* at, std::size_t words) {
    cuda_check(cudaMemsetAsync(at, 0, words * sizeof(std::uint32_t), on), "clearing marks");
  };
  clear(marks_.data<void>(), words_ + rows_ + row_groups_ + point_groups_);
  clear(counts(slot, kExtrema), kParts);
  if (beside) record(streams_.cleared, on);
}

void DeviceSift::enqueue_steps(int slot, bool masked, StageClock* clock) {
  enqueue_clearing(slot, clock);
  runs_in_parts(clock) ? enqueue_in_parts(slot, masked) : enqueue_in_one(slot, masked, clock);
  enqueue_count_copy(stream(), slot, Count{}, kCounts);
}

void DeviceSift::enqueue_count_copy(cudaStream_t on, int slot, Count first, int kinds) {
  cuda_check(
      cudaMemcpyAsync(host_counts(slot) + first * kMostImages, counts(slot, first),
                      kinds * kMostImages * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, on),
      "copying counts");
}

// Queues the steps: individually the first time, and then as a graph.
void DeviceSift::launch(int slot, bool masked, StageClock* clock) {
  const std::array<int, 6> key = {shape_.width, shape_.height, space_.images, slot, masked, stays_};
  auto graph =
      std::find_if(graphs_.begin(), graphs_.end(), [&](const Graph& g) { return g.key == key; });
  if (graph == graphs_.end()) {
    constexpr std::size_t kMostGraphs = 8;
    if (graphs_.size() == kMostGraphs) graphs_.erase(graphs_.begin());
    graph = graphs_.emplace(graphs_.end());
    graph->key = key;
  }
  if (!clock && !graph->exec && graph->runs > 0 &&
      cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal) == cudaSuccess) {
    cudaGraph_t made = nullptr;
    capturing_ = true;
    try {
      enqueue_steps(slot, masked, nullptr);
      capturing_ = false;
    } catch (...) {
      capturing_ = false;
      cudaStreamEndCapture(stream(), &made);
      if (made) cudaGraphDestroy(made);
      cudaGetLastError();
      throw;
    }
    cuda_check(cudaStreamEndCapture(stream(), &made), "making a graph");
    const cudaError_t status = cudaGraphInstantiate(&graph->exec, made, 0);
    cudaGraphDestroy(made);
    cuda_check(status, "making a graph");
  }
  cudaGetLastError();  // clears the error of a stream that cannot be captured
  if (!clock && graph->exec) {
    cuda_check(cudaGraphLaunch(graph->exec, stream()), "launching a graph");
  } else {
    enqueue_steps(slot, masked, clock);
    graph->runs += 1;
  }
  cuda_check(cudaEventRecord(streams_.done[slot], stream()), "recording an event");
}

}  // namespace cornea::sift
