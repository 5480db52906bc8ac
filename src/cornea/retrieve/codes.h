// The descriptors of an image as one binary vector for each visual word that they have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cornea/retrieve/retrieve_math.h"

namespace cornea::retrieve {

struct Code {
  std::uint64_t bits[2];  // sign k is bit k % 64 of bits[k / 64]; set: above 0
  friend bool operator==(const Code&, const Code&) = default;
};

// The words of an image, ascending, and the code of each.
struct ImageCodes {
  std::vector<std::uint32_t> words;
  std::vector<Code> codes;
};

// `residual` is rotated by T = H D in place: D changes signs, drawn once and for all, and H is the
// Hadamard matrix, H_jk = -1 to the number of bits that j and k share. A component of a descriptor
// is often 0 and rarely large, so that most of its residuals are below 0 and say little by their
// sign; a sum over all components with signs has either sign equally often. Sums are exact.
void rotate(std::int64_t residual[kLength]);

// The descriptors of an image (kLength bytes each), and the word of each by its number among
// `centroids`.
ImageCodes codes_of_image(const std::uint8_t* descriptors, std::span<const std::uint32_t> words,
                          const std::uint8_t* centroids);

}  // namespace cornea::retrieve
