// SPDX-License-Identifier: Apache-2.0
#include "cornea/catalog/filters.h"

#include <memory>

#include "binding.h"
#include "cuda_arrays.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "cornea/core/error.h"

namespace cornea::python {
namespace {

using namespace nb::literals;

// The target of a filter: a new array on the host or on the device of the image.
struct Result {
  nb::object array = {};
  std::vector<AnyTarget> target = {};  // one
  DeviceArray* on_device = nullptr;
};

template <class T>
Result result_for(const Context& context, const AnyView& image) {
  const int width = image.width(), height = image.height();
  Result result;
  if (image.on_device()) {
    Memory memory = context.allocate(Place::device, std::size_t(width) * height * sizeof(T),
                                     "Python: filtered image");
    auto array = std::make_unique<DeviceArray>(
        context, std::move(memory),
        std::vector<std::size_t>{std::size_t(height), std::size_t(width)}, nb::dtype<T>());
    result.on_device = array.get();
    result.target.push_back(DeviceView<T>(static_cast<T*>(array->data()), width, height));
    result.array = nb::cast(array.release(), nb::rv_policy::take_ownership);
    return result;
  }
  Image<T> pixels(width, height);
  T* data = pixels.host().data;
  result.array = array_from(std::move(pixels));
  result.target.push_back(HostView<T>(data, width, height));
  return result;
}

class Filter {
 public:
  Filter(const Context& context, const std::string& name, const Settings& settings)
      : context_(context), filter_(find_filter(name).make(context, settings)) {}

  // Gray results of the images' type, or float32. Images of one size and type are processed in one
  // batch.
  nb::list apply(const nb::list& given_images, bool as_float) {
    const std::vector<GivenImage> images = images_of(context_, given_images);
    const std::vector<AnyView> views = views_of(images);
    std::vector<Result> results;
    std::vector<AnyTarget> targets;
    for (const AnyView& view : views) {
      const Pixel pixel = as_float ? Pixel::f32 : channel_of(view.pixel());
      results.push_back(
          with_gray(pixel, [&](auto type) { return result_for<decltype(type)>(context_, view); }));
      targets.push_back(results.back().target.front());
    }
    compute(mutex_, [&] { filter_->apply_batch(views, targets); });
    nb::list arrays;
    for (Result& result : results) {
      if (result.on_device) result.on_device->finish();
      arrays.append(result.array);
    }
    return arrays;
  }

  const Context& context() const { return context_; }

 private:
  Context context_;
  std::unique_ptr<ImageFilter> filter_;
  std::mutex mutex_;
};

}  // namespace

void bind_filters(nb::module_& m) {
  nb::class_<Filter>(m, "Filter")
      .def(nb::init<const Context&, const std::string&, const Settings&>(), "context"_a, "name"_a,
           "settings"_a)
      .def("apply", &Filter::apply, "images"_a, "as_float"_a)
      .def_prop_ro("context", &Filter::context);
}

}  // namespace cornea::python
