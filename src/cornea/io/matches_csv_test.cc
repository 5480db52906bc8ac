#include "cornea/io/matches_csv.h"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"

namespace cornea {
namespace {

std::vector<Correspondence> read_text(const std::string& contents) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "m.csv", std::ios::binary) << contents;
  return read_matches_csv(folder / "m.csv");
}

std::string complaint_about(const std::string& contents) {
  try {
    read_text(contents);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    return error.what();
  }
  return "";
}

TEST(MatchesCsv, ReadsFourNumbersALine) {
  const auto matches = read_text("1,2,3,4\n5.5,-6,7e1,8\n");
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[0], (Correspondence{1, 2, 3, 4}));
  EXPECT_EQ(matches[1], (Correspondence{5.5f, -6, 70, 8}));
}

TEST(MatchesCsv, LeavesOutANameLineBlankLinesAndFurtherColumns) {
  const auto matches =
      read_text("\xEF\xBB\xBFx1,y1,x2,y2,label\r\n1,2,3,4,0\r\n\r\n5, 6, 7, 8,1\r\n");
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[1], (Correspondence{5, 6, 7, 8}));
}

TEST(MatchesCsv, TakesOtherSeparatorsAndAnEmptyFile) {
  EXPECT_EQ(read_text("1;2;3;4\n1 2 3 4\n1\t2\t3\t4").size(), 3u);
  EXPECT_TRUE(read_text("").empty());
}

TEST(MatchesCsv, PassesOnWhatIsNotANumber) {
  const auto matches = read_text("nan,2,3,inf\n");
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_TRUE(std::isnan(matches[0].x1));
}

TEST(MatchesCsv, NamesTheLineThatIsWrong) {
  EXPECT_NE(complaint_about("1,2,3,4\n1,2,3\n").find("line 2"), std::string::npos);
  EXPECT_NE(complaint_about("1,2,3,4\n,2,3,4,0.5\n").find("line 2"), std::string::npos);
  EXPECT_NE(complaint_about("1,2,3,4\n1,,3,4,0.5\n").find("line 2"), std::string::npos);
  EXPECT_NE(complaint_about("1,2,3,x\n").find("line 1"), std::string::npos);
  EXPECT_NE(complaint_about("a,b,c,d\nx1,y1,x2,y2\n").find("line 2"), std::string::npos);
  EXPECT_THROW(read_matches_csv("no/such/file.csv"), Error);
  EXPECT_THROW(read_matches_csv(::testing::TempDir()), Error);
}

}  // namespace
}  // namespace cornea
