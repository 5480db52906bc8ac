// SPDX-License-Identifier: Apache-2.0
#include "study/plain_foagdd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "cornea/core/parallel.h"
#include "cornea/core/stopwatch.h"

namespace cornea::study {
namespace {

constexpr int kDirections = 8, kLattice = 31, kReach = kLattice / 2;
// Width of the mirrored border of the image, pixels; beyond it are zeros.
constexpr int kMirrored = 7;
constexpr int kDisc = 3;                          // radius of the disc
constexpr int kAcross[] = {1, 2, 3, 3, 3, 2, 1};  // half widths of the disc's rows
constexpr int kSquare = 5;
constexpr double kScales[] = {1.5, 3, 4.5}, kRho = 1.5, kThreshold = 251188643.15095824;
constexpr int kRowsPerPiece = 8;

using Kernel = std::array<double, kLattice * kLattice>;
using Derivatives = std::array<double, kDirections>;

// The anisotropic derivative of a Gaussian along one direction, minus its mean; x down, y right.
Kernel kernel_of(double scale, int direction) {
  Kernel kernel;
  const double t = std::numbers::pi * direction / kDirections;
  double sum = 0;
  for (int i = 0; i < kLattice; ++i) {
    for (int j = 0; j < kLattice; ++j) {
      const double x = i - kReach, y = j - kReach;
      const double u = x * std::cos(t) + y * std::sin(t), v = -x * std::sin(t) + y * std::cos(t);
      const double k = -kRho * u / (2 * std::numbers::pi * scale * scale) *
                       std::exp(-(kRho * u * u + v * v / kRho) / (2 * scale));
      kernel[i * kLattice + j] = k;
      sum += k;
    }
  }
  for (double& k : kernel) k -= sum / (kLattice * kLattice);
  return kernel;
}

// The image with a mirrored border of 7 pixels, which repeats the edge, and zeros as far as the
// filters reach.
struct Extended {
  int width, height;  // including the border
  std::vector<double> pixels;
  static constexpr int kAround = kReach + kDisc;

