// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/content_hash.h"

#include <set>

#include "cornea/io/file_testing.h"

namespace cornea::io {
namespace {

using testing::bytes_of_text;
using testing::ByteVector;

// Values of the reference implementation: no bytes, less than one stripe of 32 bytes, more than
// one.
TEST(ContentHash, IsXxh64) {
  EXPECT_EQ(content_hash({}), 0xEF46DB3751D8E999u);
  EXPECT_EQ(content_hash(bytes_of_text("abc")), 0x44BC2CF5AD770999u);
  EXPECT_EQ(content_hash(bytes_of_text("Nobody inspects the spammish repetition")),
            0xFBCEA83C8A378BF1u);
}

TEST(ContentHash, EveryBitAndEveryLengthCounts) {
  std::set<std::uint64_t> seen;
  ByteVector bytes(80, 0);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    seen.insert(content_hash(std::span(bytes).first(length)));
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::uint8_t(1 << bit % 8);
    seen.insert(content_hash(bytes));
    bytes[bit / 8] ^= std::uint8_t(1 << bit % 8);
  }
  EXPECT_EQ(seen.size(), 81u + 640u);
}

TEST(ContentHash, HashInPartsEqualsHashOfTheWhole) {
  ByteVector bytes(200);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::uint8_t(7 * i + 3);
  for (std::size_t first = 0; first <= 70; ++first) {
    for (const std::size_t second :
         {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{64}}) {
      ContentHash hash;
      hash.add(std::span(bytes).first(first));
      hash.add(std::span(bytes).subspan(first, second));
      hash.add(std::span(bytes).subspan(first + second));
      EXPECT_EQ(hash.value(), content_hash(bytes)) << first << " " << second;
    }
  }
}

TEST(ContentHash, HashOfAFileIsTheHashOfItsBytes) {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder / "a", bytes_of_text("abc"));
  EXPECT_EQ(content_hash_of_file(folder / "a"), content_hash(bytes_of_text("abc")));
  EXPECT_THROW(content_hash_of_file(folder / "b"), Error);
}

}  // namespace
}  // namespace cornea::io
