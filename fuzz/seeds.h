// SPDX-License-Identifier: Apache-2.0
// The seed inputs of the harnesses: small files of every variant that a parser distinguishes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cornea/core/image.h"

namespace cornea::fuzz {

using ByteVector = std::vector<std::uint8_t>;

class Seeds {
 public:
  explicit Seeds(const std::filesystem::path& folder) : folder_(folder) {}
  // Writes FOLDER/HARNESS/NAME.
  void add(const std::string& harness, const std::string& name, const ByteVector& bytes);
  void add(const std::string& harness, const std::string& name, const std::string& text);
  // Also adds a copy without its last quarter and one whose last quarter is noise.
  void add_and_damaged(const std::string& harness, const std::string& name,
                       const ByteVector& bytes);

 private:
  std::filesystem::path folder_;
};

void append(ByteVector& to, const ByteVector& more);

// `count` samples of a pattern that is neither flat nor noise.
ByteVector pattern(std::size_t count);

// The same as an image, gray or RGB; float pixels lie in 0..1.
template <class T>
Image<T> pattern_image(int width, int height);

// EXIF as cameras write it: make, model, orientation, and the lens in a second IFD.
ByteVector camera_exif(bool big_endian, int orientation);

// Each exists only in builds with its library.
void add_tiff_seeds(Seeds& seeds);
void add_webp_seeds(Seeds& seeds);
void add_colmap_seeds(Seeds& seeds);

}  // namespace cornea::fuzz
