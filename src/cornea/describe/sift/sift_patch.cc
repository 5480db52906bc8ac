// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cornea/describe/sift/host_sift.h"
#include "cornea/filter/gaussian/gaussian_blur.h"

namespace cornea::sift {

void Patch::cover(int octave, int x, int y, int radius) {
  const OctaveShape& o = space_.shape().octaves[octave];
  const int top = std::max(0, y - radius), bottom = std::min(o.height, y + radius + 1);
  const int left = std::max(0, x - radius), right = std::min(o.width, x + radius + 1);
  if (octave == octave_ && top >= top_ && bottom <= bottom_ && left >= left_ && right <= right_) {
    return;
  }
  octave_ = octave;
  top_ = top, bottom_ = bottom, left_ = left, right_ = right;
  const int levels = space_.shape().levels;
  // The region that each level needs of the previous one; parts[0] is the region of the image.
  std::vector<gaussian::BlurPart> parts(levels + 1);
  parts[levels] = {top, bottom, left, right};
  for (int l = levels; l > 0; --l) {
    const int reach = static_cast<int>(space_.kernels_[l - 1].size() / 2);
    const gaussian::BlurPart& p = parts[l];
    parts[l - 1] = {std::max(0, p.top - reach), std::min(o.height, p.bottom + reach),
                    std::max(0, p.left - reach), std::min(o.width, p.right + reach)};
  }
  // The outermost columns of a part of the doubled image are wrong unless they are at the border of
  // the image.
  gaussian::BlurPart& image = parts[0];
  image = {image.top / 2 * 2, std::min(o.height, image.bottom + 1),
           std::max(0, image.left / 2 - 1) * 2, std::min(o.width, (image.right / 2 + 2) * 2)};
  const std::ptrdiff_t stride = image.right - image.left;
  const std::size_t level_floats = std::size_t(stride) * (image.bottom - image.top + 1);
  floats_.resize(level_floats * (levels + 1) + kRowSlack);
  auto memory = [&](int i) {
    return level_from(floats_.data() + level_floats * i, o, stride, image.top, image.left);
  };
  levels_.resize(levels);
  for (int l = 0; l < levels; ++l) {
    if (l == 0 && octave > 0) {
      levels_[0] = space_.seed(octave);
      continue;
    }
    const HostView<float> to = memory(l + 1);
    if (l == 0) {
      space_.place_part(image.top, image.bottom, image.left, image.right, memory(0));
    }
    const HostView<const float> from = l == 0 ? HostView<const float>(memory(0)) : levels_[l - 1];
    gaussian::blur_part(space_.kernels_[l], from, to, parts[l + 1]);
    levels_[l] = to;
  }
}

HostView<const float> level_around(const HostScaleSpace& space, const SiftPoint& point, int level,
                                   int reach, Patch& patch) {
  const int x = static_cast<int>(point.x + 0.5f), y = static_cast<int>(point.y + 0.5f);
  const HostScaleSpace::Rows rows = space.rows_in_memory(point.octave);
  const int height = space.shape().octaves[point.octave].height;
  if (rows.top <= std::max(0, y - reach) && rows.bottom >= std::min(height, y + reach + 1)) {
    return space.level(point.octave, level);
  }
  patch.cover(point.octave, x, y, reach);
  return patch.level(level);
}

}  // namespace cornea::sift
