#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/pixels.h"
#include "cornea/describe/sift/device_sift.h"
#include "cornea/describe/sift/sift_backend.h"
#include "cornea/filter/gaussian/gaussian.h"

namespace cornea {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{2} << 30;  // of scale spaces at once, if one fits
constexpr int kMostImages = 16;                            // at once
constexpr int kSlots = 2;  // of results: the host reads one while the next images are under way
constexpr int kSides = 4;  // streams beside the main one
// Octaves are described in two parts: the first octave while the smaller ones, which do not fill
// the device, are still being made.
constexpr int kParts = 2;

// Streams and events that are given back.
struct Streams {
  cudaStream_t side[kSides] = {};
  cudaEvent_t fork = nullptr, gathered = nullptr, listed = nullptr, join[kSides] = {},
              first_done[kSlots] = {}, done[kSlots] = {};
  explicit Streams(int device) : device(device) {
    const DeviceGuard guard(device);
    auto event = [](cudaEvent_t& e) {
      cuda_check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "making a CUDA event");
    };
    event(fork);
    event(gathered);
    event(listed);
    for (cudaEvent_t& e : join) event(e);
    for (cudaEvent_t& e : done) event(e);
    for (cudaEvent_t& e : first_done) event(e);
    for (cudaStream_t& s : side) {
      cuda_check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "making a CUDA stream");
    }
  }
  ~Streams() {
    const DeviceGuard guard(device);
    for (cudaStream_t s : side) cudaStreamDestroy(s);
    for (cudaEvent_t e : join) cudaEventDestroy(e);
    for (cudaEvent_t e : done) cudaEventDestroy(e);
    for (cudaEvent_t e : first_done) cudaEventDestroy(e);
    for (cudaEvent_t e : {fork, gathered, listed}) cudaEventDestroy(e);
  }
  Streams(const Streams&) = delete;
  int device;
};

// The steps for images of one size, as one launch.
struct Graph {
  std::array<int, 5> key{};
  int runs = 0;  // it is made when the steps have run once, so that they allocate nothing
  cudaGraphExec_t exec = nullptr;
  Graph() = default;
  Graph(Graph&& other) noexcept
      : key(other.key), runs(other.runs), exec(std::exchange(other.exec, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(exec, other.exec);
    key = other.key, runs = other.runs;
    return *this;
  }
  ~Graph() {
    if (exec) cudaGraphExecDestroy(exec);
  }
};

class DeviceSift : public SiftBackend {
 public:
  DeviceSift(const Context& context, const SiftOptions& options)
      : context_(context),
        options_(options),
        limits_(sift_limits(options)),
        streams_(context.cuda_index()) {
    for (int l = 0; l < options.intervals + 3; ++l) {
      filters_.push_back(make_level_filter(context, options, l));
      const auto* gaussian = dynamic_cast<const GaussianFilter*>(filters_.back().get());
      if (l > options.intervals) forks_ &= gaussian && gaussian->runs_on_any_stream();
    }
  }
  ~DeviceSift() override {
    const DeviceGuard device(context_);
    wait_for_all();
  }

  void detect(std::span<const AnyView> images, AnyView mask, std::span<Features> out,
              StageClock* clock) override;
  void describe(AnyView image, std::span<const Keypoint> points, Angles angles, Features& out,
                StageClock* clock) override;
  std::size_t memory_needed(const SiftShape& shape, int images) const override;
  Image<float> level(int octave, int level) const override;

