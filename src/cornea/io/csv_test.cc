// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/csv.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/io/matches_csv.h"

namespace cornea {
namespace {

using namespace io;

std::string cell(float value, CsvNumbers numbers) {
  CsvWriter csv("v", numbers);
  csv.row({value});
  return csv.contents().substr(2, csv.contents().size() - 3);
}

TEST(CsvWriter, WritesNamesAndOneLinePerRow) {
  CsvWriter csv("x,y,inlier");
  EXPECT_EQ(csv.contents(), "x,y,inlier\n");
  csv.row({1.5f, -2, 1});
  csv.row(std::vector<float>{0, 3.25f, 0});
  EXPECT_EQ(csv.contents(), "x,y,inlier\n1.5,-2,1\n0,3.25,0\n");
}

TEST(CsvWriter, LeavesACellWithoutAValueEmpty) {
  CsvWriter csv("x,distance,inlier");
  csv.row({1, std::nullopt, 0});
  csv.row({std::nullopt, 2, std::nullopt});
  EXPECT_EQ(csv.contents(), "x,distance,inlier\n1,,0\n,2,\n");
}

TEST(CsvWriter, AcceptsOnlyOneCellPerColumn) {
  CsvWriter csv("x,y");
  EXPECT_THROW(csv.row({1}), Error);
  EXPECT_THROW(csv.row({1, 2, 3}), Error);
  EXPECT_THROW(csv.row(std::vector<float>{}), Error);
  EXPECT_EQ(csv.contents(), "x,y\n");
}

TEST(CsvWriter, WritesTheShortestNumberOrThePlainOne) {
  struct {
    float value;
    const char *shortest, *plain;
  } const cases[] = {{0.1f, "0.1", "0.1"},
                     {100000, "1e+05", "100000"},
                     {0.0003f, "3e-04", "0.0003"},
                     {1.25e-5f, "1.25e-05", "1.25e-05"},
                     {123456.79f, "123456.79", "123456.79"},
                     {1e9f, "1e+09", "1e+09"},
                     {-0.0f, "-0", "-0"},
                     {std::numeric_limits<float>::infinity(), "inf", "inf"},
                     {std::nanf(""), "nan", "nan"}};
  for (const auto& c : cases) {
    EXPECT_EQ(cell(c.value, CsvNumbers::shortest), c.shortest);
    EXPECT_EQ(cell(c.value, CsvNumbers::plain), c.plain);
  }
}

TEST(CsvWriter, WrittenNumbersReadBackToTheBit) {
  const std::vector<float> numbers = {1.0f / 3, std::nextafter(640.0f, 0.0f), 1048576,
                                      std::numeric_limits<float>::min()};
  for (const CsvNumbers notation : {CsvNumbers::shortest, CsvNumbers::plain}) {
    CsvWriter csv("x1,y1,x2,y2", notation);
    csv.row(numbers);
    const testing::TemporaryFolder folder;
    std::ofstream(folder / "m.csv") << csv.contents();
    const std::vector<Correspondence> read = read_matches_csv(folder / "m.csv");
    ASSERT_EQ(read.size(), 1u);
    EXPECT_EQ(read[0], (Correspondence{numbers[0], numbers[1], numbers[2], numbers[3]}));
  }
}

TEST(Shortest, GivesTheDoubleWithTheDigitsOfTheFloat) {
  EXPECT_EQ(shortest(0.1f), 0.1);
  EXPECT_EQ(shortest(-123456.79f), -123456.79);
  EXPECT_EQ(shortest(3), 3);
}

}  // namespace
}  // namespace cornea
