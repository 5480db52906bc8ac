// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "cornea/core/pixels.h"
#include "cornea/describe/sift/device_backend.h"

namespace cornea::sift {

using namespace core;

void DeviceSift::wait(int slot) {
  cuda_check(cudaEventSynchronize(streams_.done[slot]), "waiting for features");
  frames_.check_usable();
}

void DeviceSift::wait_for_all() noexcept {
  for (cudaStream_t side : streams_.side) cudaStreamSynchronize(side);
  cudaStreamSynchronize(stream());
  frames_.forget();
  cudaGetLastError();
}

// Whether all capacities were sufficient; if not, the next prepare() increases them.
bool DeviceSift::has_room(int slot, int images) {
  const std::uint32_t* found = host_counts(slot);
  const auto most = [](const std::uint32_t* of, int n) { return *std::max_element(of, of + n); };
  const std::uint32_t points = most(found + kPoints * kMostImages, images);
  const std::uint32_t features = most(found + kFeatures * kMostImages, images);
  const std::uint32_t extrema = most(found + kExtrema * kMostImages, kParts);
  const bool room =
      points <= point_capacity_ && features <= feature_capacity_ && extrema <= extremum_capacity_;
  auto grow = [](std::uint32_t& capacity, std::uint32_t need) {
    if (need > capacity) capacity = need + need / 4;
  };
  grow(extremum_capacity_, extrema);
  grow(point_capacity_, points);
  grow(feature_capacity_, features);
  return room;
}

// Appends the features counted so far to `out`, starting after those that it already has.
void DeviceSift::copy_out(int slot, Count count, std::span<Features> out) {
  const std::size_t first = slot_features(slot);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto& [keypoints, descriptors] = out[i];
    const std::size_t have = keypoints.size();
    const std::size_t n = std::min(host_counts(slot)[count * kMostImages + i], feature_capacity_);
    const std::size_t at = first + feature_capacity_ * i;
    const Keypoint* from = host_keypoints_.data<Keypoint>() + at;
    const std::uint8_t* bytes_from =
        host_descriptors_.data<std::uint8_t>() + at * kDescriptorLength;
    keypoints.insert(keypoints.end(), from + have, from + n);
    descriptors.insert(descriptors.end(), bytes_from + have * kDescriptorLength,
                       bytes_from + n * kDescriptorLength);
    bytes += n * (sizeof(Keypoint) + kDescriptorLength);
  }
  if (count == kFeatures) context_.count_download(bytes);
}

void DeviceSift::detect(std::span<const AnyView> images, AnyView mask, std::span<Features> out,
                        StageClock* clock) {
  const DeviceGuard device(context_);
  const SiftShape shape = sift_shape(options_, images[0].width(), images[0].height());
  for (Features& f : out) f.keypoints.clear(), f.descriptors.clear();
  if (shape.octaves.empty()) return;
  follow_caller();
  const std::size_t at_once = images_at_once(shape, images.size());
  // A group of images; while it is processed, the features of the previous group are copied.
  struct Group {
    std::size_t first, count;
    int slot;
  };
  auto run = [&](std::size_t first, int slot) {
    const std::size_t count = std::min(at_once, images.size() - first);
    if (!mask.empty()) mask_ = frames_.mask_on_device(mask, true);
    prepare(shape, static_cast<int>(count));
    place(images.subspan(first, count));
    if (clock) clock->mark(images[0].on_device() ? "prepare" : "upload");
    launch(slot, !mask.empty(), clock);
    return Group{first, count, slot};
  };
  try {
    Group now = run(0, 0);
    for (;;) {
      const std::size_t next_first = now.first + now.count;
      const bool more = next_first < images.size();
      const Group next = more ? run(next_first, 1 - now.slot) : Group{};
      const std::span<Features> results = out.subspan(now.first, now.count);
      if (runs_in_parts(clock) && !stays_) {
        cuda_check(cudaEventSynchronize(streams_.first_done[now.slot]), "waiting for features");
        copy_out(now.slot, kFirstFeatures, results);
      }
      wait(now.slot);
      if (!has_room(now.slot, static_cast<int>(now.count))) {
        context_.synchronize();
        for (Features& f : results) f.keypoints.clear(), f.descriptors.clear();
        now = run(now.first, now.slot);
        continue;
      }
      if (!stays_) copy_out(now.slot, kFeatures, results);
      if (!more) break;
      now = next;
    }
  } catch (...) {
    wait_for_all();
    throw;
  }
}

