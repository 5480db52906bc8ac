// SPDX-License-Identifier: Apache-2.0
// Large matrices on the CPU, one at a time: QR with column pivoting, A P = Q R, then one-sided
// Jacobi rotations of the columns of R^T: R^T W = Y diag(S), so that U = Q W and V = P Y.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cornea/linalg/svd/host_packs.h"
#include "cornea/linalg/svd/host_svd.h"
#include "cornea/linalg/svd/svd_math.h"

namespace cornea::svd::CORNEA_ISA {
namespace {

using namespace core;

// A matrix by columns, each padded with zeros to whole packs.
template <class T>
struct Columns {
  Columns(int rows, int cols)
      : rows(rows),
        stride((rows + kLanes<T> - 1) / kLanes<T> * kLanes<T>),
        data(std::size_t(stride) * cols) {}
  T* operator[](int j) { return data.data() + std::size_t(j) * stride; }
  const T* operator[](int j) const { return data.data() + std::size_t(j) * stride; }

  int rows, stride;
  std::vector<T> data;
};

template <class T>
inline T sum_of(Pack<T> p) {
  T sum = p[0];
  for (int i = 1; i < kLanes<T>; ++i) sum += p[i];
  return sum;
}

template <class T>
inline T dot(const T* x, const T* y, int begin, int end) {
  auto pack = [&](const T* of, int i) { return load_pack(of + begin + i * kLanes<T>); };
  return sum_of<T>(sum_of_products<T>((end - begin) / kLanes<T>, [&](int i) { return pack(x, i); },
                                      [&](int i) { return pack(y, i); }));
}

// x += factor w
template <class T>
inline void add(T* x, const T* w, T factor, int begin, int end) {
  const Pack<T> f = pack_of<T>(factor);
  for (int i = begin; i < end; i += kLanes<T>) {
    store_pack<T>(x + i, fused(f, load_pack(w + i), load_pack(x + i)));
  }
}

template <class T>
inline void rotate(T* x, T* y, const Rotation<ScalarOps<T>>& r, int end) {
  const Pack<T> s = pack_of<T>(r.s), tau = pack_of<T>(r.tau);
  for (int i = 0; i < end; i += kLanes<T>) {
    const Pack<T> a = load_pack(x + i), b = load_pack(y + i);
    store_pack<T>(x + i, rotated_first<PackOps<T>>(a, b, s, tau));
    store_pack<T>(y + i, rotated_second<PackOps<T>>(a, b, s, tau));
  }
}

// A P = Q R with the reflectors I - beta w w^T below the diagonal, as LAPACK has them.
template <class T>
struct PivotedQr {
  explicit PivotedQr(Columns<T> matrix, int k)
      : a(std::move(matrix)), order(k), beta(k), w(a.stride) {
    std::iota(order.begin(), order.end(), 0);
  }
  int first_pack(int j) const { return j / kLanes<T> * kLanes<T>; }

  // Loads w of step j, with zeros above it.
  inline void load_reflector(int j) {
    std::fill(w.begin() + first_pack(j), w.begin() + j, T(0));
    w[j] = 1;
    std::copy(a[j] + j + 1, a[j] + a.stride, w.begin() + j + 1);
  }

