// SPDX-License-Identifier: Apache-2.0
// Small matrices on the CPU: Householder QR if they are not square, then Kogbetliantz rotations,
// one matrix per lane of a pack. A lane whose block is already diagonal is rotated by angle 0, so
// that no matrix's result depends on its neighbours.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "cornea/linalg/svd/host_packs.h"
#include "cornea/linalg/svd/host_svd.h"
#include "cornea/linalg/svd/svd_math.h"

namespace cornea::svd::CORNEA_ISA {
namespace {

using namespace core;

// A row-major matrix of packs.
template <class T>
class Packs {
 public:
  explicit Packs(std::size_t count) : size_(count), storage_((count + 1) * kLanes<T>) {
    void* begin = storage_.data();
    std::size_t space = storage_.size() * sizeof(T);
    data_ =
        static_cast<Pack<T>*>(std::align(sizeof(Pack<T>), count * sizeof(Pack<T>), begin, space));
  }
  Packs(const Packs&) = delete;
  Packs& operator=(const Packs&) = delete;

  Pack<T>* data() { return data_; }
  const Pack<T>* data() const { return data_; }
  Pack<T>& operator[](std::size_t i) { return data_[i]; }
  const Pack<T>& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return size_; }
  void clear() { std::fill(storage_.begin(), storage_.end(), T(0)); }

 private:
  std::size_t size_;
  std::vector<T> storage_;
  Pack<T>* data_;  // aligned
};

struct Pair {
  int p, q;
};

// The pairs of a sweep, in order of the steps, n / 2 per step.
inline std::vector<Pair> pairs_of_sweep(int n) {
  std::vector<Pair> pairs;
  for (int step = 0; step < n - 1; ++step) {
    for (int j = 0; j < n / 2; ++j) {
      const int p = first_of_pair(j, step, n);
      pairs.push_back({p, meeting_of(p, step, n).partner});
    }
  }
  return pairs;
}

template <class T>
struct SmallWork {
  SmallWork(int tall, int k)
      : tall(tall),
        k(k),
        n(k + k % 2),
        pairs(pairs_of_sweep(n)),
        square(std::size_t(n) * n),
        u(square.size()),
        v(square.size()),
        original(refreshes<T>(n) ? square.size() : 0),
        product(original.size()),
        reflectors(tall == k ? 0 : std::size_t(tall) * k),
        beta(k),
        column(tall) {}

