// SPDX-License-Identifier: Apache-2.0
// Copies between host and device, queued on the context's stream.
#pragma once

#include "cornea/core/context.h"
#include "cornea/core/image.h"

namespace cornea {

template <class T>
void upload(const Context& context, HostView<const T> from, DeviceView<T> to) {
  require(from.width == to.width && from.height == to.height, "upload of ", from.width, " x ",
          from.height, " pixels into ", to.width, " x ", to.height);
  context.upload(to.data, to.stride * sizeof(T), from.data, from.stride * sizeof(T),
                 from.width * sizeof(T), from.height);
}

template <class T>
void download(const Context& context, DeviceView<const T> from, HostView<T> to) {
  require(from.width == to.width && from.height == to.height, "download of ", from.width, " x ",
          from.height, " pixels into ", to.width, " x ", to.height);
  context.download(to.data, to.stride * sizeof(T), from.data, from.stride * sizeof(T),
                   from.width * sizeof(T), from.height);
}

// A device copy of a host image. Waits for the copy, so that `from` may be destroyed at once.
template <class T>
Image<T> to_device(const Context& context, const Image<T>& from, const char* purpose = "image") {
  Image<T> copy(context, Place::device, from.width(), from.height(), purpose);
  upload(context, from.host(), copy.device());
  context.synchronize();
  return copy;
}

template <class T>
Image<T> to_host(const Context& context, const Image<T>& from) {
  Image<T> copy(from.width(), from.height());
  download(context, from.device(), copy.host());
  context.synchronize();
  return copy;
}

}  // namespace cornea
