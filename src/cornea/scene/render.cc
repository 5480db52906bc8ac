// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/render.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/core/random.h"
#include "cornea/scene/lighting.h"

namespace cornea::scene {
namespace {

using namespace core;

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int kTile = 16;       // pixels; a tile tests only the faces whose bounds overlap it
constexpr double kNear = 1e-3;  // metres; near clipping distance

// A face as one camera sees it.
struct SeenFace {
  const Face* face = nullptr;
  int index = 0;
  Matrix3d place_from_pixel =
      Matrix3d::Identity();  // (a, b, 1) / depth = place_from_pixel (x, y, 1)
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;  // bounds in pixels
};

struct Hit {
  const SeenFace* seen = nullptr;
  double a = 0.0, b = 0.0;     // on the face, metres
  double inverse_depth = 0.0;  // 0 for the sky
};

// Bounds of the part of the face in front of the camera; returns false if there is none.
bool find_bounds(const Camera& camera, const Face& face, SeenFace& seen) {
  std::array<Vector3d, 4> corner;
  for (int c = 0; c < 4; ++c) {
    const double a = c == 1 || c == 2 ? face.texture.width : 0.0,
                 b = c >= 2 ? face.texture.height : 0.0;
    corner[c] = camera.R * (face.origin + a * face.u + b * face.v) + camera.t;
  }
  const double inf = std::numeric_limits<double>::infinity();
  seen.left = seen.top = inf;
  seen.right = seen.bottom = -inf;
  const auto include = [&](const Vector3d& p) {
    const Eigen::Vector2d pixel = (camera.K * p).hnormalized();
    seen.left = std::min(seen.left, pixel.x());
    seen.top = std::min(seen.top, pixel.y());
    seen.right = std::max(seen.right, pixel.x());
    seen.bottom = std::max(seen.bottom, pixel.y());
  };
  for (int c = 0; c < 4; ++c) {
    const Vector3d &p = corner[c], &q = corner[(c + 1) % 4];
    if (p.z() >= kNear) include(p);
    if ((p.z() < kNear) != (q.z() < kNear)) {
      include(p + (q - p) * ((kNear - p.z()) / (q.z() - p.z())));
    }
  }
  return seen.left <= seen.right;
}

std::vector<SeenFace> seen_faces(const World& world, const Camera& camera) {
  std::vector<SeenFace> all;
  for (std::size_t i = 0; i < world.faces.size(); ++i) {
    const Face& face = world.faces[i];
    if ((camera.centre() - face.origin).dot(face.normal()) <= 0.0)
      continue;  // seen from behind or edge-on
    SeenFace seen{.face = &face, .index = static_cast<int>(i)};
    if (!find_bounds(camera, face, seen)) continue;
    Matrix3d pixel_from_place;
    pixel_from_place << camera.R * face.u, camera.R * face.v, camera.R * face.origin + camera.t;
    seen.place_from_pixel = (camera.K * pixel_from_place).inverse();
    all.push_back(seen);
  }
  return all;
}

std::vector<const SeenFace*> faces_in_tile(const std::vector<SeenFace>& all, int x, int y) {
  std::vector<const SeenFace*> in_tile;
  for (const SeenFace& seen : all) {
    if (seen.left <= x + kTile && seen.right >= x - 1 && seen.top <= y + kTile &&
        seen.bottom >= y - 1) {
      in_tile.push_back(&seen);
    }
  }
  return in_tile;
}

Hit nearest(const std::vector<const SeenFace*>& faces, double x, double y) {
  Hit hit;
  for (const SeenFace* seen : faces) {
    const Vector3d p = seen->place_from_pixel * Vector3d(x, y, 1.0);
    if (p.z() <= hit.inverse_depth || p.z() > 1.0 / kNear) continue;
    const double a = p.x() / p.z(), b = p.y() / p.z();
    const Texture& texture = seen->face->texture;
    if (a >= 0.0 && a <= texture.width && b >= 0.0 && b <= texture.height)
      hit = {seen, a, b, p.z()};
  }
  return hit;
}

// The width of a pixel on the face where the ray hits it, in metres: the longer side of its image
// under the Jacobian of (a, b) with respect to (x, y).
double pixel_width_on_face(const Hit& hit) {
  const Matrix3d& m = hit.seen->place_from_pixel;
  const double along_x = std::hypot(m(0, 0) - hit.a * m(2, 0), m(1, 0) - hit.b * m(2, 0));
  const double along_y = std::hypot(m(0, 1) - hit.a * m(2, 1), m(1, 1) - hit.b * m(2, 1));
  return std::max(along_x, along_y) / hit.inverse_depth;
}

// Bright at the horizon, darker overhead.
double sky(const Vector3d& direction) {
  const double up = std::clamp(direction.z() / direction.norm(), 0.0, 1.0);
  return 0.66 + 0.30 * std::exp(-4.0 * up);
}

class Renderer {
 public:
  Renderer(const World& world, const Camera& camera, int samples)
      : samples_(samples), seen_(seen_faces(world, camera)), lighting_(world) {
    ray_from_pixel_ = camera.R.transpose() * camera.K.inverse();
  }

  std::vector<const SeenFace*> tile(int x, int y) const { return faces_in_tile(seen_, x, y); }

  float pixel(const std::vector<const SeenFace*>& faces, int x, int y) const {
    double sum = 0.0;
    for (int j = 0; j < samples_; ++j) {
      for (int i = 0; i < samples_; ++i) {
        sum += sample(faces, x + (i + 0.5) / samples_ - 0.5, y + (j + 0.5) / samples_ - 0.5);
      }
    }
    return static_cast<float>(sum / (double(samples_) * samples_));
  }

