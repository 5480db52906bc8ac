// SPDX-License-Identifier: Apache-2.0
#include "cornea/describe/sift/host_sift.h"

#include <algorithm>
#include <new>
#include <string>
#include <tuple>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/core/selection.h"
#include "cornea/describe/sift/host_point.h"
#include "cornea/describe/sift/sift_backend.h"

namespace cornea::sift {
namespace {

using namespace core;

// A point and the features found for it so far.
struct HeldPoint {
  static constexpr int kNotYet = -1;
  FoundPoint found;
  int angles = kNotYet;
  PointShape shape;
  std::array<float, kMostAngles> turns;
  std::array<int, kMostAngles> rows;  // rows of their descriptors
};

auto order_of(const HeldPoint& p) {
  const LevelPixel& at = p.found.pixel;
  return std::tuple(p.found.point.octave, at.level, at.y, at.x);
}

class HostSift : public SiftBackend {
 public:
  HostSift(const Context& context, const SiftOptions& options, std::size_t most_bytes)
      : context_(context),
        options_(options),
        space_(context, options, most_bytes),
        steps_(space_, options) {}

  const Context& context() const override { return context_; }

  void detect(std::span<const AnyView> images, AnyView mask, std::span<Features> out,
              StageClock* clock) override {
    for (std::size_t i = 0; i < images.size(); ++i) {
      within_memory(images[i], [&] { detect_one(images[i], mask, out[i], clock); });
    }
  }

  void describe(AnyView image, std::span<const Keypoint> points, Angles angles, Features& out,
                StageClock* clock) override {
    within_memory(image, [&] { describe_all(image, points, angles, out, clock); });
  }

  std::size_t memory_needed(const SiftShape& shape, int) const override {
    return space_.memory_needed(shape);
  }

  Image<float> level(int octave, int level) const override {
    const SiftShape& shape = space_.shape();
    require(octave >= 0 && octave < static_cast<int>(shape.octaves.size()) && level >= 0 &&
                level < shape.levels,
            "the last image has no level ", level, " of octave ", octave);
    if (!space_.is_one_part()) {
      fail(ErrorCode::unsupported, "the scale space of ", shape.width, " x ", shape.height,
           " pixels was computed in parts and is not kept; use a smaller image");
    }
    const auto from = space_.level(octave, level);
    Image<float> copy(from.width, from.height);
    for (int y = 0; y < from.height; ++y) std::copy_n(from.row(y), from.width, copy.host().row(y));
    return copy;
  }

 private:
  static constexpr int kPointsAtOnce = 16;

  // Runs a call; if memory runs out, throws an error that states how much is needed and how to need
  // less.
  template <class Call>
  void within_memory(AnyView image, const Call& call) {
    std::string why;
    try {
      return call();
    } catch (const std::bad_alloc&) {
      why = "no room for its features";
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      why = error.what();
    }
    space_.release();
    const std::size_t bytes = memory_needed(sift_shape(options_, image.width(), image.height()), 1);
    fail(ErrorCode::out_of_memory, "SIFT of ", image.width(), " x ", image.height(),
         " pixels needs at least ", bytes >> 20, " MiB (", why, "); reduce the image (max_size)",
         options_.doubled ? ", or set doubled to false" : "");
  }

  void begin(AnyView image) {
    space_.begin(image, sift_shape(options_, image.width(), image.height()));
  }
  bool next_part(StageClock* clock) {
    const bool more = space_.next();
    if (more && clock) clock->mark("scale space");
    return more;
  }

  void detect_one(AnyView image, AnyView mask, Features& out, StageClock* clock) {
    out.keypoints.clear();
    out.descriptors.clear();
    points_.clear();
    begin(image);
    const SiftLimits limits = sift_limits(options_);
    while (next_part(clock)) {
      std::vector<FoundPoint> found = find_points(context_, space_, limits);
      if (!mask.empty()) drop_masked(found, mask.host<std::uint8_t>());
      hold(found);
      if (clock) clock->mark("points");
      find_new_angles();
      if (clock) clock->mark("angles");
      describe_new(out.descriptors);
      if (clock) clock->mark("descriptors");
    }
    write(out);
  }

