// SPDX-License-Identifier: Apache-2.0
// SIFT's steps on the CPU.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/core/frames.h"
#include "cornea/core/image.h"
#include "cornea/describe/sift/sift_frame.h"
#include "cornea/describe/sift/sift_shape.h"
#include "cornea/filter/float_filter.h"

namespace cornea::sift {

// Loops read some floats beyond the last row of a level.
inline constexpr std::size_t kRowSlack = 64;

// The view of a level of which only the rows from `row` and the columns from `column` on are in
// memory, at `data`. The view's origin is where its first pixel would be.
inline HostView<float> level_from(float* data, const OctaveShape& o, std::ptrdiff_t stride, int row,
                                  int column) {
  const auto before = std::uintptr_t(stride * row + column) * sizeof(float);
  // Integer arithmetic, because the address may lie before the array, where a pointer must not
  // point.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return {reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(data) - before), o.width,
          o.height, stride};
}

// Rows that the iterated fit of an extremum may move beyond its strip before a patch is computed
// for it. Few fits move at all, so the exact value hardly matters.
inline constexpr int kWalk = 4;

// The largest distance, in pixels, at which angles and descriptor of a point read the level.
int reach_of(float scale);

// How an octave is split into strips of rows. A strip has `rows` rows; all levels extend `beyond`
// rows further on each side, and level l extends tail[l] more rows below, from which the levels
// above it are blurred.
struct StripShape {
  int rows = 0, beyond = 0;
  std::vector<int> tail;            // per level
  std::vector<int> capacity;        // rows in memory, per level; 0: the level is stored elsewhere
  std::vector<std::size_t> offset;  // of a level's memory, floats
  int placed_capacity = 0;          // rows of the image from which level 0 is blurred
  std::size_t placed_offset = 0;
  std::size_t floats = 0;
};

// The scale space of one image, computed in parts. There is a single part if its levels fit into
// `most_bytes` or if its filter is not the Gaussian, because the other filters need whole images.
// Otherwise the first octaves are computed in strips of rows, from the top down, and the octaves
// that fit together are the last part. An octave's first level is kept as a whole until the octave
// is done.
class HostScaleSpace {
 public:
  HostScaleSpace(const Context& context, const SiftOptions& options, std::size_t most_bytes);

  // Takes the pixels as floats of 0..1; throws if float pixels cannot be used. The image must
  // remain valid.
  void begin(AnyView image, const SiftShape& shape);
  // Computes the next part; returns false if there is none.
  bool next();
  // Frees its memory.
  void release();
  // The memory needed for an image, bytes.
  std::size_t memory_needed(const SiftShape& shape) const;

  const SiftShape& shape() const { return shape_; }
  bool is_one_part() const { return one_part_; }
  // The octaves of the part, and the rows of an octave that belong to this part alone.
  int first_octave() const { return first_; }
  int end_octave() const { return end_; }
  struct Rows {
    int top, bottom;
  };
  Rows rows(int octave) const;
  // The rows of which every level is in memory.
  Rows rows_in_memory(int octave) const;
  HostView<const float> level(int octave, int level) const;

 private:
  friend class Patch;

  bool fits(const SiftShape& shape, int octave) const;
  StripShape strip_shape(const SiftShape& shape, int octave) const;
  std::size_t part_floats(const SiftShape& shape, int octave) const;
  HostView<float> level_to_write(int octave, int level) const;
  HostView<float> seed(int octave) const;  // level 0 of an octave, computed from the octave before
  void filter(HostView<const float> from, HostView<float> to, int level);
  // Rows of the image, doubled if the options say so, from which level 0 is computed. place_part()
  // is single-threaded and computes a range of columns, the outermost of which may be wrong unless
  // they are at the border of the image.
  void place_rows(int top, int bottom, HostView<float> out) const;
  void place_part(int top, int bottom, int left, int right, HostView<float> out) const;
  void make_whole();
  void make_strip();
  void seed_next(int bottom);

