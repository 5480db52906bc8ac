// SPDX-License-Identifier: Apache-2.0
// The descriptors of an image, aggregated to one binary vector per visual word (ASMK*).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cornea/retrieve/retrieve_math.h"

namespace cornea::retrieve {

struct Code {
  std::uint64_t bits[2];  // sign k is bit k % 64 of bits[k / 64]; set: positive
  friend bool operator==(const Code&, const Code&) = default;
};

// The words of an image in ascending order, and the code of each.
struct ImageCodes {
  std::vector<std::uint32_t> words;
  std::vector<Code> codes;
};

// Rotates `residual` by T = H D in place. D changes signs that are drawn once, and H is the
// Hadamard matrix, H_jk = (-1)^(number of common bits of j and k). Components of SIFT descriptors
// are often 0 and rarely large, so that most residuals are negative and their signs carry little
// information; a signed sum over all components is positive or negative equally often. Sums are
// exact.
void rotate(std::int64_t residual[kLength]);

// Codes of an image from its descriptors (kLength bytes each) and the index of each one's word in
// `centroids`.
ImageCodes codes_of_image(const std::uint8_t* descriptors, std::span<const std::uint32_t> words,
                          const std::uint8_t* centroids);

}  // namespace cornea::retrieve
