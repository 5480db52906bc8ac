// Whether this machine gives Cornea's answers to the bit: hashes of what detectors, filters, SIFT,
// matching, retrieval and geometry make of generated images, beside those that were recorded. They
// are the same for every compiler, instruction set, number of threads and GPU.
//
// The images and correspondences are made of whole numbers, so that they do not differ either.
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
  std::string what = {};  // "412 corners"

  bool equal() const { return recorded == found; }
};

// Calls `progress`, where there is one, before each row. An error of a row is the call's.
CORNEA_API std::vector<CertificateRow> certify(
    const Context& context, const std::function<void(const std::string& name)>& progress = {});

}  // namespace cornea
