// SPDX-License-Identifier: Apache-2.0
// How the tables of detectors, filters and estimators list options: each options struct has one
// function
//
//   template <class Visitor> void visit(XOptions& o, Visitor& v) { v("name", o.member, "help"); ..
//   }
//
// and the two visitors here describe it or read values into it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "cornea/catalog/settings.h"
#include "cornea/core/context.h"
#include "cornea/core/error.h"

namespace cornea::catalog {

// The values of an enumeration, as spelled on the command line.
template <class E>
struct Choice {
  E value;
  const char* name;
};

// The shortest text that is read back as the same number.
inline std::string exact_text(double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, end};
}

class DescribeOptions {
 public:
  std::vector<Flag> flags;

  void operator()(const char* name, double value, const char* help) {
    flags.push_back({name, help, Flag::Kind::number, exact_text(value), {}});
  }
  void operator()(const char* name, const std::vector<double>& values, const char* help) {
    std::string list;
    for (double value : values) list += text(list.empty() ? "" : ",", exact_text(value));
    flags.push_back({name, help, Flag::Kind::numbers, list, {}});
  }
  void operator()(const char* name, int value, const char* help) {
    flags.push_back({name, help, Flag::Kind::integer, text(value), {}});
  }
  void operator()(const char* name, std::uint64_t value, const char* help) {
    flags.push_back({name, help, Flag::Kind::integer, text(value), {}});
  }
  void operator()(const char* name, bool value, const char* help) {
    flags.push_back({name, help, Flag::Kind::on_off, value ? "yes" : "no", {}});
  }
  template <class E, std::size_t n>
  void operator()(const char* name, E value, const char* help, const Choice<E> (&choices)[n]) {
    Flag flag{name, help, Flag::Kind::choice, "", {}};
    for (const Choice<E>& choice : choices) {
      flag.choices.push_back(choice.name);
      if (choice.value == value) flag.default_text = choice.name;
    }
    flags.push_back(std::move(flag));
  }
};

// The name in error sentences: max_points for the flag max-points.
inline std::string option_name(std::string flag) {
  std::replace(flag.begin(), flag.end(), '-', '_');
  return flag;
}

class ReadOptionValues {
 public:
  explicit ReadOptionValues(const Settings& settings) : settings_(settings) {}

  void operator()(const char* name, double& value, const char*) { number(name, value); }
  void operator()(const char* name, int& value, const char*) { number(name, value); }
  void operator()(const char* name, std::uint64_t& value, const char*) { number(name, value); }
  void operator()(const char* name, std::vector<double>& values, const char*) {
    const std::string* given = find(name);
    if (!given) return;
    values.clear();
    for (std::size_t begin = 0; begin <= given->size();) {
      const std::size_t end = std::min(given->find(',', begin), given->size());
      values.push_back(parse<double>(name, given->substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  void operator()(const char* name, bool& value, const char*) {
    const std::string* given = find(name);
    if (!given) return;
    require(*given == "yes" || *given == "no", option_name(name), " is yes or no, not '", *given,
            "'");
    value = *given == "yes";
  }
  template <class E, std::size_t n>
  void operator()(const char* name, E& value, const char*, const Choice<E> (&choices)[n]) {
    const std::string* given = find(name);
    if (!given) return;
    std::string known;
    for (const Choice<E>& choice : choices) {
      if (*given == choice.name) {
        value = choice.value;
        return;
      }
      known += text(known.empty() ? "" : ", ", choice.name);
    }
    fail(ErrorCode::invalid_argument, option_name(name), " is one of ", known, ", not '", *given,
         "'");
  }

  // Call it after the visit: settings that belong to no option are an error.
  void check_all_used(const std::string& owner) const {
    for (const auto& [name, value] : settings_) {
      require(used_.count(name) > 0, owner, " has no option ", option_name(name));
    }
  }

 private:
  const std::string* find(const char* name) {
    used_.insert(name);
    const auto it = settings_.find(name);
    return it == settings_.end() ? nullptr : &it->second;
  }
  template <class N>
  void number(const char* name, N& value) {
    const std::string* given = find(name);
    if (given) value = parse<N>(name, *given);
  }
  template <class N>
  static N parse(const char* name, const std::string& given) {
    N value{};
    const char* end = given.data() + given.size();
    const auto [stop, error] = std::from_chars(given.data(), end, value);
    require(error == std::errc() && stop == end, option_name(name), " takes ",
            std::is_integral_v<N> ? "a whole number" : "a number", ", not '", given, "'");
    return value;
  }

  const Settings& settings_;
  std::set<std::string> used_;
};

// An entry of a table: `Made` takes a context and its options, which visit(options, visitor) lists.
template <class Entry, class Base, class Made, class Options, class Visit>
Entry options_entry(const char* kind, const char* name, const char* summary, const char* source,
                    Visit visit) {
  Options defaults;
  DescribeOptions describe;
  visit(defaults, describe);
  auto make = [=](const Context& context, const Settings& settings) -> std::unique_ptr<Base> {
    Options options;
    ReadOptionValues read(settings);
    visit(options, read);
    read.check_all_used(text("the ", kind, " ", name));
    return std::make_unique<Made>(context, options);
  };
  return {name, summary, source, std::move(describe.flags), make};
}

// The entry with this name; an unknown name is an error that lists the known ones.
template <class Entry>
const Entry& find_entry(const std::vector<Entry>& table, const char* kind,
                        const std::string& name) {
  std::string known;
  for (const Entry& entry : table) {
    if (entry.name == name) return entry;
    known += text(known.empty() ? "" : ", ", entry.name);
  }
  fail(ErrorCode::invalid_argument, "no ", kind, " is called '", name, "'; there are ", known);
}

}  // namespace cornea::catalog
