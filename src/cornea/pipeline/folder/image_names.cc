// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/image_names.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cornea::folder {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::vector<colmap::ImageRow> possible_rows(const colmap::Database& database) {
  std::vector<std::string> refused;  // rows with impossible ids, which match_all() reports
  return database.images(&refused);
}

}  // namespace

ImageNames::ImageNames(const colmap::Database& database) : ImageNames(possible_rows(database)) {}

ImageNames::ImageNames(std::vector<colmap::ImageRow> rows) {
  for (colmap::ImageRow& row : rows) {
    longest_ = std::max(longest_, row.name.size());
    ids_[std::move(row.name)] = row.id;
  }
}

std::optional<colmap::Id> ImageNames::id_of(const std::string& name) const {
  const auto it = ids_.find(name);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

std::vector<colmap::ImagePair> ImageNames::ways_to_split(std::string_view line) const {
  std::vector<colmap::ImagePair> ways;
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  for (std::size_t end = 1; end < line.size() && end <= longest_; ++end) {
    if (!is_space(line[end]) || is_space(line[end - 1])) continue;
    const std::string_view second = line.substr(line.find_first_not_of(" \t", end));
    if (second.size() > longest_) continue;
    const auto a = id_of(std::string(line.substr(0, end))), b = id_of(std::string(second));
    if (a && b) ways.push_back({*a, *b});
  }
  return ways;
}

}  // namespace cornea::folder
