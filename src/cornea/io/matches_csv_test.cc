// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/matches_csv.h"

#include <fstream>
#include <sstream>

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

MatchTable table_of(const std::string& contents, const std::vector<std::string>& left_out = {}) {
  std::istringstream in(contents);
  return read_match_table(in, "standard input", left_out);
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

void expect_refused(const std::string& contents, const std::vector<std::string>& words) {
  const std::string complaint = complaint_about(contents);
  for (const std::string& word : words) {
    EXPECT_NE(complaint.find(word), std::string::npos)
        << "no '" << word << "' in '" << complaint << "', about:\n"
        << contents.substr(0, 200);
  }
}

TEST(MatchesCsv, ReadsFourNumbersPerLine) {
  const auto matches = read_text("1,2,3,4\n5.5,-6,7e1,8\n");
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[0], (Correspondence{1, 2, 3, 4}));
  EXPECT_EQ(matches[1], (Correspondence{5.5f, -6, 70, 8}));
}

TEST(MatchesCsv, SkipsNamesBlankLinesAndFurtherColumns) {
  const auto matches =
      read_text("\xEF\xBB\xBFx1,y1,x2,y2,label\r\n1,2,3,4,0\r\n\r\n5, 6, 7, 8,1\r\n");
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[1], (Correspondence{5, 6, 7, 8}));
}

