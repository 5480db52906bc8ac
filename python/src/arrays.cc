// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

#include <cstring>

#include "cuda_arrays.h"
#include <nanobind/stl/string.h>

#include "cornea/core/error.h"

namespace cornea::python {
namespace {

constexpr std::size_t kColumns = 7;  // of a point, besides the octave

constexpr int kOnHost = nb::device::cpu::value, kPinned = nb::device::cuda_host::value;
constexpr int kOnDevice = nb::device::cuda::value, kManaged = nb::device::cuda_managed::value;

std::string name_of_type(nb::handle object) {
  return nb::cast<std::string>(nb::handle((PyObject*)Py_TYPE(object.ptr())).attr("__name__"));
}

[[noreturn]] void refuse_type(const std::string& sentence) {
  throw nb::type_error(sentence.c_str());
}

std::string dname_of_type(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const char* kind = type.code == int(Code::Int)       ? "int"
                     : type.code == int(Code::UInt)    ? "uint"
                     : type.code == int(Code::Float)   ? "float"
                     : type.code == int(Code::Bfloat)  ? "bfloat"
                     : type.code == int(Code::Complex) ? "complex"
                     : type.code == int(Code::Bool)    ? "bool"
                                                       : "other";
  return type.code == int(Code::Bool) ? kind : text(kind, int(type.bits));
}

std::string shape_text(const AnyArray& array) {
  std::string words;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    words += text(words.empty() ? "" : " x ", array.shape(i));
  }
  return words.empty() ? "a single number" : words;
}

Pixel pixel_of(const AnyArray& array, bool rgb, const char* what) {
  const nb::dlpack::dtype type = array.dtype();
  if (type == nb::dtype<std::uint8_t>()) return rgb ? Pixel::rgb_u8 : Pixel::u8;
  if (type == nb::dtype<std::uint16_t>()) return rgb ? Pixel::rgb_u16 : Pixel::u16;
  if (type == nb::dtype<float>()) return rgb ? Pixel::rgb_f32 : Pixel::f32;
  refuse_type(text(what, " has elements of ", dname_of_type(type),
                   "; they must be uint8, uint16 or float32 (0 to 1)"));
}

AnyView view_at(const void* data, Pixel pixel, int width, int height, std::ptrdiff_t row_bytes,
                bool on_device) {
  const auto typed = [&](auto value) -> AnyView {
    using T = decltype(value);
    const T* pixels = static_cast<const T*>(data);
    const std::ptrdiff_t stride = row_bytes / std::ptrdiff_t(sizeof(T));
    if (on_device) return DeviceView<const T>(pixels, width, height, stride);
    return HostView<const T>(pixels, width, height, stride);
  };
  switch (pixel) {
    case Pixel::u8:
      return typed(std::uint8_t{});
    case Pixel::u16:
      return typed(std::uint16_t{});
    case Pixel::f32:
      return typed(float{});
    case Pixel::rgb_u8:
      return typed(Rgb<std::uint8_t>{});
    case Pixel::rgb_u16:
      return typed(Rgb<std::uint16_t>{});
    default:
      return typed(Rgb<float>{});
  }
}

struct Layout {
  int height = 0, width = 0;
  std::ptrdiff_t row = 0, column = 0, channel = 0;  // strides, bytes
  std::size_t item = 0;                             // bytes of a channel
  std::size_t channels = 1;
};

Layout layout_of(const AnyArray& array, bool rgb) {
  const auto bytes = std::ptrdiff_t(array.itemsize());
  return {int(array.shape(0)),
          int(array.shape(1)),
          array.stride(0) * bytes,
          array.stride(1) * bytes,
          rgb ? array.stride(2) * bytes : 0,
          array.itemsize(),
          rgb ? std::size_t(3) : std::size_t(1)};
}

// Whether a view can represent it: contiguous pixels, and rows in ascending order at a distance of
// whole pixels.
bool fits_a_view(const Layout& l, const void* data) {
  const auto pixel = std::ptrdiff_t(l.item * l.channels);
  return reinterpret_cast<std::uintptr_t>(data) % l.item == 0 &&
         (l.channels == 1 || l.channel == std::ptrdiff_t(l.item)) &&
         (l.width == 1 || l.column == pixel) &&
         (l.height == 1 || (l.row >= l.width * pixel && l.row % pixel == 0));
}

void copy_pixels(const Layout& l, const std::uint8_t* from, std::uint8_t* to) {
  for (int y = 0; y < l.height; ++y) {
    for (int x = 0; x < l.width; ++x) {
      for (std::size_t c = 0; c < l.channels; ++c, to += l.item) {
        std::memcpy(to, from + y * l.row + x * l.column + std::ptrdiff_t(c) * l.channel, l.item);
      }
    }
  }
}

GivenImage given(AnyArray array, bool rgb, Pixel pixel, bool on_device, const char* what) {
  // Checked before it is copied; the limits are those of check_image_size().
  constexpr std::size_t kLargestSide = std::size_t{1} << 20, kMostPixels = INT32_MAX;
  require(array.shape(0) <= kLargestSide && array.shape(1) <= kLargestSide &&
              array.shape(0) * array.shape(1) <= kMostPixels,
          what, " is ", shape_text(array), "; the limits are ", kLargestSide,
          " pixels per side and ", kMostPixels, " in all");
  GivenImage image;
  const Layout l = layout_of(array, rgb);
  const void* data = static_cast<const std::uint8_t*>(array.data_handle()) + array.byte_offset();
  const auto pixel_bytes = std::ptrdiff_t(l.item * l.channels);
  if (fits_a_view(l, data)) {
    // The stride of a single row is meaningless.
    const std::ptrdiff_t row = l.height == 1 ? l.width * pixel_bytes : l.row;
    image.view = view_at(data, pixel, l.width, l.height, row, on_device);
    image.array = std::move(array);
    return image;
  }
  require(!on_device, what,
          " has strides that Cornea cannot read on the device; make it contiguous first");
  image.copy = Image<std::uint8_t>(int(l.width * pixel_bytes), l.height);
  copy_pixels(l, static_cast<const std::uint8_t*>(data), image.copy.host().data);
  image.view =
      view_at(image.copy.host().data, pixel, l.width, l.height, l.width * pixel_bytes, false);
  return image;
}

// Whether an array lies on the device; throws if the context cannot access it.
bool on_device(const Context& context, const AnyArray& array, const char* what) {
  const int type = array.device_type();
  if (type == kOnHost || type == kPinned) return false;
  require(type == kOnDevice || type == kManaged, what,
          " lies on a device that is neither the CPU nor ",
          "a CUDA device; copy it to the host first");
  require(context.is_cuda(), what, " lies on cuda:", array.device_id(),
          " and the work is to run on ", context.name(), "; give device='cuda:", array.device_id(),
          "', or copy it to the host");
  require(context.cuda_index() == array.device_id(), what, " lies on cuda:", array.device_id(),
          " and the work is to run on ", context.name(), "; they must be one device");
  return true;
}

}  // namespace

