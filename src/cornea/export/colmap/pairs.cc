// SPDX-License-Identifier: Apache-2.0
// Pairs of images in a COLMAP database: their ids, their matches, and which of them have a
// geometry.
#include <algorithm>

#include "cornea/core/error.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/layout.h"
#include "cornea/export/colmap/statement.h"

namespace cornea::colmap {
namespace {

// Pairs without a geometry that do not name two images with the lower id first; ?1 is kMostImages.
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
  std::vector<IndexPair> exchanged;
  if (pair.first > pair.second) {
    for (const IndexPair& match : matches) exchanged.push_back({match.second, match.first});
    matches = exchanged;
  }
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

std::vector<Database::PairSummary> Database::pair_summaries() const {
  std::vector<PairSummary> matched, verified, all;
  Statement match(*this, "SELECT pair_id, rows FROM matches ORDER BY pair_id");
  while (match.next()) {
    matched.push_back({match.integer(0), match.integer(1), 0, Configuration::undefined});
  }
  Statement row(*this, "SELECT pair_id, rows, config FROM two_view_geometries ORDER BY pair_id");
  while (row.next()) {
    verified.push_back({row.integer(0), 0, row.integer(1), Configuration(row.integer(2))});
  }
  all.reserve(std::max(matched.size(), verified.size()));
  auto next = verified.begin();
  for (PairSummary& pair : matched) {
    while (next != verified.end() && next->pair < pair.pair) all.push_back(*next++);
    if (next != verified.end() && next->pair == pair.pair) {
      pair.inliers = next->inliers;
      pair.configuration = next->configuration;
      ++next;
    }
    all.push_back(pair);
  }
  all.insert(all.end(), next, verified.end());
  return all;
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
  // Geometries that could not be made again are kept: those of pairs that do not name two images or
  // whose matches cannot be read.
  Statement(*this,
            "DELETE FROM two_view_geometries WHERE pair_id IN (SELECT pair_id FROM matches WHERE "
            "pair_id / ?1 < pair_id % ?1 AND pair_id / ?1 IN (SELECT image_id FROM images) AND "
            "pair_id % ?1 IN (SELECT image_id FROM images) AND "
            "IFNULL(LENGTH(data), 0) = rows * 8)")
      .bind(kMostImages)
      .run();
}

void Database::delete_all_pairs() {
  run("DELETE FROM matches");
  run("DELETE FROM two_view_geometries");
  forget_options_of_step("match");
  forget_options_of_step("verify");
}

}  // namespace cornea::colmap
