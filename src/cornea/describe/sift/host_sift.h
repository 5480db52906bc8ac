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

// The view of a level of which only rows from `row` and columns from `column` on lie in memory, at
// `data`: where its first pixel would lie.
inline HostView<float> level_from(float* data, const OctaveShape& o, std::ptrdiff_t stride, int row,
                                  int column) {
  const auto before = std::uintptr_t(stride * row + column) * sizeof(float);
  // The address may lie before the array, where a pointer must not point on its way.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return {reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(data) - before), o.width,
          o.height, stride};
}

// Rows that the walk from an extremum may go beyond its strip before a patch is made for it. Few
// walk at all; all rows of the window would do as well.
inline constexpr int kWalk = 4;

// Pixels around a point's place that its angles and its descriptor read, at most.
int reach_of(float scale);

// How an octave is cut into strips of rows. A strip is `rows` rows; beyond them all levels are
// there for `beyond` rows on each side, and level l for tail[l] more below, from which the levels
// above it are blurred.
struct StripShape {
  int rows = 0, beyond = 0;
  std::vector<int> tail;            // by level
  std::vector<int> capacity;        // rows in memory, by level; 0: the level lies elsewhere
  std::vector<std::size_t> offset;  // of a level's memory, floats
  int placed_capacity = 0;          // rows of the image that level 0 is blurred from
  std::size_t placed_offset = 0;
  std::size_t floats = 0;
};

// The scale space of one image, part after part. It is one part where its levels fit into
// `most_bytes`, or where its filter is not the Gaussian, since the others look at whole images.
// Otherwise the first octaves are made in strips of rows, from the top down, and the octaves that
// fit together are the last part. An octave's first level is kept whole until the octave is done.
class HostScaleSpace {
 public:
  HostScaleSpace(const Context& context, const SiftOptions& options, std::size_t most_bytes);

  // Pixels as floats of 0..1; an error where float ones cannot be used. The image must stay.
  void begin(AnyView image, const SiftShape& shape);
  // Makes the next part; false where there is none.
  bool next();
  // Gives its memory back.
  void release();
  // Bytes for an image.
  std::size_t memory_needed(const SiftShape& shape) const;

  const SiftShape& shape() const { return shape_; }
  bool is_one_part() const { return one_part_; }
  // Of the part: its octaves, and the rows of such an octave that no other part has.
  int first_octave() const { return first_; }
  int end_octave() const { return end_; }
  struct Rows {
    int top, bottom;
  };
  Rows rows(int octave) const;
  // The rows of which every level lies in memory.
  Rows rows_in_memory(int octave) const;
  HostView<const float> level(int octave, int level) const;

 private:
  friend class Patch;

  bool fits(const SiftShape& shape, int octave) const;
  StripShape strip_shape(const SiftShape& shape, int octave) const;
  std::size_t part_floats(const SiftShape& shape, int octave) const;
  HostView<float> level_to_write(int octave, int level) const;
  HostView<float> seed(int octave) const;  // level 0 of an octave that the one before made
  void filter(HostView<const float> from, HostView<float> to, int level);
  // Rows of the image, doubled if asked for, as level 0 is made from. Without threads: a part of
  // their columns, of which the outermost may be wrong where they are not the image's.
  void place_rows(int top, int bottom, HostView<float> out) const;
  void place_part(int top, int bottom, int left, int right, HostView<float> out) const;
  void make_whole();
  void make_strip();
  void seed_next(int bottom);

  Context context_;
  SiftOptions options_;
  std::size_t most_bytes_;
  core::Frames frames_;
  core::StageClock untimed_;                                   // of the filters
  std::vector<std::vector<float>> kernels_;                    // by level, of the Gaussian
  std::vector<std::unique_ptr<filter::FloatFilter>> filters_;  // by level; none for the Gaussian

  SiftShape shape_;
  AnyView pixels_;
  bool one_part_ = true;
  int first_ = 0, end_ = 0;  // octaves of the part
  bool in_strips_ = false;   // whether the part is a strip of octave first_
  StripShape strip_;
  int top_ = 0, bottom_ = 0;  // of the strip
  int base_ = 0;              // first row in memory
  std::vector<int> made_;     // by level: the row after the last one in memory
  int seeded_ = 0;            // rows of the next octave's first level
  core::Buffer floats_{Place::host, "sift: scale space"};
  std::array<core::Buffer, 2> seeds_{core::Buffer{Place::host, "sift: first level of an octave"},
                                     core::Buffer{Place::host, "sift: first level of an octave"}};
};

// The levels of an octave around a place, made anew from the octave's first level: for what a strip
// does not hold. The same bits.
class Patch {
 public:
  explicit Patch(const HostScaleSpace& space) : space_(space) {}

  // All levels, `radius` pixels around the place.
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

// Level `level` of a point's octave, `reach` pixels around it: of the part, or of the patch where
// the part does not hold enough. Valid until the patch covers another place.
HostView<const float> level_around(const HostScaleSpace& space, const SiftPoint& point, int level,
                                   int reach, Patch& patch);

// A point and the pixel that it settled on, which no other point of its octave has.
struct FoundPoint {
  SiftPoint point;
  LevelPixel pixel;
};

// The points of the part that begin in the rows of its own, ordered by octave, level, y and x.
std::vector<FoundPoint> find_points(const Context& context, const HostScaleSpace& space,
                                    const SiftLimits& limits);

// The turns of a point's peaks, the highest first; at most `most`. Returns how many.
int find_angles(HostView<const float> level, const SiftPoint& point, int most,
                std::array<float, kMostAngles>& turns);
// And of the histograms of directions that are its sum, which they become in the first of them.
using AngleParts = float[kAngleParts][40];
int highest_peaks(AngleParts& parts, int most, std::array<float, kMostAngles>& turns);

// One step of the adaptation of a point's shape: the shape that the moments under the last one ask
// for.
PointShape adapted_shape(HostView<const float> level, const SiftPoint& point,
                         const PointShape& last);
// find_angles() in the normalised plane.
int find_affine_angles(HostView<const float> level, const SiftPoint& point, const PointShape& shape,
                       int most, std::array<float, kMostAngles>& turns);

// A point's descriptor, kDescriptorLength bytes; on the normalised patch; and pooled over domain
// sizes, from a level for each.
void describe_point(HostView<const float> level, const SiftPoint& point, float turn, bool root,
                    std::uint8_t* descriptor);
void describe_affine(HostView<const float> level, const SiftPoint& point, const PointShape& shape,
                     float turn, bool root, std::uint8_t* descriptor);
void describe_pooled(std::span<const HostView<const float>> levels, const SiftPoint& point,
                     const PointShape& shape, float turn, bool root, std::uint8_t* descriptor);

}  // namespace cornea::sift
