// SPDX-License-Identifier: Apache-2.0
// What all estimators do around their search: check the input, merge repeated correspondences, key
// the random samples and choose the backend.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/geometry/algebra/matrix3.h"
#include "cornea/geometry/ransac/ransac.h"
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/match/places.h"

namespace cornea::geometry {

// Throws unless all coordinates are finite and there are at most kMostMatches.
void check_correspondences(std::span<const Correspondence> matches);

// Validates the cameras of `count` pairs, whose focal length may be sought; cameras_of(i) points to
// those of pair i, or is null.
template <class CamerasOf>
void check_cameras(std::size_t count, bool shared_focal, const CamerasOf& cameras_of) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto* cameras = cameras_of(i);
    if (!cameras) continue;
    for (const auto* camera : {&cameras->first, &cameras->second}) {
      try {
        camera->validate();
        require(!shared_focal || !camera->is_distorted(),
                "shared_focal needs cameras without distortion, because the distortion depends on "
                "the focal length");
      } catch (const Error& error) {
        if (count == 1) throw;
        fail(error.code(), "pair ", i, ", ", camera == &cameras->first ? "first" : "second",
             " camera: ", error.what());
      }
    }
  }
}

// Scales a matrix to norm 1 with a positive largest entry.
std::array<double, 9> canonical(const Matrix3<double>& m);
// Convert F (x2^T F x1 = 0) or H (x2 ~ H x1) from normalised coordinates to pixels.
std::array<double, 9> epipolar_in_pixels(const Matrix3<double>& f, const Normalisation& n);
std::array<double, 9> homography_in_pixels(const Matrix3<double>& h, const Normalisation& n);

// Gives every copy of a correspondence the value of its distinct correspondence.
template <class T>
void copy_from_places(const match::Places& places, std::vector<T>& values) {
  const std::vector<T> of_places = std::exchange(values, std::vector<T>(places.of.size()));
  for (std::size_t i = 0; i < places.of.size(); ++i) values[i] = of_places[places.of[i]];
}

template <class Problem>
std::unique_ptr<Ransac<Problem>> make_ransac(const Context& context, const Problem& problem) {
  if constexpr (kHasCuda) {
    if (context.is_cuda()) return make_device_ransac(context, problem);
  }
  return make_host_ransac(context, problem);
}

// Runs `estimate` over the pairs that have at least `sample` distinct correspondences: repeated
// ones take part once. The results of the other pairs are too_few_points.
template <class Result>
void estimate_places(const Context& context, std::span<const std::span<const Correspondence>> pairs,
                     std::span<const std::uint64_t> keys, std::span<Result> out, int sample,
                     const std::function<void(std::span<RansacPair>, std::span<Result*>,
                                              const std::function<void()>&)>& estimate) {
  using core::parallel_for;
  require(pairs.size() == out.size() && pairs.size() == keys.size(), pairs.size(),
          " pairs were given, ", keys.size(), " keys and room for ", out.size(),
          " results; the numbers must be equal");
  parallel_for(context, int(pairs.size()), kPairsPerPiece, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      try {
        check_correspondences(pairs[i]);
      } catch (const Error& error) {
        if (pairs.size() == 1) throw;
        fail(error.code(), "pair ", i, ": ", error.what());
      }
    }
  });
  std::vector<match::Places> places(pairs.size());
  const auto find_places = [&] {
    parallel_for(context, int(pairs.size()), kPairsPerPiece, [&](int begin, int end) {
      match::PlaceFinder finder;
      for (int i = begin; i < end; ++i) {
        if (finder.repeats(pairs[i])) places[i] = finder.places(pairs[i]);
      }
    });
  };
  const auto run = [&](std::span<const std::size_t> wanted,
                       const std::function<void()>& meanwhile) {
    std::vector<RansacPair> large;
    std::vector<Result*> results;
    for (const std::size_t i : wanted) {
      const std::span<const Correspondence> distinct =
          places[i].of.empty() ? pairs[i] : std::span<const Correspondence>(places[i].distinct);
      out[i] = {};
      out[i].places = int(distinct.size());
      out[i].inliers.assign(distinct.size(), 0);
      out[i].kind = TwoView::too_few_points;
      if (distinct.size() < std::size_t(sample)) continue;
      large.push_back({distinct, keys[i], {}, out[i].inliers.data()});
      results.push_back(&out[i]);
    }
    if (!large.empty()) estimate(large, results, meanwhile);
  };
  std::vector<std::size_t> all(pairs.size()), repeating;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  if (context.is_cuda()) {
    // Repeated correspondences are rare, and finding them takes less time than the device needs:
    // the search for them runs meanwhile, and pairs that have some are estimated again.
    bool looked = false;
    run(all, [&] {
      find_places();
      looked = true;
    });
    if (!looked) find_places();
  } else {
    find_places();
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!places[i].of.empty()) repeating.push_back(i);
  }
  run(context.is_cuda() ? repeating : all, nullptr);
  for (const std::size_t i : repeating) copy_from_places(places[i], out[i].inliers);
}

}  // namespace cornea::geometry