  int tall, k, n;  // n: k rounded up to an even number
  std::vector<Pair> pairs;
  Packs<T> square;             // n x n
  Packs<T> u, v;               // n x n each; row j is column j of U, V
  Packs<T> original, product;  // n x n each: the initial square; scratch
  Packs<T> reflectors;  // the tall matrix by columns; below the diagonal the Householder vectors
  Packs<T> beta;        // H_j = I - beta_j w w^T
  Packs<T> column;
  int exponent[kLanes<T>];
  bool finite[kLanes<T>];
};

// Gathers the matrices, each scaled by its power of two, into the tall matrix by columns, or
// directly into the square. Lanes without a matrix, or with one that is not finite, hold zeros.
template <class T>
inline void gather(const HostBatch<T>& batch, int begin, int lanes, SmallWork<T>& work) {
  const bool is_square = work.tall == work.k;
  auto& to = is_square ? work.square : work.reflectors;
  to.clear();
  const std::size_t size = batch.size();
  for (int lane = 0; lane < lanes; ++lane) {
    const std::size_t matrix = std::size_t(begin) + lane;
    const T* a = batch.a + matrix * size;
    T largest = 0;
    bool finite = true;
    for (std::size_t i = 0; i < size; ++i) {
      finite &= std::isfinite(a[i]);
      largest = std::max(largest, std::abs(a[i]));
    }
    work.finite[lane] = finite;
    const int e = finite && largest > 0 ? scale_exponent(largest) : 0;
    work.exponent[lane] = e;
    if (!finite) continue;
    const PowerOfTwo<T> scale(-e);
    for (int i = 0; i < work.tall; ++i) {
      for (int j = 0; j < work.k; ++j) {
        const std::size_t at =
            is_square ? std::size_t(i) * work.n + j : std::size_t(j) * work.tall + i;
        to[at][lane] = scale(batch.entry(matrix, i, j));
      }
    }
  }
}

// Subtracts beta (w . x) w from x, w = (1, tail below the diagonal).
template <class T>
inline void reflect(const Pack<T>* w, Pack<T> beta, Pack<T>* x, int count) {
  const Pack<T> dot =
      (x[0] + sum_of_products<T>(
                  count - 1, [&](int i) { return w[i + 1]; }, [&](int i) { return x[i + 1]; })) *
      beta;
  x[0] -= dot;
  for (int i = 1; i < count; ++i) x[i] = fused(-dot, w[i], x[i]);
}

// Householder QR: the triangle goes to the square, the vectors stay (LAPACK's larfg). With r =
// -sign(x0) |x|, w = (1, x1 / (x0 - r), ..) and beta = (r - x0) / r, H x = (r, 0, ..).
template <class T>
inline void triangularise(SmallWork<T>& work) {
  using Ops = PackOps<T>;
  using P = Pack<T>;
  work.square.clear();
  for (int j = 0; j < work.k; ++j) {
    P* x = work.reflectors.data() + std::size_t(j) * work.tall + j;
    const int count = work.tall - j;
    auto below = [&](int i) { return x[i + 1]; };
    const P tail = sum_of_products<T>(count - 1, below, below);
    const P norm = Ops::root(fused(x[0], x[0], tail));
    const P r = Ops::choose(x[0] < P{}, norm, -norm);
    // A smaller tail is lost in rounding anyway, and its squares may be inexact because they
    // underflow.
    const auto rotates = tail > P{} + kSmallest<T> / kEpsilon<T>;
    const P inverse = Ops::choose(rotates, Ops::constant(1) / (x[0] - r), P{});
    work.beta[j] = Ops::choose(rotates, (r - x[0]) / r, P{});
    work.square[std::size_t(j) * work.n + j] = Ops::choose(rotates, r, x[0]);
    for (int i = 1; i < count; ++i) x[i] *= inverse;
    for (int c = j + 1; c < work.k; ++c) {
      P* other = x + std::size_t(c - j) * work.tall;
      reflect<T>(x, work.beta[j], other, count);
      work.square[std::size_t(j) * work.n + c] = other[0];
    }
  }
}

template <class T>
inline void rotate_rows(Pack<T>* x, Pack<T>* y, int count, const Rotation<PackOps<T>>& r) {
  using Ops = PackOps<T>;
  for (int i = 0; i < count; ++i) {
    const Pack<T> a = x[i], b = y[i];
    x[i] = rotated_first<Ops>(a, b, r.s, r.tau);
    y[i] = rotated_second<Ops>(a, b, r.s, r.tau);
  }
}

// The rotations of a step, and whether any lane needs one.
template <class T>
struct Step {
  TwoSided<PackOps<T>> rotations[kMostSmall / 2];
  bool any[kMostSmall / 2];
};

// Computes the rotations of a step's pairs; returns the lanes that need any.
template <class T>
inline typename PackOps<T>::Mask find_rotations(const SmallWork<T>& work, const Pair* pairs,
                                                Pack<T> norm, Step<T>& step) {
  using Ops = PackOps<T>;
  using P = Pack<T>;
  const int n = work.n;
  typename Ops::Mask rotated{};
  for (int j = 0; j < n / 2; ++j) {
    const auto [p, q] = pairs[j];
    const P *row_p = work.square.data() + p * n, *row_q = work.square.data() + q * n;
    const P a = row_p[p], b = row_p[q], c = row_q[p], d = row_q[q];
    const auto rotates = needs_rotation<Ops>(a, b, c, d, norm);
    step.any[j] = Ops::any(rotates);
    if (!step.any[j]) continue;
    TwoSided<Ops> r = two_sided_rotation<Ops>(a, b, c, d);
    r.left.s = Ops::choose(rotates, r.left.s, P{});
    r.left.tau = Ops::choose(rotates, r.left.tau, P{});
    r.right.s = Ops::choose(rotates, r.right.s, P{});
    r.right.tau = Ops::choose(rotates, r.right.tau, P{});
    step.rotations[j] = r;
    rotated |= rotates;
  }
  return rotated;
}

// Rotates the 2 x 2 block where the rows of one pair meet the columns of another, from both sides.
template <class T>
inline void rotate_block(Pack<T>* row_p, Pack<T>* row_q, const Pair& columns,
                         const Rotation<PackOps<T>>& left, const Rotation<PackOps<T>>& right) {
  using Ops = PackOps<T>;
  using P = Pack<T>;
  const P a = row_p[columns.p], b = row_p[columns.q], c = row_q[columns.p], d = row_q[columns.q];
  const P a1 = rotated_first<Ops>(a, c, left.s, left.tau);
  const P b1 = rotated_first<Ops>(b, d, left.s, left.tau);
  const P c1 = rotated_second<Ops>(a, c, left.s, left.tau);
  const P d1 = rotated_second<Ops>(b, d, left.s, left.tau);
  row_p[columns.p] = rotated_first<Ops>(a1, b1, right.s, right.tau);
  row_p[columns.q] = rotated_second<Ops>(a1, b1, right.s, right.tau);
  row_q[columns.p] = rotated_first<Ops>(c1, d1, right.s, right.tau);
  row_q[columns.q] = rotated_second<Ops>(c1, d1, right.s, right.tau);
}

template <class T>
inline void apply_turns(SmallWork<T>& work, const Pair* pairs, Step<T>& step, bool want_u,
                        bool want_v) {
  const int n = work.n;
  const TwoSided<PackOps<T>> nothing{};
  for (int j = 0; j < n / 2; ++j) {
    if (!step.any[j]) step.rotations[j] = nothing;
  }
  for (int i = 0; i < n / 2; ++i) {
    const auto [p, q] = pairs[i];
    Pack<T>*row_p = work.square.data() + p * n, *row_q = work.square.data() + q * n;
    for (int j = 0; j < n / 2; ++j) {
      if (!step.any[i] && !step.any[j]) continue;
      rotate_block<T>(row_p, row_q, pairs[j], step.rotations[i].left, step.rotations[j].right);
    }
    if (!step.any[i]) continue;
    if (want_u) rotate_rows<T>(&work.u[p * n], &work.u[q * n], n, step.rotations[i].left);
    if (want_v) rotate_rows<T>(&work.v[p * n], &work.v[q * n], n, step.rotations[i].right);
  }
}

template <class T>
inline void set_identity(Packs<T>& m, int n) {
  m.clear();
  for (int i = 0; i < n; ++i) m[std::size_t(i) * n + i] = pack_of<T>(1);
}

// out = a b
template <class T>
inline void multiply(const Packs<T>& a, const Packs<T>& b, Packs<T>& out, int n) {
  for (int i = 0; i < n; ++i) {
    Pack<T>* to = out.data() + std::size_t(i) * n;
    std::fill(to, to + n, Pack<T>{});
    for (int l = 0; l < n; ++l) {
      const Pack<T> factor = a[std::size_t(i) * n + l];
      const Pack<T>* row = b.data() + std::size_t(l) * n;
      for (int j = 0; j < n; ++j) to[j] = fused(factor, row[j], to[j]);
    }
  }
}

template <class T>
inline void transpose(Packs<T>& m, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) std::swap(m[std::size_t(i) * n + j], m[std::size_t(j) * n + i]);
  }
}

