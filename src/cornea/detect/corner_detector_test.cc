// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/corner_detector.h"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/core/transfer.h"
#include "cornea/detect/foagdd/foagdd.h"
#include "cornea/detect/harris/harris.h"
#include "cornea/detect/moravec/moravec.h"

namespace cornea {
namespace {

using namespace core;

PeakOptions capped_peaks(double threshold) {
  return {.threshold = threshold,
          .nms = 5,
          .subpixel = Subpixel::gradient,
          .max_points = 40,
          .cell = 16,
          .max_per_cell = 2};
}

// Every detector, with default options and with all caps set.
std::vector<std::unique_ptr<CornerDetector>> detectors(const Context& context) {
  std::vector<std::unique_ptr<CornerDetector>> all;
  all.push_back(std::make_unique<Moravec>(context));
  all.push_back(std::make_unique<Harris>(context));
  MoravecOptions moravec;
  moravec.peaks = capped_peaks(100);
  all.push_back(std::make_unique<Moravec>(context, moravec));
  HarrisOptions harris;
  harris.peaks = capped_peaks(1e-6);
  all.push_back(std::make_unique<Harris>(context, harris));
  all.push_back(std::make_unique<Foagdd>(context));
  FoagddOptions foagdd;
  foagdd.peaks = capped_peaks(1e6);
  foagdd.directions = 6;
  foagdd.scales = {1.5, 2.5};
  all.push_back(std::make_unique<Foagdd>(context, foagdd));
  return all;
}

// An image with structure: blocks of random gray.
template <class T>
Image<T> blocks(int width, int height, std::uint64_t seed, double white) {
  Image<T> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Philox4 bits = philox(seed, y / 9, x / 11);
      image(x, y) = static_cast<T>(unit_float(bits.v[0]) * white);
    }
  }
  return image;
}

class CornerDetectorTest : public testing::OnEveryDevice {};

// Float pixels are 0 (black) to 1 (white); values far outside are rejected with the same sentence
// on every device.
TEST_P(CornerDetectorTest, FloatImagesFarFromZeroToOneAreRefused) {
  std::vector<std::unique_ptr<CornerDetector>> all = detectors(context);
  FoagddOptions most;
  most.directions = 16;
  all.push_back(std::make_unique<Foagdd>(context, most));
  for (const auto& detector : all) {
    Image<float> image = blocks<float>(230, 170, 1, 1);
    for (int y = 0; y < 170; ++y) {
      for (int x = 0; x < 230; ++x) image(x, y) = image(x, y) < 0.5f ? -1.0f : 2.0f;
    }
    const std::vector<Corner> corners = detector->detect(image);
    EXPECT_GT(corners.size(), 10u);
    for (const Corner& c : corners) {
      ASSERT_TRUE(std::isfinite(c.response) && std::isfinite(c.x) && std::isfinite(c.y));
    }
    const Image<float> map = detector->response(image);
    for (int y = 0; y < 170; ++y) {
      for (int x = 0; x < 230; ++x) ASSERT_TRUE(std::isfinite(map(x, y)));
    }
    image(7, 9) = -3.5f;
    image(100, 80) = 50;
    image(200, 160) = 4;
    try {
      detector->detect(image);
      ADD_FAILURE() << "the image was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      const std::string sentence = error.what();
      EXPECT_NE(sentence.find("magnitude 50,"), std::string::npos) << sentence;
      EXPECT_NE(sentence.find("the option range"), std::string::npos) << sentence;
    }
    // The rejected image has no effect on the next one.
    EXPECT_NO_THROW(detector->detect(blocks<float>(230, 170, 2, 1)));
  }
}

TEST_P(CornerDetectorTest, GivesTheSamePointsInAHundredRuns) {
  const Image<std::uint8_t> image = blocks<std::uint8_t>(230, 170, 1, 255);
  for (const auto& detector : detectors(context)) {
    const auto expected = detector->detect(image);
    ASSERT_GT(expected.size(), 20u);
    for (int run = 0; run < 100; ++run) ASSERT_TRUE(detector->detect(image) == expected);
  }
}

