// Pairs of images in a COLMAP database: their ids, matches and two-view geometries.
#include <algorithm>

#include "cornea/core/error.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/layout.h"
#include "cornea/export/colmap/statement.h"

namespace cornea::colmap {
namespace {

std::optional<Matrix3> matrix_at(const Statement& row, int column, const char* what) {
  if (row.is_null(column)) return std::nullopt;
  const std::vector<double> values = row.blob<double>(column, 9, what);
  Matrix3 m;
  std::copy(values.begin(), values.end(), m.begin());
  return m;
}

// Pairs without a geometry that do not name two images, the lower id first; ?1 is kMostImages.
constexpr char kUnverifiable[] =
    " FROM matches WHERE pair_id NOT IN (SELECT pair_id FROM two_view_geometries) "
    "AND (pair_id / ?1 >= pair_id % ?1 OR pair_id / ?1 NOT IN (SELECT image_id FROM images) "
    "OR pair_id % ?1 NOT IN (SELECT image_id FROM images))";

}  // namespace

Id pair_id(ImagePair pair) {
  const auto [low, high] = std::minmax(pair.first, pair.second);
  require(is_image_id(low) && is_image_id(high), "ids of images are 0 to ", kMostImages - 1,
          ", not ", pair.first, " and ", pair.second);
  return kMostImages * low + high;
}

ImagePair pair_of(Id pair_id) { return {pair_id / kMostImages, pair_id % kMostImages}; }

std::vector<Id> Database::matched_pairs(Id first, Id last) const {
  std::vector<Id> all;
  Statement row(*this,
                "SELECT pair_id FROM matches WHERE pair_id BETWEEN ? AND ? ORDER BY pair_id");
  row.bind(first).bind(last);
  while (row.next()) all.push_back(row.integer(0));
  return all;
}

void Database::write_matches(ImagePair pair, std::span<const IndexPair> matches) {
  Statement(*this, "INSERT OR REPLACE INTO matches(pair_id, rows, cols, data) VALUES(?, ?, ?, ?)")
      .bind(pair_id(pair))
      .bind(std::int64_t(matches.size()))
      .bind(2)
      .bind_blob(matches)
      .run();
}

std::vector<IndexPair> Database::matches(Id pair_id) const {
  Statement row(*this, "SELECT rows, data FROM matches WHERE pair_id = ?");
  if (!row.bind(pair_id).next()) return {};
  return row.blob<IndexPair>(1, row.integer(0), "matches");
}

std::int64_t Database::unverified_count() const {
  Statement row(*this,
                "SELECT COUNT(*) FROM matches WHERE pair_id NOT IN "
                "(SELECT pair_id FROM two_view_geometries)");
  return row.next() ? row.integer(0) : 0;
}

std::int64_t Database::unverifiable_count() const {
  Statement row(*this, text("SELECT COUNT(*)", kUnverifiable).c_str());
  return row.bind(kMostImages).next() ? row.integer(0) : 0;
}

std::vector<Id> Database::unverifiable_pairs(int most) const {
  std::vector<Id> all;
  Statement row(*this, text("SELECT pair_id", kUnverifiable, " ORDER BY pair_id LIMIT ?2").c_str());
  row.bind(kMostImages).bind(most);
  while (row.next()) all.push_back(row.integer(0));
  return all;
}

std::vector<Id> Database::unverified_pairs(Id first, Id last) const {
  std::vector<Id> all;
  Statement row(*this,
                "SELECT m.pair_id FROM matches m LEFT JOIN two_view_geometries t "
                "ON m.pair_id = t.pair_id WHERE m.pair_id BETWEEN ? AND ? AND t.pair_id IS NULL "
                "ORDER BY m.pair_id");
  row.bind(first).bind(last);
  while (row.next()) all.push_back(row.integer(0));
  return all;
}

void Database::write_two_view(Id pair_id, const TwoViewRow& row) {
  Matrix3 f{}, h{};
  if (row.F) f = shifted_fundamental(*row.F, kShift);
  if (row.H) h = shifted_homography(*row.H, kShift);
  const std::size_t with_f = row.F ? 9 : 0, with_h = row.H ? 9 : 0;
  Statement(*this,
            "INSERT OR REPLACE INTO two_view_geometries(pair_id, rows, cols, data, config, F, E, "
            "H, qvec, tvec) VALUES(?, ?, ?, ?, ?, ?, NULL, ?, NULL, NULL)")
      .bind(pair_id)
      .bind(std::int64_t(row.inliers.size()))
      .bind(2)
      .bind_blob(std::span<const IndexPair>(row.inliers))
      .bind(int(row.configuration))
      .bind_blob(std::span<const double>(f.data(), with_f))
      .bind_blob(std::span<const double>(h.data(), with_h))
      .run();
}

std::optional<TwoViewRow> Database::two_view(Id pair_id) const {
  Statement row(*this,
                "SELECT rows, data, config, F, H FROM two_view_geometries WHERE pair_id = ?");
  if (!row.bind(pair_id).next()) return std::nullopt;
  TwoViewRow found;
  found.inliers = row.blob<IndexPair>(1, row.integer(0), "inlier matches");
  found.configuration = Configuration(row.integer(2));
  if (const auto f = matrix_at(row, 3, "F")) found.F = shifted_fundamental(*f, -kShift);
  if (const auto h = matrix_at(row, 4, "H")) found.H = shifted_homography(*h, -kShift);
  return found;
}

void Database::delete_pairs_of(Id image) {
  for (const char* sql :
       {"DELETE FROM matches WHERE pair_id BETWEEN ?1 * ?2 AND ?1 * ?2 + ?2 - 1",
        "DELETE FROM two_view_geometries WHERE pair_id BETWEEN ?1 * ?2 AND ?1 * ?2 + ?2 - 1",
        "DELETE FROM matches WHERE pair_id IN "
        "(SELECT image_id * ?2 + ?1 FROM images WHERE image_id >= 0 AND image_id < ?1)",
        "DELETE FROM two_view_geometries WHERE pair_id IN "
        "(SELECT image_id * ?2 + ?1 FROM images WHERE image_id >= 0 AND image_id < ?1)"}) {
    Statement(*this, sql).bind(image).bind(kMostImages).run();
  }
}

void Database::delete_pair(Id pair_id) {
  Statement(*this, "DELETE FROM matches WHERE pair_id = ?").bind(pair_id).run();
  Statement(*this, "DELETE FROM two_view_geometries WHERE pair_id = ?").bind(pair_id).run();
}

void Database::delete_two_views_of_matches() {
  // What cannot be made again stays: pairs that do not name two images, matches that cannot be
  // read.
  Statement(*this,
            "DELETE FROM two_view_geometries WHERE pair_id IN (SELECT pair_id FROM matches WHERE "
            "pair_id / ?1 < pair_id % ?1 AND pair_id / ?1 IN (SELECT image_id FROM images) AND "
            "pair_id % ?1 IN (SELECT image_id FROM images) AND "
            "IFNULL(LENGTH(data), 0) = rows * 8)")
      .bind(kMostImages)
      .run();
}

}  // namespace cornea::colmap
