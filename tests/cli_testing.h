// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the program: a folder, a shell in it, and a photograph with an EXIF
// orientation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "cornea/core/testing.h"
#include "cornea/io/image_file.h"

namespace cornea {

namespace fs = std::filesystem;
using Json = nlohmann::json;

inline std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// A JPEG file with EXIF orientation 6, as of a camera that was held sideways.
inline void write_sideways_jpeg(const fs::path& file, const AnyView& image) {
  const std::vector<std::uint8_t> jpeg = encode_jpeg(image, 95);
  const std::vector<std::uint8_t> exif = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,    'M', 'M',
                                          0,    42,   0, 0,  0,   8,   0,   1,   1, 0x12, 0,   3,
                                          0,    0,    0, 1,  0,   6,   0,   0,   0, 0,    0,   0};
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(jpeg.data()), 2);
  out.write(reinterpret_cast<const char*>(exif.data()), std::streamsize(exif.size()));
  out.write(reinterpret_cast<const char*>(jpeg.data()) + 2, std::streamsize(jpeg.size()) - 2);
}

struct Outcome {
  int code = -1;
  std::string out, err;
};

class Cli : public ::testing::Test {
 protected:
  void SetUp() override {
    write_image(folder / "small.png", testing::random_image<std::uint8_t>(64, 48, 1));
  }

  // Runs a shell line in the test's folder; `cornea` there is the program under test.
  Outcome shell(const std::string& line) {
    const std::string command = "cd '" + folder.string() + "' && cornea() { '" + CORNEA_PROGRAM +
                                "' \"$@\"; } && { " + line + "; } >.out 2>.err </dev/null";
    const int status = std::system(command.c_str());
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    outcome.out = read_text(folder / ".out");
    outcome.err = read_text(folder / ".err");
    return outcome;
  }

  // The line must fail with this code and print one line that contains `word`.
  void expect_refused(const std::string& line, int code, const std::string& word) {
    const Outcome o = shell(line);
    EXPECT_EQ(o.code, code) << line << "\n" << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << line << "\n" << o.err;
    EXPECT_EQ(o.err.rfind("cornea: ", 0), 0u) << o.err;
    EXPECT_NE(o.err.find(word), std::string::npos) << line << "\n" << o.err;
  }

  const testing::TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
};

}  // namespace cornea