TEST_P(CornerDetectorTest, GivesTheSamePointsOnAnyThreadCountAndDevice) {
  const Context one = Context::cpu(1);
  const Context other = context.is_cuda() ? context : Context::cpu(2);
  for (int round = 0; round < 10; ++round) {
    const auto bytes = blocks<std::uint8_t>(211, 164 + round, round, 255);
    const auto words = blocks<std::uint16_t>(97 + round, 203, round, 65535);
    const auto floats = blocks<float>(150, 131 + round, round, 1);
    const auto reference = detectors(one), tested = detectors(other);
    for (std::size_t i = 0; i < reference.size(); ++i) {
      EXPECT_TRUE(reference[i]->detect(bytes) == tested[i]->detect(bytes));
      EXPECT_TRUE(reference[i]->detect(words) == tested[i]->detect(words));
      EXPECT_TRUE(reference[i]->detect(floats) == tested[i]->detect(floats));
    }
  }
}

TEST_P(CornerDetectorTest, ABatchEqualsSingleCalls) {
  std::vector<Image<std::uint8_t>> images;
  std::vector<AnyView> views;
  for (int i = 0; i < 7; ++i) images.push_back(blocks<std::uint8_t>(143, 91, i, 255));
  for (const auto& image : images) views.emplace_back(image);
  for (const auto& detector : detectors(context)) {
    const auto batch = detector->detect_batch(views);
    ASSERT_EQ(batch.size(), images.size());
    for (std::size_t i = 0; i < images.size(); ++i) {
      EXPECT_GT(batch[i].size(), 10u);
      EXPECT_TRUE(batch[i] == detector->detect(images[i]));
    }
  }
}

TEST_P(CornerDetectorTest, AllocatesNothingAfterTheFirstFrameOfASize) {
  const auto large = blocks<std::uint8_t>(300, 200, 1, 255);
  const auto small = blocks<std::uint8_t>(120, 90, 2, 255);
  for (const auto& detector : detectors(context)) {
    detector->detect(large);
    const std::uint64_t before = context.memory().allocations;
    for (int i = 0; i < 5; ++i) {
      detector->detect(large);
      detector->detect(small);
    }
    EXPECT_EQ(context.memory().allocations, before);
  }
}

TEST_P(CornerDetectorTest, UploadsTheImageAndDownloadsOnlyPoints) {
  const auto image = blocks<std::uint8_t>(300, 200, 1, 255);
  Harris harris(context);
  const Transfers before = context.transfers();
  const auto corners = harris.detect(image);
  const Transfers after = context.transfers();
  const std::uint64_t expected_up = context.is_cuda() ? 300 * 200 : 0;
  const std::uint64_t expected_down =
      context.is_cuda() ? corners.size() * sizeof(Corner) + sizeof(std::uint32_t) : 0;
  EXPECT_EQ(after.upload_bytes - before.upload_bytes, expected_up);
  EXPECT_EQ(after.download_bytes - before.download_bytes, expected_down);
}

TEST_P(CornerDetectorTest, AMaskKeepsPointsOut) {
  const auto image = blocks<std::uint8_t>(160, 120, 4, 255);
  Image<std::uint8_t> mask(160, 120);
  for (int y = 0; y < 120; ++y) {
    for (int x = 0; x < 160; ++x) mask(x, y) = x < 80 ? 255 : 0;
  }
  for (const auto& detector : detectors(context)) {
    const auto corners = detector->detect(image, mask);
    EXPECT_GT(corners.size(), 5u);
    for (const Corner& corner : corners) EXPECT_LT(corner.x, 80.5f);
  }
}

TEST_P(CornerDetectorTest, ColourIsReadAsGray) {
  Image<Rgb<std::uint8_t>> colour(120, 90);
  Image<std::uint8_t> gray(120, 90);
  Image<Rgb<float>> colour_float(120, 90);
  Image<float> gray_float(120, 90);
  for (int y = 0; y < 90; ++y) {
    for (int x = 0; x < 120; ++x) {
      const Philox4 bits = philox(3, y / 8, x / 8);
      const auto r = std::uint8_t(bits.v[0]), g = std::uint8_t(bits.v[1]),
                 b = std::uint8_t(bits.v[2]);
      colour(x, y) = {r, g, b};
      gray(x, y) = std::uint8_t(std::lround(0.299 * r + 0.587 * g + 0.114 * b));
      colour_float(x, y) = {r / 255.0f, g / 255.0f, b / 255.0f};
      gray_float(x, y) = 0.299f * colour_float(x, y).r + 0.587f * colour_float(x, y).g +
                         0.114f * colour_float(x, y).b;
    }
  }
  for (const auto& detector : detectors(context)) {
    const auto expected = detector->detect(gray);
    EXPECT_GT(expected.size(), 10u);
    EXPECT_TRUE(detector->detect(colour) == expected);
    const auto expected_float = detector->detect(gray_float);
    EXPECT_TRUE(detector->detect(colour_float) == expected_float);
    if (context.is_cuda()) {
      EXPECT_TRUE(detector->detect(to_device(context, colour)) == expected);
      EXPECT_TRUE(detector->detect(to_device(context, colour_float)) == expected_float);
    }
  }
}

