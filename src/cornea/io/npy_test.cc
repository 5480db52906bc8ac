#include "cornea/io/npy.h"

#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/error.h"

namespace cornea {
namespace {

using namespace io;

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

}  // namespace
}  // namespace cornea
