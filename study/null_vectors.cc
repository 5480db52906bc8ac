// SPDX-License-Identifier: Apache-2.0
#include "study/null_vectors.h"

#include <algorithm>

#include "cornea/core/parallel.h"
#include "cornea/geometry/algebra/reflections.h"

namespace cornea::study {

void host_null_vectors(const Context& cpu, std::span<const float> systems, std::span<float> out) {
  using geometry::Floats;
  constexpr int kLanes = core::kLanes<float>, kPacksPerPiece = 64;
  const int count = int(systems.size() / kSystemFloats);
  const int packs = (count + kLanes - 1) / kLanes;
  core::parallel_for(cpu, packs, kPacksPerPiece, [&](int begin, int end) {
    for (int pack = begin; pack < end; ++pack) {
      geometry::Reflections<8, Floats> system;
      for (int lane = 0; lane < kLanes; ++lane) {
        // The last pack is filled up with copies of the last system.
        const int i = std::min(pack * kLanes + lane, count - 1);
        for (int k = 0; k < kSystemFloats; ++k) {
          system.v[k / 9][k % 9][lane] = systems[std::size_t(i) * kSystemFloats + k];
        }
      }
      system.factorise();
      const geometry::Matrix3<Floats> f = system.null_vector(8);
      for (int lane = 0; lane < kLanes && pack * kLanes + lane < count; ++lane) {
        for (int k = 0; k < 9; ++k) {
          out[std::size_t(pack * kLanes + lane) * 9 + k] = f.v[k][lane];
        }
      }
    }
  });
}

}  // namespace cornea::study
