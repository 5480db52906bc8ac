// SPDX-License-Identifier: Apache-2.0
// For tests against the results of plain definitions in double precision: the files of the folder
// golden, the tolerances, and the comparison of corners.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cornea/core/testing.h"
#include "cornea/cornea.h"

namespace cornea::testing {

using Json = nlohmann::json;
using PixelSet = std::set<std::pair<int, int>>;

inline PixelSet pixels(const std::vector<Corner>& corners) {
  PixelSet set;
  for (const Corner& c : corners) set.emplace(int(c.x), int(c.y));
  return set;
}

// The first two numbers of each entry.
inline PixelSet pixels(const Json& list) {
  PixelSet set;
  for (const Json& entry : list) set.emplace(entry[0].get<int>(), entry[1].get<int>());
  return set;
}

// Points so close to a limit that either answer is correct.
inline PixelSet free_pixels(const Json& golden) {
  PixelSet free = pixels(golden["near_threshold"]);
  free.merge(pixels(golden["near_tie"]));
  return free;
}

// Compares all corners but the free ones with the expected ones; returns their number.
inline std::size_t expect_pixels(const Json& golden, const std::vector<Corner>& corners) {
  PixelSet expected = pixels(golden["points"]), found = pixels(corners);
  for (const auto& pixel : free_pixels(golden)) {
    expected.erase(pixel);
    found.erase(pixel);
  }
  EXPECT_EQ(found, expected);
  return expected.size();
}

// Calls compare(response, expected response) for every corner that is among the expected ones.
template <class Compare>
void compare_responses(const Json& golden, const std::vector<Corner>& corners, Compare compare) {
  std::map<std::pair<int, int>, double> expected;
  for (const Json& p : golden["points"]) expected[{p[0], p[1]}] = p[2];
  for (const Corner& c : corners) {
    const auto known = expected.find({int(c.x), int(c.y)});
    if (known != expected.end()) compare(c.response, known->second);
  }
}

// The folder golden of this project, which every clone has; golden/README.md explains these
// tolerances.
inline constexpr double kMeasure = 1e-4;     // FOAGDD: relative error of the measure at a corner
inline constexpr double kAnyMeasure = 1e-3;  // ... and anywhere else
inline constexpr double kNoMeasure = 1e-2;   // ... where both measures are negligible
// Harris and Shi-Tomasi, relative to the strongest response
inline constexpr double kResponse = 1e-6;
inline constexpr double kGrayLevels = 1e-4;  // a filtered pixel
// SIFT: position in pixels, and relative error of the scale
inline constexpr double kPlace = 1e-3;
inline constexpr double kAngle = 1e-3;     // SIFT: radians
inline constexpr double kContrast = 1e-4;  // SIFT: relative error of |D|
inline constexpr int kByte = 1;            // SIFT: an entry of a descriptor
// SVD: singular values relative to the largest, and errors;
inline constexpr double kFloat = 1e-6;
inline constexpr double kDouble = 1e-14;            // five times that above 32 x 32
inline constexpr double kFundamental = 1e-12;       // F of norm 1, in units of 400 pixels
inline constexpr double kEpipolarDistance = 1e-10;  // pixels

class Golden : public OnEveryDevice {
 protected:
  static std::filesystem::path path(const std::string& name) {
    return std::filesystem::path(CORNEA_SOURCE_DIR) / "golden" / name;
  }
  static Json results(const std::string& name) {
    return Json::parse(std::ifstream(path(name + ".json")));
  }
  static GrayImage image(const Json& result) {
    return read_gray(path(result["image"].get<std::string>() + ".pgm"));
  }

  // Keeps the largest difference of each kind, and expects it to be within the tolerance.
  void expect_within(const std::string& kind, double difference, double tolerance) {
    EXPECT_LE(difference, tolerance) << kind;
    double& largest = largest_[kind];
    largest = std::max(largest, difference);
  }
  void TearDown() override {
    for (const auto& [kind, difference] : largest_) {
      RecordProperty("largest_difference_of_" + kind, text(difference));
    }
  }

 private:
  std::map<std::string, double> largest_;
};

}  // namespace cornea::testing
