#include "cornea/export/colmap/camera.h"

#include <algorithm>

namespace cornea::colmap {

Camera camera_of_image(int width, int height, const std::optional<Exif>& exif) {
  constexpr double kGuess = 1.2;
  const double longer_side = std::max(width, height);
  const double known = exif ? focal_pixels(*exif, width, height) : 0;
  Camera camera;
  camera.width = width;
  camera.height = height;
  camera.prior_focal_length = known > 0;
  camera.params = {known > 0 ? known : kGuess * longer_side, width / 2.0, height / 2.0, 0.0};
  return camera;
}

}  // namespace cornea::colmap
