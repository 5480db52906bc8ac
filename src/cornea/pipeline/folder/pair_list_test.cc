// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "cornea/io/file_testing.h"
#include "cornea/pipeline/folder/match_all.h"

namespace cornea {
namespace {

using colmap::Database;
using colmap::ImagePair;

class PairLists : public ::testing::Test {
 protected:
  PairLists() {
    const colmap::Id camera = database.add_camera({});
    for (const char* name : {"a", "b", "a b", "folder/view 1.png"}) {
      database.add_image(name, camera);
    }
  }
  PairList read(const std::string& contents) const {
    testing::write_bytes(folder / "pairs.txt", testing::bytes_of_text(contents));
    return read_pair_list(folder / "pairs.txt", database);
  }

  testing::TemporaryFolder folder;
  Database database{folder / "database.db", Database::Open::create};
};

TEST_F(PairLists, NamesAreSeparatedByWhiteSpaceAndMayContainIt) {
  const PairList list =
      read("# two per line\na b\n\n \tb\t  a \t\r\n\t\nfolder/view 1.png a\na b folder/view 1.png");
  EXPECT_TRUE(list.refused.empty());
  EXPECT_EQ(list.pairs, (std::vector<ImagePair>{{1, 2}, {2, 1}, {4, 1}, {3, 4}}));
}

TEST_F(PairLists, LinesThatDoNotNameTwoImagesAreRefused) {
  const PairList list = read("a b\na a\na c\na b a\na b b\nb\n");
  EXPECT_EQ(list.pairs, (std::vector<ImagePair>{{1, 2}, {3, 1}, {3, 2}}));
  ASSERT_EQ(list.refused.size(), 3u);
  EXPECT_NE(list.refused[0].find("line 2: 'a a' names one image twice"), std::string::npos);
  EXPECT_NE(list.refused[1].find("line 3: 'a c' does not name"), std::string::npos);
  EXPECT_NE(list.refused[2].find("line 6: 'b' does not name"), std::string::npos);
}

TEST_F(PairLists, AByteOrderMarkIsNoPartOfTheFirstLine) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a b\n")
                .pairs,
            (std::vector<ImagePair>{{1, 2}}));
  EXPECT_TRUE(read("\xEF\xBB\xBF# two per line\na b\n").refused.empty());
}

// Every space is a possible split; copying both parts at each of them would take hours for this
// line.
TEST_F(PairLists, ALineOfMegabytesIsRefusedAtOnceInAShortSentence) {
  std::string line;
  while (line.size() < (std::size_t{4} << 20)) line += "a b ";
  const PairList list = read("a b\n" + line + "\n");
  EXPECT_EQ(list.pairs.size(), 1u);
  ASSERT_EQ(list.refused.size(), 1u);
  EXPECT_LT(list.refused[0].size(), 1000u);
}

}  // namespace
}  // namespace cornea
