// SPDX-License-Identifier: Apache-2.0
// The models computed by a kernel equal those of the host, bit by bit.
#include <cstring>

#include <gtest/gtest.h>

#include "cornea/core/cuda.h"
#include "cornea/core/random.h"
#include "cornea/core/testing.h"
#include "cornea/geometry/solvers/five_point.h"
#include "cornea/geometry/solvers/six_point_focal.h"

namespace cornea::geometry {
namespace {

constexpr int kSamples = 4096, kThreads = 128;

__global__ void five_point_kernel(const Sample<double, 5>* samples, EssentialHypotheses* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = from_five(samples[i]);
}
__global__ void six_point_kernel(const Sample<double, 6>* samples, SharedFocalHypotheses* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = from_six(samples[i]);
}

// Points that move mostly sideways, in proportion to their inverse depth; in two thirds of the
// samples with small random displacements.
template <int size>
void fill(Sample<double, size>* samples) {
  core::Random random(size);
  for (int i = 0; i < kSamples; ++i) {
    const double wild = i % 3 == 0 ? 0 : 0.01;
    for (int k = 0; k < size; ++k) {
      const double x = random.uniform(-0.7, 0.7), y = random.uniform(-0.5, 0.5);
      const double inverse_depth = random.uniform(0.05, 0.3);
      samples[i].x1[k] = x;
      samples[i].y1[k] = y;
      samples[i].x2[k] = x - inverse_depth + wild * random.normal();
      samples[i].y2[k] = y + 0.3 * x * inverse_depth + wild * random.normal();
    }
  }
}

template <class In, class Out>
struct DeviceRun {
  Memory in, out;
  In* samples;
  Out* found;

  explicit DeviceRun(const Context& context)
      : in(context.allocate(Place::pinned, kSamples * sizeof(In), "samples")),
        out(context.allocate(Place::pinned, kSamples * sizeof(Out), "models")),
        samples(static_cast<In*>(in.data())),
        found(static_cast<Out*>(out.data())) {}
};

TEST(FivePointOnDevice, GivesTheHostsModels) {
  if (cornea::testing::devices().size() < 2) GTEST_SKIP() << "no CUDA device here";
  const Context context = Context::cuda();
  DeviceRun<Sample<double, 5>, EssentialHypotheses> run(context);
  fill(run.samples);
  five_point_kernel<<<kSamples / kThreads, kThreads, 0, core::cuda_stream(context)>>>(run.samples,
                                                                                      run.found);
  core::cuda_check_launch("five points");
  context.synchronize();
  int models = 0;
  for (int i = 0; i < kSamples; ++i) {
    const EssentialHypotheses host = from_five(run.samples[i]), &device = run.found[i];
    ASSERT_EQ(device.count, host.count) << "sample " << i;
    EXPECT_EQ(device.fixed, host.fixed);
    ASSERT_EQ(std::memcmp(device.e, host.e, host.count * sizeof(host.e[0])), 0) << "sample " << i;
    models += host.count;
  }
  EXPECT_GT(models, kSamples);
}

TEST(SixPointFocalOnDevice, GivesTheHostsModels) {
  if (cornea::testing::devices().size() < 2) GTEST_SKIP() << "no CUDA device here";
  const Context context = Context::cuda();
  DeviceRun<Sample<double, 6>, SharedFocalHypotheses> run(context);
  fill(run.samples);
  six_point_kernel<<<kSamples / kThreads, kThreads, 0, core::cuda_stream(context)>>>(run.samples,
                                                                                     run.found);
  core::cuda_check_launch("six points");
  context.synchronize();
  int models = 0;
  for (int i = 0; i < kSamples; ++i) {
    const SharedFocalHypotheses host = from_six(run.samples[i]), &device = run.found[i];
    ASSERT_EQ(device.count, host.count) << "sample " << i;
    EXPECT_EQ(device.fixed, host.fixed);
    ASSERT_EQ(std::memcmp(device.f, host.f, host.count * sizeof(host.f[0])), 0) << "sample " << i;
    ASSERT_EQ(std::memcmp(device.focal, host.focal, host.count * sizeof(float)), 0);
    models += host.count;
  }
  EXPECT_GT(models, kSamples / 2);
}

}  // namespace
}  // namespace cornea::geometry
