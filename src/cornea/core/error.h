// SPDX-License-Identifier: Apache-2.0
// Errors: a code for programs and a sentence for people, which names the problem and the way out.
#pragma once

#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cornea/core/export.h"

namespace cornea {

enum class ErrorCode {
  invalid_argument,    // the caller can fix the call
  unsupported,         // a valid request that this build or this file format cannot serve
  io,                  // a file is missing, unreadable, truncated or inconsistent
  device_unavailable,  // CUDA was requested but is not available
  out_of_memory,       // the sentence says how much was needed and for what
  cuda,                // the CUDA runtime reported a failure
  internal             // a defect in Cornea
};

CORNEA_API std::string_view name(ErrorCode code);

class CORNEA_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// Concatenates its arguments as an output stream would: text("at most ", 15, " pixels").
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());  // files and databases hold such texts, too
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw Error(code, text(parts...));
}

// Throws invalid_argument with the sentence made of `parts` unless `condition` holds.
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) fail(ErrorCode::invalid_argument, parts...);
}

}  // namespace cornea
