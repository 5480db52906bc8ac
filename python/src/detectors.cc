// SPDX-License-Identifier: Apache-2.0
#include "cornea/catalog/detectors.h"

#include <algorithm>
#include <memory>

#include "binding.h"
#include "cuda_arrays.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "cornea/core/error.h"
#include "cornea/core/reduce.h"
#include "cornea/pipeline/features.h"

namespace cornea::python {
namespace {

using namespace nb::literals;

// A detector of the table, of either kind. Corners are points without scale, angle and descriptor,
// unless they are to be described.
class Detector {
 public:
  Detector(const Context& context, const std::string& name, const Settings& settings, int max_size,
           bool describe)
      : context_(context), name_(name), max_size_(max_size) {
    core::check_max_size(max_size);
    const DetectorEntry& entry = find_detector(name);
    if (entry.make_sift) {
      sift_ = entry.make_sift(context, settings);
    } else if (describe) {
      described_ = std::make_unique<FeatureExtractor>(context, name, settings, max_size);
    } else {
      corners_ = entry.make(context, settings);
    }
  }

  nb::tuple detect(nb::handle given_image, nb::handle given_mask) {
    const GivenImage image = image_of(context_, given_image);
    const GivenImage mask = mask_of(context_, given_mask);
    Features found;
    compute(mutex_, [&] { find(image.view, mask.view, found); });
    return columns_of(std::move(found), describes());
  }

  // Images of one size and type are processed in one batch.
  nb::list detect_batch(const nb::list& given_images, nb::handle given_mask) {
    const std::vector<GivenImage> images = images_of(context_, given_images);
    const GivenImage mask = mask_of(context_, given_mask);
    const std::vector<AnyView> views = views_of(images);
    std::vector<Features> found(views.size());
    compute(mutex_, [&] {
      if (max_size_ > 0 || described_) {
        for (std::size_t i = 0; i < views.size(); ++i) find(views[i], mask.view, found[i]);
      } else if (sift_) {
        sift_->detect_batch(views, found, mask.view);
      } else {
        const auto corners = corners_->detect_batch(views, mask.view);
        for (std::size_t i = 0; i < corners.size(); ++i) {
          found[i].keypoints = keypoints_of(corners[i], 0);
        }
      }
    });
    nb::list results;
    for (Features& features : found) results.append(columns_of(std::move(features), describes()));
    return results;
  }

  // (keypoints, descriptors) of SIFT that remain on the device: n x 8 float32 with the members of
  // Keypoint, and n x 128 uint8.
  nb::tuple detect_on_device(nb::handle given_image, nb::handle given_mask) {
    require(sift_ && context_.is_cuda(),
            "features stay on the device for SIFT on a CUDA device; the detector is ", name_,
            " on ", context_.name());
    const GivenImage image = image_of(context_, given_image);
    const GivenImage mask = mask_of(context_, given_mask);
    require(max_size_ == 0 || std::max(image.view.width(), image.view.height()) <= max_size_,
            "an image whose features stay on the device is not reduced to max_size; reduce it "
            "first, or set max_size to 0");
    std::unique_ptr<DeviceArray> keypoints, descriptors;
    compute(mutex_, [&] {
      const DeviceFeatures found = sift_->detect_on_device(image.view, mask.view);
      keypoints = copy_of(found.keypoints, found.size, kKeypointNumbers, nb::dtype<float>());
      descriptors = copy_of(found.descriptors, found.size, std::size_t(Features::kLength),
                            nb::dtype<std::uint8_t>());
    });
    keypoints->finish();
    descriptors->finish();
    return nb::make_tuple(nb::cast(keypoints.release(), nb::rv_policy::take_ownership),
                          nb::cast(descriptors.release(), nb::rv_policy::take_ownership));
  }

  nb::object response(nb::handle given_image) {
    require(corners_ != nullptr, name_, " has no response map; corner detectors have one");
    const GivenImage image = image_of(context_, given_image);
    Image<float> map;
    compute(mutex_, [&] { map = corners_->response(image.view); });
    return array_from(std::move(map));
  }

  nb::tuple describe(nb::handle given_image, nb::handle columns, nb::handle octave,
                     bool keep_angles) {
    require(sift_ != nullptr, name_, " does not describe points; SIFT does");
    const GivenImage image = image_of(context_, given_image);
    const Features points = features_from(columns, octave, nb::none());
    Features found;
    compute(mutex_, [&] {
      sift_->describe(image.view, points.keypoints, found,
                      keep_angles ? Angles::keep : Angles::assign);
    });
    return columns_of(std::move(found), true);
  }

  const Context& context() const { return context_; }
  // Wall-clock time of the last call.
  double milliseconds() {
    double spent = 0;
    compute(mutex_, [&] {
      spent = described_ ? described_->milliseconds()
              : sift_    ? sift_->report().milliseconds
                         : corners_->report().milliseconds;
    });
    return spent;
  }

 private:
  // A copy of n rows that the detector holds on the device until its next call.
  std::unique_ptr<DeviceArray> copy_of(const void* from, std::size_t n, std::size_t columns,
                                       nb::dlpack::dtype type) const {
    const std::size_t bytes = n * columns * type.bits / 8;
    Memory memory =
        context_.allocate(Place::device, std::max<std::size_t>(bytes, 1), "Python: features");
    if (n > 0) context_.copy_on_device(memory.data(), bytes, from, bytes, bytes, 1);
    return std::make_unique<DeviceArray>(context_, std::move(memory),
                                         std::vector<std::size_t>{n, columns}, type);
  }

  bool describes() const { return corners_ == nullptr; }

  void find(AnyView image, AnyView mask, Features& out) {
    if (described_) return described_->extract(image, out, mask);
    const core::Reduced reduced(image, mask, max_size_);
    if (sift_) {
      sift_->detect(reduced.image(), out, reduced.mask());
    } else {
      out.keypoints = keypoints_of(corners_->detect(reduced.image(), reduced.mask()), 0);
    }
    reduced.to_given(out.keypoints);
  }

  Context context_;
  std::string name_;
  int max_size_;
  std::unique_ptr<CornerDetector> corners_;  // exactly one of these is set
  std::unique_ptr<Sift> sift_;
  std::unique_ptr<FeatureExtractor> described_;
  std::mutex mutex_;
};

}  // namespace

void bind_detectors(nb::module_& m) {
  nb::class_<Detector>(m, "Detector")
      .def(nb::init<const Context&, const std::string&, const Settings&, int, bool>(), "context"_a,
           "name"_a, "settings"_a, "max_size"_a, "describe"_a)
      .def("detect", &Detector::detect, "image"_a.none(), "mask"_a.none())
      .def("detect_batch", &Detector::detect_batch, "images"_a, "mask"_a.none())
      .def("detect_on_device", &Detector::detect_on_device, "image"_a.none(), "mask"_a.none())
      .def("response", &Detector::response, "image"_a.none())
      .def("describe", &Detector::describe, "image"_a.none(), "columns"_a.none(), "octave"_a.none(),
           "keep_angles"_a)
      .def_prop_ro("context", &Detector::context)
      .def_prop_ro("milliseconds", &Detector::milliseconds);
  m.def("frames_of", &frames_of, "columns"_a.none(), "octave"_a.none());
}

}  // namespace cornea::python
