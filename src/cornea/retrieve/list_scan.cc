// SPDX-License-Identifier: Apache-2.0
// Compiled per instruction set, because the x86-64 baseline has no population count instruction.
#include "cornea/retrieve/list_scan.h"

namespace cornea::retrieve::CORNEA_ISA {

void add_similarities(const WordList& list, const Code& query, std::int64_t idf,
                      const std::int32_t* weights, std::int64_t* sums) {
  const std::uint64_t low = query.bits[0], high = query.bits[1];
  for (std::size_t i = 0; i < list.count; ++i) {
    const int differ = __builtin_popcountll(list.codes[i].bits[0] ^ low) +
                       __builtin_popcountll(list.codes[i].bits[1] ^ high);
    sums[list.images[i]] += idf * weights[differ];
  }
}

}  // namespace cornea::retrieve::CORNEA_ISA
