// SPDX-License-Identifier: Apache-2.0
#include <span>

#include "binding.h"
#include "tables.h"
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cornea/catalog/estimators.h"
#include "cornea/core/error.h"
#include "cornea/geometry/two_view/relative_pose.h"

namespace cornea::python {
namespace {

using namespace nb::literals;

using Points = std::vector<std::array<float, 3>>;

// Correspondences of several pairs, each an n x 4 float32 array of x1, y1, x2, y2.
struct GivenPairs {
  std::vector<Table<float>> tables = {};
  std::vector<std::span<const Correspondence>> spans = {};
  std::vector<std::uint64_t> keys = {};

  GivenPairs(const nb::list& arrays, const std::vector<std::uint64_t>& given_keys)
      : keys(given_keys) {
    static_assert(sizeof(Correspondence) == 4 * sizeof(float));
    for (nb::handle array : arrays) {
      tables.push_back(table_of<float>(array, 4, "matches"));
      const Table<float>& table = tables.back();
      spans.emplace_back(reinterpret_cast<const Correspondence*>(table.data()), table.rows());
    }
    require(keys.size() == spans.size(), "there are ", spans.size(), " pairs and ", keys.size(),
            " keys");
  }
};

template <class Result>
void add_counts(nb::dict& dict, const Result& result) {
  std::vector<std::uint8_t> inliers = result.inliers;
  const std::size_t n = inliers.size();
  dict["kind"] = std::string(name(result.kind));
  dict["inliers"] = array_from(std::move(inliers), {n}).attr("view")("bool");
  dict["inlier_count"] = result.inlier_count;
  dict["places"] = result.places;
  dict["threshold"] = result.threshold;
  dict["hypotheses"] = result.hypotheses;
  dict["rounds"] = result.rounds;
  dict["converged"] = result.converged();
  dict["stopped_by"] = std::string(name(result.stop));
}

nb::object vector_of(const std::array<double, 3>& v, bool known) {
  if (!known) return nb::none();
  return array_from(std::vector<double>(v.begin(), v.end()), {3});
}

nb::object points_of(const Points& points) {
  std::vector<float> numbers;
  numbers.reserve(3 * points.size());
  for (const auto& p : points) numbers.insert(numbers.end(), p.begin(), p.end());
  return array_from(std::move(numbers), {points.size(), std::size_t(3)});
}

template <class Result>
nb::list list_of(const std::vector<Result>& results) {
  nb::list list;
  for (const Result& result : results) list.append(dict_of(result));
  return list;
}

// An estimator of the table that takes only matches.
template <class Estimator, class Result, const char* kName>
class OfMatches {
 public:
  OfMatches(const Context& context, const Settings& settings)
      : estimator_(std::get<Estimator>(find_estimator(kName).make(context, settings))) {}
  nb::list estimate(const nb::list& arrays, const std::vector<std::uint64_t>& keys) {
    const GivenPairs pairs(arrays, keys);
    std::vector<Result> results(pairs.spans.size());
    compute(mutex_, [&] { estimator_.estimate_batch(pairs.spans, pairs.keys, results); });
    return list_of(results);
  }

 private:
  Estimator estimator_;
  std::mutex mutex_;
};
constexpr char kFundamental[] = "fundamental", kHomography[] = "homography";
using Fundamental = OfMatches<FundamentalEstimator, FundamentalResult, kFundamental>;
using Homography = OfMatches<HomographyEstimator, HomographyResult, kHomography>;

class Essential {
 public:
  Essential(const Context& context, const Settings& settings)
      : estimator_(
            std::get<EssentialEstimator>(find_estimator("essential").make(context, settings))) {}
  nb::list estimate(const nb::list& arrays, const nb::list& cameras,
                    const std::vector<std::uint64_t>& keys) {
    const GivenPairs pairs(arrays, keys);
    std::vector<IntrinsicsPair> known;
    for (nb::handle pair : cameras) {
      const auto both = cameras_from(pair);
      require(both.has_value(), "the essential matrix needs the cameras of both images");
      known.push_back(*both);
    }
    require(known.size() == pairs.spans.size(), "there are ", pairs.spans.size(), " pairs and ",
            known.size(), " pairs of cameras");
    std::vector<EssentialResult> results(pairs.spans.size());
    compute(mutex_, [&] { estimator_.estimate_batch(pairs.spans, known, pairs.keys, results); });
    return list_of(results);
  }

 private:
  EssentialEstimator estimator_;
  std::mutex mutex_;
};

class TwoViewObject {
 public:
  TwoViewObject(const Context& context, const Settings& fundamental, const Settings& essential,
                const Settings& homography, double essential_share, double homography_share)
      : estimator_(context, {.fundamental = fundamental_options(fundamental),
                             .essential = essential_options(essential),
                             .homography = homography_options(homography),
                             .essential_share = essential_share,
                             .homography_share = homography_share}) {}
  nb::list estimate(const nb::list& arrays, const nb::list& cameras,
                    const std::vector<std::uint64_t>& keys) {
    const GivenPairs pairs(arrays, keys);
    std::vector<std::optional<IntrinsicsPair>> known;
    for (nb::handle pair : cameras) known.push_back(cameras_from(pair));
    require(known.size() == pairs.spans.size(), "there are ", pairs.spans.size(), " pairs and ",
            known.size(), " pairs of cameras");
    std::vector<TwoViewResult> results(pairs.spans.size());
    compute(mutex_, [&] { estimator_.estimate_batch(pairs.spans, known, pairs.keys, results); });
    return list_of(results);
  }

