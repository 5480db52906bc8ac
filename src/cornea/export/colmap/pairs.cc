// Matches of a COLMAP database, and which of them have a geometry.
#include "cornea/core/error.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/statement.h"

namespace cornea::colmap {
namespace {

// Pairs without a geometry that do not name two images, the lower id first; ?1 is kMostImages.
constexpr char kUnverifiable[] =
    " FROM matches WHERE pair_id NOT IN (SELECT pair_id FROM two_view_geometries) "
    "AND (pair_id / ?1 >= pair_id % ?1 OR pair_id / ?1 NOT IN (SELECT image_id FROM images) "
    "OR pair_id % ?1 NOT IN (SELECT image_id FROM images))";

}  // namespace

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

}  // namespace cornea::colmap
