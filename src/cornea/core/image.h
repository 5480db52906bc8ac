// SPDX-License-Identifier: Apache-2.0
// Images and views of them.
//
// Image<T> owns pixels, is move-only and knows where they live. HostView<T> and DeviceView<T>
// borrow them and are different types, so that a kernel cannot be handed host memory. AnyView
// erases the pixel type and the kind of memory; functions that accept every kind of image take one
// and check it.
//
// Pixels: uint8 (0..255), uint16 (0..65535), float (0..1) and Rgb<> of these. Float and double also
// hold response maps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "cornea/core/error.h"
#include "cornea/core/export.h"
#include "cornea/core/host_device.h"
#include "cornea/core/memory.h"

namespace cornea {

class Context;

template <class T>
struct CORNEA_API Rgb {
  T r{}, g{}, b{};
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

// The type of a pixel's gray value.
template <class T>
struct GrayType {
  using type = T;
};
template <class T>
struct GrayType<Rgb<T>> {
  using type = T;
};
template <class T>
using GrayOf = typename GrayType<T>::type;

// Common base of both views: a pointer, a size and the distance between rows, in elements.
template <class T>
struct CORNEA_API ViewBase {
  T* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t stride = 0;

  CORNEA_HD T* row(int y) const { return data + y * stride; }
  CORNEA_HD T& operator()(int x, int y) const { return data[y * stride + x]; }
  CORNEA_HD bool empty() const { return width <= 0 || height <= 0; }
  CORNEA_HD bool contiguous() const { return stride == width || height <= 1; }
};

template <class T>
struct CORNEA_API HostView : ViewBase<T> {
  HostView() = default;
  CORNEA_HD HostView(T* data, int width, int height, std::ptrdiff_t stride)
      : ViewBase<T>{data, width, height, stride} {}
  CORNEA_HD HostView(T* data, int width, int height) : HostView(data, width, height, width) {}
  template <class U>
  requires std::is_same_v<const U, T> CORNEA_HD HostView(HostView<U> v)
      : HostView(v.data, v.width, v.height, v.stride) {}
};

template <class T>
struct CORNEA_API DeviceView : ViewBase<T> {
  DeviceView() = default;
  CORNEA_HD DeviceView(T* data, int width, int height, std::ptrdiff_t stride)
      : ViewBase<T>{data, width, height, stride} {}
  CORNEA_HD DeviceView(T* data, int width, int height) : DeviceView(data, width, height, width) {}
  template <class U>
  requires std::is_same_v<const U, T> CORNEA_HD DeviceView(DeviceView<U> v)
      : DeviceView(v.data, v.width, v.height, v.stride) {}
};

template <class T>
class CORNEA_API Image {
 public:
  Image() = default;
  // Pageable host memory; pixels are not initialised.
  Image(int width, int height) : Image(Memory::host(bytes(width, height)), width, height) {}
  Image(Image&& other) noexcept { *this = std::move(other); }
  Image& operator=(Image&& other) noexcept {
    memory_ = std::exchange(other.memory_, Memory());
    width_ = std::exchange(other.width_, 0);
    height_ = std::exchange(other.height_, 0);
    return *this;
  }
  // Memory from the context's pool; `purpose` is its tag in the pool's counters.
  Image(const Context& context, Place place, int width, int height, const char* purpose);

  int width() const { return width_; }
  int height() const { return height_; }
  bool empty() const { return width_ == 0 || height_ == 0; }
  Place place() const { return memory_.place(); }

  HostView<T> host() {
    check_place(true);
    return {pixels(), width_, height_};
  }
  HostView<const T> host() const {
    check_place(true);
    return {pixels(), width_, height_};
  }
  DeviceView<T> device() {
    check_place(false);
    return {pixels(), width_, height_};
  }
  DeviceView<const T> device() const {
    check_place(false);
    return {pixels(), width_, height_};
  }
  T& operator()(int x, int y) { return host()(x, y); }
  const T& operator()(int x, int y) const { return host()(x, y); }

 private:
  Image(Memory memory, int width, int height)
      : memory_(std::move(memory)), width_(width), height_(height) {}
  static std::size_t bytes(int width, int height) {
    require(width >= 0 && height >= 0, "an image of ", width, " x ", height,
            " pixels is impossible; sizes are 0 or more");
    return std::size_t(width) * std::size_t(height) * sizeof(T);
  }
  T* pixels() const { return static_cast<T*>(memory_.data()); }
  void check_place(bool on_host) const {
    if (empty()) return;
    require((place() != Place::device) == on_host, "the image lives in ", name(place()),
            " memory; copy it first (cornea/core/transfer.h)");
  }