// m <- (3 I - m m^T) m / 2
template <class T>
inline void orthonormalise(Packs<T>& m, Packs<T>& scratch, int n) {
  scratch.clear();
  for (int i = 0; i < n; ++i) {
    const Pack<T>* row = m.data() + std::size_t(i) * n;
    Pack<T>* to = scratch.data() + std::size_t(i) * n;
    for (int l = 0; l < n; ++l) {
      const Pack<T>* other = m.data() + std::size_t(l) * n;
      Pack<T> half_error = pack_of<T>(i == l ? T(-1) : T(0));
      for (int j = 0; j < n; ++j) half_error = fused(row[j], other[j], half_error);
      half_error *= pack_of<T>(T(-0.5));
      for (int j = 0; j < n; ++j) to[j] = fused(half_error, other[j], to[j]);
    }
  }
  for (std::size_t i = 0; i < m.size(); ++i) m[i] += scratch[i];
}

// Makes U and V orthonormal again and recomputes the square from the original.
template <class T>
inline void refresh(SmallWork<T>& work) {
  const int n = work.n;
  orthonormalise(work.u, work.product, n);
  orthonormalise(work.v, work.product, n);
  // work.u is U^T and work.v is V^T: (U^T A) V
  multiply(work.u, work.original, work.product, n);
  transpose(work.v, n);
  multiply(work.product, work.v, work.square, n);
  transpose(work.v, n);
}

