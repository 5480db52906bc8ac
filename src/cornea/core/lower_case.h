// SPDX-License-Identifier: Apache-2.0
// Converts ASCII letters to lower case; all other characters are unchanged, whatever the locale.
#pragma once

#include <string>

namespace cornea::core {

inline std::string in_lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace cornea::core
