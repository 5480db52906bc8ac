// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/texture.h"

#include <array>
#include <string_view>

#include "cornea/scene/glyphs.h"
#include "cornea/scene/noise.h"

namespace cornea::scene {
namespace {

using namespace core;

// Each pattern returns a value between dark (0) and light (1).
double plain(const Texture& t, double u, double v, double width) {
  return 0.6 + 0.10 * fractal(t.seed, u / 0.4, v / 0.4, 4, width / 0.4);
}

double bricks(const Texture& t, double u, double v, double width) {
  const double course = t.cell, length = 2.4 * t.cell, joint = 0.12 * t.cell;
  const std::int64_t row = floor_cell(v / course);
  const double shift = (row & 1) ? 0.5 * length : 0.0;
  const std::int64_t column = floor_cell((u + shift) / length);
  const double in_u = u + shift - static_cast<double>(column) * length;
  const double in_v = v - static_cast<double>(row) * course;
  const double mortar = 1.0 - (1.0 - stripes(u + shift, length, joint, width)) *
                                  (1.0 - stripes(v, course, joint, width));
  const Philox4 hash = cell_hash(t.seed, row, column);
  double brick = 0.22 + 0.34 * unit(hash, 0) + (hash.v[1] % 11 == 0 ? -0.16 : 0.0);
  // Light from above brightens the upper edge and darkens the lower one.
  brick += 0.10 * beyond(in_v - 0.88 * course, width) - 0.10 * beyond(0.24 * course - in_v, width);
  const double chip_size = (0.06 + 0.16 * unit(hash, 3)) * course;
  const double chip = disc(in_u, in_v, joint + unit(hash, 2) * (length - joint),
                           hash.v[1] & 64 ? 0.95 * course : 0.25 * course, chip_size, width);
  brick = mix(brick, 0.12, 0.8 * chip);
  brick +=
      0.16 * fractal(t.seed + 1, u / (0.5 * course), v / (0.5 * course), 3, 2.0 * width / course);
  const double coarse = saturate(width / course - 0.5);  // bricks narrower than a sample
  const double stain = 0.10 * noise(t.seed + 2, u / 1.7, v / 1.1);
  return mix(mix(brick, 0.74, mortar), 0.46, coarse) + stain;
}

double slabs(const Texture& t, double u, double v, double width) {
  const double side = t.cell;
  const std::int64_t i = floor_cell(u / side), j = floor_cell(v / side);
  const double x = u / side - static_cast<double>(i) - 0.5,
               y = v / side - static_cast<double>(j) - 0.5;
  const double w = width / side;
  const Philox4 hash = cell_hash(t.seed, i, j);
  double slab = 0.52 + 0.26 * unit(hash, 0);
  const double square = std::max(std::abs(x), std::abs(y)), diamond = std::abs(x) + std::abs(y);
  switch (hash.v[1] % 9) {
    case 0:  // a dark diamond in a light one
      slab = mix(slab, 0.85, beyond(0.36 - diamond, 1.4 * w));
      slab = mix(slab, 0.15, beyond(0.24 - diamond, 1.4 * w));
      break;
    case 1:  // a square ring
      slab = mix(slab, 0.22, beyond(0.34 - square, w) - beyond(0.24 - square, w));
      break;
    case 2:  // four small slabs
      slab += ((x < 0.0) == (y < 0.0) ? 0.14 : -0.16) * saturate(1.5 - 2.0 * w);
      break;
    default:
      break;
  }
  // A small diamond where four slabs meet.
  const double corner = (0.5 - std::abs(x)) + (0.5 - std::abs(y));
  slab = mix(slab, 0.20, beyond(0.13 - corner, 1.4 * w));
  const double joint = 1.0 - (1.0 - stripes(u + 0.015 * side, side, 0.03 * side, width)) *
                                 (1.0 - stripes(v + 0.015 * side, side, 0.03 * side, width));
  slab = mix(slab, 0.18, joint);
  slab = mix(slab, 0.58, saturate(2.0 * w - 0.6));
  return slab + 0.20 * fractal(t.seed + 1, u / 0.10, v / 0.10, 4, width / 0.10) +
         0.12 * noise(t.seed + 5, u / 2.3, v / 2.3);
}

double crate(const Texture& t, double u, double v, double width) {
  const double frame = 0.13 * std::min(t.width, t.height), board = t.height / 6.0;
  const auto wood = [&](std::uint64_t plank, double along, double across) {
    const double grain =
        fractal(t.seed + 10 * plank, along / 0.35, across / 0.025, 3, width / 0.025);
    const double fine = noise(t.seed + 10 * plank + 5, along / 0.9, across / 0.12);
    return 0.55 + 0.18 * (unit(cell_hash(t.seed, 7, std::int64_t(plank)), 0) - 0.5) + 0.30 * grain +
           0.10 * fine;
  };
  const std::int64_t plank = floor_cell(v / board);
  double value = wood(static_cast<std::uint64_t>(plank) + 20, u, v) - 0.16;
  value = mix(value, 0.03, stripes(v + 0.02 * board, board, 0.07 * board, width));
  const auto lay = [&](double cover, double shadow, const auto& top) {
    value = mix(value, 0.10, 0.7 * shadow * (1.0 - cover));
    if (cover > 0.0) value = mix(value, top(), cover);
  };
  // The brace from a lower corner to the opposite upper one, then the frame over it.
  const double from_foot = t.seed & 1 ? u : t.width - u, length = std::hypot(t.width, t.height);
  const double off = std::abs(from_foot * t.height - v * t.width) / length;
  const double along = (from_foot * t.width + v * t.height) / length;
  lay(beyond(0.42 * frame - off, width), beyond(0.55 * frame - off, width),
      [&] { return wood(11, along, off); });
  const double to_side = std::min(u, t.width - u), to_end = std::min(v, t.height - v);
  lay(beyond(frame - to_end, width), beyond(1.14 * frame - to_end, width),
      [&] { return wood(v < frame ? 12 : 13, u, v) + 0.12; });
  lay(beyond(frame - to_side, width), beyond(1.14 * frame - to_side, width),
      [&] { return wood(u < frame ? 14 : 15, v, u) + 0.16; });
  for (double inset : {0.28, 0.72}) {  // nails
    value =
        mix(value, 0.0, disc(to_side, to_end, inset * frame, 0.5 * frame, 0.075 * frame, width));
  }
  return value;
}

// The ink of one line of letters; (x, y) in letter heights from the line's upper left. A letter is
// 5 x 7 dots with a gap of one dot, so that a line advances by 6/7 per letter.
double ink(char letter, double x, double y, double width) {
  if (letter == ' ' || x < 0.0 || y < 0.0 || y >= 1.0) return 0.0;
  const int column = static_cast<int>(x * 7.0), row = static_cast<int>(y * 7.0);
  if (column > 4 || row > 6) return 0.0;
  return mix(glyph_ink(letter, column, row) ? 1.0 : 0.0, 0.5, saturate(7.0 * width - 0.7));
}

// Ragged lines of random words in a column of the given size; y is measured down from its top.
double paragraph(std::uint64_t seed, double x, double y, double line_width, double height,
                 double letter, double width) {
  const double pitch = 1.6 * letter, advance = 6.0 / 7.0 * letter;
  if (x < 0.0 || y < 0.0 || x >= line_width) return 0.0;
  const std::int64_t line = floor_cell(y / pitch), place = floor_cell(x / advance);
  const Philox4 of_line = cell_hash(seed, line, -1);
  if (of_line.v[0] % 7 == 0) return 0.0;  // between paragraphs
  const double end = line_width * (of_line.v[1] % 4 == 0 ? 0.35 + 0.4 * unit(of_line, 2) : 1.0);
  // Only whole letters and whole lines.
  if (static_cast<double>(place + 1) * advance > end + letter / 7.0) return 0.0;
  if (static_cast<double>(line) * pitch + letter > height) return 0.0;
  const Philox4 hash = cell_hash(seed, line, place);
  const char c = hash.v[0] % 6 == 0 ? ' ' : static_cast<char>('A' + hash.v[1] % 26);
  return ink(c, (x - static_cast<double>(place) * advance) / letter,
             (y - static_cast<double>(line) * pitch) / letter, width / letter);
}

constexpr std::array<std::string_view, 10> kHeadlines = {
    "CORNEA", "CORNER", "EPIPOLE", "SCALE", "MATCH", "RANSAC", "VIEW", "POINTS", "SIGMA", "TENSOR"};

// A word from kHeadlines, scaled to fill the width; y is measured down from its top.
// headline_height() gives the height of the letters.
std::string_view headline(std::uint64_t seed) { return kHeadlines[seed % kHeadlines.size()]; }
double headline_height(std::uint64_t seed, double line_width) {
  return line_width / (6.0 / 7.0 * static_cast<double>(headline(seed).size()) - 1.0 / 7.0);
}
double headline_ink(std::uint64_t seed, double x, double y, double line_width, double width) {
  const std::string_view word = headline(seed);
  const double letter = headline_height(seed, line_width), advance = 6.0 / 7.0 * letter;
  const std::int64_t place = floor_cell(x / advance);
  if (place < 0 || place >= static_cast<std::int64_t>(word.size())) return 0.0;
  return ink(word[static_cast<std::size_t>(place)],
             (x - static_cast<double>(place) * advance) / letter, y / letter, width / letter);
}

double page(const Texture& t, double u, double v, double width) {
  const double margin = 0.08 * t.width, column = t.width - 2.0 * margin,
               down = t.height - margin - v;
  const double title = 0.8 * headline_height(t.seed, column), body = 1.5 * title;
  double dark = headline_ink(t.seed, (u - margin) / 0.8, down / 0.8, column, width / 0.8);
  dark += rectangle(u, down, margin, 1.2 * title, t.width - margin, 1.26 * title, width);
  dark += paragraph(t.seed + 1, u - margin, down - body, column, t.height - 2.0 * margin - body,
                    0.052 * t.width, width);
  return 0.88 - 0.80 * dark + 0.06 * fractal(t.seed + 2, u / 0.2, v / 0.2, 3, width / 0.2);
}

// Rings, bars and diamonds, the larger ones behind the smaller.
double shapes(const Texture& t, double u, double v, double width, double value) {
  for (int shape = 0; shape < 9; ++shape) {
    const Philox4 hash = cell_hash(t.seed, shape, 99);
    const double middle_u = t.width * (0.14 + 0.72 * unit(hash, 0));
    const double middle_v = t.height * (0.32 + 0.42 * unit(hash, 1));
    const double size = 0.32 * t.width * (0.5 + unit(hash, 2)) / (1.0 + 0.3 * shape);
    const double du = std::abs(u - middle_u), dv = std::abs(v - middle_v);
    double cover = 0.0;
    if (shape % 3 == 0) {
      cover = disc(du, dv, 0.0, 0.0, size, width) - disc(du, dv, 0.0, 0.0, 0.55 * size, width);
    } else if (shape % 3 == 1) {
      cover = rectangle(du, dv, -1.0, -1.0, size, 0.45 * size, width);
    } else {
      cover = beyond(0.9 * size - du - dv, 1.4 * width);
    }
    value = mix(value, 0.05 + 0.90 * unit(hash, 3), cover);
  }
  return value;
}

double poster(const Texture& t, double u, double v, double width) {
  const double w = t.width, h = t.height, margin = 0.07 * w;
  const bool night = t.seed & 1;
  const double ground = night ? 0.18 : 0.80, front = night ? 0.95 : 0.06;
  double value = ground + (night ? 0.16 : -0.16) * v / h;
  value = shapes(t, u, v, width, value);
  const double down = h - v, column = w - 2.0 * margin,
               letter = headline_height(t.seed / 2, column);
  value = mix(value, ground, beyond(1.9 * margin + letter - down, width));
  value = mix(value, front, headline_ink(t.seed / 2, u - margin, down - margin, column, width));
  value = mix(value, ground, beyond(0.24 * h - v, width));
  value = mix(value, front,
              paragraph(t.seed + 3, u - margin, down - 0.79 * h, column, 0.21 * h - margin,
                        0.045 * w, width));
  const double edge = std::min(std::min(u, w - u), std::min(v, h - v));
  value =
      mix(value, front, beyond(0.35 * margin - edge, width) - beyond(0.2 * margin - edge, width));
  return value + 0.05 * fractal(t.seed + 4, u / 0.3, v / 0.3, 4, width / 0.3);
}

double blocks(const Texture& t, double u, double v, double width) {
  double left = 0.0, low = 0.0, w = t.width, h = t.height, tone = 0.5, line = 1.0;
  std::uint64_t seed = t.seed;
  for (int level = 0; level < 7; ++level) {
    const Philox4 hash = cell_hash(seed, level, 5);
    tone = unit(hash, 0);
    if (level > 2 && hash.v[1] % 4 == 0) break;
    // Splits the longer side between one third and two thirds and continues in the part that
    // contains (u, v).
    const double at = 0.33 + 0.34 * unit(hash, 2);
    const bool across = w > h;
    const double cut = across ? left + at * w : low + at * h;
    const bool upper = (across ? u : v) > cut;
    (across ? left : low) = upper ? cut : (across ? left : low);
    (across ? w : h) *= upper ? 1.0 - at : at;
    seed = seed * 2 + (upper ? 3 : 2) + hash.v[3];
  }
  const double edge = std::min(std::min(u - left, left + w - u), std::min(v - low, low + h - v));
  line = beyond(edge - 0.012 * t.width, width);
  tone = mix(0.03, 0.12 + 0.85 * tone, line);
  return tone + 0.10 * fractal(t.seed + 1, u / 0.15, v / 0.15, 3, width / 0.15);
}

double windows(const Texture& t, double u, double v, double width) {
  const double period = t.cell;
  const std::int64_t i = floor_cell(u / period), j = floor_cell(v / period);
  const double x = u / period - static_cast<double>(i), y = v / period - static_cast<double>(j),
               w = width / period;
  const Philox4 hash = cell_hash(t.seed, i, j);
  Texture wall = t;
  wall.cell = 0.075 * period;
  double value = mix(0.62 + 0.10 * fractal(t.seed + 1, u / 0.5, v / 0.5, 4, width / 0.5),
                     bricks(wall, u, v, width), j == 0 ? 0.8 : 0.0);
  value = mix(value, 0.85, rectangle(x, y, 0.20, 0.20, 0.80, 0.88, w));
  value = mix(value, 0.30, rectangle(x, y, 0.24, 0.24, 0.76, 0.84, w));
  // Panes: a reflection of the sky that differs from window to window, or a blind.
  const double blind = 0.24 + 0.60 * (hash.v[0] % 3 == 0 ? unit(hash, 1) : 1.0);
  double pane = 0.10 + 0.30 * unit(hash, 2) * y +
                0.10 * noise(t.seed + 3, 6.0 * u / period, 3.0 * v / period);
  pane = mix(pane, 0.72 - 0.25 * stripes(y, 0.035, 0.012, w), beyond(y - blind, w));
  value = mix(value, pane, rectangle(x, y, 0.26, 0.26, 0.74, 0.82, w));
  value = mix(value, 0.85, rectangle(x, y, 0.485, 0.24, 0.515, 0.84, w));
  value = mix(value, 0.85, rectangle(x, y, 0.24, 0.60, 0.76, 0.63, w));
  value = mix(value, 0.92, rectangle(x, y, 0.16, 0.15, 0.84, 0.20, w));  // sill
  value = mix(value, 0.25, rectangle(x, y, 0.16, 0.13, 0.84, 0.15, w));
  return mix(value, 0.80, stripes(v, period, 0.06 * period, width));  // ledge
}

double pattern_tone(const Texture& t, double u, double v, double width);

double collage(const Texture& t, double u, double v, double width) {
  const std::int64_t i = floor_cell(u / t.cell), j = floor_cell(v / t.cell);
  const double x = u - static_cast<double>(i) * t.cell, y = v - static_cast<double>(j) * t.cell,
               gap = 0.03 * t.cell;
  constexpr std::array<Pattern, 6> kinds = {Pattern::poster, Pattern::blocks, Pattern::page,
                                            Pattern::slabs,  Pattern::crate,  Pattern::bricks};
  const Philox4 hash = cell_hash(t.seed, i, j);
  Texture panel = t;
  panel.pattern = kinds[hash.v[0] % kinds.size()];
  panel.seed = (std::uint64_t{hash.v[1]} << 32) | hash.v[2];
  panel.width = panel.height = t.cell - 2.0 * gap;
  panel.cell = panel.pattern == Pattern::slabs ? t.cell / 4.0 : t.cell / 9.0;
  const double inside = rectangle(x, y, gap, gap, t.cell - gap, t.cell - gap, width);
  return mix(0.35, pattern_tone(panel, x - gap, y - gap, width), inside);
}

double pattern_tone(const Texture& t, double u, double v, double width) {
  switch (t.pattern) {
    case Pattern::plain:
      return plain(t, u, v, width);
    case Pattern::bricks:
      return bricks(t, u, v, width);
    case Pattern::slabs:
      return slabs(t, u, v, width);
    case Pattern::crate:
      return crate(t, u, v, width);
    case Pattern::page:
      return page(t, u, v, width);
    case Pattern::poster:
      return poster(t, u, v, width);
    case Pattern::blocks:
      return blocks(t, u, v, width);
    case Pattern::windows:
      return windows(t, u, v, width);
    case Pattern::collage:
      return collage(t, u, v, width);
  }
  return 0.5;
}

}  // namespace

double reflectance(const Texture& texture, double u, double v, double sample_width) {
  const double tone = pattern_tone(texture, u, v, std::max(sample_width, 1e-9));
  return mix(texture.dark, texture.light, saturate(tone));
}

}  // namespace cornea::scene
