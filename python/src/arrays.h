// SPDX-License-Identifier: Apache-2.0
// Python arrays as Cornea's views, and Cornea's results as Python arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "cornea/core/context.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/match/match.h"

namespace cornea::python {

namespace nb = nanobind;

using AnyArray = nb::ndarray<nb::ro>;

// An image that came from Python. The view is valid as long as this object lives; destroy it with
// the GIL held.
struct GivenImage {
  AnyView view = {};
  AnyArray array = {};            // owns the pixels
  Image<std::uint8_t> copy = {};  // of the pixels, if a view cannot express their strides
};

// H x W or H x W x 3 of uint8, uint16 or float32, on the host or, for a CUDA context, on its
// device: then the context's stream waits for the producer of the pixels. Strides that a view
// cannot express are copied on the host and rejected on the device. `what` names the image in
// errors.
GivenImage image_of(const Context& context, nb::handle object, const char* what = "the image");
// H x W of uint8 or bool; None means no mask.
GivenImage mask_of(const Context& context, nb::handle object, const char* what = "the mask");
// n x 128 uint8, or None.
struct GivenDescriptors {
  DescriptorView view = {};
  AnyArray array = {};
};
GivenDescriptors descriptors_of(const Context& context, nb::handle object, const char* what);

// The array of any object that has one; throws a TypeError with an explanation if it has none.
AnyArray array_of(const Context& context, nb::handle object, const char* what);

// A NumPy array that takes ownership of the vector's data.
template <class T>
nb::object array_from(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape, owner));
}
// The same for an image: H x W or H x W x 3.
template <class T>
nb::object array_from(Image<T>&& image) {
  auto* kept = new Image<T>(std::move(image));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Image<T>*>(p); });
  const std::size_t height = std::size_t(kept->height()), width = std::size_t(kept->width());
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->host().data, {height, width}, owner));
}
template <class T>
nb::object array_from(Image<Rgb<T>>&& image) {
  auto* kept = new Image<Rgb<T>>(std::move(image));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Image<Rgb<T>>*>(p); });
  const std::size_t height = std::size_t(kept->height()), width = std::size_t(kept->width());
  return nb::cast(
      nb::ndarray<nb::numpy, T>(&kept->host().data->r, {height, width, std::size_t(3)}, owner));
}

// (columns, octave, descriptors): 7 x n float32 of x, y, scale, angle, response, stretch and axis;
// n int32; n x 128 uint8, or None if the points have no descriptors.
nb::tuple columns_of(Features&& features, bool described);
// The inverse; None means no descriptors.
Features features_from(nb::handle columns, nb::handle octave, nb::handle descriptors);
// Number of 4-byte values of a Keypoint, in the order of its members; _features.py depends on it.
inline constexpr std::size_t kKeypointNumbers = 8;
static_assert(sizeof(Keypoint) == kKeypointNumbers * sizeof(float) &&
              offsetof(Keypoint, octave) == 5 * sizeof(float) &&
              offsetof(Keypoint, axis) == 7 * sizeof(float));
// n x 2 x 2 float32: affine_frame() of every point, rounded as in COLMAP's databases.
nb::object frames_of(nb::handle columns, nb::handle octave);
// (a, b, distance, ratio).
nb::tuple columns_of(const std::vector<Match>& matches);
std::vector<Match> matches_from(nb::handle columns, std::size_t first, std::size_t second);

// A C-contiguous NumPy array of T with this many columns; the Python side has ensured that.
template <class T>
struct Table {
  nb::ndarray<const T, nb::c_contig, nb::device::cpu> array = {};
  std::size_t rows() const { return array.shape(0); }
  const T* data() const { return array.data(); }
};
template <class T>
Table<T> table_of(nb::handle object, std::size_t columns, const char* what) {
  Table<T> table;
  const bool fits = nb::try_cast(object, table.array, false) && table.array.ndim() == 2 &&
                    table.array.shape(1) == columns;
  require(fits, what, " must be a C-contiguous array with ", columns, " columns");
  return table;
}

}  // namespace cornea::python
