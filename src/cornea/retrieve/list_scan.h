// SPDX-License-Identifier: Apache-2.0
// The inner loop of a query: one code against the list of a word.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornea/core/isa.h"
#include "cornea/retrieve/codes.h"

namespace cornea::retrieve {

// One entry per image, in ascending order, with its code for the word.
struct WordList {
  const std::uint32_t* images;
  const Code* codes;
  std::size_t count;
};

// sums[image] += idf * weights[Hamming distance of the codes] for every entry.
CORNEA_PER_ISA(void, add_similarities,
               (const WordList& list, const Code& query, std::int64_t idf,
                const std::int32_t* weights, std::int64_t* sums),
               (list, query, idf, weights, sums))

}  // namespace cornea::retrieve