  Memory memory_;
  int width_ = 0, height_ = 0;
};

enum class Pixel { u8, u16, f32, f64, rgb_u8, rgb_u16, rgb_f32 };

template <class T>
constexpr Pixel pixel_of() {
  using P = std::remove_const_t<T>;
  if constexpr (std::is_same_v<P, std::uint8_t>) return Pixel::u8;
  if constexpr (std::is_same_v<P, std::uint16_t>) return Pixel::u16;
  if constexpr (std::is_same_v<P, float>) return Pixel::f32;
  if constexpr (std::is_same_v<P, double>) return Pixel::f64;
  if constexpr (std::is_same_v<P, Rgb<std::uint8_t>>) return Pixel::rgb_u8;
  if constexpr (std::is_same_v<P, Rgb<std::uint16_t>>) return Pixel::rgb_u16;
  if constexpr (std::is_same_v<P, Rgb<float>>) return Pixel::rgb_f32;
}

CORNEA_API std::string_view name(Pixel pixel);
CORNEA_API std::size_t bytes_of(Pixel pixel);
constexpr bool is_rgb(Pixel pixel) {
  return pixel == Pixel::rgb_u8 || pixel == Pixel::rgb_u16 || pixel == Pixel::rgb_f32;
}
// The pixel type of one channel.
constexpr Pixel channel_of(Pixel pixel) {
  return pixel == Pixel::rgb_u8    ? Pixel::u8
         : pixel == Pixel::rgb_u16 ? Pixel::u16
         : pixel == Pixel::rgb_f32 ? Pixel::f32
                                   : pixel;
}

// A read-only view of any image, in host or device memory.
class CORNEA_API AnyView {
 public:
  AnyView() = default;
  template <class T>
  AnyView(HostView<T> v)
      : AnyView(v.data, v.width, v.height, v.stride * sizeof(T), pixel_of<T>(), false) {}
  template <class T>
  AnyView(DeviceView<T> v)
      : AnyView(v.data, v.width, v.height, v.stride * sizeof(T), pixel_of<T>(), true) {}
  template <class T>
  AnyView(const Image<T>& image) {
    if (image.empty()) return;
    *this = image.place() == Place::device ? AnyView(image.device()) : AnyView(image.host());
  }

  bool empty() const { return width_ <= 0 || height_ <= 0; }
  int width() const { return width_; }
  int height() const { return height_; }
  Pixel pixel() const { return pixel_; }
  bool on_device() const { return on_device_; }
  const void* data() const { return data_; }
  std::ptrdiff_t stride_bytes() const { return stride_bytes_; }

  // The typed view; throws if the pixel type or the kind of memory does not match.
  template <class T>
  HostView<const T> host() const {
    check(pixel_of<T>(), false);
    return {static_cast<const T*>(data_), width_, height_,
            stride_bytes_ / std::ptrdiff_t(sizeof(T))};
  }
  template <class T>
  DeviceView<const T> device() const {
    check(pixel_of<T>(), true);
    return {static_cast<const T*>(data_), width_, height_,
            stride_bytes_ / std::ptrdiff_t(sizeof(T))};
  }

 private:
  AnyView(const void* data, int width, int height, std::ptrdiff_t stride_bytes, Pixel pixel,
          bool on_device)
      : data_(data),
        width_(width),
        height_(height),
        stride_bytes_(stride_bytes),
        pixel_(pixel),
        on_device_(on_device) {}
  void check(Pixel pixel, bool on_device) const;

  const void* data_ = nullptr;
  int width_ = 0, height_ = 0;
  std::ptrdiff_t stride_bytes_ = 0;
  Pixel pixel_ = Pixel::u8;
  bool on_device_ = false;
};

// Throws unless the image has at most 2^31 - 1 pixels and each side at most 2^20.
CORNEA_API void check_image_size(const AnyView& image);

// A writable view of any image.
class CORNEA_API AnyTarget {
 public:
  template <class T>
  requires(!std::is_const_v<T>) AnyTarget(HostView<T> v) : view_(v) {}
  template <class T>
  requires(!std::is_const_v<T>) AnyTarget(DeviceView<T> v) : view_(v) {}
  template <class T>
  AnyTarget(Image<T>& image) : view_(image) {}

  const AnyView& view() const { return view_; }
  template <class T>
  HostView<T> host() const {
    const HostView<const T> v = view_.host<T>();
    return {const_cast<T*>(v.data), v.width, v.height, v.stride};
  }
  template <class T>
  DeviceView<T> device() const {
    const DeviceView<const T> v = view_.device<T>();
    return {const_cast<T*>(v.data), v.width, v.height, v.stride};
  }

 private:
  AnyView view_;
};

// Calls f with a value of the type of gray pixels.
template <class F>
decltype(auto) with_gray(Pixel pixel, F&& f) {
  switch (pixel) {
    case Pixel::u8:
      return f(std::uint8_t{});
    case Pixel::u16:
      return f(std::uint16_t{});
    case Pixel::f32:
      return f(float{});
    default:
      fail(ErrorCode::invalid_argument, "a gray 8-bit, 16-bit or float image is needed, not ",
           name(pixel));
  }
}
// Calls f(HostView<const T>) or f(DeviceView<const T>) with the view's own gray pixel type.
template <class F>
decltype(auto) visit_gray(const AnyView& view, F&& f) {
  return with_gray(view.pixel(), [&](auto t) { return f(view.host<decltype(t)>()); });
}
template <class F>
decltype(auto) visit_gray_on_device(const AnyView& view, F&& f) {
  return with_gray(view.pixel(), [&](auto t) { return f(view.device<decltype(t)>()); });
}

}  // namespace cornea

#include "cornea/core/context.h"

namespace cornea {

template <class T>
Image<T>::Image(const Context& context, Place place, int width, int height, const char* purpose)
    : Image(context.allocate(place, bytes(width, height), purpose), width, height) {}

}  // namespace cornea
