// SPDX-License-Identifier: Apache-2.0
// For SIFT's tests: images whose points are known, and the devices to run on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cornea/core/random.h"
#include "cornea/core/testing.h"
#include "cornea/describe/sift/sift.h"

namespace cornea::testing {

struct Blob {
  double x, y, sigma, height;
};

// A sum of round blobs on mid gray, with a closed-form value at any position.
inline std::vector<Blob> random_blobs(int width, int height, int count, std::uint64_t seed) {
  core::Random random(seed);
  std::vector<Blob> blobs;
  for (int i = 0; i < count; ++i) {
    const double sigma = 1.5 * std::exp2(2.5 * random.uniform());
    const double sign = random.uniform() < 0.5 ? -1 : 1;
    blobs.push_back({width * random.uniform(), height * random.uniform(), sigma,
                     sign * (0.1 + 0.15 * random.uniform())});
  }
  return blobs;
}
inline Image<float> draw(const std::vector<Blob>& blobs, int width, int height, double left = 0,
                         double top = 0) {
  Image<float> image(width, height);
  std::fill_n(image.host().data, width * height, 0.5f);
  for (const Blob& b : blobs) {
    const int reach = int(5 * b.sigma);
    const int x0 = int(b.x - left), y0 = int(b.y - top);
    for (int y = std::max(0, y0 - reach); y <= std::min(height - 1, y0 + reach); ++y) {
      for (int x = std::max(0, x0 - reach); x <= std::min(width - 1, x0 + reach); ++x) {
        const double dx = x + left - b.x, dy = y + top - b.y;
        image(x, y) += float(b.height * std::exp(-(dx * dx + dy * dy) / (2 * b.sigma * b.sigma)));
      }
    }
  }
  return image;
}
inline Image<float> blob_image(int width, int height, std::uint64_t seed = 1) {
  return draw(random_blobs(width, height, width * height / 250, seed), width, height);
}
inline Image<std::uint8_t> to_u8(const Image<float>& image) {
  Image<std::uint8_t> out(image.width(), image.height());
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      out(x, y) = std::uint8_t(std::clamp(image(x, y) * 255.0f + 0.5f, 0.0f, 255.0f));
    }
  }
  return out;
}

inline bool equal(const Features& a, const Features& b) {
  return a.keypoints == b.keypoints && a.descriptors == b.descriptors;
}

// A lattice of small blobs, which has far more points than photographs.
inline Image<std::uint8_t> crowded_image(int width, int height) {
  std::vector<Blob> lattice;
  for (int y = 0; y < height; y += 9) {
    for (int x = 0; x < width; x += 9) lattice.push_back({x + 0.3, y + 0.1, 1.5, 0.4});
  }
  return to_u8(draw(lattice, width, height));
}

// Instantiated for every device in sift_test.cc, whichever file defines a test.
class SiftOnDevice : public OnEveryDevice {};

}  // namespace cornea::testing
