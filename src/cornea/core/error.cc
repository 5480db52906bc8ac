// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/error.h"

namespace cornea {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::io:
      return "io";
    case ErrorCode::device_unavailable:
      return "device_unavailable";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::cuda:
      return "cuda";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace cornea
