// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/npy.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/io/file_testing.h"
#include "cornea/io/npy_testing.h"

namespace cornea {
namespace {

using namespace io;
using testing::npy;

TEST(Npy, HasTheLayoutThatNumPyDocuments) {
  for (std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{1234567}}) {
    std::vector<std::uint8_t> values(rows * 2);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::uint8_t(i * 7);
    const std::string file = encode_npy(rows, 2, values);
    EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
    const std::size_t length = std::uint8_t(file[8]) + 256 * std::uint8_t(file[9]);
    EXPECT_EQ((10 + length) % 64, 0u);
    const std::string header = file.substr(10, length);
    EXPECT_EQ(header.back(), '\n');
    EXPECT_NE(header.find("'descr': '|u1'"), std::string::npos);
    EXPECT_NE(header.find("'fortran_order': False"), std::string::npos);
    EXPECT_NE(header.find(text("'shape': (", rows, ", 2)")), std::string::npos);
    ASSERT_EQ(file.size(), 10 + length + values.size());
    EXPECT_EQ(file.substr(10 + length), std::string(values.begin(), values.end()));
  }
  EXPECT_THROW(encode_npy(2, 2, std::vector<std::uint8_t>(3)), Error);
}

std::vector<std::uint8_t> bytes_of(const std::string& file) { return {file.begin(), file.end()}; }

std::string as_text(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

TEST(Npy, ReadsBackWhatWasWritten) {
  const std::vector<std::uint8_t> values = {1, 2, 3, 4, 5, 255};
  const NpyTable table = decode_npy(bytes_of(encode_npy(3, 2, values)), "a.npy");
  EXPECT_EQ(table.rows, 3u);
  EXPECT_EQ(table.columns, 2u);
  EXPECT_TRUE(table.is_bytes);
  EXPECT_EQ(table.bytes, values);
  EXPECT_EQ(decode_npy(bytes_of(encode_npy(0, 128, {})), "a.npy").rows, 0u);
}

TEST(Npy, ReadsFloatsOfEveryVersion) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  const std::vector<float> values = {0.5f, -1, 2, 3, 4, 1e-8f};
  for (const char version : {'\1', '\2', '\3'}) {
    const NpyTable table = decode_npy(bytes_of(npy(header, as_text(values), version)), "a.npy");
    EXPECT_EQ(table.rows, 2u);
    EXPECT_EQ(table.columns, 3u);
    EXPECT_FALSE(table.is_bytes);
    EXPECT_EQ(table.floats, values);
  }
}

TEST(Npy, RoundsDoublesAndRejectsThoseBeyondFloat) {
  auto file = [](double last) {
    const std::vector<double> values = {0.1, -1e-300, 3e38, last};
    const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * 8);
    return bytes_of(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", bytes));
  };
  const NpyTable table = decode_npy(file(-7.25), "a.npy");
  EXPECT_FALSE(table.is_bytes);
  EXPECT_EQ(table.floats, (std::vector<float>{0.1f, -0.0f, 3e38f, -7.25f}));
  for (const double bad : {1e39, std::nan(""), -std::numeric_limits<double>::infinity()}) {
    testing::expect_error(ErrorCode::io, "in row 1", [&] { decode_npy(file(bad), "a.npy"); });
  }
}

TEST(Npy, RejectsUnsupportedAndIncompleteFiles) {
  auto refused = [](const std::string& file, const std::string& word) {
    try {
      decode_npy(bytes_of(file), "a.npy");
      ADD_FAILURE() << word;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_EQ(std::string(error.what()).rfind("a.npy: ", 0), 0u) << error.what();
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  auto header = [](const std::string& type, const std::string& order, const std::string& shape) {
    return "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  };
  const std::string four = as_text({1, 2, 3, 4});
  refused("x,y", "is not a .npy file");
  refused(npy("", "", 9), "version 9");
  refused(npy(header("'<f4'", "False", "(2, 2)"), four).substr(0, 40), "ends within its header");
  refused(npy(header("'<f2'", "False", "(2, 1)"), four), "type '<f2'");
  refused(npy(header("'<f4'", "True", "(2, 2)"), four), "column by column");
  refused(npy(header("'<f4'", "False", "(4,)"), four), "shape (4,)");
  refused(npy(header("'<f4'", "False", "(1, 2, 2)"), four), "shape (1, 2, 2)");
  refused(npy(header("'<f4'", "False", "(3, 2)"), four), "3 x 2 numbers but holds 4");
  refused(npy(header("'<f4'", "False", "(2, 2)"), four + "x"), "2 x 2 numbers but holds 4");
  refused(npy(header("'<f4'", "False", "(4611686018427387905, 4)"), four), "but holds 4");
  refused(npy(header("'<f4'", "False", "(2, 2)"), as_text({1, 2, std::nanf(""), 4})),
          "holds nan in row 1");
}

}  // namespace
}  // namespace cornea
