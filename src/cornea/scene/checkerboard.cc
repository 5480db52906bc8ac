// SPDX-License-Identifier: Apache-2.0
#include "cornea/scene/checkerboard.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/scene/camera.h"

namespace cornea {
namespace {

using namespace core;

bool is_gray(double value) { return value >= 0.0 && value <= 1.0; }

class Board {
 public:
  Board(const CheckerboardOptions& options, const Eigen::Matrix3d& image_from_board)
      : options_(options), board_from_image_(image_from_board.inverse()) {
    // Points in front of the camera have w > 0; the centre of the board determines the sign of the
    // matrix.
    const Eigen::Vector3d centre =
        image_from_board * Eigen::Vector3d(options.columns / 2.0, options.rows / 2.0, 1.0);
    const double w = (board_from_image_ * (centre / centre.z())).z();
    if (w < 0.0) board_from_image_ = -board_from_image_;
  }

  float pixel(int x, int y) const {
    const Cell first = cell(x - 0.5, y - 0.5);
    const bool one_cell = first.front && same(first, cell(x + 0.5, y - 0.5)) &&
                          same(first, cell(x - 0.5, y + 0.5)) &&
                          same(first, cell(x + 0.5, y + 0.5));
    if (one_cell) return static_cast<float>(gray(first));
    double sum = 0.0;
    const int n = options_.samples;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        sum += gray(cell(x + (i + 0.5) / n - 0.5, y + (j + 0.5) / n - 0.5));
      }
    }
    return static_cast<float>(sum / (double(n) * n));
  }

 private:
  struct Cell {
    double column, row;
    bool front;  // the ray meets the board's plane in front of the camera
  };
  Cell cell(double x, double y) const {
    const Eigen::Vector3d p = board_from_image_ * Eigen::Vector3d(x, y, 1.0);
    // Everything beyond one side of the board counts as one cell.
    return {std::clamp(std::floor(p.x() / p.z()), -1.0, double(options_.columns)),
            std::clamp(std::floor(p.y() / p.z()), -1.0, double(options_.rows)), p.z() > 0.0};
  }
  bool inside(const Cell& c) const {
    return c.front && c.column >= 0 && c.column < options_.columns && c.row >= 0 &&
           c.row < options_.rows;
  }
  static bool same(const Cell& a, const Cell& b) {
    return a.column == b.column && a.row == b.row && a.front == b.front;
  }
  double gray(const Cell& c) const {
    if (!inside(c)) return options_.background;
    return std::fmod(c.column + c.row, 2.0) == 0.0 ? options_.dark : options_.light;
  }

  CheckerboardOptions options_;
  Eigen::Matrix3d board_from_image_;
};

}  // namespace

void CheckerboardOptions::validate() const {
  require(width > 0 && height > 0, "a checkerboard image has at least 1 x 1 pixels, not ", width,
          " x ", height);
  require(columns > 0 && rows > 0, "a checkerboard has at least 1 x 1 cells, not ", columns, " x ",
          rows);
  require(std::isfinite(cell) && cell > 0.0,
          "a checkerboard's cells are larger than 0 pixels, not ", cell);
  require(homography.allFinite() && std::abs(homography.determinant()) > 1e-15,
          "a checkerboard's homography must be an invertible 3 x 3 matrix");
  require(is_gray(light) && is_gray(dark) && is_gray(background),
          "a checkerboard's gray values lie in 0..1, not ", light, ", ", dark, " and ", background);
  require(samples >= 1 && samples <= 256, "samples per axis must be 1 to 256, not ", samples);
}

Checkerboard checkerboard(const Context& context, const CheckerboardOptions& options,
                          const Eigen::Matrix3d& image_from_board) {
  options.validate();
  require(image_from_board.allFinite() && image_from_board.determinant() != 0.0,
          "the board cannot be placed by a matrix without an inverse");
  Checkerboard result{Image<float>(options.width, options.height), {}};
  const Board board(options, image_from_board);
  const HostView<float> out = result.image.host();
  parallel_for(context, options.height, 8, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      for (int x = 0; x < options.width; ++x) out(x, y) = board.pixel(x, y);
    }
  });
  for (int v = 1; v < options.rows; ++v) {
    for (int u = 1; u < options.columns; ++u) {
      result.corners.push_back(transform(image_from_board, Eigen::Vector2d(u, v)));
    }
  }
  return result;
}

Checkerboard checkerboard(const Context& context, const CheckerboardOptions& options) {
  options.validate();
  const double cell = options.cell;
  Eigen::Matrix3d upright;
  upright << cell, 0.0, (options.width - 1) / 2.0 - cell * options.columns / 2.0,  //
      0.0, cell, (options.height - 1) / 2.0 - cell * options.rows / 2.0,           //
      0.0, 0.0, 1.0;
  return checkerboard(context, options, options.homography * upright);
}

Eigen::Matrix3d tilted_view(int width, int height, double rotate_degrees,
                            double tilt_vertical_axis_degrees, double tilt_horizontal_axis_degrees,
                            double focal_px) {
  require(focal_px > 0.0 && std::isfinite(focal_px), "a focal length is larger than 0 pixels, not ",
          focal_px);
  const double degree = std::numbers::pi / 180.0;
  const Eigen::Matrix3d R =
      (Eigen::AngleAxisd(tilt_horizontal_axis_degrees * degree, Eigen::Vector3d::UnitX()) *
       Eigen::AngleAxisd(tilt_vertical_axis_degrees * degree, Eigen::Vector3d::UnitY()) *
       Eigen::AngleAxisd(rotate_degrees * degree, Eigen::Vector3d::UnitZ()))
          .toRotationMatrix();
  // The image is placed at depth focal_px, where it appears at its own size, and rotated about its
  // centre.
  Eigen::Matrix3d K, to_plane;
  K << focal_px, 0.0, (width - 1) / 2.0, 0.0, focal_px, (height - 1) / 2.0, 0.0, 0.0, 1.0;
  to_plane << 1.0, 0.0, -(width - 1) / 2.0, 0.0, 1.0, -(height - 1) / 2.0, 0.0, 0.0, 1.0;
  Eigen::Matrix3d place = Eigen::Matrix3d::Zero();
  place.col(0) = R.col(0);
  place.col(1) = R.col(1);
  place.col(2) = Eigen::Vector3d(0.0, 0.0, focal_px);
  const Eigen::Matrix3d H = K * place * to_plane;
  return H / H.norm();
}

}  // namespace cornea
