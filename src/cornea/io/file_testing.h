// SPDX-License-Identifier: Apache-2.0
// For the tests of io: files as bytes, expected errors and truncated files.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/io/image_file.h"

namespace cornea::testing {

using ByteVector = std::vector<std::uint8_t>;

inline ByteVector bytes_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const std::filesystem::path& file, const ByteVector& bytes) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

inline ByteVector bytes_of_text(const std::string& text) { return {text.begin(), text.end()}; }

inline void append(ByteVector& to, const ByteVector& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// The bytes that write_image writes into a file of this name.
inline ByteVector encoded(const std::string& file_name, const AnyView& image) {
  const TemporaryFolder folder;
  write_image(folder / file_name, image);
  return bytes_of_file(folder / file_name);
}

template <class T>
Image<Rgb<T>> random_rgb(int width, int height, std::uint64_t seed) {
  const Image<T> samples = random_image<T>(3 * width, height, seed);
  Image<Rgb<T>> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image(x, y) = {samples(3 * x, y), samples(3 * x + 1, y), samples(3 * x + 2, y)};
    }
  }
  return image;
}

template <class T>
std::vector<T> pixels_of(const Image<T>& image) {
  const HostView<const T> view = image.host();
  return {view.data, view.data + std::size_t(view.width) * std::size_t(view.height)};
}

template <class T>
void expect_same(const Image<T>& a, const Image<T>& b) {
  ASSERT_EQ(a.width(), b.width());
  ASSERT_EQ(a.height(), b.height());
  EXPECT_TRUE(pixels_of(a) == pixels_of(b)) << "pixels differ";
}

// Runs f, which must throw an Error with this code whose message contains the fragment.
template <class F>
void expect_error(ErrorCode code, const std::string& fragment, F&& f) {
  try {
    f();
    ADD_FAILURE() << "expected an error with \"" << fragment << "\"";
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), name(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos) << error.what();
  }
}

// Truncated at random lengths, the bytes must be rejected as damaged; the message begins with the
// file's name and nothing is printed. The copy is exactly as long as the cut, so that a sanitizer
// detects reads beyond the end.
inline void expect_cuts_are_found(const ByteVector& bytes, int cuts, std::uint64_t seed,
                                  std::size_t shortest = 1) {
  core::Random random(seed);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < cuts; ++i) {
    const int length = random.integer(int(shortest), int(bytes.size()) - 1);
    const ByteVector cut(bytes.begin(), bytes.begin() + length);
    SCOPED_TRACE(text("cut to ", length, " of ", bytes.size(), " bytes"));
    expect_error(ErrorCode::io, "cut.image: ", [&] { decode_image<float>(cut, "cut.image"); });
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// Bytes changed at random must give an Error or an image, and no crash.
inline void expect_noise_is_survived(const ByteVector& bytes, int rounds, std::uint64_t seed) {
  core::Random random(seed);
  ::testing::internal::CaptureStderr();
  int refused = 0;
  for (int i = 0; i < rounds; ++i) {
    ByteVector noisy = bytes;
    for (int k = random.integer(1, 4); k > 0; --k) {
      noisy[std::size_t(random.integer(0, int(noisy.size()) - 1))] =
          std::uint8_t(random.integer(0, 255));
    }
    try {
      decode_image<float>(noisy, "noisy.image", {.max_pixels = 1 << 20});
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace cornea::testing
