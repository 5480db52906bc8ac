// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/points_csv.h"

#include <sstream>

#include <gtest/gtest.h>

#include "cornea/core/error.h"

namespace cornea::io {
namespace {

PointTable read(const std::string& contents) {
  std::istringstream in(contents);
  return read_points_csv(in, "points.csv");
}

void expect_refused(const std::string& contents, const std::string& word) {
  try {
    read(contents);
    ADD_FAILURE() << contents;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_EQ(std::string(error.what()).rfind("points.csv: ", 0), 0u) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(PointsCsv, FindsColumnsByNameInAnyOrder) {
  const PointTable table =
      read("\xEF\xBB\xBFid, Response,y,x,scale,angle\r\n7,0.5,2,1.25,3,-1\r\n\n8,+2,4,3,1,0\n");
  ASSERT_EQ(table.points.size(), 2u);
  EXPECT_TRUE(table.has_response);
  const Keypoint first = {.x = 1.25f, .y = 2, .scale = 3, .angle = -1, .response = 0.5f};
  EXPECT_EQ(table.points[0], first);
  EXPECT_EQ(table.points[1].x, 3);
  EXPECT_EQ(table.points[1].response, 2);
  EXPECT_FALSE(read("x,y\n").has_response);
  EXPECT_TRUE(read("x,y\n").points.empty());
}

TEST(PointsCsv, RejectsInvalidTables) {
  expect_refused("", "is empty");
  expect_refused("1,2\n3,4\n", "line 1 does not name the columns x and y");
  expect_refused("x;y\n3;4\n", "line 1 does not name the columns x and y");
  expect_refused("x,y,X\n", "names x twice");
  expect_refused("x,y\n1,2\n1,2,3\n", "line 3 has 3 cells where line 1 names 2");
  expect_refused("x,y\n1\n", "line 2 has 1 cells");
  expect_refused("x,y\n1,two\n", "line 2 has no number for y but 'two'");
  expect_refused("x,y\n1,\n", "no number for y but ''");
  expect_refused("x,y\nnan,1\n", "nan for x, which is not a finite number");
  expect_refused("x,y\n1,1e300\n", "1e300 for y, which is not a finite number");
}

}  // namespace
}  // namespace cornea::io
