// SPDX-License-Identifier: Apache-2.0
// The search for F on the CPU.
#include "cornea/core/simd.h"
#include "cornea/geometry/ransac/host_ransac.h"
#include "cornea/geometry/two_view/fundamental_problem.h"

namespace cornea::geometry {
namespace {

constexpr int kTogether = core::kLanes<float>;  // samples that are solved at once, one per lane
static_assert(kLookGroup % kTogether == 0);

// Samples of 8, several at once.
CORNEA_VECTOR_CLONES
void make_eights(const FloatPoints& points, std::uint64_t seed, std::uint64_t pair,
                 std::uint32_t first, FundamentalModels* out) {
  // Arrays of numbers, because Clang reads and writes a whole vector to change one of its lanes.
  struct Coordinates {
    float x1[8][kTogether], y1[8][kTogether], x2[8][kTogether], y2[8][kTogether];
  } at;
  for (int lane = 0; lane < kTogether; ++lane) {
    std::uint32_t drawn[8];
    draw_sample(seed, pair, first + lane, Stream::samples, std::uint32_t(points.x1.size()), 8,
                drawn);
    for (int i = 0; i < 8; ++i) {
      at.x1[i][lane] = points.x1[drawn[i]];
      at.y1[i][lane] = points.y1[drawn[i]];
      at.x2[i][lane] = points.x2[drawn[i]];
      at.y2[i][lane] = points.y2[drawn[i]];
    }
  }
  Sample<Floats, 8> s;
  for (int i = 0; i < 8; ++i) {
    s.x1[i] = core::load_pack(at.x1[i]);
    s.y1[i] = core::load_pack(at.y1[i]);
    s.x2[i] = core::load_pack(at.x2[i]);
    s.y2[i] = core::load_pack(at.y2[i]);
  }
  Floats valid;
  const Matrix3<Floats> f = from_eight(s, valid);
  float entries[9][kTogether], good[kTogether];
  for (int k = 0; k < 9; ++k) core::store_pack(entries[k], f.v[k]);
  core::store_pack(good, valid);
  for (int lane = 0; lane < kTogether; ++lane) {
    for (int k = 0; k < 9; ++k) out[lane].m[0].v[k] = entries[k][lane];
    out[lane].count = good[lane] > kBehind ? 1 : 0;
    out[lane].fixed = good[lane] > 0;
  }
}

}  // namespace

template <>
void make_models(const FundamentalProblem& problem, const FloatPoints& points, std::uint64_t key,
                 std::uint32_t first, int count, FundamentalModels* out) {
  const SearchOptions& options = problem.search;
  if (options.sample == 8) {
    for (int i = 0; i < count; i += kTogether) {
      FundamentalModels made[kTogether];
      make_eights(points, options.seed, key, first + i, made);
      std::copy_n(made, std::min(kTogether, count - i), out + i);
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    std::uint32_t drawn[kLargestSample];
    draw_sample(options.seed, key, first + i, Stream::samples, std::uint32_t(points.x1.size()),
                options.sample, drawn);
    out[i] = problem.make(gather<kLargestSample>(points, drawn, options.sample));
  }
}

template std::unique_ptr<Ransac<FundamentalProblem>> make_host_ransac(const Context&,
                                                                      const FundamentalProblem&);

}  // namespace cornea::geometry
