// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cornea/core/pixels.h"
#include "cornea/describe/sift/device_backend.h"

namespace cornea::sift {
namespace {

using namespace core;

// Most bytes of scale spaces that are processed together; a single one may be larger.
constexpr std::size_t kChunkBytes = std::size_t{2} << 30;

}  // namespace

// Capacities for images of a size. If more points are found, the capacities grow.
DeviceSift::Sizes DeviceSift::sizes_of(const SiftShape& shape, int images) const {
  Sizes sizes{};
  sizes.space = shape.floats * images;
  for (const OctaveShape& o : shape.octaves) {
    const std::size_t rows = std::size_t(o.height) * options_.intervals;
    sizes.rows += rows * images;
    sizes.marks += rows * divide_up(o.width, kWarp) * images;
  }
  sizes.row_groups = row_groups(static_cast<std::uint32_t>(sizes.rows / images)) * images;
  const std::size_t pixels = std::size_t(shape.octaves[0].width) * shape.octaves[0].height;
  const std::size_t points = 1024 + pixels / 200;
  sizes.points = std::max<std::size_t>(points, point_capacity_);
  sizes.point_groups = point_groups(static_cast<std::uint32_t>(sizes.points)) * images;
  sizes.features = points + points / 4;
  if (options_.max_points > 0) {  // each with all its orientations
    const std::size_t most = std::size_t(options_.max_points) * std::max(options_.orientations, 1);
    sizes.features = std::min(sizes.features, most);
  }
  sizes.features = std::max<std::size_t>(sizes.features, feature_capacity_);
  sizes.extrema = std::max<std::uint32_t>((1024 + pixels / 50) * images, extremum_capacity_);
  return sizes;
}

std::size_t DeviceSift::bytes_of_sizes(const Sizes& s, const SiftShape& shape, int images) const {
  std::size_t bytes = s.space * sizeof(float) + s.cleared() * sizeof(std::uint32_t) +
                      kParts * s.extrema * sizeof(Extremum);
  bytes += images * s.points *
           (sizeof(SiftPoint) * (caps_points() ? 2 : 1) + kMostAngles * sizeof(float) + 2);
  if (options_.affine_shape) bytes += images * s.points * sizeof(PointShape);
  bytes += images * s.features * sizeof(OrientedPoint);
  if (keeps_ || stays_) bytes += kSlots * images * s.features * kDescriptorLength;
  if (stays_) bytes += images * s.features * sizeof(Keypoint);
  bytes += std::size_t(shape.width) * shape.height * images;  // 8-bit pixels
  if (options_.max_per_cell > 0) {
    bytes += core::CellSelection::bytes(images, cells_of(shape), s.points);
  }
  if (options_.scale_space == ScaleSpace::trilateral) {
    constexpr std::size_t kBytesPerPixel = 36;  // used by a trilateral filter
    bytes += kBytesPerPixel * shape.octaves[0].width * shape.octaves[0].height * filters_.size();
  }
  return bytes;
}

std::size_t DeviceSift::memory_needed(const SiftShape& shape, int images) const {
  if (shape.octaves.empty()) return 0;
  const int at_once = images_at_once(shape, images);
  return bytes_of_sizes(sizes_of(shape, at_once), shape, at_once);
}

int DeviceSift::images_at_once(const SiftShape& shape, std::size_t images) const {
  const std::size_t one = shape.floats * sizeof(float);
  const std::size_t fit = std::clamp<std::size_t>(kChunkBytes / one, 1, kMostImages);
  return static_cast<int>(std::min(fit, images));
}

void DeviceSift::take_memory(const SiftShape& shape, int images) {
  const Sizes s = sizes_of(shape, images);
  floats_.reserve<float>(context_, s.space);
  marks_.reserve<std::uint32_t>(context_, s.cleared());
  extrema_.reserve<Extremum>(context_, kParts * std::size_t(s.extrema));
  points_.reserve<SiftPoint>(context_, s.points * images);
  if (caps_points()) kept_points_.reserve<SiftPoint>(context_, s.points * images);
  if (options_.max_per_cell > 0) {
    cells_.prepare(context_, images, static_cast<std::uint32_t>(cells_of(shape)), s.points);
  }
  turns_.reserve<float>(context_, s.points * images * kMostAngles);
  angle_counts_.reserve<std::uint8_t>(context_, s.points * images);
  if (options_.affine_shape) shapes_.reserve<PointShape>(context_, s.points * images);
  features_.reserve<OrientedPoint>(context_, s.features * images);
  slot_images_ = std::max(slot_images_, images);
  const std::size_t host_features = s.features * slot_images_ * kSlots;
  if (stays_) {
    kept_keypoints_.reserve<Keypoint>(context_, s.features * images);
  } else {
    host_keypoints_.reserve<Keypoint>(context_, host_features);
    host_descriptors_.reserve<std::uint8_t>(context_, host_features * kDescriptorLength);
  }
  if (keeps_ || stays_) {
    kept_descriptors_.reserve<std::uint8_t>(context_, host_features * kDescriptorLength);
  }
  device_counts_.reserve<std::uint32_t>(context_, kSlots * kCountWords);
  host_counts_.reserve<std::uint32_t>(context_, kSlots * kCountWords);
  words_ = s.marks, rows_ = s.rows;
  row_groups_ = s.row_groups, point_groups_ = s.point_groups;
  extremum_capacity_ = s.extrema;
  point_capacity_ = static_cast<std::uint32_t>(s.points);
  feature_capacity_ = static_cast<std::uint32_t>(s.features);
}

// Allocates the memory for images of a size and sets up the layout of the scale space.
void DeviceSift::prepare(const SiftShape& shape, int images) {
  try {
    take_memory(shape, images);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    const std::size_t bytes = bytes_of_sizes(sizes_of(shape, images), shape, images);
    // Frees the scale space; later calls start with the initial capacities.
    floats_ = Buffer(Place::device, "sift: scale space");
    extremum_capacity_ = point_capacity_ = feature_capacity_ = 0;
    space_ = DeviceSpace();
    graphs_.clear();
    fail(ErrorCode::out_of_memory, "SIFT of ", images, " image(s) of ", shape.width, " x ",
         shape.height, " pixels needs at least ", bytes >> 20, " MiB on ", context_.name(), " (",
         error.what(), "); reduce the image (max_size)",
         shape.octaves.front().index < 0 ? ", or set doubled to false" : "");
  }
  shape_ = shape;
  space_ = DeviceSpace();
  space_.count = static_cast<int>(shape.octaves.size());
  space_.images = images;
  space_.intervals = options_.intervals;
  for (int i = 0; i < space_.count; ++i) {
    const OctaveShape& from = shape.octaves[i];
    DeviceOctave& o = space_.octaves[i];
    o.levels = floats_.data<float>() + from.offset * images;
    o.width = from.width, o.height = from.height, o.stride = static_cast<int>(from.stride);
    o.step = from.step, o.origin = from.origin, o.index = from.index;
    o.words_per_row = divide_up(from.width, kWarp);
    o.first_row = space_.rows;
    o.first_word = space_.words;
    space_.rows += from.height * options_.intervals;
    space_.words += std::uint32_t(from.height) * options_.intervals * o.words_per_row;
  }
  forget_graphs_of_other_memory();
}

// Graphs contain addresses and capacities. The filters have memory of their own, which grows with
// the largest image and the largest group of images.
void DeviceSift::forget_graphs_of_other_memory() {
  const std::size_t pixels = std::size_t(space_.octaves[0].width) * space_.octaves[0].height;
  largest_image_ = std::max(largest_image_, pixels);
  largest_group_ = std::max(largest_group_, pixels * space_.images);
  std::vector<std::size_t> held = {extremum_capacity_,        point_capacity_, feature_capacity_,
                                   std::size_t(slot_images_), largest_image_,  largest_group_};
  for (const Buffer* buffer :
       {&floats_, &marks_, &extrema_, &points_, &kept_points_, &turns_, &angle_counts_, &shapes_,
        &features_, &host_keypoints_, &host_descriptors_, &kept_keypoints_, &kept_descriptors_,
        &device_counts_, &host_counts_}) {
    held.push_back(reinterpret_cast<std::size_t>(buffer->data<void>()));
  }
  for (const void* at :
       {static_cast<const void*>(device_descriptors()), static_cast<const void*>(mask_.data),
        static_cast<const void*>(cells_.buckets().counters),
        static_cast<const void*>(cells_.buckets().items),
        static_cast<const void*>(cells_.buckets().keep)}) {
    held.push_back(reinterpret_cast<std::size_t>(at));
  }
  if (held != held_) graphs_.clear();
  held_ = std::move(held);
}

// Writes the images as floats to the memory of the first octave's last level, which is not computed
// yet.
void DeviceSift::place(std::span<const AnyView> images) {
  const AnyView first = frames_.on_device(images);
  const DeviceView<float> out = space_.level(0, options_.intervals + 2, 0);
  with_pixel(first.pixel(), [&](auto pixel) {
    enqueue_place(stream(), first.device<decltype(pixel)>(), out, static_cast<int>(images.size()),
                  options_.doubled);
  });
}

}  // namespace cornea::sift
