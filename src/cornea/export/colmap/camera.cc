#include "cornea/export/colmap/camera.h"

#include <algorithm>

namespace cornea::colmap {
namespace {

// 0: not known.
double focal_length(double longer_side, const Exif& exif) {
  if (exif.focal_35mm > 0) return longer_side * exif.focal_35mm / 35;
  const int pixels = std::max(exif.pixels_across, exif.pixels_down);
  if (exif.focal_mm > 0 && exif.focal_plane_pixels_per_mm > 0 && pixels > 0) {
    const double sensor_mm = pixels / exif.focal_plane_pixels_per_mm;  // along the longer side
    return longer_side * exif.focal_mm / sensor_mm;
  }
  return 0;
}

}  // namespace

Camera camera_of_image(int width, int height, const std::optional<Exif>& exif) {
  constexpr double kGuess = 1.2;
  const double longer_side = std::max(width, height);
  const double known = exif ? focal_length(longer_side, *exif) : 0;
  Camera camera;
  camera.width = width;
  camera.height = height;
  camera.prior_focal_length = known > 0;
  camera.params = {known > 0 ? known : kGuess * longer_side, width / 2.0, height / 2.0, 0.0};
  return camera;
}

}  // namespace cornea::colmap
