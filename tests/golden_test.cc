// SPDX-License-Identifier: Apache-2.0
// Compares corners, filtered pixels, SIFT and matches of generated images with the results of plain
// definitions in double precision, in the folder golden of this project.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "golden_testing.h"

namespace cornea {
namespace {

using namespace testing;

INSTANTIATE_TEST_SUITE_P(, Golden, testing::every_device(), testing::device_name);

TEST_P(Golden, FoagddCornersAndMeasures) {
  Foagdd foagdd(context);
  std::size_t points = 0;
  for (const Json& golden : results("foagdd")) {
    SCOPED_TRACE(golden["image"]);
    const auto corners = foagdd.detect(image(golden).view());
    points += expect_pixels(golden, corners);
    compare_responses(golden, corners, [&](double found, double expected) {
      expect_within("measure", std::abs(found / expected - 1), kMeasure);
    });
    const auto map = foagdd.response(image(golden).view());
    for (const Json& sample : golden["map_sample"]) {
      const double expected = sample[2], found = map(sample[0].get<int>(), sample[1].get<int>());
      expect_within("map", std::abs(found - expected) / (expected + kNoMeasure / kAnyMeasure),
                    kAnyMeasure);
    }
  }
  EXPECT_GE(points, 50u);
}

TEST_P(Golden, HarrisShiTomasiAndMoravecCornersAndResponses) {
  std::size_t points = 0;
  for (const Json& golden : results("harris")) {
    const std::string measure = golden["measure"];
    SCOPED_TRACE(golden["image"].get<std::string>() + ", " + measure);
    const HarrisOptions options = {.measure = measure == "harris" ? CornerMeasure::harris
                                                                  : CornerMeasure::shi_tomasi};
    CornerDetector detector = measure == "moravec" ? CornerDetector(Moravec(context))
                                                   : CornerDetector(Harris(context, options));
    // Moravec's responses are integers.
    const double tolerance = measure == "moravec" ? 0 : kResponse;
    const double strongest = golden["strongest"];
    const auto corners = detector.detect(image(golden).view());
    points += expect_pixels(golden, corners);
    compare_responses(golden, corners, [&](double found, double expected) {
      expect_within(measure, std::abs(found - expected) / strongest, tolerance);
    });
    const auto map = detector.response(image(golden).view());
    for (const Json& sample : golden["map_sample"]) {
      const double expected = sample[2], found = map(sample[0].get<int>(), sample[1].get<int>());
      expect_within(measure + "_map", std::abs(found - expected) / strongest, tolerance);
    }
  }
  EXPECT_GE(points, 500u);
}

TEST_P(Golden, BilateralAndTrilateralPixels) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(path(""))) {
    // IMAGE_FILTER_sigmaX.pfm is the result for IMAGE.pgm.
    if (file.path().extension() != ".pfm") continue;
    const std::string stem = file.path().stem().string();
    SCOPED_TRACE(stem);
    ++files;
    const double sigma = std::stod(stem.substr(stem.find("_sigma") + 6));
    const auto before = read_gray(path(stem.substr(0, stem.find('_')) + ".pgm"));
    const auto expected = read_image<float>(file.path());
    auto expect_filtered = [&](const std::string& kind, ImageFilter& filter) {
      Image<float> out(before.width(), before.height());
      filter.apply(before.view(), out);
      double largest = 0;
      for (int y = 0; y < out.height(); ++y) {
        for (int x = 0; x < out.width(); ++x) {
          largest = std::max(largest, std::abs(double(out(x, y)) - expected(x, y)));
        }
      }
      expect_within(kind, largest, kGrayLevels);
    };
    if (stem.find("bilateral_") == stem.find('_') + 1) {
      BilateralFilter filter(context, {.sigma = sigma, .sigma_range = 20});
      expect_filtered("bilateral", filter);
    } else {
      for (Grouping grouping : {Grouping::none, Grouping::sorted}) {
        TrilateralFilter filter(context, {sigma, grouping});
        expect_filtered("trilateral", filter);
      }
    }
  }
  EXPECT_EQ(files, 5);
}

