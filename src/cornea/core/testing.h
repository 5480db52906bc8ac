// SPDX-License-Identifier: Apache-2.0
// For tests: the devices to run on, random images, the folder of external test data, and temporary
// folders.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/core/random.h"

namespace cornea::testing {

// "cpu", and "cuda" if there is a GPU. With CORNEA_REQUIRE_CUDA=1 CUDA is always listed, so that
// tests fail on a machine whose GPU is missing, instead of silently passing.
inline std::vector<std::string> devices() {
  std::vector<std::string> names = {"cpu"};
  const char* require_cuda = std::getenv("CORNEA_REQUIRE_CUDA");
  if ((require_cuda && std::string(require_cuda) == "1") || !cuda_devices().empty()) {
    names.push_back("cuda");
  }
  return names;
}

// Allocates memory of a CUDA device until less than `left` bytes are free. Tests that do this run
// alone: their names contain AllMemoryIsTaken.
inline std::vector<Memory> all_memory_of(const Context& cuda, std::size_t left) {
  std::vector<Memory> hog;
  for (std::size_t block = std::size_t{8} << 30; block >= left; block /= 2) {
    try {
      for (;;) hog.push_back(cuda.allocate(Place::device, block, "test: all there is"));
    } catch (const Error&) {
    }
  }
  return hog;
}

// A test fixture with one instance per device:
// INSTANTIATE_TEST_SUITE_P(, Name, testing::every_device(), testing::device_name).
class OnEveryDevice : public ::testing::TestWithParam<std::string> {
 protected:
  Context context = Context::from_name(GetParam());
};

inline auto every_device() { return ::testing::ValuesIn(devices()); }
inline std::string device_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

// Uniform noise over the whole range of the type.
template <class T>
Image<T> random_image(int width, int height, std::uint64_t seed) {
  Image<T> image(width, height);
  core::Random random(seed);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if constexpr (std::is_floating_point_v<T>) {
        image(x, y) = static_cast<T>(random.uniform());
      } else {
        image(x, y) = static_cast<T>(random.integer(0, std::numeric_limits<T>::max()));
      }
    }
  }
  return image;
}

// A folder of photographs with ground truth, below the folder named by CORNEA_DATA (default:
// ../shared beside the project). Empty if it is missing; the test then skips with a message, or
// fails if data_is_required().
inline std::filesystem::path external_data(const std::string& name) {
  const char* set = std::getenv("CORNEA_DATA");
  const std::filesystem::path folder =
      set && *set ? std::filesystem::path(set)
                  : std::filesystem::path(CORNEA_SOURCE_DIR) / ".." / "shared";
  return std::filesystem::is_directory(folder / name) ? folder / name : std::filesystem::path();
}

// With CORNEA_REQUIRE_DATA=1 tests fail if the photographs are missing, instead of silently
// skipping.
inline bool data_is_required() {
  const char* required = std::getenv("CORNEA_REQUIRE_DATA");
  return required && std::string(required) == "1";
}

// A folder that belongs to this process alone and is removed by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::path(::testing::TempDir()) / "cornea_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error(name + " cannot be made");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace cornea::testing

#define CORNEA_EXTERNAL_DATA_OR_SKIP(folder, name)                                       \
  const std::filesystem::path folder = cornea::testing::external_data(name);             \
  if (folder.empty() && cornea::testing::data_is_required())                             \
    FAIL() << name                                                                       \
           << " is not here, and CORNEA_REQUIRE_DATA=1 asks for it; set CORNEA_DATA to " \
              "the folder that holds it";                                                \
  if (folder.empty())                                                                    \
  GTEST_SKIP() << name << " is not here; set CORNEA_DATA to the folder that holds it"