TEST_P(CornerDetectorTest, AnImageOnTheDeviceIsNotUploaded) {
  if (!context.is_cuda()) GTEST_SKIP() << "for CUDA";
  const auto image = blocks<std::uint8_t>(200, 150, 6, 255);
  const auto on_device = to_device(context, image);
  for (const auto& detector : detectors(context)) {
    const auto expected = detector->detect(image);
    const std::uint64_t before = context.transfers().uploads;
    EXPECT_TRUE(detector->detect(on_device) == expected);
    detector->enqueue(on_device);
    EXPECT_TRUE(detector->collect() == expected);
    const std::vector<AnyView> two = {on_device, on_device};
    EXPECT_TRUE(detector->detect_batch(two)[1] == expected);
    EXPECT_EQ(context.transfers().uploads, before);
  }
}

TEST_P(CornerDetectorTest, ImagesWithoutRoomForACornerAreRefused) {
  const int sizes[][2] = {{1, 1}, {2, 2}, {3, 500}, {500, 4}, {1, 300}};
  for (const auto& [w, h] : sizes) {
    const auto image = testing::random_image<std::uint8_t>(w, h, 1);
    for (const auto& detector : detectors(context)) {
      EXPECT_THROW(detector->detect(image), Error) << w << " x " << h;
      // The response is defined even where there is no room for a corner.
      EXPECT_EQ(detector->response(image).width(), w);
    }
  }
  for (const auto& detector : detectors(context)) {
    const int side = dynamic_cast<Foagdd*>(detector.get()) ? 12 : 5;
    const auto smallest = testing::random_image<std::uint8_t>(side, side, 1);
    EXPECT_LE(detector->detect(smallest).size(), 1u);
    const auto too_small = testing::random_image<std::uint8_t>(side - 1, side, 1);
    EXPECT_THROW(detector->detect(too_small), Error);
  }
}

