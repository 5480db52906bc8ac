// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/digits.h"

#include <limits>
#include <locale>

#include <gtest/gtest.h>

#include "cornea/core/error.h"

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

// German's, as an application may set it for its own output.
struct Points : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
  char do_decimal_point() const override { return ','; }
};

TEST(Text, DoesNotDependOnTheGlobalLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Points));
  const std::string found = text(3200, " ", 0.5);
  std::locale::global(before);
  EXPECT_EQ(found, "3200 0.5");
}

}  // namespace
}  // namespace cornea::core