// Runs sweeps from number `sweep` on, until one finds every block of every lane diagonal, or up to
// `end`.
template <class T>
inline void sweep_until(SmallWork<T>& work, int sweep, int end, Pack<T> norm, bool want_u,
                        bool want_v, int lanes, Outcome* outcomes) {
  using Ops = PackOps<T>;
  Step<T> step;
  for (; sweep < end; ++sweep) {
    typename Ops::Mask rotated{};
    for (std::size_t first = 0; first < work.pairs.size(); first += work.n / 2) {
      const auto rotates = find_rotations<T>(work, &work.pairs[first], norm, step);
      if (!Ops::any(rotates)) continue;
      rotated |= rotates;
      apply_turns<T>(work, &work.pairs[first], step, want_u, want_v);
    }
    if (!Ops::any(rotated)) return;
    for (int lane = 0; lane < lanes; ++lane) {
      if (rotated[lane]) outcomes[lane].sweeps = sweep + 1;
    }
  }
}

template <class T>
inline void diagonalise(SmallWork<T>& work, int lanes, int max_sweeps, bool want_u, bool want_v,
                        Outcome* outcomes) {
  const int n = work.n;
  const bool refreshed = refreshes<T>(n) && (want_u || want_v) && max_sweeps > first_sweeps(n);
  if (refreshed) {
    want_u = want_v = true;
    std::copy_n(work.square.data(), work.square.size(), work.original.data());
  }
  if (want_u) set_identity<T>(work.u, n);
  if (want_v) set_identity<T>(work.v, n);
  Pack<T> sum{};
  for (std::size_t i = 0; i < work.square.size(); ++i) {
    sum = fused(work.square[i], work.square[i], sum);
  }
  const Pack<T> norm = PackOps<T>::root(sum);
  int sweep = 0;
  if (refreshed) {
    sweep_until(work, 0, first_sweeps(n), norm, want_u, want_v, lanes, outcomes);
    refresh(work);
    sweep = first_sweeps(n);
  }
  sweep_until(work, sweep, max_sweeps, norm, want_u, want_v, lanes, outcomes);
  for (int lane = 0; lane < lanes; ++lane) {
    outcomes[lane].converged = outcomes[lane].sweeps < max_sweeps;
  }
}