 private:
  // What is counted, an image each: through the first part of the octaves, and in all.
  enum Count { kFirstPoints, kPoints, kKeptPoints, kFirstFeatures, kFeatures, kCounts };
  struct Sizes {
    std::size_t space, marks, rows, row_groups, point_groups, points, features;  // items
    std::size_t cleared() const { return marks + rows + row_groups + point_groups + kParts; }
    std::uint32_t extrema;
  };
  Sizes sizes_of(const SiftShape& shape, int images) const;
  std::size_t bytes_of_sizes(const Sizes& sizes, const SiftShape& shape, int images) const;
  int images_at_once(const SiftShape& shape, std::size_t images) const;
  void prepare(const SiftShape& shape, int images);
  void take_memory(const SiftShape& shape, int images);
  void forget_graphs_of_other_memory();
  void place(std::span<const AnyView> images);
  bool place_mask(AnyView mask, int width, int height);
  void filter(cudaStream_t side, int octave, int level);
  // After an error: nothing is under way any more, and no later image is to blame.
  void wait_for_all() noexcept {
    for (cudaStream_t side : streams_.side) cudaStreamSynchronize(side);
    cudaStreamSynchronize(stream());
    if (int* flag = unusable_.data<int>()) *flag = 0;
    cudaGetLastError();
  }
  static void record(cudaEvent_t event, cudaStream_t on);
  static void follow(cudaStream_t on, cudaEvent_t event);
  static int side_of(int octave);
  cudaStream_t fork(int octave, StageClock* clock);
  void join(StageClock* clock);
  void enqueue_lower_levels(int octave);
  void enqueue_upper_levels(int octave, cudaStream_t on);
  void enqueue_points(cudaStream_t on, int part, int first_octave, int octaves,
                      const PointLists& points, bool masked, cudaEvent_t before_order);
  void enqueue_features_of(cudaStream_t on, int part, const PointLists& points,
                           const FeatureLists& features, const FeatureTargets& out,
                           cudaEvent_t before_order, StageClock* clock);
  void enqueue_in_one(int slot, bool masked, StageClock* clock);
  void enqueue_in_parts(int slot, bool masked);
  bool runs_in_parts(const StageClock* clock) const {
    return forks_ && !clock && !caps_points() && space_.count > 1;
  }
  void enqueue_steps(int slot, bool masked, StageClock* clock);
  void enqueue_count_copy(cudaStream_t on, int slot, Count first, int kinds);
  void launch(int slot, bool masked, StageClock* clock);
  void wait(int slot);
  bool has_room(int slot, int images);
  void copy_out(int slot, Count count, std::span<Features> out);
  std::size_t slot_features(int slot) const {  // where a slot's features begin
    return std::size_t(feature_capacity_) * slot_images_ * slot;
  }

  cudaStream_t stream() const { return cuda_stream(context_); }
  // The extrema of a part of the octaves.
  ExtremumList extremum_list(int part) const {
    return {extrema_.data<Extremum>() + std::size_t(part) * extremum_capacity_, extremum_capacity_,
            marks_.data<std::uint32_t>() + words_ + rows_ + row_groups_ + point_groups_ + part};
  }
  PointLists point_lists(int slot) const {
    return {points_.data<SiftPoint>(), point_capacity_, counts(slot, kPoints)};
  }
  AngleLists angle_lists() const {
    return {turns_.data<float>(), angle_counts_.data<std::uint8_t>(),
            marks_.data<std::uint32_t>() + words_ + rows_ + row_groups_};
  }
  FeatureLists feature_lists(int slot) const {
    return {features_.data<OrientedPoint>(), feature_capacity_, counts(slot, kFeatures)};
  }
  FeatureTargets feature_targets(int slot) const {
    const std::size_t first = slot_features(slot);
    return {host_keypoints_.data<Keypoint>() + first,
            host_descriptors_.data<std::uint8_t>() + first * kDescriptorLength};
  }
  static constexpr std::size_t kCountWords = kCounts * kMostImages;
  static constexpr std::size_t kHostWords = kCountWords + kParts;  // and the extrema of the parts
  std::uint32_t* counts(int slot, Count what) const {
    return device_counts_.data<std::uint32_t>() + slot * kCountWords + what * kMostImages;
  }
  std::uint32_t* host_counts(int slot) const {
    return host_counts_.data<std::uint32_t>() + slot * kHostWords;
  }
  bool caps_points() const { return options_.max_points > 0 || options_.max_per_cell > 0; }