 private:
  TwoViewEstimator estimator_;
  std::mutex mutex_;
};

std::array<double, 9> nine(nb::handle matrix) {
  const auto table = table_of<double>(matrix, 3, "a matrix");
  require(table.rows() == 3, "a matrix must be 3 x 3");
  std::array<double, 9> m{};
  std::copy_n(table.data(), 9, m.begin());
  return m;
}

// Distances of matches to F or to H, pixels, n float64.
template <double (*distance)(const std::array<double, 9>&, const Correspondence&)>
nb::object distances(nb::handle matrix, nb::handle matches) {
  const std::array<double, 9> model = nine(matrix);
  const auto table = table_of<float>(matches, 4, "matches");
  std::vector<double> all(table.rows());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float* p = table.data() + 4 * i;
    all[i] = distance(model, {p[0], p[1], p[2], p[3]});
  }
  const std::size_t n = all.size();
  return array_from(std::move(all), {n});
}

}  // namespace

nb::object matrix_of(const std::array<double, 9>& m) {
  if (m == std::array<double, 9>{}) return nb::none();
  return array_from(std::vector<double>(m.begin(), m.end()), {3, 3});
}

nb::dict dict_of(const FundamentalResult& result) {
  nb::dict dict;
  add_counts(dict, result);
  dict["F"] = matrix_of(result.F);
  dict["H"] = matrix_of(result.H);
  dict["may_be_chance"] = result.may_be_chance();
  return dict;
}

nb::dict dict_of(const EssentialResult& result) {
  const bool has_pose = result.R != std::array<double, 9>{};
  nb::dict dict;
  add_counts(dict, result);
  dict["E"] = matrix_of(result.E);
  dict["R"] = matrix_of(result.R);
  dict["t"] = vector_of(result.t, has_pose);
  dict["points"] = points_of(result.points);
  dict["pure_rotation"] = result.pure_rotation;
  dict["median_angle_degrees"] = result.median_angle_degrees;
  dict["focal_factor"] = result.focal_factor;
  dict["may_be_chance"] = result.may_be_chance();
  dict["second_pose"] = result.second_pose;
  dict["leaves_points_behind"] = result.leaves_points_behind();
  return dict;
}

nb::dict dict_of(const HomographyResult& result) {
  nb::dict dict;
  add_counts(dict, result);
  dict["H"] = matrix_of(result.H);
  return dict;
}

nb::dict dict_of(const TwoViewResult& result) {
  std::vector<std::uint8_t> inliers = result.inliers;
  const std::size_t n = inliers.size();
  nb::dict dict;
  dict["configuration"] = std::string(name(result.configuration));
  dict["F"] = matrix_of(result.F);
  dict["E"] = matrix_of(result.E);
  dict["H"] = matrix_of(result.H);
  dict["R"] = matrix_of(result.R);
  dict["t"] = vector_of(result.t, result.R != std::array<double, 9>{});
  dict["inliers"] = array_from(std::move(inliers), {n}).attr("view")("bool");
  dict["inlier_count"] = result.inlier_count;
  dict["median_angle_degrees"] = result.median_angle_degrees;
  dict["points"] = points_of(result.points);
  dict["fundamental"] = dict_of(result.fundamental);
  dict["essential"] = dict_of(result.essential);
  dict["homography"] = dict_of(result.homography);
  return dict;
}

Intrinsics camera_from(nb::handle numbers) {
  const auto n = nb::cast<std::array<double, 8>>(numbers);
  const Intrinsics camera{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]};
  camera.validate();
  return camera;
}

std::optional<IntrinsicsPair> cameras_from(nb::handle pair) {
  if (pair.is_none()) return std::nullopt;
  return IntrinsicsPair{camera_from(pair[0]), camera_from(pair[1]), nb::cast<bool>(pair[2])};
}

void bind_geometry(nb::module_& m) {
  nb::class_<Fundamental>(m, "Fundamental")
      .def(nb::init<const Context&, const Settings&>(), "context"_a, "settings"_a)
      .def("estimate", &Fundamental::estimate, "pairs"_a, "keys"_a);
  nb::class_<Essential>(m, "Essential")
      .def(nb::init<const Context&, const Settings&>(), "context"_a, "settings"_a)
      .def("estimate", &Essential::estimate, "pairs"_a, "cameras"_a, "keys"_a);
  nb::class_<Homography>(m, "Homography")
      .def(nb::init<const Context&, const Settings&>(), "context"_a, "settings"_a)
      .def("estimate", &Homography::estimate, "pairs"_a, "keys"_a);
  nb::class_<TwoViewObject>(m, "TwoView")
      .def(nb::init<const Context&, const Settings&, const Settings&, const Settings&, double,
                    double>(),
           "context"_a, "fundamental"_a, "essential"_a, "homography"_a, "essential_share"_a,
           "homography_share"_a)
      .def("estimate", &TwoViewObject::estimate, "pairs"_a, "cameras"_a, "keys"_a);
  m.def("epipolar_distances", &distances<epipolar_distance>, "F"_a.none(), "matches"_a.none());
  m.def("transfer_distances", &distances<transfer_distance>, "H"_a.none(), "matches"_a.none());
  const TwoViewOptions defaults;
  m.attr("ESSENTIAL_SHARE") = defaults.essential_share;
  m.attr("HOMOGRAPHY_SHARE") = defaults.homography_share;
}

}  // namespace cornea::python
