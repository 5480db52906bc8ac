// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of the module. Each bind_*() adds its part; cornea/*.py wrap them for users.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"

#include "cornea/catalog/settings.h"
#include "cornea/geometry/two_view/two_view.h"

namespace cornea::python {

void bind_contexts(nb::module_& m);
void bind_tables(nb::module_& m);
void bind_files(nb::module_& m);
void bind_detectors(nb::module_& m);
void bind_filters(nb::module_& m);
void bind_matching(nb::module_& m);
void bind_geometry(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_pictures(nb::module_& m);
void bind_pair(nb::module_& m);
void bind_scene(nb::module_& m);
void bind_colmap(nb::module_& m);

// Runs `work` without the GIL, one caller at a time, because a detector, a matcher or an estimator
// serves one thread at a time.
template <class Work>
void compute(std::mutex& mutex, const Work& work) {
  nb::gil_scoped_release release;
  const std::lock_guard lock(mutex);
  work();
}

// The images of a list, with their owners.
std::vector<GivenImage> images_of(const Context& context, const nb::list& list);
inline std::vector<AnyView> views_of(const std::vector<GivenImage>& images) {
  std::vector<AnyView> views;
  for (const GivenImage& image : images) views.push_back(image.view);
  return views;
}

// Stage times as a dictionary of milliseconds.
nb::dict stages_of(const std::vector<StageTime>& stages);

// 3 x 3 float64; None if it is zero.
nb::object matrix_of(const std::array<double, 9>& matrix);
nb::dict dict_of(const FundamentalResult& result);
nb::dict dict_of(const EssentialResult& result);
nb::dict dict_of(const HomographyResult& result);
nb::dict dict_of(const TwoViewResult& result);

// (fx, fy, cx, cy, k1, k2, p1, p2) of a camera.
Intrinsics camera_from(nb::handle numbers);
// Two of them; None if the cameras are not known.
std::optional<IntrinsicsPair> cameras_from(nb::handle pair);

}  // namespace cornea::python
