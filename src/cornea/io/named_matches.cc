// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/named_matches.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <map>
#include <string_view>
#include <utility>

#include "cornea/core/error.h"
#include "cornea/core/lower_case.h"
#include "cornea/io/text_lines.h"

namespace cornea::io {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;
constexpr std::array<std::string_view, 4> kColumns = {"image1", "image2", "index1", "index2"};

class NamedMatchReader {
 public:
  NamedMatchReader(std::istream& in, const std::string& name)
      : lines_(in, name, kMostBytes), name_(name) {}

  std::vector<NamedMatches> read() {
    std::string_view line;
    if (!lines_.next_with_text(line)) {
      fail(ErrorCode::io, name_, ": is empty; it should list pairs of images and their matches");
    }
    if (names_columns(line)) {
      read_csv();
    } else {
      read_text(line);
    }
    for (NamedMatches& pair : pairs_) refuse_repeated(pair);
    return std::move(pairs_);
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(std::uint64_t line, const Parts&... parts) const {
    fail(ErrorCode::io, name_, ", line ", line, ": ", parts...);
  }

  // Whether the line names the columns; records their indices.
  bool names_columns(std::string_view line) {
    separator_ = separator_of(line);
    Cells cells;
    if (!split(line, separator_, cells)) return false;
    columns_ = cells.size();
    int found = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto it = std::find(kColumns.begin(), kColumns.end(), core::in_lower_case(cells[i]));
      if (it == kColumns.end()) continue;
      ++found;
      column_[std::size_t(it - kColumns.begin())] = i;
    }
    if (found == 0) return false;
    std::array<std::size_t, 4> places = column_;
    std::sort(places.begin(), places.end());
    if (found != 4 || std::adjacent_find(places.begin(), places.end()) != places.end()) {
      refuse(lines_.number(),
             "the columns image1, image2, index1 and index2 must each be named once");
    }
    return true;
  }

  void read_csv() {
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    Cells cells;
    std::string_view line;
    while (lines_.next_with_text(line)) {
      if (!split(line, separator_, cells) || cells.size() != columns_) {
        refuse(lines_.number(), "does not have the ", columns_, " columns of the first line");
      }
      std::string first = cells[column_[0]], second = cells[column_[1]];
      if (first.empty() || second.empty()) refuse(lines_.number(), "an image has no name");
      const auto [it, is_new] = known.try_emplace({first, second}, pairs_.size());
      if (is_new) {
        pairs_.push_back({"", std::move(first), std::move(second), lines_.number(), {}});
      }
      pairs_[it->second].matches.push_back(
          {index_of(cells[column_[2]]), index_of(cells[column_[3]]), lines_.number()});
    }
  }

  void read_text(std::string_view line) {
    bool begins = true;  // of a pair: the next line with text names its images
    do {
      const std::string_view words = trimmed(line, " \t\r");
      if (words.empty()) {
        begins = true;
      } else if (words.starts_with('#') && begins) {
        continue;
      } else if (begins) {
        pairs_.push_back({std::string(words), "", "", lines_.number(), {}});
        begins = false;
      } else {
        const std::size_t end = std::min(words.find_first_of(" \t"), words.size());
        const std::string_view second = trimmed(words.substr(end), " \t");
        if (second.empty() || second.find_first_of(" \t") != std::string_view::npos) {
          refuse(lines_.number(), "a match is two indices of features, not '", words.substr(0, 80),
                 words.find_first_of(",;") == std::string_view::npos
                     ? "'; a blank line is needed before the next pair of images"
                     : "'; the first line of a CSV names image1, image2, index1 and index2");
        }
        pairs_.back().matches.push_back(
            {index_of(words.substr(0, end)), index_of(second), lines_.number()});
      }
    } while (lines_.next(line));
  }

  std::uint32_t index_of(std::string_view word) const {
    std::uint32_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [read, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc() || read != end) {
      refuse(lines_.number(), "'", word.substr(0, 80),
             "' is not a feature index; feature indices are whole numbers from 0");
    }
    return value;
  }

  void refuse_repeated(NamedMatches& pair) const {
    std::vector<IndexMatch> sorted = pair.matches;
    auto key = [](const IndexMatch& m) { return std::pair(m.first, m.second); };
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
    const auto twice =
        std::adjacent_find(sorted.begin(), sorted.end(),
                           [&](const auto& a, const auto& b) { return key(a) == key(b); });
    if (twice == sorted.end()) return;
    refuse((twice + 1)->line, "the match ", twice->first, " ", twice->second,
           " is already in line ", twice->line, "; list each match once");
  }

  TextLines lines_;
  const std::string& name_;
  char separator_ = ',';
  std::size_t columns_ = 0;
  std::array<std::size_t, 4> column_ = {};  // in the order of kColumns
  std::vector<NamedMatches> pairs_;
};

}  // namespace

std::vector<NamedMatches> read_named_matches(std::istream& in, const std::string& name) {
  return NamedMatchReader(in, name).read();
}

}  // namespace cornea::io