  Keypoint in_image(const SiftPoint& p) const {
    const OctaveShape& o = space_.shape().octaves[p.octave];
    return keypoint_of(p, o.step, o.origin, o.index, 0);
  }
  Keypoint in_image(const SiftPoint& p, const PointShape& shape, float turn) const {
    const OctaveShape& o = space_.shape().octaves[p.octave];
    return options_.affine_shape ? affine_keypoint(p, shape, o.step, o.origin, o.index, turn)
                                 : keypoint_of(p, o.step, o.origin, o.index, turn);
  }

  void drop_masked(std::vector<FoundPoint>& points, HostView<const std::uint8_t> mask) const {
    std::erase_if(points, [&](const FoundPoint& p) {
      const Keypoint k = in_image(p.point);
      const MaskPixel at = mask_pixel(k.x, k.y, mask.width, mask.height);
      return mask(at.x, at.y) == 0;
    });
  }

  // Adds the points of a part and applies the caps. A point that a cap drops now cannot be kept
  // when more points are known, so the final result does not depend on the split into parts.
  void hold(const std::vector<FoundPoint>& found) {
    const auto known = static_cast<std::ptrdiff_t>(points_.size());
    for (const FoundPoint& p : found) points_.push_back({p, HeldPoint::kNotYet, {}, {}, {}});
    auto before = [](const HeldPoint& a, const HeldPoint& b) { return order_of(a) < order_of(b); };
    std::inplace_merge(points_.begin(), points_.begin() + known, points_.end(), before);
    // The fits of extrema in two parts may converge to the same pixel; the point that is already
    // known is kept.
    auto same = [](const HeldPoint& a, const HeldPoint& b) { return order_of(a) == order_of(b); };
    points_.erase(std::unique(points_.begin(), points_.end(), same), points_.end());

    auto rank = [&](const HeldPoint& p) {
      const SiftPoint& point = p.found.point;
      return rank_of(point, space_.shape().octaves[point.octave].step, options_.keep);
    };
    if (options_.max_per_cell > 0) {
      auto cell = [&](const HeldPoint& p) {
        const Keypoint k = in_image(p.found.point);
        return std::uint64_t(cell_index(k.y, options_.cell)) << 32 |
               std::uint32_t(cell_index(k.x, options_.cell));
      };
      keep_strongest_per_cell(points_, options_.max_per_cell, cell, rank);
    }
    if (options_.max_points > 0) keep_strongest(points_, options_.max_points, rank);
  }

  void find_new_angles() {
    parallel_for(
        context_, static_cast<int>(points_.size()), kPointsAtOnce, [&](int begin, int end) {
          Patch patch(space_);
          for (int i = begin; i < end; ++i) {
            HeldPoint& p = points_[i];
            if (p.angles != HeldPoint::kNotYet) continue;
            p.rows.fill(HeldPoint::kNotYet);
            p.shape = steps_.shape(p.found.point, patch);
            p.angles = steps_.angles(p.found.point, p.shape, options_.orientations, p.turns, patch);
          }
        });
  }

  struct Feature {
    int point, angle;
  };
  // One feature per angle of each point, in order.
  std::vector<Feature> features() const {
    std::vector<Feature> list;
    for (int i = 0; i < static_cast<int>(points_.size()); ++i) {
      for (int k = 0; k < points_[i].angles; ++k) list.push_back({i, k});
    }
    return list;
  }

