// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/foagdd/foagdd_bank.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cornea/detect/foagdd/foagdd.h"

namespace cornea::foagdd {
namespace {

constexpr double kSmallestShare = 1.0 / (1 << 23);

// One kernel of the definition, lattice x lattice values in row-major order.
std::vector<double> foagdd_kernel(double scale, double rho, int direction, int directions,
                                  int lattice) {
  const int reach = lattice / 2;
  const double t = direction * std::numbers::pi / directions, c = std::cos(t), s = std::sin(t);
  std::vector<double> kernel;
  for (int x = -reach; x <= reach; ++x) {
    for (int y = -reach; y <= reach; ++y) {
      const double u = x * c + y * s, v = -x * s + y * c;
      kernel.push_back(-rho * u / (2 * std::numbers::pi * scale * scale) *
                       std::exp(-(rho * u * u + v * v / rho) / (2 * scale)));
    }
  }
  return kernel;
}

}  // namespace

FoagddBank make_foagdd_bank(const FoagddOptions& options, double scale) {
  const int n = options.directions, reach = options.lattice / 2;
  std::vector<std::vector<double>> kernels;
  double largest = 0;
  for (int d = 0; d < n; ++d) {
    kernels.push_back(foagdd_kernel(scale, options.rho, d, n, options.lattice));
    for (double v : kernels.back()) largest = std::max(largest, std::abs(v));
  }
  auto at = [&](int d, int a, int b) {
    return kernels[d][std::size_t(a + reach) * options.lattice + b + reach];
  };
  auto counts = [&](int a, int b) {
    for (int d = 0; d < n; ++d) {
      const double larger = std::max(std::abs(at(d, a, b)), std::abs(at(d, a, -b)));
      if (larger > kSmallestShare * largest) return true;
    }
    return false;
  };

  FoagddBank bank;
  bank.directions = n;
  for (int a = 0; a <= reach; ++a) {
    int width = reach;
    while (width >= 0 && !counts(a, width)) --width;
    if (width < 0) break;
    bank.half_widths.push_back(width);
  }
  bank.radius = static_cast<int>(bank.half_widths.size()) - 1;
  // Padding and tiles have this radius in both directions. With an odd number of directions a row
  // can be wider; its last weights, a few times the limit, are omitted too.
  for (int& width : bank.half_widths) width = std::min(width, bank.radius);
  for (int a = 0; a <= bank.radius; ++a) {
    for (int b = 0; b <= bank.half_widths[a]; ++b) {
      const double share = (a == 0 ? 0.5 : 1) * (b == 0 ? 0.5 : 1);
      auto add = [&](double weight) {
        const bool small = std::abs(weight) <= kSmallestShare * largest;
        bank.weights.push_back(small ? 0.0f : static_cast<float>(share * weight));
      };
      for (int d = 0; d < bank.odd_count(); ++d) add((at(d, a, b) + at(d, a, -b)) / 2);
      for (int d = 1; d <= bank.even_count(); ++d) add((at(d, a, b) - at(d, a, -b)) / 2);
    }
  }
  return bank;
}

}  // namespace cornea::foagdd