std::vector<std::uint8_t> bytes_of(const std::string& hexadecimal) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < hexadecimal.size(); i += 2) {
    bytes.push_back(std::uint8_t(std::stoi(hexadecimal.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Whether a feature lies in one of the regions (x, y, radius) that the definition leaves open.
bool is_free(const Json& golden, double x, double y) {
  for (const char* reason : {"near_threshold", "near_tie"}) {
    for (const Json& p : golden[reason]) {
      if (std::hypot(x - p[0].get<double>(), y - p[1].get<double>()) < p[2]) return true;
    }
  }
  return false;
}

TEST_P(Golden, SiftPointsAnglesAndDescriptors) {
  std::size_t compared = 0, free = 0;
  for (const Json& golden : results("sift")) {
    const Json& o = golden["options"];
    SCOPED_TRACE(golden["image"].get<std::string>() + ", " + o.dump());
    Sift sift(context, {.doubled = o["doubled"],
                        .intervals = o["intervals"],
                        .sigma = o["sigma"],
                        .blur = o["blur"],
                        .contrast = o["contrast"],
                        .edge_ratio = o["edge_ratio"],
                        .settle = o["settle"] == "strict" ? Settling::strict : Settling::lenient,
                        .root = o["root"]});
    const Features found = sift.detect(image(golden).view());
    std::vector<std::size_t> of_found;  // indices, without those in open regions
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Keypoint& k = found.keypoints[i];
      is_free(golden, k.x, k.y) ? void(++free) : of_found.push_back(i);
    }
    std::vector<Json> expected;
    for (const Json& f : golden["features"]) {
      if (!is_free(golden, f["x"], f["y"])) expected.push_back(f);
    }
    ASSERT_EQ(of_found.size(), expected.size());
    // Both are in the same order.
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Json& e = expected[i];
      const Keypoint& k = found.keypoints[of_found[i]];
      SCOPED_TRACE("feature " + std::to_string(i));
      ASSERT_EQ(k.octave, e["octave"].get<int>());
      expect_within("place", std::hypot(k.x - e["x"].get<double>(), k.y - e["y"].get<double>()),
                    kPlace);
      expect_within("scale", std::abs(k.scale / e["scale"].get<double>() - 1), kPlace);
      const double difference = k.angle - e["angle"].get<double>();
      expect_within("angle", std::abs(std::remainder(difference, 2 * std::numbers::pi)), kAngle);
      expect_within("response", std::abs(k.response / e["response"].get<double>() - 1), kContrast);
      const std::vector<std::uint8_t> bytes = bytes_of(e["descriptor"]);
      ASSERT_EQ(int(bytes.size()), Features::kLength);
      int largest = 0;
      for (int b = 0; b < Features::kLength; ++b) {
        largest = std::max(largest, std::abs(bytes[b] - found.descriptor(of_found[i])[b]));
      }
      expect_within("descriptor", largest, kByte);
      ++compared;
    }
  }
  EXPECT_GE(compared, 200u);
  EXPECT_LE(free, compared / 50);
}

std::vector<std::uint8_t> descriptors_of(const Json& list) {
  std::vector<std::uint8_t> all;
  for (const Json& one : list) {
    const std::vector<std::uint8_t> bytes = bytes_of(one);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

TEST_P(Golden, MatchesAndNeighboursExactly) {
  const Json golden = results("matching");
  const std::vector<std::uint8_t> bytes_a = descriptors_of(golden["a"]);
  const std::vector<std::uint8_t> bytes_b = descriptors_of(golden["b"]);
  const DescriptorView a(bytes_a.data(), int(golden["a"].size()));
  const DescriptorView b(bytes_b.data(), int(golden["b"].size()));
  std::vector<Nearest> nearest;
  for (const Json& n : golden["nearest"]) nearest.push_back({n[0], n[1], n[2], n[3]});
  EXPECT_TRUE(Matcher(context).nearest(a, b) == nearest);
  for (const Json& c : golden["cases"]) {
    SCOPED_TRACE("ratio " + c["ratio"].dump() + ", mutual " + c["mutual"].dump() +
                 ", max_distance " + c["max_distance"].dump());
    std::vector<Match> expected;
    for (const Json& m : c["matches"]) {
      const float distance = std::sqrt(m[2].get<float>()), second = std::sqrt(m[3].get<float>());
      expected.push_back({m[0], m[1], distance, second == 0 ? 1 : distance / second});
    }
    Matcher matcher(context, {c["ratio"], c["mutual"], c["max_distance"]});
    const std::vector<Match> found = matcher.match(a, b);
    EXPECT_EQ(found.size(), expected.size());
    EXPECT_TRUE(found == expected);
  }
}

}  // namespace
}  // namespace cornea
