// SPDX-License-Identifier: Apache-2.0
// Options of detectors, filters and estimators as front ends show and set them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cornea {

// One option as a front end shows it.
struct Flag {
  enum class Kind { number, integer, on_off, choice, numbers };
  std::string name = {};  // "max-points"
  std::string help = {};  // including the unit
  Kind kind = Kind::number;
  std::string default_text = {};
  std::vector<std::string> choices = {};  // for Kind::choice
};

// Values as text, by flag name; options that are missing keep their defaults.
using Settings = std::map<std::string, std::string>;

}  // namespace cornea