  Context context_;
  SiftOptions options_;
  std::size_t most_bytes_;
  core::Frames frames_;
  core::StageClock untimed_;                 // for the filters, whose times are not reported
  std::vector<std::vector<float>> kernels_;  // Gaussian kernels per level
  std::vector<std::unique_ptr<filter::FloatFilter>> filters_;  // per level; empty for the Gaussian

  SiftShape shape_;
  AnyView pixels_;
  bool one_part_ = true;
  int first_ = 0, end_ = 0;  // octaves of the part
  bool in_strips_ = false;   // whether the part is a strip of octave first_
  StripShape strip_;
  int top_ = 0, bottom_ = 0;  // of the strip
  int base_ = 0;              // first row in memory
  std::vector<int> made_;     // per level: one past the last row in memory
  int seeded_ = 0;            // rows of the next octave's first level that are complete
  core::Buffer floats_{Place::host, "sift: scale space"};
  std::array<core::Buffer, 2> seeds_{core::Buffer{Place::host, "sift: first level of an octave"},
                                     core::Buffer{Place::host, "sift: first level of an octave"}};
};

// The levels of an octave around a position, recomputed from the octave's first level, for
// positions that a strip does not hold. The bits are the same.
class Patch {
 public:
  explicit Patch(const HostScaleSpace& space) : space_(space) {}

  // Computes all levels, `radius` pixels around the position.
  void cover(int octave, int x, int y, int radius);
  bool holds(int octave, int x, int y) const {
    return octave == octave_ && x >= left_ && x < right_ && y >= top_ && y < bottom_;
  }
  HostView<const float> level(int l) const { return levels_[l]; }

 private:
  const HostScaleSpace& space_;
  int octave_ = -1;
  int top_ = 0, bottom_ = 0, left_ = 0, right_ = 0;  // of all levels
  std::vector<float> floats_;
  std::vector<HostView<const float>> levels_;
};

// Level `level` of a point's octave, `reach` pixels around it: from the part, or from the patch if
// the part does not hold enough. Valid until the patch covers another position.
HostView<const float> level_around(const HostScaleSpace& space, const SiftPoint& point, int level,
                                   int reach, Patch& patch);

// A point and the pixel to which its fit converged, which is unique in its octave.
struct FoundPoint {
  SiftPoint point;
  LevelPixel pixel;
};

// The points whose extrema lie in the part's own rows, ordered by octave, level, y and x.
std::vector<FoundPoint> find_points(const Context& context, const HostScaleSpace& space,
                                    const SiftLimits& limits);

// The angles of a point's histogram peaks in turns, the highest first; at most `most`. Returns
// their number.
int find_angles(HostView<const float> level, const SiftPoint& point, int most,
                std::array<float, kMostAngles>& turns);
// The same from partial orientation histograms, which are summed into the first of them.
using AngleParts = float[kAngleParts][40];
int highest_peaks(AngleParts& parts, int most, std::array<float, kMostAngles>& turns);

// One iteration of the affine shape adaptation: the shape from the moments under the previous one.
PointShape adapted_shape(HostView<const float> level, const SiftPoint& point,
                         const PointShape& last);
// find_angles() in the normalised plane.
int find_affine_angles(HostView<const float> level, const SiftPoint& point, const PointShape& shape,
                       int most, std::array<float, kMostAngles>& turns);

// A point's descriptor, kDescriptorLength bytes: of a round point, on the normalised patch, and
// pooled over domain sizes, with one level per size.
void describe_point(HostView<const float> level, const SiftPoint& point, float turn, bool root,
                    std::uint8_t* descriptor);
void describe_affine(HostView<const float> level, const SiftPoint& point, const PointShape& shape,
                     float turn, bool root, std::uint8_t* descriptor);
void describe_pooled(std::span<const HostView<const float>> levels, const SiftPoint& point,
                     const PointShape& shape, float turn, bool root, std::uint8_t* descriptor);

}  // namespace cornea::sift