TEST_P(CornerDetectorTest, RejectsInvalidImages) {
  auto code_of = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
      return error.code();
    }
    return ErrorCode::internal;
  };
  const auto image = blocks<std::uint8_t>(64, 48, 1, 255);
  const Image<std::uint8_t> small_mask(63, 48);
  const Image<float> float_mask(64, 48);
  auto bad = blocks<float>(64, 48, 1, 1);
  bad(10, 10) = std::nanf("");
  for (const auto& detector : detectors(context)) {
    EXPECT_EQ(code_of([&] { detector->detect(Image<std::uint8_t>()); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { detector->detect_batch({}); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { detector->detect(image, small_mask); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { detector->detect(image, float_mask); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { detector->detect(Image<double>(5, 5)); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { detector->detect(bad); }), ErrorCode::invalid_argument);
    const std::vector<AnyView> mixed_sizes = {image, small_mask};
    EXPECT_EQ(code_of([&] { detector->detect_batch(mixed_sizes); }), ErrorCode::invalid_argument);
    if (context.is_cuda()) {
      const auto on_device = to_device(context, image);
      const std::vector<AnyView> mixed_places = {image, on_device};
      EXPECT_EQ(code_of([&] { detector->detect_batch(mixed_places); }),
                ErrorCode::invalid_argument);
      const Image<std::uint8_t> host_mask(64, 48);
      EXPECT_EQ(code_of([&] { detector->detect(on_device, host_mask); }),
                ErrorCode::invalid_argument);
      EXPECT_EQ(code_of([&] { Harris(Context::cpu()).detect(on_device); }),
                ErrorCode::invalid_argument);
      const auto bad_on_device = to_device(context, bad);
      EXPECT_EQ(code_of([&] { detector->detect(bad_on_device); }), ErrorCode::invalid_argument);
    }
    // The rejected calls have no effect on the next one.
    EXPECT_GT(detector->detect(image).size(), 3u);
  }
}

TEST_P(CornerDetectorTest, ReportsItsStages) {
  const auto image = blocks<std::uint8_t>(200, 150, 6, 255);
  Harris harris(context);
  harris.time_stages(true);
  const auto corners = harris.detect(image);
  const DetectReport& report = harris.report();
  EXPECT_EQ(report.points, corners.size());
  EXPECT_EQ(report.width, 200);
  EXPECT_GT(report.milliseconds, 0);
  std::string names;
  for (const StageTime& stage : report.stages) {
    names += stage.stage + " ";
    EXPECT_GE(stage.milliseconds, 0);
  }
  EXPECT_EQ(names, context.is_cuda() ? "upload response peaks download " : "response peaks ");

  Foagdd foagdd(context);
  foagdd.time_stages(true);
  foagdd.detect(image);
  names.clear();
  for (const StageTime& stage : foagdd.report().stages) {
    names += stage.stage + ", ";
    EXPECT_GE(stage.milliseconds, 0);
  }
  EXPECT_EQ(names, context.is_cuda() ? "upload, prepare, derivatives, first measure, suppression, "
                                       "remaining measures, download, "
                                     : "derivatives, first measure, suppression, "
                                       "remaining measures, ");
}

INSTANTIATE_TEST_SUITE_P(, CornerDetectorTest, testing::every_device(), testing::device_name);

TEST_P(CornerDetectorTest, CollectReturnsOnlyWhatWasEnqueued) {
  const auto image = testing::random_image<std::uint8_t>(90, 70, 3);
  Harris harris(context);
  harris.detect(image);
  EXPECT_THROW(harris.collect(), Error);  // detect() leaves nothing to collect
  if (!context.is_cuda()) return;
  const auto on_device = to_device(context, image);
  harris.enqueue(on_device);
  const std::vector<AnyView> both = {image, image};
  const auto expected = harris.detect_batch(both).front();
  EXPECT_THROW(harris.collect(), Error);
  harris.enqueue(on_device);
  EXPECT_TRUE(harris.collect() == expected);
  harris.enqueue(on_device);
  harris.response(image);
  EXPECT_THROW(harris.collect(), Error);
  // Values that cannot be used are an error of their own image alone, and leave nothing to collect.
  Image<float> bad(90, 70);
  for (int y = 0; y < 70; ++y) {
    for (int x = 0; x < 90; ++x) bad(x, y) = 0.5f;
  }
  bad(40, 30) = std::numeric_limits<float>::quiet_NaN();
  const auto bad_on_device = to_device(context, bad);
  harris.enqueue(bad_on_device);
  EXPECT_THROW(harris.collect(), Error);
  EXPECT_THROW(harris.collect(), Error);
  harris.enqueue(bad_on_device);
  EXPECT_TRUE(harris.detect(image) == expected);
  harris.enqueue(bad_on_device);
  EXPECT_NO_THROW(harris.response(image));
  Image<float> gray(90, 70);
  for (int y = 0; y < 70; ++y) {
    for (int x = 0; x < 90; ++x) gray(x, y) = float(image(x, y)) / 255;
  }
  const auto of_floats = harris.detect(gray);
  const auto gray_on_device = to_device(context, gray);
  harris.enqueue(bad_on_device);
  harris.enqueue(gray_on_device);
  EXPECT_TRUE(harris.collect() == of_floats);
  // A refused call leaves nothing to collect either.
  EXPECT_THROW(harris.enqueue(image), Error);
  EXPECT_THROW(harris.collect(), Error);
  harris.enqueue(on_device);
  EXPECT_THROW(harris.detect(AnyView()), Error);
  EXPECT_THROW(harris.collect(), Error);
  // Nor does a good image after a refused call take the blame for a bad one before it.
  harris.enqueue(bad_on_device);
  EXPECT_THROW(harris.enqueue(image), Error);
  EXPECT_TRUE(harris.detect(image) == expected);
}

TEST_P(CornerDetectorTest, ViewsWithoutPixelsOrWithRowsThatOverlapAreRefused) {
  const auto image = testing::random_image<std::uint8_t>(90, 70, 3);
  Harris harris(context);
  const HostView<const std::uint8_t> whole = image.host(), none(nullptr, 90, 70);
  const HostView<const std::uint8_t> backwards(whole.row(69), 90, 70, -90);
  const std::vector<AnyView> batch = {whole, none};
  EXPECT_THROW(harris.detect_batch(batch), Error);
  EXPECT_THROW(harris.detect(whole, none), Error);
  EXPECT_THROW(harris.detect(backwards), Error);
  EXPECT_FALSE(harris.detect(whole).empty());
}

}  // namespace
}  // namespace cornea