DeviceFeatures DeviceSift::detect_on_device(AnyView image, AnyView mask, StageClock* clock) {
  if (sift_shape(options_, image.width(), image.height()).octaves.empty()) return {};
  struct Staying {
    bool& flag;
    explicit Staying(bool& stays) : flag(stays) { flag = true; }
    ~Staying() { flag = false; }
  } const staying(stays_);
  Features none;
  detect({&image, 1}, mask, {&none, 1}, clock);
  return {kept_keypoints_.data<Keypoint>(), kept_descriptors_.data<std::uint8_t>(),
          host_counts(0)[kFeatures * kMostImages]};
}

void DeviceSift::describe(AnyView image, std::span<const Keypoint> points, Angles angles,
                          Features& out, StageClock* clock) {
  const DeviceGuard device(context_);
  out.keypoints.assign(points.begin(), points.end());
  out.descriptors.assign(points.size() * kDescriptorLength, 0);
  const SiftShape shape = sift_shape(options_, image.width(), image.height());
  if (shape.octaves.empty() || points.empty()) return;
  follow_caller();
  const auto n = static_cast<std::uint32_t>(points.size());
  point_capacity_ = std::max(point_capacity_, n);
  feature_capacity_ = std::max(feature_capacity_, n);
  prepare(shape, 1);
  std::vector<SiftPoint> places;
  std::vector<float> turns;
  std::vector<PointShape> shapes;
  const bool keep = angles == Angles::keep, affine = options_.affine_shape;
  for (const Keypoint& p : points) {
    places.push_back(place_of(options_, shape, p));
    if (!keep) continue;
    shapes.push_back(shape_of(p));
    const float turn = turn_of_angle(p.angle);
    turns.push_back(affine ? normalised_turn(shapes.back(), turn) : turn);
  }
  const float* given = nullptr;
  try {
    place({&image, 1});
    for (int octave = 0; octave < space_.count; ++octave) {
      enqueue_lower_levels(octave);
      enqueue_upper_levels(octave, stream());
    }
    const PointLists lists = point_lists(0);
    auto send = [&](void* to, const void* from, std::size_t bytes) {
      cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream()),
                 "uploading points");
    };
    send(lists.points, places.data(), n * sizeof(SiftPoint));
    send(lists.counts, &n, sizeof n);
    if (keep) {
      if (affine) send(point_shapes(), shapes.data(), n * sizeof(PointShape));
      float* to = given_turns_.reserve<float>(context_, n);
      send(to, turns.data(), n * sizeof(float));
      given = to;
    }
    const AngleLists found = angle_lists();
    if (!given) enqueue_angles(stream(), space_, lists, options_.orientations > 0 ? 1 : 0, found);
    const FeatureLists features = feature_lists(0);
    enqueue_one_each(stream(), lists, found, given, features);
    enqueue_descriptors(stream(), space_, lists, features, descriptor_rule(), feature_targets(0));
    cuda_check(cudaEventRecord(streams_.done[0], stream()), "recording an event");
    wait(0);
  } catch (...) {
    wait_for_all();
    throw;
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    Keypoint& point = out.keypoints[i];
    if (!given) set_frame(point, host_keypoints_.data<Keypoint>()[i]);
    if (!affine) point.stretch = 1, point.axis = 0;
  }
  std::memcpy(out.descriptors.data(), host_descriptors_.data<std::uint8_t>(),
              out.descriptors.size());
  context_.count_download(n * (sizeof(Keypoint) + kDescriptorLength));
  if (clock) clock->mark("descriptors");
}

Image<float> DeviceSift::level(int octave, int level) const {
  require(octave >= 0 && octave < space_.count && level >= 0 && level < space_.intervals + 3,
          "the last image has no level ", level, " of octave ", octave);
  const DeviceView<const float> from = space_.level(octave, level, space_.images - 1);
  Image<float> copy(from.width, from.height);
  context_.download(copy.host().data, from.width * sizeof(float), from.data,
                    from.stride * sizeof(float), from.width * sizeof(float), from.height);
  context_.synchronize();
  return copy;
}

std::unique_ptr<SiftBackend> make_device_sift(const Context& context, const SiftOptions& options) {
  return std::make_unique<DeviceSift>(context, options);
}

}  // namespace cornea::sift
