// What needs the CUDA API itself: graphs and callers' streams.
#include <gtest/gtest.h>

#include "cornea/core/cuda.h"
#include "cornea/core/testing.h"
#include "cornea/core/transfer.h"
#include "cornea/detect/harris/harris.h"
#include "cornea/detect/moravec/moravec.h"

namespace cornea {
namespace {

class DetectorGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::devices().size() < 2) GTEST_SKIP() << "no CUDA device here";
  }
};

template <class Detector>
void replays_what_it_captured() {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  {
    const Context context = Context::cuda_on_stream(0, stream);
    Detector detector(context);
    Image<std::uint8_t> frame = to_device(context, testing::random_image<std::uint8_t>(180, 99, 1));
    detector.detect(frame);

    cudaGraph_t graph;
    cudaGraphExec_t executable;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    detector.enqueue(frame);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    for (int seed = 2; seed < 12; ++seed) {
      const auto image = testing::random_image<std::uint8_t>(180, 99, seed);
      upload<std::uint8_t>(context, image.host(), frame.device());
      ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
      const auto replayed = detector.collect();
      EXPECT_GT(replayed.size(), 100u);
      EXPECT_TRUE(replayed == Detector(Context::cpu()).detect(image));
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
  cudaStreamDestroy(stream);
}

TEST_F(DetectorGraph, MoravecReplaysWhatItCaptured) { replays_what_it_captured<Moravec>(); }
TEST_F(DetectorGraph, HarrisReplaysWhatItCaptured) { replays_what_it_captured<Harris>(); }

}  // namespace
}  // namespace cornea
