// Hypotheses for F and their cost: formulas that both devices use. T is float, or on the CPU
// Floats: one hypothesis a lane.
//
// Coordinates here are normalised; `Scales` knows what a pixel is in them.
#pragma once

#include <cstdint>

#include "cornea/core/host_device.h"
#include "cornea/core/random.h"
#include "cornea/geometry/lanes.h"
#include "cornea/geometry/matrix3.h"

namespace cornea::geometry {

inline constexpr int kLargestSample = 32;
// A term of a cost is a whole number of these; most correspondences of a pair, so that a sum of
// terms fits 32 bits.
inline constexpr int kCostSteps = 1024;
inline constexpr int kMostMatches = 4'000'000;
inline constexpr std::uint32_t kNoCost = ~0u;           // of a sample that fixes no model
inline constexpr std::uint32_t kRefused = kNoCost - 1;  // of one whose model cannot be
CORNEA_HD constexpr bool is_cost(std::uint32_t cost) { return cost < kRefused; }

// The random numbers of each purpose are streams of their own.
enum class Stream : std::uint64_t { samples = 0, plane = 1, parallax = 2 };

// --- Samples ---------------------------------------------------------------------------------

// `size` different numbers below `count`, all sets of them equally likely: Floyd's algorithm
// (Bentley and Floyd, CACM 1987).
CORNEA_HD inline void draw_sample(std::uint64_t seed, std::uint64_t pair, std::uint64_t hypothesis,
                                  Stream stream, std::uint32_t count, int size,
                                  std::uint32_t* sample) {
  // Up to 2^4 numbers of four words each a hypothesis, 2^40 hypotheses and 2^16 streams.
  const std::uint64_t counter = std::uint64_t(stream) << 48 | hypothesis << 4;
  core::Philox4 words{};
  CORNEA_UNROLL
  for (int i = 0; i < size; ++i) {
    if (i % 4 == 0) words = core::philox(seed, pair, counter + i / 4);
    const std::uint32_t last = count - size + i;
    std::uint32_t drawn = core::bounded(words.v[i % 4], last + 1);
    CORNEA_UNROLL
    for (int j = 0; j < i; ++j) drawn = sample[j] == drawn ? ~0u : drawn;
    sample[i] = drawn == ~0u ? last : drawn;
  }
}

// --- Null vectors ----------------------------------------------------------------------------

// Householder reflections of `rows` vectors of 9 (the rows of a system A x = 0), one after the
// other: afterwards they span the first `rows` axes, and the reflected further axes the null space.
// `rank` (squared) becomes the least share of a row that is not a combination of those before it.
template <int rows, class T>
struct Reflections {
  T v[rows][9];  // in: the system. out: the reflections' vectors, from their own axis on
  T factor[rows];
  T rank;

