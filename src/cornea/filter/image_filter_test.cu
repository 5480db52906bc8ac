// SPDX-License-Identifier: Apache-2.0
// Filters in CUDA graphs, through the public interface.
#include <limits>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/core/transfer.h"
#include "cornea/filter/bilateral/bilateral.h"
#include "cornea/filter/gaussian/gaussian.h"
#include "cornea/filter/trilateral/trilateral.h"

namespace cornea {
namespace {

template <class Filter, class Options>
void replays_what_it_captured(const Options& options) {
  if (cuda_devices().empty()) GTEST_SKIP() << "no CUDA device";
  const Context context = Context::cuda();
  const auto stream = static_cast<cudaStream_t>(context.stream());
  Filter filter(context, options);
  Image<float> in = to_device(context, testing::random_image<float>(90, 70, 1));
  Image<float> out(context, Place::device, 90, 70, "test");
  filter.enqueue(in, out);
  filter.wait();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  filter.enqueue(in, out);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  for (int seed = 2; seed < 5; ++seed) {
    const auto image = testing::random_image<float>(90, 70, seed);
    upload<float>(context, image.host(), in.device());
    ASSERT_EQ(cudaGraphLaunch(replay, stream), cudaSuccess);
    filter.wait();
    const Image<float> found = to_host(context, out),
                       expected = Filter(context, options).apply(image);
    for (int i = 0; i < 90 * 70; ++i) ASSERT_EQ(found(i % 90, i / 90), expected(i % 90, i / 90));
  }
  // The bad image of a replay is no error of another image.
  Image<float> bad(90, 70);
  bad(5, 6) = std::numeric_limits<float>::quiet_NaN();
  upload<float>(context, bad.host(), in.device());
  ASSERT_EQ(cudaGraphLaunch(replay, stream), cudaSuccess);
  EXPECT_NO_THROW(filter.apply(testing::random_image<float>(90, 70, 5)));
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

TEST(FilterGraph, ReplaysWhatItCaptured) {
  replays_what_it_captured<GaussianFilter>(GaussianOptions{1.6});
  replays_what_it_captured<GaussianFilter>(GaussianOptions{7});
  replays_what_it_captured<BilateralFilter>(BilateralOptions{2, 20});
  replays_what_it_captured<TrilateralFilter>(TrilateralOptions{4});
}

}  // namespace
}  // namespace cornea
