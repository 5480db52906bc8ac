// Sentences of errors that name what they are about.
#pragma once

#include <string>

namespace cornea::core {

// "NAME: SENTENCE", where the sentence does not begin so already.
inline std::string naming(const std::string& name, const std::string& sentence) {
  const std::string front = name + ": ";
  return sentence.starts_with(front) ? sentence : front + sentence;
}

}  // namespace cornea::core
