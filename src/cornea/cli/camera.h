// SPDX-License-Identifier: Apache-2.0
// Cameras on the command line.
#pragma once

#include <optional>
#include <string>

#include "cornea/cli/common.h"
#include "cornea/geometry/two_view/essential.h"

namespace cornea::cli {

// Parses a camera in one of two spellings; anything else is wrong usage.
//   fx,fy,cx,cy[,k1[,k2[,p1[,p2]]]]     the centre of the first pixel is (0, 0), as in OpenCV
//   MODEL:params                        one of COLMAP's models with COLMAP's parameters, in which
//                                       that centre is (0.5, 0.5): SIMPLE_PINHOLE:f,cx,cy
//                                       PINHOLE:fx,fy,cx,cy  SIMPLE_RADIAL:f,cx,cy,k
//                                       RADIAL:f,cx,cy,k1,k2
//                                       OPENCV:fx,fy,cx,cy,k1,k2,p1,p2
Intrinsics camera_of_text(const std::string& flag, const std::string& words);

struct CameraOptions {
  std::string first, second, both;  // empty: not given
  double focal = 0;                 // pixels; 0: not given
  bool ignore = false;

  // From --camera1 and --camera2, or --camera; empty if none was given.
  std::optional<IntrinsicsPair> given() const;
};

// Adds --camera1, --camera2 and --camera.
void add_camera_options(CLI::App& command, CameraOptions& options);
// Adds --focal and --no-cameras, for commands that have the images.
void add_focal_options(CLI::App& command, CameraOptions& options);

// The cameras of two images, and their source: "camera", "focal" or "exif".
struct KnownCameras {
  IntrinsicsPair cameras;
  std::string source;
  double focal_factor = 1;  // the factor by which the geometry corrected guessed focal lengths
};
struct SizedExif {
  int width = 0, height = 0;
  std::optional<Exif> exif;
};
// From the options, or from the focal lengths of EXIF with the principal points in the middle;
// empty if one of the two is not known. A focal length alone, given or from EXIF, is a guess that
// the geometry may correct.
std::optional<KnownCameras> cameras_of(const CameraOptions& options, const SizedExif& first,
                                       const SizedExif& second);

// {fx, fy, cx, cy} and the distortion.
Json camera_json(const Intrinsics& camera);

}  // namespace cornea::cli
