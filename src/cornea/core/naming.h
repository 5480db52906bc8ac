// SPDX-License-Identifier: Apache-2.0
// Prefixes error sentences with the name of what they are about.
#pragma once

#include <string>

namespace cornea::core {

// "NAME: SENTENCE", unless the sentence already begins with the name.
inline std::string naming(const std::string& name, const std::string& sentence) {
  const std::string front = name + ": ";
  return sentence.starts_with(front) ? sentence : front + sentence;
}

}  // namespace cornea::core
