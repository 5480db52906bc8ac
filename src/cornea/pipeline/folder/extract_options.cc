// SPDX-License-Identifier: Apache-2.0
// The options of extract.h, and the sums of its report.
#include <filesystem>

#include "cornea/core/error.h"
#include "cornea/core/reduce.h"
#include "cornea/export/colmap/intrinsics.h"
#include "cornea/pipeline/folder/extract.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;

void check_camera_params(const ExtractOptions& options) {
  const std::vector<double>& params = options.camera_params;
  if (params.empty()) return;
  const auto model = options.camera_model.value_or(colmap::CameraModel::simple_radial);
  require(params.size() == colmap::parameter_count(model), "camera_params has ", params.size(),
          " numbers, but the model ", colmap::name_of_model(int(model)), " takes ",
          colmap::parameter_count(model), "; choose another with camera_model");
  try {
    colmap::intrinsics_of({.model = int(model), .params = params}).value().validate();
  } catch (const Error&) {
    fail(ErrorCode::invalid_argument,
         "camera_params must be finite numbers with focal lengths above 0");
  }
}

}  // namespace

SiftOptions folder_sift_options() {
  SiftOptions options;
  options.contrast = 0.02;
  options.orientations = 2;
  options.root = true;
  options.max_points = 8192;
  return options;
}

void ExtractOptions::validate() const {
  sift.validate();
  core::check_max_size(max_size);
  require(decoders >= 0 && decoders <= 64, "decoders is 0 (automatic) to 64, not ", decoders);
  check_camera_params(*this);
}

void ExtractOptions::validate_masks() const {
  std::error_code unreadable;
  require(masks.empty() || fs::is_directory(masks, unreadable), masks.string(),
          ": is not a folder of masks");
}

double ExtractReport::decode_share() const {
  const double all = decode_milliseconds + compute_milliseconds + write_milliseconds;
  return all > 0 ? decode_milliseconds / all : 0;
}

fs::path mask_of(const fs::path& masks, const std::string& name) { return masks / (name + ".png"); }

}  // namespace cornea