  explicit Extended(HostView<const std::uint8_t> image)
      : width(image.width + 2 * kAround),
        height(image.height + 2 * kAround),
        pixels(std::size_t(width) * height) {
    auto mirrored = [](int i, int size) {
      const int m = (i % (2 * size) + 2 * size) % (2 * size);
      return m < size ? m : 2 * size - 1 - m;
    };
    for (int y = -kMirrored; y < image.height + kMirrored; ++y) {
      for (int x = -kMirrored; x < image.width + kMirrored; ++x) {
        pixels[std::size_t(y + kAround) * width + x + kAround] =
            image(mirrored(x, image.width), mirrored(y, image.height));
      }
    }
  }
};

// |image * kernel| of all directions, for the image and 3 pixels around it.
std::vector<Derivatives> derivatives(const Context& cpu, const Extended& image, double scale) {
  const int width = image.width - 2 * kReach, height = image.height - 2 * kReach;
  std::vector<Derivatives> out(std::size_t(width) * height);
  std::vector<Kernel> kernels;
  for (int d = 0; d < kDirections; ++d) kernels.push_back(kernel_of(scale, d));
  core::parallel_for(cpu, height, kRowsPerPiece, [&](int begin, int end) {
    std::vector<double> row(width);
    for (int y = begin; y < end; ++y) {
      for (int d = 0; d < kDirections; ++d) {
        std::fill(row.begin(), row.end(), 0.0);
        // A true convolution: the kernel's first row is multiplied with the last row of the
        // neighbourhood.
        for (int i = 0; i < kLattice; ++i) {
          const double* from = &image.pixels[std::size_t(y + kLattice - 1 - i) * image.width];
          for (int j = 0; j < kLattice; ++j) {
            const double k = kernels[d][i * kLattice + j];
            const double* pixels = from + kLattice - 1 - j;
            double* sums = row.data();
            for (int x = 0; x < width; ++x) sums[x] += k * pixels[x];
          }
        }
        for (int x = 0; x < width; ++x) out[std::size_t(y) * width + x][d] = std::abs(row[x]);
      }
    }
  });
  return out;
}

// Gaussian elimination with partial pivoting.
double determinant(double (&m)[kDirections][kDirections]) {
  double product = 1;
  for (int k = 0; k < kDirections; ++k) {
    int pivot = k;
    for (int i = k + 1; i < kDirections; ++i) {
      if (std::abs(m[i][k]) > std::abs(m[pivot][k])) pivot = i;
    }
    if (m[pivot][k] == 0) return 0;
    if (pivot != k) {
      std::swap_ranges(m[k], m[k] + kDirections, m[pivot]);
      product = -product;
    }
    product *= m[k][k];
    for (int i = k + 1; i < kDirections; ++i) {
      const double factor = m[i][k] / m[k][k];
      for (int j = k + 1; j < kDirections; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  return product;
}

// det M / (trace M + 2.22e-16) at every pixel, where M sums g g' over the disc.
std::vector<double> measures(const Context& cpu, const std::vector<Derivatives>& g, int width,
                             int height) {
  std::vector<double> out(std::size_t(width) * height);
  const int stride = width + 2 * kDisc;
  core::parallel_for(cpu, height, kRowsPerPiece, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      for (int x = 0; x < width; ++x) {
        double m[kDirections][kDirections] = {};
        for (int dy = -kDisc; dy <= kDisc; ++dy) {
          const int across = kAcross[dy + kDisc];
          for (int dx = -across; dx <= across; ++dx) {
            const Derivatives& there = g[std::size_t(y + dy + kDisc) * stride + x + dx + kDisc];
            for (int i = 0; i < kDirections; ++i) {
              for (int j = 0; j < kDirections; ++j) m[i][j] += there[i] * there[j];
            }
          }
        }
        double trace = 2.22e-16;
        for (int i = 0; i < kDirections; ++i) trace += m[i][i];
        out[std::size_t(y) * width + x] = determinant(m) / trace;
      }
    }
  });
  return out;
}

bool is_largest(const std::vector<double>& map, int width, int height, int x, int y) {
  const int r = kSquare / 2;
  const double own = map[std::size_t(y) * width + x];
  for (int j = std::max(0, y - r); j <= std::min(height - 1, y + r); ++j) {
    for (int i = std::max(0, x - r); i <= std::min(width - 1, x + r); ++i) {
      if (map[std::size_t(j) * width + i] > own) return false;
    }
  }
  return true;
}

}  // namespace

PlainFoagdd plain_foagdd(const Context& cpu, HostView<const std::uint8_t> image) {
  const int width = image.width, height = image.height;
  PlainFoagdd result;
  core::Stopwatch watch;
  auto lap = [&] {
    const double ms = watch.milliseconds();
    watch.start();
    return ms;
  };
  const Extended extended(image);
  {
    const std::vector<Derivatives> g = derivatives(cpu, extended, kScales[0]);
    result.derivatives = lap();
    result.first = measures(cpu, g, width, height);
    result.first_measure = lap();
  }
  std::vector<PlainCorner> candidates;
  for (int y = kSquare + 1; y < height - kSquare; ++y) {
    for (int x = kSquare + 1; x < width - kSquare; ++x) {
      const double own = result.first[std::size_t(y) * width + x];
      if (own > kThreshold && is_largest(result.first, width, height, x, y)) {
        candidates.push_back({x, y, own});
      }
    }
  }
  result.suppression = lap();
  result.least = result.first;
  for (const double scale : {kScales[1], kScales[2]}) {
    const std::vector<double> map = measures(cpu, derivatives(cpu, extended, scale), width, height);
    for (std::size_t i = 0; i < map.size(); ++i) {
      result.least[i] = std::min(result.least[i], map[i]);
    }
  }
  for (const PlainCorner& c : candidates) {
    if (result.least[std::size_t(c.y) * width + c.x] > kThreshold) result.corners.push_back(c);
  }
  result.other_scales = lap();
  return result;
}

}  // namespace cornea::study
