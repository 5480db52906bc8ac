// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/named_matches.h"

#include <sstream>

#include "cornea/io/file_testing.h"

namespace cornea::io {
namespace {

std::vector<NamedMatches> matches_of(const std::string& words) {
  std::istringstream in(words);
  return read_named_matches(in, "m.txt");
}

// The names and matches of each pair.
std::string as_words(const std::vector<NamedMatches>& pairs) {
  std::string all;
  for (const NamedMatches& pair : pairs) {
    all += text("[", pair.names, pair.first, pair.names.empty() ? "+" : "", pair.second, "]");
    for (const IndexMatch& m : pair.matches) all += text(" ", m.first, ":", m.second);
  }
  return all;
}

void expect_names_refused(const std::string& words, const std::string& sentence) {
  testing::expect_error(ErrorCode::io, sentence, [&] { matches_of(words); });
}

TEST(NamedMatches, ReadsColmapsText) {
  EXPECT_EQ(as_words(matches_of("a.jpg b.jpg\n0 17\n3 21\n\na.jpg c d.jpg\r\n4294967295\t0 \r\n")),
            "[a.jpg b.jpg] 0:17 3:21[a.jpg c d.jpg] 4294967295:0");
  // Pairs without matches, comments, several blank lines, and names that look like indices.
  EXPECT_EQ(as_words(matches_of("\n# made by hand\na b\n\n\n# other\n1 2\n3 4\n\nc d")),
            "[a b][1 2] 3:4[c d]");
}

TEST(NamedMatches, ReadsCsvByColumnNames) {
  EXPECT_EQ(as_words(matches_of("image1,image2,index1,index2\na,b,0,1\nc,b,5,6\na,b,2,3\n")),
            "[a+b] 0:1 2:3[c+b] 5:6");
  EXPECT_EQ(as_words(matches_of("\xEF\xBB\xBFscore;Index2;Image1;INDEX1;image2\n"
                                "0.5;7;\"a, \"\"x\"\".jpg\";9;b c\n")),
            "[a, \"x\".jpg+b c] 9:7");
}

TEST(NamedMatches, RejectsInvalidLinesByNumber) {
  expect_names_refused("", "m.txt: is empty");
  expect_names_refused("\n \n", "m.txt: is empty");
  expect_names_refused("a b\n0 -1\n", "m.txt, line 2: '-1' is not a feature index");
  expect_names_refused("a b\n0 1.5\n", "line 2: '1.5' is not a feature index");
  expect_names_refused("a b\n4294967296 0\n", "line 2: '4294967296' is not a feature index");
  expect_names_refused("a b\n0 1\nc d\n", "line 3: 'c' is not a feature index");
  expect_names_refused("a b\n0 1 2\n", "line 2: a match is two indices");
  expect_names_refused("a b\n0\n", "line 2: a match is two indices");
  expect_names_refused("a b\n0 1\n5 6\n0 1\n", "line 4: the match 0 1 is already in line 2");
  expect_names_refused("image1,image2,index1\n", "line 1: the columns image1");
  expect_names_refused("image1,image2,index1,index2,index2\n", "line 1: the columns image1");
  expect_names_refused("image1,image2,index1,index2\na,b,0\n",
                       "line 2: does not have the 4 columns");
  expect_names_refused("image1,image2,index1,index2\na,,0,1\n", "line 2: an image has no name");
  expect_names_refused("image1,image2,index1,index2\na,b,0,nan\n",
                       "line 2: 'nan' is not a feature index");
  expect_names_refused("image1,image2,index1,index2\na,b,0,1\na,b,0,1\n", "line 3: the match 0 1");
}

}  // namespace
}  // namespace cornea::io