AnyArray array_of(const Context& context, nb::handle object, const char* what) {
  if (auto on_cuda = cuda_array_of(context, object, what)) return *std::move(on_cuda);
  AnyArray array;
  if (nb::try_cast(object, array, false)) return array;
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) {
    refuse_type(
        text(what, " is a ", name_of_type(object), "; give an array, such as numpy.asarray makes"));
  }
  std::string dtype;
  if (nb::hasattr(object, "dtype")) {
    const nb::object type = object.attr("dtype");
    dtype = text(" with elements of ", nb::str(nb::handle(type)).c_str());
  }
  refuse_type(text(what, " is a ", name_of_type(object), dtype,
                   ", which cannot be read as an array of ", "uint8, uint16 or float32"));
}

GivenImage image_of(const Context& context, nb::handle object, const char* what) {
  AnyArray array = array_of(context, object, what);
  require(array.ndim() == 2 || array.ndim() == 3, what, " is ", shape_text(array),
          "; it must be height x width (gray) or height x width x 3 (RGB)");
  const bool rgb = array.ndim() == 3;
  require(!rgb || array.shape(2) == 3, what, " is ", shape_text(array), ", with ",
          rgb ? array.shape(2) : 0, rgb && array.shape(2) == 1 ? " channel" : " channels",
          "; it must be height x width (gray) or height x width x 3 (RGB)");
  require(array.size() > 0, what, " is empty (", shape_text(array), ")");
  const Pixel pixel = pixel_of(array, rgb, what);
  const bool device = on_device(context, array, what);
  return given(std::move(array), rgb, pixel, device, what);
}

GivenImage mask_of(const Context& context, nb::handle object, const char* what) {
  if (object.is_none()) return {};
  AnyArray array = array_of(context, object, what);
  const bool bytes =
      array.dtype() == nb::dtype<std::uint8_t>() || array.dtype() == nb::dtype<bool>();
  if (!bytes) {
    refuse_type(text(what, " has elements of ", dname_of_type(array.dtype()),
                     "; they must be uint8 or bool"));
  }
  require(array.ndim() == 2, what, " is ", shape_text(array), "; it must be height x width");
  require(array.size() > 0, what, " is empty (", shape_text(array), ")");
  const bool device = on_device(context, array, what);
  return given(std::move(array), false, Pixel::u8, device, what);
}

