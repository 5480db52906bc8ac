// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/sequences.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

#include "cornea/core/lower_case.h"

namespace cornea::folder {
namespace {

// Two images do not show a regular step.
constexpr std::size_t kLeastImages = 3;
constexpr std::int64_t kLongestPause = std::int64_t{60} * 1000000;  // microseconds

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "a/frame_0010.JPG" is number 10 of the sequence with prefix "a/frame_" and ending ".jpg".
struct NumberedName {
  std::string prefix, ending;
  std::int64_t number = 0;
};

std::optional<NumberedName> numbered(const std::string& name) {
  const std::size_t folder = name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1;
  std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot < folder) dot = name.size();
  std::size_t begin = dot;
  while (begin > folder && is_digit(name[begin - 1])) --begin;
  NumberedName found{name.substr(0, begin), core::in_lower_case(name.substr(dot)), 0};
  const char *from = name.data() + begin, *to = name.data() + dot;
  const auto read = std::from_chars(from, to, found.number);
  if (from == to || read.ec != std::errc()) return std::nullopt;
  return found;
}

struct Member {
  std::int64_t number = 0;
  int image = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Member&, const Member&) = default;
};

// The most frequent step from one number to the next (ties: the smallest) if at least half of the
// steps are equal to it; otherwise 0.
std::int64_t usual_step(const std::vector<Member>& members) {
  std::map<std::int64_t, std::size_t> counts;
  for (std::size_t i = 1; i < members.size(); ++i) {
    ++counts[members[i].number - members[i - 1].number];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool usual = most != counts.end() && 2 * most->second >= members.size() - 1;
  return usual ? most->first : 0;
}

void add_neighbours(const std::vector<Member>& members, int overlap,
                    std::int64_t largest_difference, std::vector<Neighbours>& all) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = i + 1; j < members.size() && j - i <= std::size_t(overlap); ++j) {
      if (members[j].number - members[i].number > largest_difference) break;
      all.push_back({std::min(members[i].image, members[j].image),
                     std::max(members[i].image, members[j].image)});
    }
  }
}

std::vector<Neighbours> in_order(std::vector<Neighbours> all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

std::vector<Neighbours> neighbours_by_name(const std::vector<std::string>& names, int overlap) {
  std::map<std::pair<std::string, std::string>, std::vector<Member>> groups;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto name = numbered(names[i]);
    if (name) groups[{name->prefix, name->ending}].push_back({name->number, int(i)});
  }
  std::vector<Neighbours> all;
  for (auto& [key, members] : groups) {
    if (members.size() < kLeastImages) continue;
    std::sort(members.begin(), members.end());
    const std::int64_t step = usual_step(members);
    std::int64_t largest = 0;
    if (step <= 0) continue;  // 0 for "a1.jpg" beside "a01.jpg"
    if (__builtin_mul_overflow(step, std::int64_t(overlap), &largest)) largest = INT64_MAX;
    add_neighbours(members, overlap, largest, all);
  }
  return in_order(std::move(all));
}

std::vector<Neighbours> neighbours_by_time(const std::vector<Taken>& images, int overlap) {
  std::map<std::string, std::vector<Member>> groups;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (images[i].microseconds) {
      groups[images[i].camera].push_back({*images[i].microseconds, int(i)});
    }
  }
  std::vector<Neighbours> all;
  for (auto& [camera, members] : groups) {
    std::sort(members.begin(), members.end());
    for (std::size_t begin = 0; begin < members.size();) {
      std::size_t end = begin + 1;
      while (end < members.size() &&
             members[end].number - members[end - 1].number <= kLongestPause) {
        ++end;
      }
      if (end - begin >= kLeastImages) {
        add_neighbours(
            {members.begin() + std::ptrdiff_t(begin), members.begin() + std::ptrdiff_t(end)},
            overlap, INT64_MAX, all);
      }
      begin = end;
    }
  }
  return in_order(std::move(all));
}

std::optional<std::int64_t> microseconds_of(const std::string& taken) {
  using namespace std::chrono;
  int y = 0, month = 0, d = 0, hour = 0, minute = 0, second = 0;
  constexpr std::size_t kSeconds = 19;  // length of the text up to the seconds
  if (taken.size() < kSeconds || std::sscanf(taken.c_str(), "%4d-%2d-%2d %2d:%2d:%2d", &y, &month,
                                             &d, &hour, &minute, &second) != 6) {
    return std::nullopt;
  }
  const year_month_day date{year(y), std::chrono::month(unsigned(month)), day(unsigned(d))};
  if (!date.ok()) return std::nullopt;
  std::int64_t part = 0, place = 100000;
  for (std::size_t i = kSeconds + 1; i < taken.size() && is_digit(taken[i]); ++i, place /= 10) {
    part += (taken[i] - '0') * place;
  }
  const std::int64_t days = sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60000000 + second * std::int64_t{1000000} + part;
}

}  // namespace cornea::folder