TEST(MatchesCsv, FindsTheColumnsByTheirNames) {
  const Correspondence expected{1, 2, 3, 4};
  for (const char* contents :
       {",x1,y1,x2,y2\n0,1,2,3,4\n", "score,x1,y1,x2,y2\n0.9,1,2,3,4\n",
        "y2,x2,label,y1,x1\n4,3,a,2,1\n", "X1,Y1,X2,Y2\n1,2,3,4\n",
        "\"x1\", \"y1\" ,\" x2\",y2\n1,2,3,4\n", "# x1 y1 x2 y2\n1 2 3 4\n",
        "#x1,y1,x2,y2\n1,2,3,4\n", "x1;label;y1;x2;y2\n1;a,b;2;3;4\n",
        "x1\ty1\tx2\ty2\tnote\n1\t2\t3\t4\t\n", "x1,y1,x2,y2\n1,2,3,4,\n",
        "id,x1,y1,x2,y2\n\"7, \"\"seven\"\"\",1,2,3,4\n", "x1,my label,y1,x2,y2\n1,a b,2,3,4\n"}) {
    SCOPED_TRACE(contents);
    try {
      const auto matches = read_text(contents);
      ASSERT_EQ(matches.size(), 1u);
      EXPECT_EQ(matches[0], expected);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(MatchesCsv, ListsTheColumnsIfNamesAreMissingOrAmbiguous) {
  expect_refused("score,a,b,c,d\n0,1,2,3,4\n", {"line 1", "score, a, b, c, d", "x1, y1, x2, y2"});
  expect_refused("x1,y1,x2,z2\n1,2,3,4\n", {"line 1", "x1, y1, x2, z2", "y2 is not among them"});
  expect_refused("x1,y1,x2,y2,X1\n1,2,3,4,5\n", {"x1 twice", "x1, y1, x2, y2, X1"});
  expect_refused("x1,y1,x2,0.5\n1,2,3,4\n", {"y2 is not among them"});
}

TEST(MatchesCsv, ARowHasAsManyCellsAsThereAreNames) {
  expect_refused("x1,y1,x2,y2,label\n1,2,3,4,0\n1,2,3,4\n", {"line 3", "4 cells", "5 columns"});
  // R's write.table writes one name fewer than there are columns, because of its row numbers.
  expect_refused("\"x1\" \"y1\" \"x2\" \"y2\"\n\"1\" 10 20 30 40\n", {"line 2", "5 cells"});
}

TEST(MatchesCsv, RejectsAnIndexColumnWithoutAName) {
  expect_refused("0,10,20,30,40\n1,11,21,31,41\n2,12,22,32,42\n",
                 {"0, 1, 2", "index", "index,x1,y1,x2,y2"});
  expect_refused("1;10;20;30;40\n2;11;21;31;41\n", {"1, 2, 3", "index"});
  // The remaining rows of a longer table.
  std::string some;
  for (int i = 0; i < 8; ++i) some += text(3 * i + 5, ",", i + 0.5, ",2,3,4\n");
  expect_refused(some, {"rising whole numbers", "index"});
  // Accepted: four columns cannot hold an index and four coordinates; 0, 1, 3 does not count rows;
  // named columns are not checked.
  EXPECT_EQ(read_text("0,10,20,30\n1,11,21,31\n").size(), 2u);
  EXPECT_EQ(read_text("0,10,20,30,40\n1,11,21,31,41\n3,12,22,32,42\n").size(), 3u);
  EXPECT_EQ(read_text("x1,y1,x2,y2,label\n0,10,20,30,40\n1,11,21,31,41\n").size(), 2u);
}

// Tables without column names as pandas writes them, with and without its index.
TEST(MatchesCsv, RejectsALineOfColumnNumbers) {
  for (const char* separator : {",", ";", " "}) {
    std::string numbers = "0,1,2,3\n10,20,30,40\n11,21,31,41\n";
    std::replace(numbers.begin(), numbers.end(), ',', *separator);
    expect_refused(numbers, {"line 1 is 0", "column numbers", "x1,y1,x2,y2"});
  }
  expect_refused("\n0,1,2,3,4\n10,20,30,40,5\n", {"line 2 is 0,1,2,3,4", "column numbers"});
  expect_refused(",0,1,2,3\n0,10,20,30,40\n1,11,21,31,41\n", {"line 1 is ,0,1,2,3"});
  // Such a line is accepted as the only match and as a later one.
  EXPECT_EQ(read_text("0,1,2,3\n").size(), 1u);
  EXPECT_EQ(read_text("0,1,2,4\n0,1,2,3\n").size(), 2u);
}

TEST(MatchesCsv, AcceptsOtherSeparatorsAndAnEmptyFile) {
  EXPECT_EQ(read_text("1;2;3;4\n1 2 3 4\n1\t2\t3\t4\n\"1\",\"2\",\"3\",\"4\"").size(), 4u);
  EXPECT_EQ(read_text("  1   2 3  4 five \n").size(), 1u);
  EXPECT_TRUE(read_text("").empty());
  EXPECT_TRUE(read_text("x1,y1,x2,y2\n").empty());
}

TEST(MatchesCsv, NamesTheLineThatIsWrong) {
  expect_refused("1,2,3,4\n1,2,3\n", {"line 2"});
  expect_refused("1,2,3,4\n,2,3,4,0.5\n", {"line 2", "x1"});
  expect_refused("1,2,3,4\n1,,3,4,0.5\n", {"line 2", "y1"});
  expect_refused("1,2,3,x\n", {"line 1", "y2"});
  expect_refused("x1,y1,x2,y2\n\n1,2,abc,4\n", {"line 3", "x2", "abc"});
  expect_refused("1,2,3,4\n1,2,nan,4\n", {"line 2", "nan"});
  expect_refused("1,2,3,4\n1,2,3,1e39\n", {"line 2", "1e39"});
  expect_refused("1,2,3,4\n1,-5400000.5,3,4\n", {"line 2", "y1", "subtract an offset"});
  expect_refused("1,2,3,4\n\"1,2,3,4\n", {"line 2", "quote"});
  expect_refused("1,2,3,4\n\"1\"5,2,3,4\n", {"line 2", "quote"});
  expect_refused(std::string("1,2,3,4\0 5\n", 11), {"line 1"});
  expect_refused("# made by hand, 3\n1,2,3,4\n", {"line 1", "#"});
  EXPECT_THROW(read_matches_csv("no/such/file.csv"), Error);
  EXPECT_THROW(read_matches_csv(::testing::TempDir()), Error);
}

TEST(MatchesCsv, EndlessInputEndsWithAnError) {
  try {
    read_matches_csv("/dev/zero");
    ADD_FAILURE() << "there was no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("longer than 1048576 bytes"), std::string::npos)
        << error.what();
  }
  // A long line that does end is read.
  EXPECT_EQ(read_text("1,2,3,4," + std::string(1000000, '5') + "\n").size(), 1u);
  expect_refused(std::string(1 << 21, '7'), {"line 1", "longer"});
}

TEST(MatchTable, KeepsFurtherColumnsAsText) {
  const MatchTable table = table_of(
      "name,x1,y1,x2,y2,Inlier,\"a \"\"b\"\"\"\r\n007,1.50,2,3,4,1,\"x, y\"\r\n1e3,5,6,7,8,0,\r\n",
      {"epipolar_distance", "inlier"});
  EXPECT_EQ(table.header, "name,x1,y1,x2,y2,\"a \"\"b\"\"\"");
  EXPECT_EQ(table.rows, (std::vector<std::string>{"007,1.50,2,3,4,\"x, y\"", "1e3,5,6,7,8,"}));
  ASSERT_EQ(table.matches.size(), 2u);
  EXPECT_EQ(table.matches[0], (Correspondence{1.5f, 2, 3, 4}));
}

TEST(MatchTable, NamesUnnamedColumns) {
  const MatchTable table = table_of("1 2 3 4 a\n5 6 7 8\n9 8 7 6 b c\n");
  EXPECT_EQ(table.header, "x1,y1,x2,y2,column5,column6");
  EXPECT_EQ(table.rows, (std::vector<std::string>{"1,2,3,4,a,", "5,6,7,8,,", "9,8,7,6,b,c"}));
  EXPECT_EQ(table_of("").header, "x1,y1,x2,y2");
  // The written table can be read again.
  std::string again = table.header + "\n";
  for (const std::string& row : table.rows) again += row + "\n";
  EXPECT_EQ(table_of(again).rows, table.rows);
}

}  // namespace
}  // namespace cornea
