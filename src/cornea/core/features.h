// What detectors and matchers return. Coordinates: x right, y down, in pixels; the centre of the
// first pixel is (0, 0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cornea {

struct Corner {
  float x = 0, y = 0;
  float response = 0;  // in the detector's own units
  friend bool operator==(const Corner&, const Corner&) = default;
};

struct Keypoint {
  float x = 0, y = 0;
  float scale = 0;  // sigma of the level it was found at, in pixels of the input image
  float angle = 0;  // radians, from x towards y
  float response = 0;
  std::int32_t octave = 0;
  friend bool operator==(const Keypoint&, const Keypoint&) = default;
};

// Points and what describes each of them: kLength bytes per point, in the order of the points.
struct Features {
  static constexpr int kLength = 128;
  std::vector<Keypoint> keypoints = {};
  std::vector<std::uint8_t> descriptors = {};

  std::size_t size() const { return keypoints.size(); }
  const std::uint8_t* descriptor(std::size_t i) const { return descriptors.data() + i * kLength; }
};

struct Match {
  std::int32_t a = 0, b = 0;  // indices into the first and the second set
  float distance = 0;
  float ratio = 0;  // nearest distance over second nearest
  friend bool operator==(const Match&, const Match&) = default;
};

// A point of the first image and the one of the second that it is taken for.
struct Correspondence {
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  friend bool operator==(const Correspondence&, const Correspondence&) = default;
};

}  // namespace cornea
