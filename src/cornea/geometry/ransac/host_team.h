// SPDX-License-Identifier: Apache-2.0
// The points of one pair on the CPU, and sums over them (see points.h).
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "cornea/core/features.h"
#include "cornea/geometry/ransac/host_scores.h"
#include "cornea/geometry/ransac/search.h"

namespace cornea::geometry {

// The part of HostTeam that does not depend on the metric.
class HostPoints {
 public:
  // Points in pixels; normalise() works on these.
  void set(std::span<const Correspondence> matches);
  void apply(const Normalisation& normalisation, double threshold);

  int count() const { return static_cast<int>(points_.size()); }
  const PointPair& point(int i) const { return points_[i]; }
  const FloatPoints& floats() const { return floats_; }
  const FloatPoints& look() const { return look_; }  // the matches used by preemptive scoring
  const CostScale& cost_scale() const { return scale_; }

  template <int K, class F>
  void sums(double (&out)[K], const F& f) const {
    const int n = count(), lanes = std::min(kSumLanes, int(std::bit_ceil(unsigned(n))));
    double lane[kSumLanes][K];
    std::fill_n(lane[0], K, 0.0);
    for (int i = 1; i < lanes; ++i) std::fill_n(lane[i], K, 0.0);
    double terms[K];
    for (int i = 0; i < n; ++i) {
      if (!f(points_[i], terms)) continue;
      double* sum = lane[i % kSumLanes];
      for (int k = 0; k < K; ++k) sum[k] += terms[k];
    }
    for (int step = lanes / 2; step > 0; step /= 2) {
      for (int i = 0; i < step; ++i) {
        for (int k = 0; k < K; ++k) lane[i][k] += lane[i + step][k];
      }
    }
    std::copy_n(lane[0], K, out);
  }
  template <class F>
  void histogram(std::uint32_t (&bins)[kHistogramBins], const F& f) const {
    std::fill(std::begin(bins), std::end(bins), 0u);
    for (const PointPair& p : points_) {
      const int bin = f(p);
      if (bin >= 0) ++bins[bin];
    }
  }
  FloatPoint float_point(int i) const {
    return {floats_.x1[i], floats_.y1[i], floats_.x2[i], floats_.y2[i]};
  }
  template <class F>
  int list(const F& f) {
    listed_.clear();
    for (int i = 0; i < count(); ++i) {
      if (f(points_[i])) listed_.push_back(i);
    }
    return static_cast<int>(listed_.size());
  }
  int listed(int k) const { return listed_[k]; }
  template <class F>
  RoundBest best_of(int count, const F& f) const {
    RoundBest best;
    for (int h = 0; h < count; ++h) {
      Matrix3<float> model{};
      const std::uint64_t key = round_key(f(h, model), h);
      if (key < best.key) best = {key, model};
    }
    return best;
  }

 private:
  std::vector<int> listed_;
  std::vector<PointPair> points_;
  FloatPoints floats_, look_;
  CostScale scale_{};
};

template <class Metric>
class HostTeam : public HostPoints {
 public:
  Score score(const Matrix3<float>& m) const { return score(m, cost_scale()); }
  Score score(const Matrix3<float>& m, const CostScale& scale) const {
    return score_points(Metric(), floats(), scale, m, kNoCost);
  }
  std::uint32_t cost_alone(const Matrix3<float>& m, const CostScale& scale) const {
    return score(m, scale).cost;
  }
};

}  // namespace cornea::geometry
