// SPDX-License-Identifier: Apache-2.0
#include "study/evaluate/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include "cornea/geometry/two_view/fundamental.h"

namespace cornea::evaluate {
namespace {

constexpr double kDegrees = 180.0 / std::numbers::pi;

double distance(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y); }

bool is_zero(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
}
bool is_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// Not by acos, which is inaccurate for small angles.
double angle_between(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  auto length = [](const std::array<double, 3>& v) { return std::hypot(v[0], v[1], v[2]); };
  const double la = length(a), lb = length(b);
  std::array<double, 3> less, more;
  for (int i = 0; i < 3; ++i) {
    less[i] = a[i] / la - b[i] / lb;
    more[i] = a[i] / la + b[i] / lb;
  }
  return 2 * std::atan2(length(less), length(more)) * kDegrees;
}

double angle_between(const Matrix& a, const Matrix& b) {
  // The angle of A^T B: sine and cosine from its skew part and its trace.
  Matrix transposed = a;
  std::swap(transposed[1], transposed[3]);
  std::swap(transposed[2], transposed[6]);
  std::swap(transposed[5], transposed[7]);
  const Matrix r = product(transposed, b);
  const double sine = 0.5 * std::hypot(r[7] - r[5], r[2] - r[6], r[3] - r[1]);
  const double cosine = (r[0] + r[4] + r[8] - 1) / 2;
  return std::atan2(sine, cosine) * kDegrees;
}

}  // namespace

Point mapped(const Matrix& M, const Point& p) {
  const double w = M[6] * p.x + M[7] * p.y + M[8];
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (w == 0) return {kInfinite, kInfinite};
  return {(M[0] * p.x + M[1] * p.y + M[2]) / w, (M[3] * p.x + M[4] * p.y + M[5]) / w};
}

Matrix inverse_of(const Matrix& M) {
  const Matrix adjugate = {
      M[4] * M[8] - M[5] * M[7], M[2] * M[7] - M[1] * M[8], M[1] * M[5] - M[2] * M[4],
      M[5] * M[6] - M[3] * M[8], M[0] * M[8] - M[2] * M[6], M[2] * M[3] - M[0] * M[5],
      M[3] * M[7] - M[4] * M[6], M[1] * M[6] - M[0] * M[7], M[0] * M[4] - M[1] * M[3]};
  const double determinant = M[0] * adjugate[0] + M[1] * adjugate[3] + M[2] * adjugate[6];
  Matrix inverse;
  for (int i = 0; i < 9; ++i) inverse[i] = adjugate[i] / determinant;
  return inverse;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
    }
  }
  return c;
}

Repeatability repeatability(std::span<const Point> expected, std::span<const Point> found,
                            double within) {
  Repeatability result{int(expected.size()), int(found.size())};
  // Sorted by y, so that only a band of the points has to be visited.
  std::vector<int> by_y(found.size());
  for (std::size_t i = 0; i < by_y.size(); ++i) by_y[i] = int(i);
  std::sort(by_y.begin(), by_y.end(),
            [&](int a, int b) { return std::pair(found[a].y, a) < std::pair(found[b].y, b); });
  std::vector<std::tuple<double, int, int>> pairs;
  for (int i = 0; i < int(expected.size()); ++i) {
    auto it = std::lower_bound(by_y.begin(), by_y.end(), expected[i].y - within,
                               [&](int j, double y) { return found[j].y < y; });
    for (; it != by_y.end() && found[*it].y <= expected[i].y + within; ++it) {
      const double d = distance(expected[i], found[*it]);
      if (d <= within) pairs.emplace_back(d, i, *it);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<bool> taken_first(expected.size()), taken_second(found.size());
  double squares = 0;
  for (const auto& [d, i, j] : pairs) {
    if (taken_first[i] || taken_second[j]) continue;
    taken_first[i] = taken_second[j] = true;
    squares += d * d;
    ++result.repeated;
  }
  if (result.repeated > 0) {
    result.share = 0.5 * result.repeated * (1.0 / result.first + 1.0 / result.second);
    result.localisation = std::sqrt(squares / result.repeated);
  }
  return result;
}

double repeated_by_chance(double count, double width, double height, double within) {
  return 1 - std::exp(-count * std::numbers::pi * within * within / (width * height));
}

std::vector<double> transfer_errors(const Matrix& H, std::span<const Correspondence> matches) {
  std::vector<double> errors;
  errors.reserve(matches.size());
  for (const Correspondence& m : matches) {
    errors.push_back(distance(mapped(H, {m.x1, m.y1}), {m.x2, m.y2}));
  }
  return errors;
}

int count_within(std::span<const double> errors, double limit) {
  return int(std::count_if(errors.begin(), errors.end(), [&](double e) { return e <= limit; }));
}

double corner_error(const Matrix& H, const Matrix& truth, int width, int height) {
  if (is_zero(H) || !is_finite(H)) return kNoModelPixels;
  const double right = width - 1, bottom = height - 1;
  double sum = 0;
  for (const Point& corner : {Point{0, 0}, Point{right, 0}, Point{right, bottom}, Point{0, bottom}})
    sum += distance(mapped(H, corner), mapped(truth, corner));
  return std::isfinite(sum) ? std::min(sum / 4, kNoModelPixels) : kNoModelPixels;
}

double epipolar_error(const Matrix& F, std::span<const Correspondence> right) {
  if (is_zero(F) || !is_finite(F) || right.empty()) return kNoModelPixels;
  std::vector<double> distances;
  for (const Correspondence& m : right) {
    const double d = epipolar_distance(F, m);
    distances.push_back(std::isfinite(d) ? d : kNoModelPixels);
  }
  return std::min(median_of(std::move(distances)), kNoModelPixels);
}

double pose_error(const RelativePose& pose, const RelativePose& truth) {
  if (is_zero(truth.t)) {  // of a camera that only rotated, R alone is known
    return is_zero(pose.R) || !is_finite(pose.R) ? kNoPoseDegrees : angle_between(pose.R, truth.R);
  }
  if (is_zero(pose.R) || is_zero(pose.t) || !is_finite(pose.R) || !is_finite(pose.t)) {
    return kNoPoseDegrees;
  }
  return std::max(angle_between(pose.R, truth.R), angle_between(pose.t, truth.t));
}

double area_under_recall(std::span<const double> errors, double limit) {
  double sum = 0;
  for (const double error : errors) sum += std::max(0.0, 1 - error / limit);
  return errors.empty() ? 0 : sum / double(errors.size());
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / double(values.size());
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace cornea::evaluate
