// SPDX-License-Identifier: Apache-2.0
// Philox in a kernel gives the same numbers as on the host.
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/cuda.h"
#include "cornea/core/random.h"
#include "cornea/core/testing.h"

namespace cornea {
namespace {

using namespace core;

constexpr std::uint64_t kSeed = 42, kStream = 7;

__global__ void draw_kernel(std::uint32_t* bits, float* units) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const Philox4 drawn = philox(kSeed, kStream, i);
  for (int k = 0; k < 4; ++k) bits[4 * i + k] = drawn.v[k];
  units[i] = unit_float(drawn.v[0]);
}

TEST(RandomOnDevice, GivesTheHostsNumbers) {
  if (testing::devices().size() < 2) GTEST_SKIP() << "no CUDA device here";
  constexpr unsigned kDraws = 1024;
  const Context context = Context::cuda();
  const Memory bits = context.allocate(Place::pinned, kDraws * 4 * sizeof(std::uint32_t), "bits");
  const Memory units = context.allocate(Place::pinned, kDraws * sizeof(float), "units");
  auto* b = static_cast<std::uint32_t*>(bits.data());
  auto* u = static_cast<float*>(units.data());
  draw_kernel<<<kDraws / 128, 128, 0, cuda_stream(context)>>>(b, u);
  cuda_check_launch("draws");
  context.synchronize();
  Random random(kSeed, kStream);
  for (unsigned i = 0; i < kDraws; ++i) {
    EXPECT_EQ(u[i], unit_float(b[4 * i]));
    for (int k = 0; k < 4; ++k) ASSERT_EQ(b[4 * i + k], random.bits());
  }
}

}  // namespace
}  // namespace cornea