  CORNEA_HD void factorise() {
    rank = T{} + 1.0f;
    CORNEA_UNROLL
    for (int k = 0; k < rows; ++k) {
      T head = T{}, tail = T{};
      CORNEA_UNROLL
      for (int i = 0; i < k; ++i) head += v[k][i] * v[k][i];
      CORNEA_UNROLL
      for (int i = k; i < 9; ++i) tail += v[k][i] * v[k][i];
      const T share = tail / (head + tail);
      rank = choose(share < rank, share, rank);
      const T length = root(tail);
      const T old = v[k][k];
      v[k][k] = choose(old < 0.0f, old - length, old + length);
      // 2 / |v|^2, where |v|^2 = 2 (tail + |old| length)
      factor[k] = 1.0f / (tail + choose(old < 0.0f, -old, old) * length);
      CORNEA_UNROLL
      for (int j = k + 1; j < rows; ++j) reflect(k, v[j]);
    }
  }
  CORNEA_HD void reflect(int k, T* x) const {
    T along = T{};
    CORNEA_UNROLL
    for (int i = k; i < 9; ++i) along += v[k][i] * x[i];
    along *= factor[k];
    CORNEA_UNROLL
    for (int i = k; i < 9; ++i) x[i] -= along * v[k][i];
  }
  // The null space's vector for axis `axis` of rows .. 8; of length 1.
  CORNEA_HD Matrix3<T> null_vector(int axis) const {
    Matrix3<T> x;
    CORNEA_UNROLL
    for (int i = 0; i < 9; ++i) x.v[i] = i == axis ? T{} + 1.0f : T{};
    CORNEA_UNROLL
    for (int k = rows - 1; k >= 0; --k) reflect(k, x.v);
    return x;
  }
};

// Below this share a sample does not fix a model (Reflections::rank): float cannot tell it from
// none. The smallest that samples of different points of real images show is about 1e-7.
inline constexpr float kLeastRank = 1e-9f;

// x2^T F x1 as a row of a system in the entries of F.
template <class T>
CORNEA_HD inline void epipolar_row(T x1, T y1, T x2, T y2, T* row) {
  row[0] = x2 * x1;
  row[1] = x2 * y1;
  row[2] = x2;
  row[3] = y2 * x1;
  row[4] = y2 * y1;
  row[5] = y2;
  row[6] = x1;
  row[7] = y1;
  row[8] = T{} + 1.0f;
}

// --- Rank 2 ----------------------------------------------------------------------------------

// The nearest matrix of rank 2 is F - F v v^T, where v is the right singular vector of the smallest
// singular value. C = cof(F) has the singular values s1 s2, s1 s3, s2 s3, the largest for v: powers
// of C^T C leave it alone. `left` becomes F's left null vector, the epipole of the second image.
template <class T>
CORNEA_HD inline Matrix3<T> rank_two(const Matrix3<T>& f, Vector3<T>& left) {
  const Matrix3<T> c = cofactors(f);
  Matrix3<T> b = transposed(c) * c;
  CORNEA_UNROLL
  for (int i = 0; i < 3; ++i) {
    const T trace = b.v[0] + b.v[4] + b.v[8];
    const T scale = 1.0f / trace;
    CORNEA_UNROLL
    for (int k = 0; k < 9; ++k) b.v[k] *= scale;
    b = b * b;
  }
  // Of the columns, which are all multiples of v, the longest.
  const auto first = b.v[0] >= b.v[4];
  Vector3<T> v = {choose(first, b.v[0], b.v[1]), choose(first, b.v[3], b.v[4]),
                  choose(first, b.v[6], b.v[7])};
  const auto last = b.v[8] > choose(first, b.v[0], b.v[4]);
  v = {choose(last, b.v[2], v.x), choose(last, b.v[5], v.y), choose(last, b.v[8], v.z)};
  const T length = root(dot(v, v));
  v = {v.x / length, v.y / length, v.z / length};
  const Vector3<T> fv = f * v;
  left = c * v;
  return {{f.v[0] - fv.x * v.x, f.v[1] - fv.x * v.y, f.v[2] - fv.x * v.z, f.v[3] - fv.y * v.x,
           f.v[4] - fv.y * v.y, f.v[5] - fv.y * v.z, f.v[6] - fv.z * v.x, f.v[7] - fv.z * v.y,
           f.v[8] - fv.z * v.z}};
}

// Which side of its epipolar line a point lies on, as seen from the epipole: one sign for all
// points that lie before both cameras (O. Chum, T. Werner, J. Matas, "Epipolar geometry estimation
// via RANSAC benefits from the oriented epipolar constraint", ICPR 2004).
template <class T>
CORNEA_HD inline T orientation(const Matrix3<T>& f, const Vector3<T>& left, T x1, T y1, T x2,
                               T y2) {
  const T one = T{} + 1.0f;
  return dot(cross(left, Vector3<T>{x2, y2, one}), f * Vector3<T>{x1, y1, one});
}

// --- Distances and costs -----------------------------------------------------------------------

// What a pixel is in normalised coordinates.
struct Scales {
  double first, second;  // normalised units a pixel, in each image
};

// e = x2^T F x1, and the squared lengths p of F x1 and q of F^T x2, without their third entries.
template <class T>
struct EpipolarTerms {
  T e, p, q;
};
template <class M, class T>
CORNEA_HD inline EpipolarTerms<T> epipolar_terms(const Matrix3<M>& f, T x1, T y1, T x2, T y2) {
  const T a2 = f.v[0] * x1 + f.v[1] * y1 + f.v[2];
  const T b2 = f.v[3] * x1 + f.v[4] * y1 + f.v[5];
  const T c2 = f.v[6] * x1 + f.v[7] * y1 + f.v[8];
  const T a1 = f.v[0] * x2 + f.v[3] * y2 + f.v[6];
  const T b1 = f.v[1] * x2 + f.v[4] * y2 + f.v[7];
  return {a2 * x2 + b2 * y2 + c2, a2 * a2 + b2 * b2, a1 * a1 + b1 * b1};
}

// The square of the distance, in units of the second image: (|e| (1/sqrt(p) + r/sqrt(q)))^2, where
// r is the second scale over the first and rr its square.
template <class T, class S>
CORNEA_HD inline T squared_distance(const EpipolarTerms<T>& t, S r, S rr) {
  const T pq = t.p * t.q;
  return t.e * t.e * (t.q + rr * t.p + (r + r) * root(pq)) / pq;
}
template <class T>
CORNEA_HD inline T squared_distance(const Matrix3<T>& f, T x1, T y1, T x2, T y2, T r, T rr) {
  return squared_distance(epipolar_terms(f, x1, y1, x2, y2), r, rr);
}

// A distance's square over the threshold's as a cost: at most kCostSteps, which outliers have. NaN,
// of a point at an epipole, is an outlier.
CORNEA_HD inline std::uint32_t cost_of(float share) {
  return share < 1.0f ? static_cast<std::uint32_t>(share * kCostSteps) : std::uint32_t(kCostSteps);
}

// What all costs of a pair need.
struct CostScale {
  float r, rr;    // second scale over the first, and its square
  float inverse;  // of the threshold's square, normalised units of the second image
};
CORNEA_HD inline CostScale cost_scale(const Scales& scales, double threshold) {
  const double r = scales.second / scales.first, t = threshold * scales.second;
  return {float(r), float(r * r), float(1 / (t * t))};
}

// Whether the distance is above the threshold by a bound that takes neither a root nor a division:
// the root's term is positive. The margin is more than what rounding can do.
template <class T>
CORNEA_HD inline auto surely_outlier(const EpipolarTerms<T>& t, const CostScale& scale) {
  return t.e * t.e * (t.q + scale.rr * t.p) * scale.inverse > 1.001f * (t.p * t.q);
}

// --- First look --------------------------------------------------------------------------------

// Samples of 8: of every kLookGroup hypotheses those kLookKept are held against all matches that
// have the least cost over some of them, evenly spread; of equal ones the first. A good hypothesis
// is rarely one of so many that look better, and its round has others like it.
inline constexpr int kLookGroup = 32;
inline constexpr int kLookKept = 2;
inline constexpr int kLookMatches = 64;
// With fewer matches a look is not worth its while.
inline constexpr int kFewestForALook = 2 * kLookMatches;
CORNEA_HD constexpr bool looks_first(int count) { return count > kFewestForALook; }
CORNEA_HD constexpr int look_match(int k, int count) {
  return int(std::int64_t{k} * count / kLookMatches);
}

// --- When to stop ------------------------------------------------------------------------------

// Whether `drawn` samples of `size` correspondences contain one without outliers with probability
// `confidence`, given a share of inliers: (1 - share^size)^drawn <= 1 - confidence, by products
// only.
CORNEA_HD inline bool enough_draws(double good, std::uint64_t drawn, double confidence) {
  double power = 1 - good, missed = 1;
  for (std::uint64_t n = drawn; n; n >>= 1) {
    if (n & 1) missed *= power;
    power *= power;
  }
  return missed <= 1 - confidence;
}
CORNEA_HD inline bool enough_samples(double share, int size, std::uint64_t drawn,
                                     double confidence) {
  double good = 1;
  for (int i = 0; i < size; ++i) good *= share;
  return enough_draws(good, drawn, confidence);
}

}  // namespace cornea::geometry
