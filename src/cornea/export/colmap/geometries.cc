// SPDX-License-Identifier: Apache-2.0
// Two-view geometries of a COLMAP database.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "cornea/core/error.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/layout.h"
#include "cornea/export/colmap/rotation.h"
#include "cornea/export/colmap/statement.h"

namespace cornea::colmap {
namespace {

// Columns that only some versions of COLMAP have, in the order in which two_view() reads them.
constexpr const char* kColumns[] = {"F", "E", "H", "qvec", "tvec", "camera1", "camera2"};

template <std::size_t N>
std::optional<std::array<double, N>> numbers_at(const Statement& row, int column,
                                                const char* what) {
  if (row.bytes(column).empty()) return std::nullopt;
  const std::vector<double> values = row.blob<double>(column, std::int64_t(N), what);
  std::array<double, N> all = {};
  std::copy(values.begin(), values.end(), all.begin());
  return all;
}

// A camera in one blob: camera_id and model (4 bytes each), width and height (8 each),
// prior_focal_length (1), the number of parameters (8), and the parameters.
constexpr std::size_t kCameraHead = 4 + 4 + 8 + 8 + 1 + 8;

std::vector<std::uint8_t> bytes_of(const Camera& camera) {
  std::vector<std::uint8_t> bytes(kCameraHead + camera.params.size() * sizeof(double));
  std::size_t at = 0;
  auto put = [&](const auto& value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
    at += sizeof value;
  };
  put(std::uint32_t(camera.id)), put(std::int32_t(camera.model));
  put(std::uint64_t(camera.width)), put(std::uint64_t(camera.height));
  put(std::uint8_t(camera.prior_focal_length));
  put(std::uint64_t(camera.params.size()));
  for (const double value : camera.params) put(value);
  return bytes;
}

std::optional<Camera> camera_at(const Statement& row, int column) {
  const std::span<const std::uint8_t> bytes = row.bytes(column);
  if (bytes.empty()) return std::nullopt;
  std::size_t at = 0;
  auto take = [&]<class T>(T& value) {
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
  };
  std::uint32_t id = 0;
  std::int32_t model = 0;
  std::uint64_t width = 0, height = 0, count = 0;
  std::uint8_t prior = 0;
  if (bytes.size() >= kCameraHead) {
    take(id), take(model), take(width), take(height), take(prior), take(count);
  }
  constexpr auto kMost = std::uint64_t(std::numeric_limits<int>::max());
  if (bytes.size() < kCameraHead || (bytes.size() - kCameraHead) % sizeof(double) != 0 ||
      count != (bytes.size() - kCameraHead) / sizeof(double) || width > kMost || height > kMost) {
    throw DamagedRow(
        text("a camera of ", bytes.size(), " bytes in a two-view geometry is invalid"));
  }
  Camera camera{Id(id), model, int(width), int(height), std::vector<double>(count), prior != 0};
  if (count > 0) std::memcpy(camera.params.data(), bytes.data() + at, count * sizeof(double));
  return camera;
}

}  // namespace

void Database::find_two_view_columns() {
  two_view_columns_.clear();
  Statement row(*this, "SELECT name FROM pragma_table_info('two_view_geometries')");
  while (row.next()) {
    const std::string name = row.text(0);
    if (std::find(std::begin(kColumns), std::end(kColumns), name) != std::end(kColumns)) {
      two_view_columns_.push_back(name);
    }
  }
}

void Database::write_two_view(Id pair_id, const TwoViewRow& row) {
  const bool posed = row.R && row.t;
  Matrix3 f{}, h{};
  const Matrix3 e = row.E.value_or(Matrix3{});
  std::array<double, 4> q{};
  const std::array<double, 3> t = row.t.value_or(std::array<double, 3>{});
  if (row.F) f = shifted_fundamental(*row.F, kShift);
  if (row.H) h = shifted_homography(*row.H, kShift);
  if (posed) q = quaternion_of(*row.R);
  const auto camera1 = row.camera1 ? bytes_of(*row.camera1) : std::vector<std::uint8_t>();
  const auto camera2 = row.camera2 ? bytes_of(*row.camera2) : std::vector<std::uint8_t>();

  std::string names = "pair_id, rows, cols, data, config", places = "?, ?, ?, ?, ?";
  for (const std::string& column : two_view_columns_) {
    names += ", " + column;
    places += ", ?";
  }
  Statement insert(
      *this,
      text("INSERT OR REPLACE INTO two_view_geometries(", names, ") VALUES(", places, ")").c_str());
  insert.bind(pair_id)
      .bind(std::int64_t(row.inliers.size()))
      .bind(2)
      .bind_blob(std::span<const IndexPair>(row.inliers))
      .bind(int(row.configuration));
  auto bind = [&](const auto& values, bool is_set) {
    insert.bind_blob(std::span<const double>(values.data(), is_set ? values.size() : 0));
  };
  for (const std::string& column : two_view_columns_) {
    if (column == "F") bind(f, row.F.has_value());
    if (column == "E") bind(e, row.E.has_value());
    if (column == "H") bind(h, row.H.has_value());
    if (column == "qvec") bind(q, posed);
    if (column == "tvec") bind(t, posed);
    if (column == "camera1") insert.bind_blob(std::span<const std::uint8_t>(camera1));
    if (column == "camera2") insert.bind_blob(std::span<const std::uint8_t>(camera2));
  }
  insert.run();
}

std::optional<TwoViewRow> Database::two_view(Id pair_id) const {
  std::string columns = "rows, data, config";
  for (const char* column : kColumns) {
    const bool there = std::find(two_view_columns_.begin(), two_view_columns_.end(), column) !=
                       two_view_columns_.end();
    columns += text(", ", there ? column : "NULL");
  }
  Statement row(*this,
                text("SELECT ", columns, " FROM two_view_geometries WHERE pair_id = ?").c_str());
  if (!row.bind(pair_id).next()) return std::nullopt;
  TwoViewRow found;
  found.inliers = row.blob<IndexPair>(1, row.integer(0), "inlier matches");
  found.configuration = Configuration(row.integer(2));
  if (const auto f = numbers_at<9>(row, 3, "F")) found.F = shifted_fundamental(*f, -kShift);
  found.E = numbers_at<9>(row, 4, "E");
  if (const auto h = numbers_at<9>(row, 5, "H")) found.H = shifted_homography(*h, -kShift);
  const auto q = numbers_at<4>(row, 6, "qvec");
  const auto t = numbers_at<3>(row, 7, "tvec");
  if (q && t && *q != std::array<double, 4>{}) {
    found.R = rotation_of(*q);
    found.t = t;
  }
  found.camera1 = camera_at(row, 8);
  found.camera2 = camera_at(row, 9);
  return found;
}

}  // namespace cornea::colmap