  Context context_;
  SiftOptions options_;
  SiftLimits limits_;
  Streams streams_;
  std::vector<std::unique_ptr<ImageFilter>> filters_;  // by level
  bool forks_ = true;                                  // filters can run on side streams
  bool capturing_ = false;
  SiftShape shape_;
  DeviceSpace space_;
  // In memory that every call clears: marks, their counts by row and by group of rows, angles by
  // group of points, and the number of extrema.
  std::size_t words_ = 0, rows_ = 0, row_groups_ = 0, point_groups_ = 0;
  int slot_images_ = 0;  // that a slot has room for
  std::uint32_t extremum_capacity_ = 0, point_capacity_ = 0, feature_capacity_ = 0;
  std::vector<Graph> graphs_;
  std::vector<std::size_t> held_;                      // what the graphs were made with
  std::size_t largest_image_ = 0, largest_group_ = 0;  // pixels of their first octaves

  Buffer floats_{Place::device, "sift: scale space"};
  Buffer pixels_{Place::device, "sift: pixels"};
  Buffer mask_{Place::device, "sift: mask"};
  Buffer marks_{Place::device, "sift: marks, row counts"};
  Buffer extrema_{Place::device, "sift: extrema"};
  Buffer points_{Place::device, "sift: points"};
  Buffer kept_points_{Place::device, "sift: points under the caps"};
  Buffer keep_{Place::device, "sift: points kept by cell"};
  Buffer turns_{Place::device, "sift: angles"};
  Buffer angle_counts_{Place::device, "sift: counts of angles"};
  Buffer features_{Place::device, "sift: features in order"};
  Buffer device_counts_{Place::device, "sift: counts"};
  Buffer given_turns_{Place::device, "sift: given angles"};
  Buffer host_keypoints_{Place::pinned, "sift: keypoints for the host"};
  Buffer host_descriptors_{Place::pinned, "sift: descriptors for the host"};
  Buffer host_counts_{Place::pinned, "sift: counts for the host"};
  Buffer unusable_{Place::pinned, "sift: NaN flag"};
};

// How much there is of everything for images of a size. More points than this make room for
// themselves.
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
  sizes.features = options_.max_points > 0
                       ? std::min<std::size_t>(options_.max_points, points + points / 4)
                       : points + points / 4;
  sizes.features = std::max<std::size_t>(sizes.features, feature_capacity_);
  sizes.extrema = std::max<std::uint32_t>((1024 + pixels / 50) * images, extremum_capacity_);
  return sizes;
}

