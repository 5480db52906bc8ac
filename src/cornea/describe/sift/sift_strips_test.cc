// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/describe/sift/host_sift.h"
#include "cornea/describe/sift/sift_backend.h"
#include "cornea/describe/sift/sift_testing.h"

namespace cornea {
namespace {

using testing::blob_image;
using testing::crowded_image;
using testing::equal;
using testing::to_u8;

// Blobs with noise, which has extrema whose fits point far away.
Image<std::uint8_t> noisy_image(int width, int height) {
  const Image<float> blobs = blob_image(width, height, 3);
  core::Random random(7);
  Image<std::uint8_t> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double v = blobs(x, y) * 255 + 30 * (random.uniform() - 0.5);
      image(x, y) = std::uint8_t(std::clamp(v, 0.0, 255.0));
    }
  }
  return image;
}

Features features_in(const Context& context, std::size_t part_bytes, const SiftOptions& options,
                     AnyView image, AnyView mask = {}) {
  Features out;
  sift::make_host_sift(context, options, part_bytes)->detect({&image, 1}, mask, {&out, 1}, nullptr);
  return out;
}

constexpr std::size_t kAll = std::size_t{1} << 40;
// From the narrowest strips to a few wide ones.
constexpr std::size_t kParts[] = {1, 3u << 20, 5u << 20};

TEST(SiftStrips, GiveTheBytesOfTheWholeScaleSpace) {
  const Context cpu = Context::cpu(3);
  const Image<std::uint8_t> noisy = noisy_image(301, 260), crowded = crowded_image(211, 290);
  const SiftOptions all[] = {{},
                             {.doubled = false, .contrast = 0},
                             {.contrast = 0, .edge_ratio = 0},
                             {.octaves = 1, .root = true},
                             {.octaves = 2, .orientations = 0},
                             {.intervals = 1, .sigma = 2, .contrast = 0.004},
                             {.intervals = 5, .blur = 2},
                             {.affine_shape = true},
                             {.domain_size_pooling = true},
                             {.contrast = 0.01, .affine_shape = true, .domain_size_pooling = true},
                             {.contrast = 0.01, .max_points = 150},
                             {.contrast = 0.01, .keep = KeepPoints::scale, .max_points = 150},
                             {.contrast = 0.01, .keep = KeepPoints::both, .max_points = 150},
                             {.contrast = 0.01, .cell = 40, .max_per_cell = 3},
                             {.contrast = 0.01, .max_points = 40, .cell = 16, .max_per_cell = 2},
                             {.contrast = 0.01,
                              .keep = KeepPoints::scale,
                              .max_points = 40,
                              .cell = 16,
                              .max_per_cell = 2}};
  for (std::size_t i = 0; i < std::size(all); ++i) {
    for (const Image<std::uint8_t>* image : {&noisy, &crowded}) {
      const Features whole = features_in(cpu, kAll, all[i], *image);
      ASSERT_GT(whole.size(), 20u) << i;
      for (std::size_t bytes : kParts) {
        EXPECT_TRUE(equal(whole, features_in(cpu, bytes, all[i], *image))) << i << ", " << bytes;
      }
    }
  }
}

TEST(SiftStrips, PatchesEqualTheLevels) {
  const Context cpu = Context::cpu(2);
  const Image<std::uint8_t> image = noisy_image(233, 190);
  for (const SiftOptions& options :
       {SiftOptions{}, SiftOptions{.doubled = false, .intervals = 2}}) {
    const sift::SiftShape shape = sift::sift_shape(options, 233, 190);
    sift::HostScaleSpace whole(cpu, options, kAll), strips(cpu, options, 1);
    whole.begin(image, shape);
    ASSERT_TRUE(whole.next());
    strips.begin(image, shape);
    core::Random random(2);
    int parts = 0;
    while (strips.next()) {
      ++parts;
      if (strips.end_octave() > strips.first_octave() + 1) continue;
      const int o = strips.first_octave();
      sift::Patch patch(strips);
      for (int i = 0; i < 5; ++i) {
        const int x = int(shape.octaves[o].width * random.uniform());
        const int y = int(shape.octaves[o].height * random.uniform());
        const int radius = 1 + int(30 * random.uniform());
        patch.cover(o, x, y, radius);
        for (int l = 0; l < shape.levels; ++l) {
          const HostView<const float> a = patch.level(l), b = whole.level(o, l);
          for (int v = std::max(0, y - radius); v <= std::min(b.height - 1, y + radius); ++v) {
            const int left = std::max(0, x - radius), right = std::min(b.width - 1, x + radius);
            ASSERT_EQ(std::memcmp(a.row(v) + left, b.row(v) + left, (right - left + 1) * 4), 0)
                << o << " " << l << " " << x << ", " << v;
          }
        }
      }
    }
    EXPECT_GT(parts, 5);
  }
}

