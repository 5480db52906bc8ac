#include "cornea/describe/sift/host_sift.h"

#include <algorithm>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/core/selection.h"
#include "cornea/describe/sift/sift_backend.h"

namespace cornea::sift {
namespace {

using namespace core;

class HostSift : public SiftBackend {
 public:
  HostSift(const Context& context, const SiftOptions& options)
      : context_(context), options_(options), space_(context, options) {}

  const Context& context() const override { return context_; }

  void detect(std::span<const AnyView> images, AnyView mask, std::span<Features> out,
              StageClock* clock) override {
    for (std::size_t i = 0; i < images.size(); ++i) detect_one(images[i], mask, out[i], clock);
  }

  void describe(AnyView image, std::span<const Keypoint> points, Angles angles, Features& out,
                StageClock* clock) override {
    build(image, clock);
    out.keypoints.assign(points.begin(), points.end());
    out.descriptors.assign(points.size() * kDescriptorLength, 0);
    if (space_.shape().octaves.empty()) return;
    parallel_for(context_, static_cast<int>(points.size()), kPointsAtOnce, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        const SiftPoint p = place_of(options_, space_.shape(), points[i]);
        const auto level = space_.level(p.octave, p.level);
        float turn = 0;
        if (angles == Angles::keep) {
          turn = turn_of_angle(points[i].angle);
        } else {
          std::array<float, kMostAngles> turns;
          turn = options_.orientations > 0 && find_angles(level, p, 1, turns) > 0 ? turns[0] : 0;
          out.keypoints[i].angle = turn * kTurn;
        }
        describe_point(level, p, turn, options_.root,
                       out.descriptors.data() + std::size_t(i) * kDescriptorLength);
      }
    });
    if (clock) clock->mark("descriptors");
  }

  std::size_t memory_needed(const SiftShape& shape, int) const override {
    return shape.floats * sizeof(float);
  }

  Image<float> level(int octave, int level) const override {
    const SiftShape& shape = space_.shape();
    require(octave >= 0 && octave < static_cast<int>(shape.octaves.size()) && level >= 0 &&
                level < shape.levels,
            "the last image has no level ", level, " of octave ", octave);
    const auto from = space_.level(octave, level);
    Image<float> copy(from.width, from.height);
    for (int y = 0; y < from.height; ++y) std::copy_n(from.row(y), from.width, copy.host().row(y));
    return copy;
  }

 private:
  static constexpr int kPointsAtOnce = 16;

  void build(AnyView image, StageClock* clock) {
    space_.build(image, sift_shape(options_, image.width(), image.height()));
    if (clock) clock->mark("scale space");
  }

  void detect_one(AnyView image, AnyView mask, Features& out, StageClock* clock) {
    build(image, clock);
    std::vector<SiftPoint> points;
    const SiftLimits limits = sift_limits(options_);
    for (int o = 0; o < static_cast<int>(space_.shape().octaves.size()); ++o) {
      const auto more = find_points(context_, space_, o, limits);
      points.insert(points.end(), more.begin(), more.end());
    }
    if (!mask.empty()) drop_masked(points, mask.host<std::uint8_t>());
    cap_points(points);
    if (clock) clock->mark("points");
    const std::vector<Oriented> features = angles_of(points);
    if (clock) clock->mark("angles");
    write(points, features, out);
    if (clock) clock->mark("descriptors");
  }

  Keypoint in_image(const SiftPoint& p, float turn = 0) const {
    const OctaveShape& o = space_.shape().octaves[p.octave];
    return keypoint_of(p, o.step, o.origin, o.index, turn);
  }

  void drop_masked(std::vector<SiftPoint>& points, HostView<const std::uint8_t> mask) const {
    std::erase_if(points, [&](const SiftPoint& p) {
      const Keypoint k = in_image(p);
      const MaskPixel at = mask_pixel(k.x, k.y, mask.width, mask.height);
      return mask(at.x, at.y) == 0;
    });
  }

  void cap_points(std::vector<SiftPoint>& points) const {
    auto response = [](const SiftPoint& p) { return p.response; };
    if (options_.max_per_cell > 0) {
      auto cell = [&](const SiftPoint& p) {
        const Keypoint k = in_image(p);
        return std::uint64_t(cell_index(k.y, options_.cell)) << 32 |
               std::uint32_t(cell_index(k.x, options_.cell));
      };
      keep_strongest_per_cell(points, options_.max_per_cell, cell, response);
    }
    if (options_.max_points > 0) keep_strongest(points, options_.max_points, response);
  }

  struct Oriented {
    int point;
    float turn;
  };
  // A feature for each angle of each point, in order, under the cap.
  std::vector<Oriented> angles_of(const std::vector<SiftPoint>& points) const {
    const int count = static_cast<int>(points.size());
    std::vector<std::array<float, kMostAngles>> turns(count);
    std::vector<int> found(count, 1);
    if (options_.orientations == 0) {
      for (auto& t : turns) t[0] = 0;
    } else {
      parallel_for(context_, count, kPointsAtOnce, [&](int begin, int end) {
        for (int i = begin; i < end; ++i) {
          found[i] = find_angles(space_.level(points[i].octave, points[i].level), points[i],
                                 options_.orientations, turns[i]);
        }
      });
    }
    std::vector<Oriented> features;
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < found[i]; ++k) features.push_back({i, turns[i][k]});
    }
    if (options_.max_points > 0) {
      keep_strongest(features, options_.max_points,
                     [&](const Oriented& f) { return points[f.point].response; });
    }
    return features;
  }

  void write(const std::vector<SiftPoint>& points, const std::vector<Oriented>& features,
             Features& out) const {
    out.keypoints.resize(features.size());
    out.descriptors.resize(features.size() * kDescriptorLength);
    parallel_for(
        context_, static_cast<int>(features.size()), kPointsAtOnce, [&](int begin, int end) {
          for (int i = begin; i < end; ++i) {
            const SiftPoint& p = points[features[i].point];
            out.keypoints[i] = in_image(p, features[i].turn);
            describe_point(space_.level(p.octave, p.level), p, features[i].turn, options_.root,
                           out.descriptors.data() + std::size_t(i) * kDescriptorLength);
          }
        });
  }

  Context context_;
  SiftOptions options_;
  HostScaleSpace space_;
};

}  // namespace

std::unique_ptr<SiftBackend> make_host_sift(const Context& context, const SiftOptions& options) {
  return std::make_unique<HostSift>(context, options);
}

}  // namespace cornea::sift