std::size_t DeviceSift::bytes_of_sizes(const Sizes& s, const SiftShape& shape, int images) const {
  std::size_t bytes = s.space * sizeof(float) + s.cleared() * sizeof(std::uint32_t) +
                      kParts * s.extrema * sizeof(Extremum);
  bytes += images * s.points *
           (sizeof(SiftPoint) * (caps_points() ? 2 : 1) + kMostAngles * sizeof(float) + 2);
  bytes += images * s.features * sizeof(OrientedPoint);
  bytes += std::size_t(shape.width) * shape.height * images;  // 8-bit pixels
  if (options_.scale_space == ScaleSpace::trilateral) {
    constexpr std::size_t kBytesPerPixel = 36;  // that a trilateral filter keeps
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
  if (options_.max_per_cell > 0) keep_.reserve<std::uint8_t>(context_, s.points * images);
  turns_.reserve<float>(context_, s.points * images * kMostAngles);
  angle_counts_.reserve<std::uint8_t>(context_, s.points * images);
  features_.reserve<OrientedPoint>(context_, s.features * images);
  slot_images_ = std::max(slot_images_, images);
  const std::size_t host_features = s.features * slot_images_ * kSlots;
  host_keypoints_.reserve<Keypoint>(context_, host_features);
  host_descriptors_.reserve<std::uint8_t>(context_, host_features * kDescriptorLength);
  device_counts_.reserve<std::uint32_t>(context_, kSlots * kCountWords);
  host_counts_.reserve<std::uint32_t>(context_, kSlots * kHostWords);
  if (!unusable_.data<int>()) *unusable_.reserve<int>(context_, 1) = 0;
  words_ = s.marks, rows_ = s.rows;
  row_groups_ = s.row_groups, point_groups_ = s.point_groups;
  extremum_capacity_ = s.extrema;
  point_capacity_ = static_cast<std::uint32_t>(s.points);
  feature_capacity_ = static_cast<std::uint32_t>(s.features);
}

// Takes the memory for images of a size and lays the scale space out.
void DeviceSift::prepare(const SiftShape& shape, int images) {
  try {
    take_memory(shape, images);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    const std::size_t bytes = bytes_of_sizes(sizes_of(shape, images), shape, images);
    // What was taken on the way goes back, and later images begin anew.
    floats_ = Buffer(Place::device, "sift: scale space");
    extremum_capacity_ = point_capacity_ = feature_capacity_ = 0;
    space_ = DeviceSpace();
    graphs_.clear();
    fail(ErrorCode::out_of_memory, "SIFT of ", images, " image(s) of ", shape.width, " x ",
         shape.height, " pixels needs ", bytes, " bytes on ", context_.name(), " (", error.what(),
         "); switch doubling off, or give it fewer or smaller images");
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

// Graphs hold addresses and capacities. The filters have memory of their own, which grows with the
// largest image and the largest group of them.
void DeviceSift::forget_graphs_of_other_memory() {
  const std::size_t pixels = std::size_t(space_.octaves[0].width) * space_.octaves[0].height;
  largest_image_ = std::max(largest_image_, pixels);
  largest_group_ = std::max(largest_group_, pixels * space_.images);
  std::vector<std::size_t> held = {extremum_capacity_,        point_capacity_, feature_capacity_,
                                   std::size_t(slot_images_), largest_image_,  largest_group_};
  for (const Buffer* buffer :
       {&floats_, &marks_, &extrema_, &points_, &kept_points_, &keep_, &turns_, &angle_counts_,
        &features_, &host_keypoints_, &host_descriptors_, &device_counts_, &host_counts_, &mask_}) {
    held.push_back(reinterpret_cast<std::size_t>(buffer->data<void>()));
  }
  if (held != held_) graphs_.clear();
  held_ = std::move(held);
}

// The images as floats where the last level of the first octave will be.
void DeviceSift::place(std::span<const AnyView> images) {
  const AnyView& first = images[0];
  const int count = static_cast<int>(images.size());
  const DeviceView<float> out = space_.level(0, options_.intervals + 2, 0);
  auto enqueue = [&](auto pixels, DeviceView<float> to, int n) {
    enqueue_place(stream(), pixels, to, n, options_.doubled);
  };
  with_gray(channel_of(first.pixel()), [&](auto channel) {
    using T = decltype(channel);
    if (first.on_device()) {
      for (int i = 0; i < count; ++i) {
        const DeviceView<float> to = space_.level(0, options_.intervals + 2, i);
        is_rgb(first.pixel()) ? enqueue(images[i].device<Rgb<T>>(), to, 1)
                              : enqueue(images[i].device<T>(), to, 1);
      }
      return;
    }
    const int w = first.width(), h = first.height();
    const std::size_t row = w * bytes_of(first.pixel());
    auto* at = static_cast<std::byte*>(pixels_.reserve_bytes(context_, row * h * count));
    for (int i = 0; i < count; ++i) {
      context_.upload(at + row * h * i, row, images[i].data(), images[i].stride_bytes(), row, h);
    }
    is_rgb(first.pixel())
        ? enqueue(DeviceView<const Rgb<T>>(reinterpret_cast<Rgb<T>*>(at), w, h), out, count)
        : enqueue(DeviceView<const T>(reinterpret_cast<T*>(at), w, h), out, count);
  });
  if (channel_of(first.pixel()) != Pixel::f32) return;
  for (int i = 0; i < count; ++i) {
    flag_unusable(context_, space_.level(0, options_.intervals + 2, i), unusable_.data<int>());
  }
}

// The mask where graphs look for it. False if there is none.
bool DeviceSift::place_mask(AnyView mask, int width, int height) {
  if (mask.empty()) return false;
  auto* to = mask_.reserve<std::uint8_t>(context_, std::size_t(width) * height);
  mask.on_device()
      ? context_.copy_on_device(to, width, mask.data(), mask.stride_bytes(), width, height)
      : context_.upload(to, width, mask.data(), mask.stride_bytes(), width, height);
  return true;
}

void DeviceSift::filter(cudaStream_t side, int octave, int level) {
  const DeviceView<float> to = space_.level(octave, level, 0);
  const DeviceView<float> from =
      level > 0 ? space_.level(octave, level - 1, 0) : space_.level(0, options_.intervals + 2, 0);
  if (auto* gaussian = dynamic_cast<GaussianFilter*>(filters_[level].get())) {
    gaussian->enqueue_blur(from, to, space_.images, side);
    return;
  }
  for (int i = 0; i < space_.images; ++i) {
    const std::size_t at = space_.octaves[octave].image_floats() * i;
    filters_[level]->enqueue(
        DeviceView<const float>(from.data + at, from.width, from.height, from.stride),
        DeviceView<float>(to.data + at, to.width, to.height, to.stride));
  }
}

void DeviceSift::record(cudaEvent_t event, cudaStream_t on) {
  cuda_check(cudaEventRecord(event, on), "recording an event");
}
void DeviceSift::follow(cudaStream_t on, cudaEvent_t event) {
  cuda_check(cudaStreamWaitEvent(on, event), "waiting for an event");
}

// The levels of an octave that the next one needs, on the main stream.
void DeviceSift::enqueue_lower_levels(int octave) {
  octave == 0 ? filter(nullptr, 0, 0) : enqueue_half(stream(), space_, octave);
  for (int l = 1; l <= options_.intervals; ++l) filter(nullptr, octave, l);
}
// And the others.
void DeviceSift::enqueue_upper_levels(int octave, cudaStream_t on) {
  for (int l = options_.intervals + 1; l < options_.intervals + 3; ++l) {
    filter(on == stream() ? nullptr : on, octave, l);
  }
}

// From the extrema of some octaves to the places of their points, in order, after those of the
// octaves before.
void DeviceSift::enqueue_points(cudaStream_t on, int part, int first_octave, int octaves,
                                const PointLists& points, bool masked, cudaEvent_t before_order) {
  auto* bits = marks_.data<std::uint32_t>();
  const Marks marks{bits, bits + words_, bits + words_ + rows_};
  const DeviceView<const std::uint8_t> mask =
      masked
          ? DeviceView<const std::uint8_t>(mask_.data<std::uint8_t>(), shape_.width, shape_.height)
          : DeviceView<const std::uint8_t>();
  enqueue_settle(on, space_, limits_, extremum_list(part), mask, marks);
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
  enqueue_features(on, space_.images, points, angle_lists(), options_.max_points, features);
  if (part == 0) record(streams_.listed, on);
  if (clock) clock->mark("angles");
  enqueue_descriptors(on, space_, points, features, options_.root, out);
  if (clock) clock->mark("descriptors");
}

// All octaves, and then all points.
void DeviceSift::enqueue_in_one(int slot, bool masked, StageClock* clock) {
  for (int octave = 0; octave < space_.count; ++octave) {
    const cudaStream_t side = fork(octave, clock);
    enqueue_upper_levels(octave, side);
    if (clock) clock->mark("scale space");
    enqueue_extrema(side, space_, octave, limits_, extremum_list(0));
    if (clock) clock->mark("extrema");
  }
  join(clock);
  PointLists points = point_lists(slot);
  enqueue_points(stream(), 0, 0, space_.count, points, masked, nullptr);
  if (caps_points()) {
    std::uint8_t* keep = options_.max_per_cell > 0 ? keep_.data<std::uint8_t>() : nullptr;
    if (keep) {
      enqueue_cell_cap(stream(), space_, points, options_.cell, options_.max_per_cell, keep);
    }
    const PointLists kept{kept_points_.data<SiftPoint>(), point_capacity_,
                          counts(slot, kKeptPoints)};
    enqueue_point_cap(stream(), space_.images, points, keep, options_.max_points, kept);
    points = kept;
  }
  if (clock) clock->mark("points");
  enqueue_features_of(stream(), 0, points, feature_lists(slot), feature_targets(slot), nullptr,
                      clock);
}

// The first octave through all steps, and the others beside it. Its points come before all others,
// so that their places are known.
void DeviceSift::enqueue_in_parts(int slot, bool masked) {
  const cudaStream_t first_stream = fork(0, nullptr);
  enqueue_upper_levels(0, first_stream);
  enqueue_extrema(first_stream, space_, 0, limits_, extremum_list(0));
  PointLists first_points = point_lists(slot);
  first_points.counts = counts(slot, kFirstPoints);
  enqueue_points(first_stream, 0, 0, 1, first_points, masked, nullptr);
  FeatureLists first_features = feature_lists(slot);
  first_features.counts = counts(slot, kFirstFeatures);
  enqueue_features_of(first_stream, 0, first_points, first_features, feature_targets(slot), nullptr,
                      nullptr);
  // The host may begin to read them.
  enqueue_count_copy(first_stream, slot, kFirstFeatures, 1);
  cuda_check(
      cudaEventRecordWithFlags(streams_.first_done[slot], first_stream,
                               capturing_ ? cudaEventRecordExternal : cudaEventRecordDefault),
      "recording an event");
  for (int octave = 1; octave < space_.count; ++octave) {
    const cudaStream_t side = fork(octave, nullptr);
    enqueue_upper_levels(octave, side);
    enqueue_extrema(side, space_, octave, limits_, extremum_list(1));
    record(streams_.join[side_of(octave)], side);
  }
  for (int side = 1; side < std::min(kSides, space_.count); ++side) {
    follow(stream(), streams_.join[side]);
  }
  PointLists points = point_lists(slot);
  enqueue_points(stream(), 1, 1, space_.count - 1, points, masked, streams_.gathered);
  points.first = first_points.counts;
  FeatureLists features = feature_lists(slot);
  features.first = first_features.counts;
  enqueue_features_of(stream(), 1, points, features, feature_targets(slot), streams_.listed,
                      nullptr);
  record(streams_.join[0], first_stream);
  follow(stream(), streams_.join[0]);
}

// Side streams of octaves: the first octave's has no other.
int DeviceSift::side_of(int octave) { return octave == 0 ? 0 : 1 + (octave - 1) % (kSides - 1); }

// Queues what the next octave needs on the main stream, and returns the one that goes on from
// there.
cudaStream_t DeviceSift::fork(int octave, StageClock* clock) {
  enqueue_lower_levels(octave);
  if (!forks_ || clock) return stream();
  const cudaStream_t side = streams_.side[side_of(octave)];
  record(streams_.fork, stream());
  follow(side, streams_.fork);
  return side;
}
void DeviceSift::join(StageClock* clock) {
  if (!forks_ || clock) return;
  for (int i = 0; i < std::min(kSides, space_.count); ++i) {
    record(streams_.join[i], streams_.side[i]);
    follow(stream(), streams_.join[i]);
  }
}

void DeviceSift::enqueue_steps(int slot, bool masked, StageClock* clock) {
  cuda_check(cudaMemsetAsync(
                 marks_.data<void>(), 0,
                 (words_ + rows_ + row_groups_ + point_groups_ + kParts) * sizeof(std::uint32_t),
                 stream()),
             "clearing marks");
  runs_in_parts(clock) ? enqueue_in_parts(slot, masked) : enqueue_in_one(slot, masked, clock);
  enqueue_count_copy(stream(), slot, Count{}, kCounts);
  cuda_check(cudaMemcpyAsync(host_counts(slot) + kCountWords, extremum_list(0).count,
                             kParts * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, stream()),
             "copying counts");
}

void DeviceSift::enqueue_count_copy(cudaStream_t on, int slot, Count first, int kinds) {
  cuda_check(
      cudaMemcpyAsync(host_counts(slot) + first * kMostImages, counts(slot, first),
                      kinds * kMostImages * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, on),
      "copying counts");
}

// Queues the steps: one by one the first time, and then as a graph.
void DeviceSift::launch(int slot, bool masked, StageClock* clock) {
  const std::array<int, 5> key = {shape_.width, shape_.height, space_.images, slot, masked};
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
  cudaGetLastError();  // of a stream that cannot be captured
  if (!clock && graph->exec) {
    cuda_check(cudaGraphLaunch(graph->exec, stream()), "launching a graph");
  } else {
    enqueue_steps(slot, masked, clock);
    graph->runs += 1;
  }
  cuda_check(cudaEventRecord(streams_.done[slot], stream()), "recording an event");
}

void DeviceSift::wait(int slot) {
  cuda_check(cudaEventSynchronize(streams_.done[slot]), "waiting for features");
  int& unusable = *unusable_.data<int>();
  if (unusable == 0) return;
  context_.synchronize();
  unusable = 0;
  fail(ErrorCode::invalid_argument, kUnusable);
}

// Whether everything that was found found room; if not, the next prepare() makes some.
bool DeviceSift::has_room(int slot, int images) {
  const std::uint32_t* found = host_counts(slot);
  const auto most = [](const std::uint32_t* of, int n) { return *std::max_element(of, of + n); };
  const std::uint32_t points = most(found + kPoints * kMostImages, images);
  const std::uint32_t features = most(found + kFeatures * kMostImages, images);
  const std::uint32_t extrema = most(found + kCountWords, kParts);
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

// The features that were counted by now, from those on that `out` has.
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
  const std::size_t at_once = images_at_once(shape, images.size());
  // One group of images is under way while the features of the one before are copied.
  struct Group {
    std::size_t first, count;
    int slot;
  };
  auto run = [&](std::size_t first, int slot) {
    const std::size_t count = std::min(at_once, images.size() - first);
    const bool masked = place_mask(mask, shape.width, shape.height);
    prepare(shape, static_cast<int>(count));
    place(images.subspan(first, count));
    if (clock) clock->mark(images[0].on_device() ? "prepare" : "upload");
    launch(slot, masked, clock);
    return Group{first, count, slot};
  };
  try {
    Group now = run(0, 0);
    for (;;) {
      const std::size_t next_first = now.first + now.count;
      const bool more = next_first < images.size();
      const Group next = more ? run(next_first, 1 - now.slot) : Group{};
      const std::span<Features> results = out.subspan(now.first, now.count);
      if (runs_in_parts(clock)) {
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
      copy_out(now.slot, kFeatures, results);
      if (!more) break;
      now = next;
    }
  } catch (...) {
    wait_for_all();
    for (Features& f : out) f.keypoints.clear(), f.descriptors.clear();
    throw;
  }
}

void DeviceSift::describe(AnyView image, std::span<const Keypoint> points, Angles angles,
                          Features& out, StageClock* clock) {
  const DeviceGuard device(context_);
  out.keypoints.assign(points.begin(), points.end());
  out.descriptors.assign(points.size() * kDescriptorLength, 0);
  const SiftShape shape = sift_shape(options_, image.width(), image.height());
  if (shape.octaves.empty() || points.empty()) return;
  const auto n = static_cast<std::uint32_t>(points.size());
  point_capacity_ = std::max(point_capacity_, n);
  feature_capacity_ = std::max(feature_capacity_, n);
  prepare(shape, 1);
  std::vector<SiftPoint> places;
  std::vector<float> turns;
  for (const Keypoint& p : points) {
    places.push_back(place_of(options_, shape, p));
    if (angles == Angles::keep) turns.push_back(turn_of_angle(p.angle));
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
    if (angles == Angles::keep) {
      float* to = given_turns_.reserve<float>(context_, n);
      send(to, turns.data(), n * sizeof(float));
      given = to;
    }
    const AngleLists found = angle_lists();
    if (!given) enqueue_angles(stream(), space_, lists, options_.orientations > 0 ? 1 : 0, found);
    const FeatureLists features = feature_lists(0);
    enqueue_one_each(stream(), lists, found, given, features);
    enqueue_descriptors(stream(), space_, lists, features, options_.root, feature_targets(0));
    cuda_check(cudaEventRecord(streams_.done[0], stream()), "recording an event");
    wait(0);
  } catch (...) {
    wait_for_all();
    throw;
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!given) out.keypoints[i].angle = host_keypoints_.data<Keypoint>()[i].angle;
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

}  // namespace

std::unique_ptr<SiftBackend> make_device_sift(const Context& context, const SiftOptions& options) {
  return std::make_unique<DeviceSift>(context, options);
}

}  // namespace cornea
