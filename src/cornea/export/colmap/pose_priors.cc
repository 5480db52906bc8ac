// SPDX-License-Identifier: Apache-2.0
// Pose priors of a COLMAP database: one row per image since 3.10, with another layout since 4.0.
//
//   3.10         image_id, position, coordinate_system
//   3.11 - 3.13  also position_covariance
//   4.x          pose_prior_id, corr_data_id (the image), corr_sensor_id (its camera),
//                corr_sensor_type, position, position_covariance, gravity, coordinate_system
//
// Positions and gravity are 3 doubles, the covariance 9; unknown values are NaN, as in COLMAP.
#include <array>
#include <limits>

#include "cornea/core/error.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/layout.h"
#include "cornea/export/colmap/statement.h"

namespace cornea::colmap {
namespace {

constexpr int kUndefined = -1, kWgs84 = 0, kCartesian = 1;  // coordinate_system

template <std::size_t N>
std::array<double, N> unknown() {
  std::array<double, N> all;
  all.fill(std::numeric_limits<double>::quiet_NaN());
  return all;
}

constexpr char kHasImageId[] =
    "SELECT 1 FROM pragma_table_info('pose_priors') WHERE name = 'image_id'";
constexpr char kHasOwnId[] =
    "SELECT 1 FROM pragma_table_info('pose_priors') WHERE name = 'corr_data_id'";

// Whether a user provided the prior, in Cartesian coordinates.
bool is_given(const Database& database, Id image, bool with_own_id) {
  Statement row(database, with_own_id
                              ? "SELECT corr_sensor_type FROM pose_priors WHERE corr_data_id = ? "
                                "AND coordinate_system = ?"
                              : "SELECT 0 FROM pose_priors WHERE image_id = ? "
                                "AND coordinate_system = ?");
  row.bind(image).bind(kCartesian);
  while (row.next()) {
    if (row.integer(0) == kCameraSensor) return true;
  }
  return false;
}

}  // namespace

bool Database::has_pose_priors() const { return finds(kHasImageId) || finds(kHasOwnId); }

void Database::delete_pose_prior(Id image) {
  if (finds(kHasImageId)) {
    Statement(*this, "DELETE FROM pose_priors WHERE image_id = ?").bind(image).run();
  } else if (finds(kHasOwnId)) {
    Statement(*this, "DELETE FROM pose_priors WHERE corr_data_id = ? AND corr_sensor_type = ?")
        .bind(image)
        .bind(kCameraSensor)
        .run();
  }
}

bool Database::write_pose_prior(Id image, const PosePrior& prior) {
  const bool with_own_id = finds(kHasOwnId);
  if (!with_own_id && !finds(kHasImageId)) return false;
  if (is_given(*this, image, with_own_id)) return false;
  delete_pose_prior(image);
  const bool is_worth_a_row = prior.position || (with_own_id && prior.gravity);
  if (!is_worth_a_row) return false;
  const std::array<double, 3> position = prior.position.value_or(unknown<3>());
  const std::array<double, 3> gravity = prior.gravity.value_or(unknown<3>());
  const std::array<double, 9> covariance = unknown<9>();
  const int system = prior.position ? kWgs84 : kUndefined;
  if (with_own_id) {
    Statement(*this,
              "INSERT INTO pose_priors(corr_data_id, corr_sensor_id, corr_sensor_type, position, "
              "position_covariance, gravity, coordinate_system) SELECT image_id, camera_id, ?, ?, "
              "?, ?, ? FROM images WHERE image_id = ?")
        .bind(kCameraSensor)
        .bind_blob(std::span<const double>(position))
        .bind_blob(std::span<const double>(covariance))
        .bind_blob(std::span<const double>(gravity))
        .bind(system)
        .bind(image)
        .run();
    return true;
  }
  const bool has_covariance =
      finds("SELECT 1 FROM pragma_table_info('pose_priors') WHERE name = 'position_covariance'");
  Statement insert(*this, has_covariance
                              ? "INSERT INTO pose_priors(image_id, position, coordinate_system, "
                                "position_covariance) VALUES(?, ?, ?, ?)"
                              : "INSERT INTO pose_priors(image_id, position, coordinate_system) "
                                "VALUES(?, ?, ?)");
  insert.bind(image).bind_blob(std::span<const double>(position)).bind(system);
  if (has_covariance) insert.bind_blob(std::span<const double>(covariance));
  insert.run();
  return true;
}

}  // namespace cornea::colmap