 private:
  double sample(const std::vector<const SeenFace*>& faces, double x, double y) const {
    const Hit hit = nearest(faces, x, y);
    if (!hit.seen) return sky(ray_from_pixel_ * Vector3d(x, y, 1.0));
    const double width = pixel_width_on_face(hit) / samples_;
    const double light = lighting_.at(hit.seen->index, hit.a, hit.b);
    return std::min(1.0, light * reflectance(hit.seen->face->texture, hit.a, hit.b, width));
  }

  int samples_;
  std::vector<SeenFace> seen_;
  Lighting lighting_;
  Matrix3d ray_from_pixel_;
};

void check_camera(const Camera& camera) {
  require(camera.width > 0 && camera.height > 0, "a camera has at least 1 x 1 pixels, not ",
          camera.width, " x ", camera.height);
  require(camera.K.allFinite() && camera.R.allFinite() && camera.t.allFinite() &&
              camera.K.determinant() != 0.0,
          "the camera's K, R and t must be finite, and K must have an inverse");
}

// Calls draw(faces of the tile, x, y) for every pixel, tile by tile.
template <class Tiles, class Draw>
void for_each_pixel(const Context& context, const Camera& camera, const Tiles& tiles,
                    const Draw& draw) {
  parallel_for(context, camera.height, kTile, [&](int top, int bottom) {
    for (int left = 0; left < camera.width; left += kTile) {
      const std::vector<const SeenFace*> faces = tiles(left, top);
      const int right = std::min(camera.width, left + kTile);
      for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) draw(faces, x, y);
      }
    }
  });
}

}  // namespace

void RenderOptions::validate() const {
  require(samples >= 1 && samples <= 64, "samples (rays per pixel and axis) must be 1 to 64, not ",
          samples);
}

Image<float> render(const Context& context, const World& world, const Camera& camera,
                    const RenderOptions& options) {
  options.validate();
  check_camera(camera);
  Image<float> image(camera.width, camera.height);
  const Renderer renderer(world, camera, options.samples);
  const HostView<float> out = image.host();
  for_each_pixel(
      context, camera, [&](int x, int y) { return renderer.tile(x, y); },
      [&](const auto& faces, int x, int y) { out(x, y) = renderer.pixel(faces, x, y); });
  return image;
}

Image<float> depth(const Context& context, const World& world, const Camera& camera) {
  check_camera(camera);
  Image<float> image(camera.width, camera.height);
  const std::vector<SeenFace> seen = seen_faces(world, camera);
  const HostView<float> out = image.host();
  for_each_pixel(
      context, camera, [&](int x, int y) { return faces_in_tile(seen, x, y); },
      [&](const auto& faces, int x, int y) {
        const Hit hit = nearest(faces, x, y);
        out(x, y) = hit.seen ? static_cast<float>(1.0 / hit.inverse_depth)
                             : std::numeric_limits<float>::infinity();
      });
  return image;
}

void PathOptions::validate() const {
  require(count >= 1, "a camera path has 1 camera or more, not ", count);
  require(width > 0 && height > 0, "a camera has at least 1 x 1 pixels, not ", width, " x ",
          height);
  require(std::isfinite(step_degrees), "the step between cameras is a number of degrees, not ",
          step_degrees);
  require(std::isfinite(baseline) && baseline >= 0.0,
          "the baseline between cameras is 0 metres or more, not ", baseline);
  require(std::isfinite(focal_px) && focal_px >= 0.0, "the focal length is 0 pixels or more, not ",
          focal_px);
  require(focal_px > 0.0 || (field_of_view_degrees > 0.0 && field_of_view_degrees < 180.0),
          "the field of view lies between 0 and 180 degrees, not ", field_of_view_degrees);
  require(jitter >= 0.0 && jitter <= 0.5, "the jitter of a camera path lies in 0..0.5, not ",
          jitter);
}

std::vector<Camera> camera_path(const World& world, const PathOptions& options) {
  options.validate();
  const double degree = std::numbers::pi / 180.0, distance = world.viewing_distance;
  const double elevation = world.viewing_elevation * degree;
  const double radius = distance * std::cos(elevation);  // of the cameras' arc, which is horizontal
  require(options.baseline <= 2.0 * radius, "a baseline of ", options.baseline,
          " m does not fit the arc, whose diameter is ", 2.0 * radius, " m");
  const double step = options.baseline > 0.0 ? 2.0 * std::asin(options.baseline / (2.0 * radius))
                                             : options.step_degrees * degree;
  const double half_width = 0.5 * options.width;
  const double focal = options.focal_px > 0.0
                           ? options.focal_px
                           : half_width / std::tan(0.5 * options.field_of_view_degrees * degree);
  Random random(options.seed, 3);
  const auto stray = [&](double size) { return random.uniform(-size, size); };
  // One draw per statement: compilers evaluate arguments in different orders.
  const auto stray_vector = [&](double size) {
    Vector3d v;
    for (const int axis : {2, 1, 0}) v[axis] = stray(size);
    return v;
  };
  std::vector<Camera> cameras;
  for (int i = 0; i < options.count; ++i) {
    const double angle = (i - 0.5 * (options.count - 1)) * step, size = options.jitter * distance;
    const Vector3d away(std::cos(elevation) * std::sin(angle),
                        -std::cos(elevation) * std::cos(angle), std::sin(elevation));
    const Vector3d eye = world.centre + distance * away + stray_vector(size);
    const Vector3d target = world.centre + stray_vector(size);
    cameras.push_back(
        look_at(eye, target, options.width, options.height, focal, stray(options.jitter)));
  }
  return cameras;
}

}  // namespace cornea::scene