GivenDescriptors descriptors_of(const Context& context, nb::handle object, const char* what) {
  GivenDescriptors given;
  given.array = array_of(context, object, what);
  const AnyArray& array = given.array;
  if (array.dtype() != nb::dtype<std::uint8_t>()) {
    refuse_type(
        text(what, " have elements of ", dname_of_type(array.dtype()), "; they must be uint8"));
  }
  require(array.ndim() == 2 && array.shape(1) == std::size_t(Features::kLength), what, " are ",
          shape_text(array), "; they must be n x ", Features::kLength);
  const std::size_t n = array.shape(0);
  require(n <= std::size_t(INT32_MAX), what, " are too many: ", n);
  require(n == 0 || (array.stride(1) == 1 && (n == 1 || array.stride(0) == Features::kLength)),
          what, " must be contiguous, row after row");
  const bool device = on_device(context, array, what);
  const auto* data = static_cast<const std::uint8_t*>(array.data_handle()) + array.byte_offset();
  given.view = DescriptorView(data, int(n), device ? Place::device : Place::host);
  return given;
}

nb::tuple columns_of(Features&& features, bool described) {
  const std::size_t n = features.size();
  std::vector<float> columns(kColumns * n);
  std::vector<std::int32_t> octaves(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Keypoint& k = features.keypoints[i];
    columns[i] = k.x;
    columns[n + i] = k.y;
    columns[2 * n + i] = k.scale;
    columns[3 * n + i] = k.angle;
    columns[4 * n + i] = k.response;
    columns[5 * n + i] = k.stretch;
    columns[6 * n + i] = k.axis;
    octaves[i] = k.octave;
  }
  nb::object descriptors = nb::none();
  if (described) {
    descriptors = array_from(std::move(features.descriptors), {n, std::size_t(Features::kLength)});
  }
  return nb::make_tuple(array_from(std::move(columns), {kColumns, n}),
                        array_from(std::move(octaves), {n}), descriptors);
}

Features features_from(nb::handle columns, nb::handle octave, nb::handle descriptors) {
  using Octaves = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  nb::ndarray<const float, nb::c_contig, nb::device::cpu> given;
  require(nb::try_cast(columns, given, false) && given.ndim() == 2 && given.shape(0) == kColumns,
          "points must be a C-contiguous array of ", kColumns, " x n float32");
  const std::size_t n = given.shape(1);
  Octaves octaves;
  require(nb::try_cast(octave, octaves, false) && octaves.shape(0) == n,
          "octaves must be n int32, as many as there are points");
  const float* c = given.data();
  Features features;
  features.keypoints.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    features.keypoints[i] = {c[i],         c[n + i],          c[2 * n + i], c[3 * n + i],
                             c[4 * n + i], octaves.data()[i], c[5 * n + i], c[6 * n + i]};
  }
  if (!descriptors.is_none()) {
    const auto table = table_of<std::uint8_t>(descriptors, Features::kLength, "descriptors");
    require(table.rows() == n, "there are ", n, " points and ", table.rows(), " descriptors");
    features.descriptors.assign(table.data(), table.data() + n * Features::kLength);
  }
  return features;
}

nb::object frames_of(nb::handle columns, nb::handle octave) {
  const Features points = features_from(columns, octave, nb::none());
  std::vector<float> frames;
  frames.reserve(4 * points.size());
  for (const Keypoint& k : points.keypoints) {
    const AffineFrame a = affine_frame(k);
    frames.insert(frames.end(), {float(a.a11), float(a.a12), float(a.a21), float(a.a22)});
  }
  return array_from(std::move(frames), {points.size(), std::size_t(2), std::size_t(2)});
}

nb::tuple columns_of(const std::vector<Match>& matches) {
  const std::size_t n = matches.size();
  std::vector<std::int32_t> a(n), b(n);
  std::vector<float> distance(n), ratio(n);
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = matches[i].a;
    b[i] = matches[i].b;
    distance[i] = matches[i].distance;
    ratio[i] = matches[i].ratio;
  }
  return nb::make_tuple(array_from(std::move(a), {n}), array_from(std::move(b), {n}),
                        array_from(std::move(distance), {n}), array_from(std::move(ratio), {n}));
}

std::vector<Match> matches_from(nb::handle columns, std::size_t first, std::size_t second) {
  using Indices = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Numbers = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  Indices a, b;
  Numbers distance, ratio;
  require(nb::try_cast(columns[0], a, false) && nb::try_cast(columns[1], b, false) &&
              nb::try_cast(columns[2], distance, false) && nb::try_cast(columns[3], ratio, false),
          "the columns of matches must be C-contiguous: a and b of int32, distance and ratio of "
          "float32");
  const std::size_t n = a.shape(0);
  require(b.shape(0) == n && distance.shape(0) == n && ratio.shape(0) == n,
          "the columns of the matches differ in length");
  std::vector<Match> matches(n);
  for (std::size_t i = 0; i < n; ++i) {
    matches[i] = {a.data()[i], b.data()[i], distance.data()[i], ratio.data()[i]};
    require(matches[i].a >= 0 && std::size_t(matches[i].a) < first && matches[i].b >= 0 &&
                std::size_t(matches[i].b) < second,
            "match ", i, " joins points ", matches[i].a, " and ", matches[i].b, ", and there are ",
            first, " and ", second);
  }
  return matches;
}

}  // namespace cornea::python