  Columns<T> a;
  std::vector<int> order;  // column j of R is column order[j] of A
  std::vector<T> beta, w;
  int rank = 0;
};

template <class T>
inline T squares_below(const Columns<T>& a, int column, int row) {
  const T* x = a[column];
  const int whole = std::min(a.stride, (row + kLanes<T> - 1) / kLanes<T> * kLanes<T>);
  T sum = dot(x, x, whole, a.stride);
  for (int i = row; i < whole; ++i) sum = fused(x[i], x[i], sum);
  return sum;
}

// Computes the reflector of column j (LAPACK's larfg, as in host_small.cc).
template <class T>
inline void make_reflector(PivotedQr<T>& qr, int j) {
  T* x = qr.a[j];
  const T tail = squares_below(qr.a, j, j + 1);
  qr.beta[j] = 0;
  if (!(tail > kSmallest<T> / kEpsilon<T>)) return;  // see host_small.cc
  const T norm = std::sqrt(fused(x[j], x[j], tail));
  const T r = x[j] < 0 ? norm : -norm;
  const T inverse = 1 / (x[j] - r);
  qr.beta[j] = (r - x[j]) / r;
  for (int i = j + 1; i < qr.a.rows; ++i) x[i] *= inverse;
  x[j] = r;
}

template <class T>
inline void factorise(PivotedQr<T>& qr) {
  const int k = static_cast<int>(qr.order.size());
  std::vector<T> squares(k);
  for (int c = 0; c < k; ++c) squares[c] = squares_below(qr.a, c, 0);
  T first = 0;
  for (int j = 0; j < k; ++j) {
    const int pivot =
        static_cast<int>(std::max_element(squares.begin() + j, squares.end()) - squares.begin());
    const T norm = std::sqrt(squares[pivot]);
    if (j == 0) first = norm;
    if (!(norm > kNoRank<T> * first)) return;
    std::swap_ranges(qr.a[j], qr.a[j] + qr.a.stride, qr.a[pivot]);
    std::swap(qr.order[j], qr.order[pivot]);
    std::swap(squares[j], squares[pivot]);
    make_reflector(qr, j);
    qr.load_reflector(j);
    const int begin = qr.first_pack(j);
    for (int c = j + 1; c < k; ++c) {
      add(qr.a[c], qr.w.data(), -qr.beta[j] * dot(qr.w.data(), qr.a[c], begin, qr.a.stride), begin,
          qr.a.stride);
      squares[c] = squares_below(qr.a, c, j + 1);
    }
    qr.rank = j + 1;
  }
}

// Rotates the columns until all are orthogonal. `w`, if wanted, is rotated along.
template <class T>
inline void orthogonalise(Columns<T>& y, Columns<T>* w, int columns, int max_sweeps,
                          Outcome& outcome) {
  const int n = columns + columns % 2;
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    bool rotated = false;
    for (int step = 0; step < n - 1; ++step) {
      for (int p = 0; p < n; ++p) {
        const Meeting m = meeting_of(p, step, n);
        const int q = m.partner;
        if (m.second || p >= columns || q >= columns) continue;
        const T xx = dot(y[p], y[p], 0, y.stride), yy = dot(y[q], y[q], 0, y.stride);
        const T xy = dot(y[p], y[q], 0, y.stride);
        if (!(std::abs(xy) > kColumnTolerance<T> * (std::sqrt(xx) * std::sqrt(yy)))) continue;
        rotated = true;
        const auto r = one_sided_rotation(xx, yy, xy);
        rotate(y[p], y[q], r, y.stride);
        if (w) rotate((*w)[p], (*w)[q], r, w->stride);
      }
    }
    if (!rotated) return;
    outcome.sweeps = sweep + 1;
  }
  outcome.converged = false;
}

// Columns of y without a direction (value 0) become unit vectors: each starts as the axis farthest
// from the span of the others, and its component in that span is removed.
template <class T>
inline void complete(Columns<T>& y, const std::vector<T>& values) {
  const int k = static_cast<int>(values.size());
  std::vector<char> known(k);
  std::vector<T> outside(k, 1);  // of each axis: squared length of its component outside the span
  auto take = [&](int c) {
    known[c] = 1;
    for (int i = 0; i < k; ++i) outside[i] = fused(-y[c][i], y[c][i], outside[i]);
  };
  for (int c = 0; c < k; ++c) {
    if (values[c] > 0) take(c);
  }
  for (int c = 0; c < k; ++c) {
    if (known[c]) continue;
    std::fill(y[c], y[c] + y.stride, T(0));
    y[c][std::max_element(outside.begin(), outside.end()) - outside.begin()] = 1;
    for (int pass = 0; pass < 3; ++pass) {
      for (int other = 0; other < k; ++other) {
        if (known[other]) add(y[c], y[other], -dot(y[c], y[other], 0, y.stride), 0, y.stride);
      }
      const T inverse = 1 / std::sqrt(dot(y[c], y[c], 0, y.stride));
      for (int i = 0; i < k; ++i) y[c][i] *= inverse;
    }
    take(c);
  }
}

template <class T>
inline Columns<T> scaled_columns(const HostBatch<T>& batch, int matrix, int exponent) {
  Columns<T> a(batch.tall, batch.k);
  const PowerOfTwo<T> scale(-exponent);
  for (int j = 0; j < batch.k; ++j) {
    for (int i = 0; i < batch.tall; ++i) a[j][i] = scale(batch.entry(matrix, i, j));
  }
  return a;
}

template <class T>
inline Columns<T> transposed_triangle(const PivotedQr<T>& qr) {
  const int k = static_cast<int>(qr.order.size());
  Columns<T> y(k, k);
  for (int j = 0; j < qr.rank; ++j) {
    for (int i = j; i < k; ++i) y[j][i] = qr.a[i][j];
  }
  return y;
}

// U = Q W by columns, in descending order of the values.
template <class T>
inline void write_left(const HostBatch<T>& batch, int matrix, PivotedQr<T>& qr, const Columns<T>& w,
                       const std::vector<int>& order) {
  const int k = batch.k;
  Columns<T> u(batch.tall, k);
  for (int c = 0; c < k; ++c) std::copy_n(w[order[c]], k, u[c]);
  for (int j = qr.rank - 1; j >= 0; --j) {
    qr.load_reflector(j);
    const int begin = qr.first_pack(j);
    for (int c = 0; c < k; ++c) {
      add(u[c], qr.w.data(), -qr.beta[j] * dot(qr.w.data(), u[c], begin, u.stride), begin,
          u.stride);
    }
  }
  T* out = batch.left + std::size_t(matrix) * batch.size();
  for (int i = 0; i < batch.tall; ++i) {
    for (int c = 0; c < k; ++c) out[std::size_t(i) * k + c] = u[c][i];
  }
}

template <class T>
inline void write_right(const HostBatch<T>& batch, int matrix, const PivotedQr<T>& qr,
                        const Columns<T>& y, const std::vector<int>& order) {
  const int k = batch.k;
  T* out = batch.right + std::size_t(matrix) * k * k;
  for (int i = 0; i < k; ++i) {
    for (int c = 0; c < k; ++c) out[std::size_t(qr.order[i]) * k + c] = y[order[c]][i];
  }
}

template <class T>
inline void large_svd(const HostBatch<T>& batch, int matrix, int max_sweeps, Outcome& outcome) {
  const int k = batch.k;
  const T* first = batch.a + std::size_t(matrix) * batch.size();
  T largest = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    outcome.finite &= std::isfinite(first[i]);
    largest = std::max(largest, std::abs(first[i]));
  }
  if (!outcome.finite) return fill_not_a_number(batch, matrix);
  const int exponent = largest > 0 ? scale_exponent(largest) : 0;
  PivotedQr<T> qr(scaled_columns(batch, matrix, exponent), k);
  factorise(qr);
  Columns<T> y = transposed_triangle(qr), w(k, batch.left ? k : 0);
  for (int i = 0; i < k && batch.left; ++i) w[i][i] = 1;
  orthogonalise(y, batch.left ? &w : nullptr, qr.rank, max_sweeps, outcome);
  std::vector<T> values(k);
  for (int c = 0; c < k; ++c) {
    values[c] = std::sqrt(dot(y[c], y[c], 0, y.stride));
    for (int i = 0; i < k && values[c] > 0; ++i) y[c][i] /= values[c];
  }
  std::vector<int> order(k);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return values[a] > values[b]; });
  for (int c = 0; c < k && batch.s; ++c) {
    batch.s[std::size_t(matrix) * k + c] = PowerOfTwo<T>(exponent)(values[order[c]]);
  }
  if (batch.left) write_left(batch, matrix, qr, w, order);
  if (batch.right) {
    complete(y, values);
    write_right(batch, matrix, qr, y, order);
  }
}

}  // namespace

void host_large_svd(const HostBatch<float>& batch, int matrix, int max_sweeps, SvdReport& report) {
  Outcome outcome;
  large_svd(batch, matrix, max_sweeps, outcome);
  count(report, outcome, matrix);
}
void host_large_svd(const HostBatch<double>& batch, int matrix, int max_sweeps, SvdReport& report) {
  Outcome outcome;
  large_svd(batch, matrix, max_sweeps, outcome);
  count(report, outcome, matrix);
}

}  // namespace cornea::svd::CORNEA_ISA
