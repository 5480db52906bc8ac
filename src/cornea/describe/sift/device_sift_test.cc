// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/transfer.h"
#include "cornea/describe/sift/sift_testing.h"

namespace cornea {
namespace {

using testing::blob_image;
using testing::crowded_image;
using testing::draw;
using testing::equal;
using testing::SiftOnDevice;
using testing::to_u8;

TEST_P(SiftOnDevice, BatchesGiveTheBytesOfSingleImages) {
  std::vector<Image<std::uint8_t>> images;
  std::vector<AnyView> views;
  for (int i = 0; i < 19; ++i) {
    images.push_back(to_u8(blob_image(150 + 0 * i, 110, i % 5)));
    views.push_back(images.back());
  }
  for (const SiftOptions& options :
       {SiftOptions{}, SiftOptions{.max_points = 40},
        SiftOptions{.affine_shape = true, .domain_size_pooling = true}}) {
    Sift sift(context, options), single(context, options);
    std::vector<Features> batch(images.size());
    for (int run = 0; run < 3; ++run) {
      sift.detect_batch(views, batch);
      for (std::size_t i = 0; i < images.size(); ++i) {
        EXPECT_TRUE(equal(batch[i], single.detect(images[i]))) << i;
      }
    }
  }
}

TEST_P(SiftOnDevice, GivesTheSameBytesAHundredTimes) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  const std::vector<AnyView> views(7, AnyView(image));
  for (const SiftOptions& options :
       {SiftOptions{}, SiftOptions{.max_points = 100},
        SiftOptions{.max_points = 150, .cell = 50, .max_per_cell = 4},
        SiftOptions{.affine_shape = true, .domain_size_pooling = true, .max_points = 100}}) {
    Sift sift(context, options);
    const Features first = sift.detect(image);
    Features again;
    std::vector<Features> batch(views.size());
    for (int i = 0; i < 100; ++i) {
      sift.detect(image, again);
      ASSERT_TRUE(equal(first, again)) << i;
      if (i % 10 != 0) continue;
      sift.detect_batch(views, batch);
      for (const Features& features : batch) ASSERT_TRUE(equal(first, features)) << i;
    }
  }
}

TEST_P(SiftOnDevice, AFrameDoesNotDependOnEarlierFrames) {
  // State that a call leaves behind: counts, marks, graphs, capacities.
  const Image<std::uint8_t> rich = to_u8(blob_image(320, 240, 1));
  const Image<std::uint8_t> poor = to_u8(draw({{160.2, 120.4, 5, 0.4}}, 320, 240));
  Sift sift(context);
  const Features of_rich = sift.detect(rich), of_poor = sift.detect(poor);
  EXPECT_GT(of_rich.size(), 10 * of_poor.size());
  Features found;
  for (int i = 0; i < 60; ++i) {
    sift.detect(rich, found);
    ASSERT_TRUE(equal(found, of_rich)) << i;
    sift.detect(poor, found);
    ASSERT_TRUE(equal(found, of_poor)) << i;
  }
  // With stage times the steps run one after the other.
  sift.time_stages(true);
  sift.detect(rich, found);
  EXPECT_TRUE(equal(found, of_rich));
}

TEST_P(SiftOnDevice, MemoryThatGrowsAfterABatchIsUsed) {
  // After a batch the memory is larger than the capacity for the points of a single image.
  const Image<std::uint8_t> plain = to_u8(blob_image(400, 300)), crowded = crowded_image(400, 300);
  for (const SiftOptions& options :
       {SiftOptions{.contrast = 0.001, .edge_ratio = 0, .max_points = 100},
        SiftOptions{.contrast = 0.001, .edge_ratio = 0, .orientations = 1}}) {
    Sift sift(context, options);
    std::vector<Features> batch(16);
    sift.detect_batch(std::vector<AnyView>(16, AnyView(plain)), batch);
    const Features of_plain = sift.detect(plain);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(equal(sift.detect(plain), of_plain));
    const Features expected = Sift(context, options).detect(crowded);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(equal(sift.detect(crowded), expected)) << i;
    EXPECT_TRUE(equal(sift.detect(plain), of_plain));
  }
}

TEST_P(SiftOnDevice, LargerImagesInBetweenDoNotChangeResults) {
  const SiftOptions options{
      .scale_space = ScaleSpace::trilateral, .contrast = 0.01, .edge_ratio = 0, .max_points = 200};
  const Image<std::uint8_t> small = to_u8(blob_image(80, 60)), large = to_u8(blob_image(160, 120));
  Sift sift(context, options);
  std::vector<Features> batch(16);
  sift.detect_batch(std::vector<AnyView>(16, AnyView(small)), batch);
  const Features of_small = sift.detect(small);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(equal(sift.detect(small), of_small));
  const Features of_large = sift.detect(large);
  EXPECT_TRUE(equal(of_large, Sift(context, options).detect(large)));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(equal(sift.detect(small), of_small)) << i;
}

TEST_P(SiftOnDevice, EnlargesItsMemoryForManyPoints) {
  const Image<std::uint8_t> image = crowded_image(800, 600);
  const SiftOptions options{.contrast = 0.001, .edge_ratio = 0};
  Sift sift(context, options);
  EXPECT_GT(sift.detect(to_u8(blob_image(800, 600))).size(), 500u);
  const Features found = sift.detect(image);
  EXPECT_GT(found.size(), 20000u);
  std::vector<Features> batch(3);
  Sift(context, options).detect_batch(std::vector<AnyView>(3, AnyView(image)), batch);
  for (const Features& features : batch) EXPECT_TRUE(equal(found, features));
}

TEST_P(SiftOnDevice, KeepsDescriptorsOnTheDeviceWhereAsked) {
  const Image<std::uint8_t> image = to_u8(blob_image(300, 200)), small = to_u8(blob_image(90, 80));
  Sift sift(context);
  auto kept_equal = [&](const Features& features) {
    std::vector<std::uint8_t> kept(features.descriptors.size());
    context.download(kept.data(), kept.size(), sift.device_descriptors(), kept.size(), kept.size(),
                     1);
    context.synchronize();
    return kept == features.descriptors;
  };
  const Features plain = sift.detect(image);
  EXPECT_EQ(sift.device_descriptors(), nullptr);
  sift.keep_on_device(true);
  const Features features = sift.detect(image);
  EXPECT_TRUE(equal(features, plain));
  if (!context.is_cuda()) {
    EXPECT_EQ(sift.device_descriptors(), nullptr);
    return;
  }
  EXPECT_TRUE(kept_equal(features));
  EXPECT_TRUE(kept_equal(sift.detect(small)));
  Features described;
  sift.describe(image, features.keypoints, described);
  EXPECT_TRUE(kept_equal(described));
  EXPECT_TRUE(kept_equal(sift.detect(image)));
  sift.keep_on_device(false);
  EXPECT_TRUE(equal(sift.detect(image), plain));
  EXPECT_EQ(sift.device_descriptors(), nullptr);
}

TEST_P(SiftOnDevice, LeavesFeaturesOnTheDeviceWithoutATransfer) {
  const Image<std::uint8_t> plain = to_u8(blob_image(400, 300)), crowded = crowded_image(400, 300);
  if (!context.is_cuda()) {
    EXPECT_THROW(Sift(context).detect_on_device(plain), Error);
    return;
  }
  const auto plain_there = to_device(context, plain), crowded_there = to_device(context, crowded);
  const auto tiny_there = to_device(context, to_u8(blob_image(4, 4)));
  auto downloaded = [&](const DeviceFeatures& there) {
    Features here;
    here.keypoints.resize(there.size);
    here.descriptors.resize(there.size * Features::kLength);
    const std::size_t bytes = there.size * sizeof(Keypoint);
    context.download(here.keypoints.data(), bytes, there.keypoints, bytes, bytes, 1);
    context.download(here.descriptors.data(), here.descriptors.size(), there.descriptors,
                     here.descriptors.size(), here.descriptors.size(), 1);
    context.synchronize();
    return here;
  };
  for (const SiftOptions& options :
       {SiftOptions{}, SiftOptions{.max_points = 100}, SiftOptions{.affine_shape = true},
        SiftOptions{.contrast = 0.001,
        .edge_ratio = 0}}) {  // more points than the initial capacity
    Sift sift(context, options), other(context, options);
    const Features of_plain = other.detect(plain), of_crowded = other.detect(crowded);
    for (int run = 0; run < 3; ++run) {  // step by step, and as a graph
      for (const bool many : {false, true}) {
        const auto before = context.transfers();
        const DeviceFeatures found = sift.detect_on_device(many ? crowded_there : plain_there);
        EXPECT_EQ(context.transfers().uploads, before.uploads);
        EXPECT_EQ(context.transfers().downloads, before.downloads);
        EXPECT_EQ(sift.report().points, found.size);
        EXPECT_TRUE(equal(downloaded(found), many ? of_crowded : of_plain)) << run << many;
      }
      // Calls of the other kind in between.
      EXPECT_TRUE(equal(sift.detect(plain), of_plain)) << run;
    }
    EXPECT_EQ(sift.detect_on_device(tiny_there).size, 0u);
    EXPECT_TRUE(equal(downloaded(sift.detect_on_device(plain)), of_plain));  // of a host image
  }
}

TEST_P(SiftOnDevice, MemoryDoesNotGrowOverFrames) {
  const Image<std::uint8_t> image = to_u8(blob_image(200, 150));
  Sift sift(context);
  Features features;
  for (int i = 0; i < 3; ++i) sift.detect(image, features);
  const auto before = context.memory().allocations;
  for (int i = 0; i < 10; ++i) sift.detect(image, features);
  EXPECT_EQ(context.memory().allocations, before);
}

TEST_P(SiftOnDevice, ReportsTheMemoryItNeeds) {
  Sift doubled(context), plain(context, {.doubled = false});
  EXPECT_GT(doubled.memory_needed(1920, 1080), 3 * plain.memory_needed(1920, 1080));
  EXPECT_GE(plain.memory_needed(1920, 1080), 6u * 4 * 1920 * 1080);
  const Image<std::uint8_t> image = to_u8(blob_image(300, 200));
  const std::size_t before = context.memory().bytes;
  doubled.detect(image);
  // Pinned memory for results and rounding of block sizes are not included.
  const double taken = double(context.memory().bytes - before);
  EXPECT_NEAR(doubled.memory_needed(300, 200) / taken, 1, 0.4) << taken;
  if (!context.is_cuda()) return;
  // A limit per cell needs counters of each cell.
  const auto needed = [&](int cell) {
    SiftOptions limited;
    limited.cell = cell, limited.max_per_cell = 4;
    return Sift(context, limited).memory_needed(1920, 1080);
  };
  EXPECT_GT(needed(16), needed(320));
}

TEST(Sift, GivesTheSameBytesOnAnyNumberOfThreads) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  const Features one = Sift(Context::cpu(1)).detect(image);
  for (int threads : {2, 5}) EXPECT_TRUE(equal(one, Sift(Context::cpu(threads)).detect(image)));
}

