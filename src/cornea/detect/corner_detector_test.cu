// SPDX-License-Identifier: Apache-2.0
// Tests that need the CUDA API itself: graphs and callers' streams.
#include <fstream>

#include <gtest/gtest.h>

#include "cornea/core/cuda.h"
#include "cornea/core/testing.h"
#include "cornea/core/transfer.h"
#include "cornea/detect/foagdd/foagdd.h"
#include "cornea/detect/harris/harris.h"
#include "cornea/detect/moravec/moravec.h"

namespace cornea {
namespace {

using namespace core;

class DetectorGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::devices().size() < 2) GTEST_SKIP() << "no CUDA device here";
  }
};

// Captures a frame of this type and replays the graph with other contents.
template <class Detector, class Options, class T>
void replays_what_it_captured(const Options& options, bool with_mask, T (*pixel)(Random&)) {
  constexpr int kWidth = 180, kHeight = 99;
  auto picture = [&](int seed) {
    Image<T> image(kWidth, kHeight);
    Random random(seed);
    for (int i = 0; i < kWidth * kHeight; ++i) image.host().data[i] = pixel(random);
    return image;
  };
  Image<std::uint8_t> mask(kWidth, kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) mask.host().data[i] = i % 7 ? 255 : 0;
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  {
    const Context context = Context::cuda_on_stream(0, stream);
    Detector detector(context, options);
    const Image<std::uint8_t> device_mask = to_device(context, mask);
    Image<T> frame = to_device(context, picture(1));
    const AnyView frame_mask = with_mask ? AnyView(device_mask) : AnyView();
    detector.detect(frame, frame_mask);

    cudaGraph_t graph;
    cudaGraphExec_t executable;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    detector.enqueue(frame, frame_mask);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    for (int seed = 2; seed < 8; ++seed) {
      const Image<T> image = picture(seed);
      upload<T>(context, image.host(), frame.device());
      ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
      const auto replayed = detector.collect();
      EXPECT_GT(replayed.size(), 20u);
      EXPECT_TRUE(
          replayed ==
          Detector(Context::cpu(), options).detect(image, with_mask ? AnyView(mask) : AnyView()));
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
  cudaStreamDestroy(stream);
}

template <class Detector, class Options>
void replays_every_pixel_type(const Options& options) {
  using Byte = std::uint8_t;
  using Word = std::uint16_t;
  for (bool mask : {false, true}) {
    replays_what_it_captured<Detector, Options, Byte>(
        options, mask, [](Random& r) { return Byte(r.integer(0, 255)); });
    replays_what_it_captured<Detector, Options, Word>(
        options, mask, [](Random& r) { return Word(r.integer(0, 65535)); });
    replays_what_it_captured<Detector, Options, float>(
        options, mask, [](Random& r) { return float(r.uniform()); });
    replays_what_it_captured<Detector, Options, Rgb<Word>>(options, mask, [](Random& r) {
      return Rgb<Word>{Word(r.integer(0, 65535)), Word(r.integer(0, 65535)), 99};
    });
    replays_what_it_captured<Detector, Options, Rgb<float>>(options, mask, [](Random& r) {
      return Rgb<float>{float(r.uniform()), float(r.uniform()), 0.5f};
    });
  }
}

constexpr PeakOptions kAllCaps{
    .nms = 5, .subpixel = Subpixel::gradient, .max_points = 60, .cell = 20, .max_per_cell = 3};

TEST_F(DetectorGraph, MoravecReplaysWhatItCaptured) {
  MoravecOptions options;
  replays_every_pixel_type<Moravec>(options);
  options.peaks = kAllCaps;
  replays_every_pixel_type<Moravec>(options);
}

TEST_F(DetectorGraph, HarrisReplaysWhatItCaptured) {
  HarrisOptions options;
  replays_every_pixel_type<Harris>(options);
  options.peaks = kAllCaps;
  options.peaks.relative = true;
  replays_every_pixel_type<Harris>(options);
}

TEST_F(DetectorGraph, FoagddReplaysWhatItCaptured) {
  FoagddOptions options;
  replays_every_pixel_type<Foagdd>(options);
  options.peaks = kAllCaps;
  options.peaks.relative = true;
  options.directions = 5;
  replays_every_pixel_type<Foagdd>(options);
}

// The resident memory of this process in bytes.
std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * 4096;
}

TEST_F(DetectorGraph, TwentyThousandFramesTakeNoMoreMemory) {
  constexpr int kSide = 256, kPictures = 64;
  std::vector<Image<std::uint8_t>> pictures;
  for (int i = 0; i < kPictures; ++i) {
    Image<std::uint8_t> image(kSide, kSide);
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        image(x, y) = std::uint8_t(philox(i, y / (5 + i % 7), x / (4 + i % 9)).v[0]);
      }
    }
    pictures.push_back(std::move(image));
  }
  const Context context = Context::cuda();
  Foagdd foagdd(context);
  auto free_bytes = [] {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return free;
  };
  std::size_t free_after_two = 0, resident_after_two = 0;
  std::uint64_t allocations = 0, points = 0;
  for (int frame = 0; frame < 20000; ++frame) {
    points += foagdd.detect(pictures[frame % kPictures]).size();
    if (frame == 1) {
      free_after_two = free_bytes();
      resident_after_two = resident_bytes();
      allocations = context.memory().allocations;
    }
  }
  EXPECT_GT(points, 20000u);
  EXPECT_EQ(context.memory().allocations, allocations);
  EXPECT_EQ(free_bytes(), free_after_two);
  EXPECT_LT(resident_bytes(), resident_after_two + (4 << 20));
}

TEST_F(DetectorGraph, TheDefaultStreamAndTheCallersDeviceAreRespected) {
  int before = -1, after = -1;
  ASSERT_EQ(cudaGetDevice(&before), cudaSuccess);
  const auto image = testing::random_image<std::uint8_t>(90, 80, 3);
  const Context context = Context::cuda_on_stream(0, nullptr);
  EXPECT_TRUE(Harris(context).detect(image) == Harris(Context::cpu()).detect(image));
  ASSERT_EQ(cudaGetDevice(&after), cudaSuccess);
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace cornea