// The indices of a lane's values in descending order. Ties keep the first.
template <class T>
inline void order_values(const SmallWork<T>& work, int lane, int* order) {
  auto value = [&](int i) { return std::abs(work.square[std::size_t(i) * work.n + i][lane]); };
  for (int i = 0; i < work.k; ++i) {
    int at = i;
    for (; at > 0 && value(order[at - 1]) < value(i); --at) order[at] = order[at - 1];
    order[at] = i;
  }
}

// Applies Q to column `index` of the k x k U, which becomes a column of the tall U.
template <class T>
inline void raise_column(SmallWork<T>& work, int index) {
  std::copy_n(&work.u[std::size_t(index) * work.n], work.k, work.column.data());
  std::fill(work.column.data() + work.k, work.column.data() + work.tall, Pack<T>{});
  for (int j = work.k - 1; j >= 0; --j) {
    reflect<T>(work.reflectors.data() + std::size_t(j) * work.tall + j, work.beta[j],
               work.column.data() + j, work.tall - j);
  }
}

template <class T>
inline void scatter(const HostBatch<T>& batch, int begin, int lanes, SmallWork<T>& work) {
  const int k = work.k, n = work.n, tall = work.tall;
  int order[kLanes<T>][kMostSmall], place[kLanes<T>][kMostSmall];
  for (int lane = 0; lane < lanes; ++lane) {
    order_values(work, lane, order[lane]);
    for (int c = 0; c < k; ++c) place[lane][order[lane][c]] = c;
  }
  for (int i = 0; i < k; ++i) {
    const Pack<T> value = work.square[std::size_t(i) * n + i];
    if (batch.left && tall != k) raise_column(work, i);
    const Pack<T>* left = tall == k ? &work.u[std::size_t(i) * n] : work.column.data();
    for (int lane = 0; lane < lanes; ++lane) {
      if (!work.finite[lane]) continue;
      const std::size_t matrix = std::size_t(begin) + lane, c = place[lane][i];
      const T sign = value[lane] < 0 ? T(-1) : T(1);
      if (batch.s)
        batch.s[matrix * k + c] = PowerOfTwo<T>(work.exponent[lane])(std::abs(value[lane]));
      if (batch.left) {
        T* out = batch.left + matrix * batch.size() + c;
        // + 0 removes negative zeros, whose sign a rotation by angle 0 may change.
        for (int r = 0; r < tall; ++r) out[std::size_t(r) * k] = left[r][lane] * sign + T(0);
      }
      if (batch.right) {
        T* out = batch.right + matrix * k * k + c;
        for (int r = 0; r < k; ++r) {
          out[std::size_t(r) * k] = work.v[std::size_t(i) * n + r][lane] + T(0);
        }
      }
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    if (!work.finite[lane]) fill_not_a_number(batch, std::size_t(begin) + lane);
  }
}

template <class T>
inline void small_svd(const HostBatch<T>& batch, int begin, int end, int max_sweeps,
                      SvdReport& report) {
  SmallWork<T> work(batch.tall, batch.k);
  for (int first = begin; first < end; first += kLanes<T>) {
    const int lanes = std::min(kLanes<T>, end - first);
    Outcome outcomes[kLanes<T>];
    gather(batch, first, lanes, work);
    if (work.tall != work.k) triangularise(work);
    diagonalise(work, lanes, max_sweeps, batch.left != nullptr, batch.right != nullptr, outcomes);
    scatter(batch, first, lanes, work);
    for (int lane = 0; lane < lanes; ++lane) {
      outcomes[lane].finite = work.finite[lane];
      count(report, outcomes[lane], first + lane);
    }
  }
}

}  // namespace

void host_small_svd(const HostBatch<float>& batch, int begin, int end, int max_sweeps,
                    SvdReport& report) {
  small_svd(batch, begin, end, max_sweeps, report);
}
void host_small_svd(const HostBatch<double>& batch, int begin, int end, int max_sweeps,
                    SvdReport& report) {
  small_svd(batch, begin, end, max_sweeps, report);
}

}  // namespace cornea::svd::CORNEA_ISA