// CUDA gives the same bits as the CPU, in every scale space.
TEST(SiftDevices, GiveTheSameBits) {
  const auto devices = testing::devices();
  if (std::find(devices.begin(), devices.end(), "cuda") == devices.end()) {
    GTEST_SKIP() << "there is no CUDA device here";
  }
  const Context cuda = Context::cuda(), cpu = Context::cpu();
  for (const SiftOptions& options :
       {SiftOptions{},
        SiftOptions{.doubled = false},
        SiftOptions{.root = true, .max_points = 300},
        SiftOptions{.contrast = 0.01, .cell = 30, .max_per_cell = 2},
        SiftOptions{.contrast = 0.01, .settle = Settling::strict, .root = false},
        SiftOptions{.contrast = 0.005, .edge_ratio = 0, .settle = Settling::lenient},
        SiftOptions{.keep = KeepPoints::scale, .max_points = 120},
        SiftOptions{.keep = KeepPoints::both, .max_points = 120},
        SiftOptions{.keep = KeepPoints::contrast, .max_points = 120},
        SiftOptions{.contrast = 0.01, .keep = KeepPoints::scale, .cell = 30, .max_per_cell = 2},
        SiftOptions{.contrast = 0.01, .keep = KeepPoints::both, .cell = 30, .max_per_cell = 2},
        SiftOptions{.intervals = 5, .orientations = 0},
        SiftOptions{.octaves = 2, .sigma = 2.1},
        SiftOptions{.affine_shape = true},
        SiftOptions{.domain_size_pooling = true},
        SiftOptions{.affine_shape = true, .domain_size_pooling = true, .root = false},
        SiftOptions{.contrast = 0.01, .affine_shape = true, .max_points = 200},
        SiftOptions{.intervals = 4, .orientations = 0, .affine_shape = true},
        SiftOptions{.scale_space = ScaleSpace::bilateral, .contrast = 0.02},
        SiftOptions{.scale_space = ScaleSpace::trilateral, .contrast = 0.01, .edge_ratio = 0}}) {
    Sift on_cuda(cuda, options), on_cpu(cpu, options);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const auto image = to_u8(blob_image(300 + int(seed), 221, seed));
      Image<std::uint8_t> mask(image.width(), image.height());
      for (int i = 0; i < mask.width() * mask.height(); ++i) mask.host().data[i] = i / 7 % 11 != 0;
      const AnyView used = seed == 5 ? AnyView(mask) : AnyView();
      const Features a = on_cpu.detect(image, used), b = on_cuda.detect(image, used);
      EXPECT_GT(a.size(), 20u);
      EXPECT_TRUE(equal(a, b)) << int(options.scale_space) << ", seed " << seed;
      Features c, d;
      on_cpu.describe(image, a.keypoints, c);
      on_cuda.describe(image, a.keypoints, d);
      EXPECT_TRUE(equal(c, d));
      on_cpu.describe(image, a.keypoints, c, Angles::keep);
      on_cuda.describe(image, a.keypoints, d, Angles::keep);
      EXPECT_TRUE(equal(c, d));
    }
  }
}

TEST(SiftDevices, RecoverWhenAllMemoryIsTaken) {
  const auto devices = testing::devices();
  if (std::find(devices.begin(), devices.end(), "cuda") == devices.end()) {
    GTEST_SKIP() << "there is no CUDA device here";
  }
  const Context cuda = Context::cuda();
  std::vector<Memory> hog = testing::all_memory_of(cuda, 256 << 20);
  Sift sift(cuda);
  Image<std::uint8_t> large(4000, 3000);
  std::memset(large.host().data, 7, 4000 * 3000);
  try {
    sift.detect(large);
    ADD_FAILURE() << "there was memory left";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("4000 x 3000"), std::string::npos) << error.what();
  }
  hog.clear();
  EXPECT_EQ(sift.detect(large).size(), 0u);
  EXPECT_GT(sift.detect(to_u8(blob_image(200, 150))).size(), 50u);
}

}  // namespace
}  // namespace cornea
