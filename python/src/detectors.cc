#include "cornea/catalog/detectors.h"

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

  // Images of one size and type go through the detector together.
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

  // SIFT of a device image, with the descriptors left on the device.
  nb::tuple detect_on_device(nb::handle given_image, nb::handle given_mask) {
    require(sift_ && context_.is_cuda(),
            "descriptors stay on the device for SIFT on a CUDA device; the detector is ", name_,
            " on ", context_.name());
    const GivenImage image = image_of(context_, given_image);
    const GivenImage mask = mask_of(context_, given_mask);
    Features found;
    std::unique_ptr<DeviceArray> descriptors;
    compute(mutex_, [&] {
      sift_->keep_on_device(true);
      sift_->detect(image.view, found, mask.view);
      const std::size_t n = found.size(), bytes = n * Features::kLength;
      Memory memory =
          context_.allocate(Place::device, std::max<std::size_t>(bytes, 1), "Python: descriptors");
      if (n > 0) {
        context_.copy_on_device(memory.data(), bytes, sift_->device_descriptors(), bytes, bytes, 1);
      }
      descriptors = std::make_unique<DeviceArray>(context_, std::move(memory),
                                                  std::vector<std::size_t>{n, Features::kLength},
                                                  nb::dtype<std::uint8_t>());
      sift_->keep_on_device(false);
    });
    descriptors->finish();
    const nb::tuple columns = columns_of(std::move(found), false);
    return nb::make_tuple(columns[0], columns[1],
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
  // Of the last call, on the host's clock.
  double milliseconds() const {
    if (described_) return described_->milliseconds();
    return sift_ ? sift_->report().milliseconds : corners_->report().milliseconds;
  }

 private:
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
  std::unique_ptr<CornerDetector> corners_;  // one of these is set
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
}

}  // namespace cornea::python
