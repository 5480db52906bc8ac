// SPDX-License-Identifier: Apache-2.0
// Checks that this machine reproduces Cornea's results to the bit: the results of detectors,
// filters, SIFT, matching, retrieval and geometry on generated images are hashed and compared with
// recorded hashes. The hashes are the same for every compiler, instruction set, number of threads
// and GPU.
//
// The images are computed in integers and the correspondences by operations that every machine
// rounds alike, so that the inputs are equal everywhere too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"

namespace cornea {

struct CertificateRow {
  std::string name = {};  // "foagdd, texture"
  std::uint64_t recorded = 0, found = 0;
  std::string what = {};  // the size of the result: "412 corners"

  bool equal() const { return recorded == found; }
};

// Calls `progress`, if given, before each row. An error in a row is thrown by this call.
CORNEA_API std::vector<CertificateRow> certify(
    const Context& context, const std::function<void(const std::string& name)>& progress = {});

}  // namespace cornea
