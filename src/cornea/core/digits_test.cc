// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/digits.h"

#include <limits>

#include <gtest/gtest.h>

namespace cornea::core {
namespace {

TEST(Digits, HexadecimalHasAllSixteen) {
  EXPECT_EQ(hexadecimal(0), "0000000000000000");
  EXPECT_EQ(hexadecimal(0x0123456789abcdef), "0123456789abcdef");
  EXPECT_EQ(hexadecimal(std::numeric_limits<std::uint64_t>::max()), "ffffffffffffffff");
}

TEST(Digits, PaddingCutsNothing) {
  EXPECT_EQ(zero_padded(0, 3), "000");
  EXPECT_EQ(zero_padded(42, 4), "0042");
  EXPECT_EQ(zero_padded(12345, 5), "12345");
  EXPECT_EQ(zero_padded(123456, 5), "123456");
  EXPECT_EQ(zero_padded(7, 0), "7");
}

}  // namespace
}  // namespace cornea::core
