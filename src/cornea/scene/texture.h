// SPDX-License-Identifier: Apache-2.0
// Procedural gray textures for flat faces: every value is a pure function of position, seed and
// sample width, hashed with Philox. Nothing is stored, so that a face shows the same surface to
// every camera at every resolution, and detail that is too fine for a sample fades into its mean.
#pragma once

#include <cstdint>

namespace cornea::scene {

enum class Pattern {
  plain,    // one gray with a faint grain
  bricks,   // running bond with mortar, worn bricks
  slabs,    // square paving slabs with inlays
  crate,    // boards behind a nailed frame with a brace
  page,     // paragraphs of text at two sizes
  poster,   // a headline, shapes and small print
  blocks,   // nested rectangles at four scales
  windows,  // a house front
  collage   // panels, each with one of the patterns above
};

struct Texture {
  Pattern pattern = Pattern::plain;
  std::uint64_t seed = 1;
  double width = 1.0, height = 1.0;  // of the face, metres
  double cell = 0.25;                // size of a brick, slab, window or panel, metres
  double dark = 0.15, light = 0.85;  // reflectance, 0..1
};

// Reflectance, 0..1, at (u, v) metres from the face's lower left, averaged over about
// `sample_width` metres.
double reflectance(const Texture& texture, double u, double v, double sample_width);

}  // namespace cornea::scene
