// SPDX-License-Identifier: Apache-2.0
#include "cornea/match/tile_kernel.h"

#include "cornea/core/error.h"

namespace cornea::match {

const std::vector<const TileKernel*>& tile_kernels() {
  static const std::vector<const TileKernel*> kernels = [] {
    std::vector<const TileKernel*> found;
    for (const TileKernel* kernel :
         {ummla_tile_kernel(), udot_tile_kernel(), avx512_vnni_tile_kernel(),
          avx_vnni_tile_kernel(), avx2_tile_kernel(), portable_tile_kernel()}) {
      if (kernel && kernel->runs_here()) found.push_back(kernel);
    }
    return found;
  }();
  return kernels;
}

const TileKernel& find_tile_kernel(const std::string& name) {
  std::string known;
  for (const TileKernel* kernel : tile_kernels()) {
    if (kernel->name == name) return *kernel;
    known += (known.empty() ? "" : ", ") + std::string(kernel->name);
  }
  fail(ErrorCode::invalid_argument, "there is no matching kernel '", name,
       "' on this machine; it has ", known);
}

}  // namespace cornea::match