  // Describes the new features and appends their descriptors to those of earlier parts.
  void describe_new(std::vector<std::uint8_t>& descriptors) {
    std::vector<Feature> list = features();
    int rows = static_cast<int>(descriptors.size() / kDescriptorLength);
    std::erase_if(list, [&](const Feature& f) {
      int& row = points_[f.point].rows[f.angle];
      if (row != HeldPoint::kNotYet) return true;
      row = rows++;
      return false;
    });
    descriptors.resize(std::size_t(rows) * kDescriptorLength);
    parallel_for(context_, static_cast<int>(list.size()), kPointsAtOnce, [&](int begin, int end) {
      Patch patch(space_);
      for (int i = begin; i < end; ++i) {
        const HeldPoint& p = points_[list[i].point];
        const int k = list[i].angle;
        steps_.describe(p.found.point, p.shape, p.turns[k],
                        descriptors.data() + std::size_t(p.rows[k]) * kDescriptorLength, patch);
      }
    });
  }

  // Descriptors are stored in the order of the parts; if there were several, they are sorted.
  void write(Features& out) {
    const std::vector<Feature> list = features();
    out.keypoints.resize(list.size());
    const bool in_order = space_.is_one_part();
    std::vector<std::uint8_t> ordered(in_order ? 0 : list.size() * kDescriptorLength);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const HeldPoint& p = points_[list[i].point];
      const int k = list[i].angle;
      out.keypoints[i] = in_image(p.found.point, p.shape, p.turns[k]);
      if (in_order) continue;
      std::copy_n(out.descriptors.begin() + std::ptrdiff_t(p.rows[k]) * kDescriptorLength,
                  kDescriptorLength, ordered.begin() + std::ptrdiff_t(i) * kDescriptorLength);
    }
    if (!in_order) out.descriptors = std::move(ordered);
  }

  void describe_all(AnyView image, std::span<const Keypoint> points, Angles angles, Features& out,
                    StageClock* clock) {
    out.keypoints.assign(points.begin(), points.end());
    out.descriptors.assign(points.size() * kDescriptorLength, 0);
    begin(image);
    while (next_part(clock)) {
      parallel_for(context_, static_cast<int>(points.size()), kPointsAtOnce,
                   [&](int first, int end) {
                     Patch patch(space_);
                     for (int i = first; i < end; ++i) {
                       const SiftPoint p = place_of(options_, space_.shape(), points[i]);
                       if (!begins_in_part(p)) continue;
                       describe_one(p, angles, patch, out.keypoints[i],
                                    out.descriptors.data() + std::size_t(i) * kDescriptorLength);
                     }
                   });
      if (clock) clock->mark("descriptors");
    }
  }

  void describe_one(const SiftPoint& p, Angles angles, Patch& patch, Keypoint& point,
                    std::uint8_t* descriptor) const {
    const bool affine = options_.affine_shape, keep = angles == Angles::keep;
    const PointShape shape = !affine ? PointShape()
                             : keep  ? shape_of(point)
                                     : steps_.shape(p, patch);
    std::array<float, kMostAngles> turns = {};
    if (keep) {
      const float turn = turn_of_angle(point.angle);
      turns[0] = affine ? normalised_turn(shape, turn) : turn;
      if (!affine) point.stretch = 1, point.axis = 0;
    } else {
      const int most = std::min(options_.orientations, 1);
      if (steps_.angles(p, shape, most, turns, patch) == 0) turns[0] = 0;
      set_frame(point, in_image(p, shape, turns[0]));
    }
    steps_.describe(p, shape, turns[0], descriptor, patch);
  }

  bool begins_in_part(const SiftPoint& p) const {
    if (p.octave < space_.first_octave() || p.octave >= space_.end_octave()) return false;
    const HostScaleSpace::Rows rows = space_.rows(p.octave);
    const int height = space_.shape().octaves[p.octave].height;
    const int y = std::clamp(static_cast<int>(p.y), 0, height - 1);
    return y >= rows.top && y < rows.bottom;
  }

  Context context_;
  SiftOptions options_;
  HostScaleSpace space_;
  PointSteps steps_;
  std::vector<HeldPoint> points_;  // of the image, in order
};

}  // namespace

std::unique_ptr<SiftBackend> make_host_sift(const Context& context, const SiftOptions& options,
                                            std::size_t part_bytes) {
  return std::make_unique<HostSift>(context, options, part_bytes);
}

}  // namespace cornea::sift