TEST(SiftStrips, SupportEveryPixelTypeAndTheMask) {
  const Context cpu = Context::cpu(2);
  const Image<float> image = blob_image(240, 330);
  const Image<std::uint8_t> bytes = to_u8(image);
  Image<Rgb<std::uint8_t>> colour(240, 330);
  Image<std::uint8_t> mask(240, 330);
  for (int y = 0; y < 330; ++y) {
    for (int x = 0; x < 240; ++x) {
      colour(x, y) = {bytes(x, y), bytes(x, y), std::uint8_t(255 - bytes(x, y))};
      mask(x, y) = (x / 30 + y / 30) % 2;
    }
  }
  for (const AnyView& view : {AnyView(image), AnyView(bytes), AnyView(colour)}) {
    const Features whole = features_in(cpu, kAll, {}, view, mask);
    EXPECT_GT(whole.size(), 20u);
    EXPECT_TRUE(equal(whole, features_in(cpu, 1, {}, view, mask)));
  }
}

TEST(SiftStrips, DescribePointsOfAnyScale) {
  const Context cpu = Context::cpu(2);
  const Image<std::uint8_t> image = noisy_image(260, 310);
  const AnyView view(image);
  core::Random random(5);
  std::vector<Keypoint> points;
  for (int i = 0; i < 300; ++i) {
    // Scales that the first octave covers, and much larger ones.
    points.push_back({float(259 * random.uniform()), float(309 * random.uniform()),
                      float(std::exp2(6 * random.uniform())), float(6 * random.uniform()), 1, 0});
  }
  for (int octaves : {0, 1}) {
    for (Angles angles : {Angles::assign, Angles::keep}) {
      Features whole, strips;
      const SiftOptions options{.octaves = octaves};
      sift::make_host_sift(cpu, options, kAll)->describe(view, points, angles, whole, nullptr);
      sift::make_host_sift(cpu, options, 1)->describe(view, points, angles, strips, nullptr);
      EXPECT_TRUE(equal(whole, strips)) << octaves;
    }
  }
}

TEST(SiftStrips, AcceptConsecutiveImages) {
  const Context cpu = Context::cpu(2);
  const auto sift = sift::make_host_sift(cpu, {}, 1);
  Features out;
  for (const auto& [width, height] :
       {std::pair(200, 300), std::pair(90, 80), std::pair(310, 260)}) {
    const Image<std::uint8_t> image = noisy_image(width, height);
    const AnyView view(image);
    sift->detect({&view, 1}, {}, {&out, 1}, nullptr);
    EXPECT_TRUE(equal(out, features_in(cpu, kAll, {}, view))) << width;
  }
  EXPECT_THROW(sift->level(0, 0), Error);  // the last image had several parts
}

TEST(SiftStrips, KeepALargeImageWithinItsMemory) {
  const Context cpu = Context::cpu();
  const Image<std::uint8_t> image = crowded_image(4000, 1500);
  Sift sift(cpu);
  const std::size_t needed = sift.memory_needed(4000, 1500);
  EXPECT_LT(needed, 310u << 20);  // as a whole, its scale space takes 730 MiB
  EXPECT_GT(sift.detect(image).size(), 10000u);
  EXPECT_LE(cpu.memory().peak_bytes, needed + (1u << 20));
}

TEST(SiftStrips, SuggestWhatToDoWhenMemoryRunsOut) {
  const Context cpu = Context::cpu(1);
  const Image<std::uint8_t> image = noisy_image(120, 100);
  for (bool doubled : {true, false}) {
    Sift sift(cpu, {.doubled = doubled});
    core::refuse_allocation(cpu, 1);
    try {
      sift.detect(image);
      ADD_FAILURE() << "there was memory";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      const std::string sentence = error.what();
      EXPECT_NE(sentence.find("120 x 100"), std::string::npos) << sentence;
      EXPECT_NE(sentence.find("max_size"), std::string::npos) << sentence;
      EXPECT_EQ(sentence.find("doubled") != std::string::npos, doubled) << sentence;
    }
    EXPECT_GT(sift.detect(image).size(), 10u);
  }
}

}  // namespace
}  // namespace cornea
