// SPDX-License-Identifier: Apache-2.0
// import_matches of import.h.
#include <algorithm>
#include <istream>
#include <map>
#include <unordered_map>

#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/io/named_matches.h"
#include "cornea/pipeline/folder/image_names.h"
#include "cornea/pipeline/folder/import.h"

namespace cornea {
namespace {

using colmap::Database;
using colmap::Id;
using colmap::ImagePair;
using colmap::IndexPair;

class MatchImport {
 public:
  MatchImport(const Database& database, const std::string& name) : name_(name), names_(database) {
    std::vector<std::string> refused;  // damaged rows have no features here
    for (const auto& [image, count] : database.point_counts(&refused)) counts_[image] = count;
  }

  // Stores the pair with the lower id first, with its matches in that order.
  void add(const io::NamedMatches& given) {
    ImagePair pair = pair_of(given);
    const bool swapped = pair.first > pair.second;
    if (swapped) std::swap(pair.first, pair.second);
    std::vector<IndexPair> matches;
    matches.reserve(given.matches.size());
    for (const io::IndexMatch& match : given.matches) {
      const IndexPair indices =
          swapped ? IndexPair{match.second, match.first} : IndexPair{match.first, match.second};
      check_index(pair.first, indices.first, match.line);
      check_index(pair.second, indices.second, match.line);
      matches.push_back(indices);
    }
    const auto [it, is_new] = lines_.try_emplace(pair, given.line);
    if (!is_new) {
      refuse(given.line, "this pair of images is already given in line ", it->second,
             "; give all of its matches there");
    }
    pairs.emplace_back(pair, std::move(matches));
  }

  std::vector<std::pair<ImagePair, std::vector<IndexPair>>> pairs;

 private:
  template <class... Parts>
  [[noreturn]] void refuse(std::uint64_t line, const Parts&... parts) const {
    fail(ErrorCode::io, name_, ", line ", line, ": ", parts..., "; no match was written");
  }

  Id named(const std::string& name, std::uint64_t line) const {
    const std::optional<Id> id = names_.id_of(name);
    if (!id) refuse(line, "the database has no image '", name.substr(0, 200), "'");
    return *id;
  }

  ImagePair pair_of(const io::NamedMatches& given) const {
    ImagePair pair;
    if (given.names.empty()) {
      pair = {named(given.first, given.line), named(given.second, given.line)};
    } else {
      const std::vector<ImagePair> ways = names_.ways_to_split(given.names);
      if (ways.size() != 1) {
        refuse(given.line, "'", given.names.substr(0, 200), "' ",
               ways.empty() ? "does not name two images of the database"
                            : "names two images in more than one way; give the matches as CSV");
      }
      pair = ways.front();
    }
    if (pair.first == pair.second) refuse(given.line, "an image is matched with itself");
    for (const Id image : {pair.first, pair.second}) {
      if (!counts_.contains(image)) {
        refuse(given.line, "image ", image, " has no features yet; import or extract them first");
      }
    }
    return pair;
  }

  void check_index(Id image, std::uint32_t index, std::uint64_t line) const {
    const int count = counts_.at(image);
    if (index < std::uint32_t(count)) return;
    refuse(line, "there is no feature ", index, " of image ", image, ", which has ", count,
           ", counted from 0");
  }

  const std::string& name_;
  const folder::ImageNames names_;
  std::unordered_map<Id, int> counts_;  // number of features by image
  std::map<ImagePair, std::uint64_t> lines_;
};

}  // namespace

ImportReport import_matches(Database& database, std::istream& in, const std::string& name,
                            bool redo) {
  const core::Stopwatch watch;
  const std::vector<io::NamedMatches> given = io::read_named_matches(in, name);
  ImportReport report;
  report.pairs = std::int64_t(given.size());
  // Within the transaction no other process can change the features that were counted.
  Database::Transaction transaction(database);
  MatchImport import(database, name);
  for (const io::NamedMatches& pair : given) import.add(pair);
  for (const auto& [pair, matches] : import.pairs) {
    const Id id = colmap::pair_id(pair);
    const bool matched = !database.matched_pairs(id, id).empty();
    const bool again = matched || database.two_view(id).has_value();
    if (matched && database.matches(id) == matches) {
      ++report.matched_skipped;
      continue;
    }
    if (again && !redo) {
      fail(ErrorCode::io, database.file(), ": images ", pair.first, " and ", pair.second,
           matched ? " have other matches" : " have a geometry",
           " already, and no match was written; the option redo replaces them and deletes their "
           "geometry");
    }
    database.delete_pair(id);
    database.write_matches(pair, matches);
    ++report.matched;
    report.matched_redone += again;
    report.matches += matches.size();
  }
  transaction.commit();
  report.milliseconds = watch.milliseconds();
  return report;
}

}  // namespace cornea
