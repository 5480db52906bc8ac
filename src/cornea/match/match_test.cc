// SPDX-License-Identifier: Apache-2.0
#include "cornea/match/match.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/match/match_kernels.h"

namespace cornea {
namespace {

using namespace core;
using namespace match;

constexpr int kLength = Features::kLength;
using Bytes = std::vector<std::uint8_t>;

enum class Kind { noise, extremes, clustered, equal, near };

// Clusters contain exact copies and neighbours that differ by one, which gives many equal
// distances.
Bytes descriptors(int count, Kind kind, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(std::size_t(count) * kLength);
  Bytes centres(4 * kLength);
  Random fixed(99);
  for (auto& v : centres) v = static_cast<std::uint8_t>(fixed.integer(0, 255));
  for (int i = 0; i < count; ++i) {
    std::uint8_t* d = bytes.data() + std::size_t(i) * kLength;
    const int centre = random.integer(0, 3);
    for (int k = 0; k < kLength; ++k) {
      switch (kind) {
        case Kind::noise:
          d[k] = static_cast<std::uint8_t>(random.integer(0, 255));
          break;
        case Kind::extremes:
          d[k] = random.integer(0, 1) ? 255 : 0;
          break;
        case Kind::clustered:
          d[k] = centres[centre * kLength + k];
          break;
        case Kind::equal:
          d[k] = 255;
          break;
        case Kind::near:
          d[k] = static_cast<std::uint8_t>(random.integer(120, 123));
          break;
      }
    }
    if (kind == Kind::clustered && random.integer(0, 1)) d[random.integer(0, kLength - 1)] ^= 1;
  }
  return bytes;
}

DescriptorView view_of(const Bytes& bytes) {
  return {bytes.data(), static_cast<int>(bytes.size() / kLength)};
}

int plain_d2(const std::uint8_t* a, const std::uint8_t* b) {
  int sum = 0;
  for (int k = 0; k < kLength; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

// The definition, as plain loops.
std::vector<Nearest> plain_nearest(const Bytes& a, const Bytes& b) {
  std::vector<Nearest> result;
  for (int i = 0; i < view_of(a).count; ++i) {
    Nearest n;
    for (int j = 0; j < view_of(b).count; ++j) {
      const int d2 = plain_d2(a.data() + i * kLength, b.data() + j * kLength);
      if (d2 < n.d2) {
        n = {j, d2, n.index, n.d2};
      } else if (d2 < n.second_d2) {
        n.second = j;
        n.second_d2 = d2;
      }
    }
    result.push_back(n);
  }
  return result;
}

std::vector<Match> plain_match(const Bytes& a, const Bytes& b, const MatchOptions& o) {
  const auto forth = plain_nearest(a, b), back = plain_nearest(b, a);
  std::vector<Match> result;
  for (int i = 0; i < static_cast<int>(forth.size()); ++i) {
    const Nearest& n = forth[i];
    if (n.index < 0 || (o.mutual && back[n.index].index != i)) continue;
    const float d1 = std::sqrt(float(n.d2)), d2 = std::sqrt(float(n.second_d2));
    const float ratio = n.second < 0 ? 0 : n.second_d2 == 0 ? 1 : d1 / d2;
    const double limit = double(o.ratio) * o.ratio * n.second_d2;
    if (o.ratio < 1 && n.second >= 0 && n.d2 >= limit) continue;
    if (o.max_distance > 0 && d1 > o.max_distance) continue;
    result.push_back({i, n.index, d1, ratio});
  }
  return result;
}

// Every kernel on this machine: the CPU's by name, and the GPU's.
struct Way {
  std::string device, kernel;
};
std::vector<Way> ways() {
  std::vector<Way> all;
  for (const std::string& name : match_kernels()) all.push_back({"cpu", name});
  for (const std::string& device : testing::devices()) {
    if (device != "cpu") all.push_back({device, ""});
  }
  return all;
}

class Matching : public ::testing::TestWithParam<Way> {
 protected:
  Matcher matcher(const MatchOptions& o = {}) const {
    return matcher_with_kernel(context, o, GetParam().kernel);
  }
  void expect_plain(const Bytes& a, const Bytes& b) {
    Matcher m = matcher();
    ASSERT_EQ(m.nearest(view_of(a), view_of(b)), plain_nearest(a, b))
        << view_of(a).count << " x " << view_of(b).count;
    ASSERT_EQ(m.match(view_of(a), view_of(b)), plain_match(a, b, {}))
        << view_of(a).count << " x " << view_of(b).count;
  }
  Context context = Context::from_name(GetParam().device);
};

TEST_P(Matching, EqualsAPlainLoopForEverySmallSize) {
  const int sizes[] = {0, 1, 2, 3, 7, 8, 9, 17, 33, 64, 65, 129};
  for (int na : sizes) {
    for (int nb : sizes) {
      expect_plain(descriptors(na, Kind::noise, na), descriptors(nb, Kind::noise, 1000 + nb));
    }
  }
}

TEST_P(Matching, EqualsAPlainLoopAroundTheEdgesOfTiles) {
  for (int na : {127, 256, 257, 300}) {
    for (int nb : {128, 255, 256, 257, 513}) {
      expect_plain(descriptors(na, Kind::near, na), descriptors(nb, Kind::near, 1000 + nb));
    }
  }
}

TEST_P(Matching, EqualsAPlainLoopOnLargerSets) {
  expect_plain(descriptors(1000, Kind::noise, 1), descriptors(777, Kind::noise, 2));
  expect_plain(descriptors(777, Kind::noise, 1), descriptors(1000, Kind::noise, 2));
  expect_plain(descriptors(5, Kind::near, 3), descriptors(3000, Kind::near, 4));
  expect_plain(descriptors(3000, Kind::near, 4), descriptors(5, Kind::near, 3));
}

TEST_P(Matching, LargestAndSmallestDistancesAreExact) {
  expect_plain(descriptors(90, Kind::extremes, 5), descriptors(300, Kind::extremes, 6));
  const Bytes black(20 * kLength, 0), white(20 * kLength, 255);
  expect_plain(black, white);
  expect_plain(white, black);
  expect_plain(white, white);
  expect_plain(black, black);
}

TEST_P(Matching, TiesGoToTheLowerIndex) {
  expect_plain(descriptors(500, Kind::clustered, 7), descriptors(600, Kind::clustered, 8));
  expect_plain(descriptors(300, Kind::equal, 7), descriptors(700, Kind::equal, 8));
  const auto found = matcher().nearest(view_of(descriptors(2, Kind::equal, 1)),
                                       view_of(descriptors(700, Kind::equal, 1)));
  EXPECT_EQ(found[1], (Nearest{0, 0, 1, 0}));
}

TEST_P(Matching, TestsSelectTheSameMatchesAsAPlainLoop) {
  for (Kind kind : {Kind::near, Kind::clustered, Kind::noise}) {
    const Bytes a = descriptors(400, kind, 1), b = descriptors(350, kind, 2);
    for (const MatchOptions& o :
         {MatchOptions{}, MatchOptions{.ratio = 0.95f},
          MatchOptions{.ratio = 0.97f, .mutual = false}, MatchOptions{.ratio = 1, .mutual = false},
          MatchOptions{.ratio = 2}, MatchOptions{.ratio = 1, .max_distance = 13}}) {
      EXPECT_EQ(matcher(o).match(view_of(a), view_of(b)), plain_match(a, b, o));
    }
  }
}

TEST_P(Matching, RatioAndDistanceHaveTheDocumentedMeaning) {
  // Distances 3 and 4 from the first descriptor: ratio 0.75.
  Bytes a(kLength, 10), b(2 * kLength, 10);
  b[0] = 14;
  b[kLength + 5] = 13;
  auto kept = [&](MatchOptions o) { return matcher(o).match(view_of(a), view_of(b)); };
  EXPECT_EQ(kept({}), (std::vector<Match>{{0, 1, 3, 0.75f}}));
  EXPECT_TRUE(kept({.ratio = 0.75f}).empty());
  EXPECT_EQ(kept({.ratio = 0.7501f}).size(), 1u);
  EXPECT_EQ(kept({.max_distance = 3}).size(), 1u);
  EXPECT_TRUE(kept({.max_distance = 2.9f}).empty());
}

TEST_P(Matching, TheOnlyNeighbourPassesTheRatioTest) {
  const Bytes a(kLength, 0), b(kLength, 255);
  const auto found = matcher().match(view_of(a), view_of(b));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].ratio, 0);
  EXPECT_EQ(found[0].distance, std::sqrt(float(128 * 255 * 255)));
}

TEST_P(Matching, TwoExactCopiesAreKeptOnlyWithoutARatioTest) {
  const Bytes a(kLength, 9), b(2 * kLength, 9);
  EXPECT_TRUE(matcher({.ratio = 0.99f}).match(view_of(a), view_of(b)).empty());
  EXPECT_EQ(matcher({.ratio = 1}).match(view_of(a), view_of(b)),
            (std::vector<Match>{{0, 0, 0, 1}}));
}

TEST_P(Matching, MutualMatchesAreOneToOne) {
  const Bytes a = descriptors(500, Kind::near, 1), b = descriptors(90, Kind::near, 2);
  const auto all = matcher({.ratio = 1, .mutual = false}).match(view_of(a), view_of(b));
  EXPECT_EQ(all.size(), 500u);
  const auto mutual = matcher({.ratio = 1}).match(view_of(a), view_of(b));
  EXPECT_GT(mutual.size(), 10u);
  std::vector<int> used;
  for (const Match& m : mutual) used.push_back(m.b);
  std::sort(used.begin(), used.end());
  EXPECT_EQ(std::unique(used.begin(), used.end()), used.end());
}

TEST_P(Matching, ABatchEqualsItsPairs) {
  std::vector<Bytes> sets;
  for (int count : {300, 0, 257, 1, 40, 900, 2}) {
    sets.push_back(descriptors(count, count % 2 ? Kind::near : Kind::clustered, count));
  }
  std::vector<MatchPair> pairs;
  for (const Bytes& a : sets) {
    for (const Bytes& b : sets) pairs.push_back({view_of(a), view_of(b)});
  }
  Matcher m = matcher({.ratio = 0.99f});
  const auto together = m.match_batch(pairs);
  EXPECT_EQ(m.report().pairs, 49);
  EXPECT_EQ(m.report().distances, 1500u * 1500u);
  ASSERT_EQ(together.size(), pairs.size());
  std::size_t matches = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(together[i], m.match(pairs[i].a, pairs[i].b)) << "pair " << i;
    matches += together[i].size();
  }
  EXPECT_GT(matches, 300u);
  EXPECT_TRUE(m.match_batch({}).empty());
}

TEST_P(Matching, ASmallCallIsNotAffectedByALargeOneBefore) {
  Matcher m = matcher();
  const Bytes a = descriptors(600, Kind::near, 1), b = descriptors(700, Kind::near, 2);
  const Bytes few = descriptors(33, Kind::noise, 3);
  const auto first = m.match(view_of(a), view_of(b));
  EXPECT_EQ(m.match(view_of(few), view_of(b)), plain_match(few, b, {}));
  EXPECT_EQ(m.match(view_of(a), view_of(few)), plain_match(a, few, {}));
  EXPECT_EQ(m.match(view_of(a), view_of(b)), first);
}

TEST_P(Matching, NothingIsAllocatedAfterTheFirstCallOfASize) {
  Matcher m = matcher();
  const Bytes a = descriptors(600, Kind::near, 1), b = descriptors(700, Kind::near, 2);
  m.match(view_of(b), view_of(b));
  m.match(view_of(a), view_of(b));
  const auto before = context.memory().allocations;
  m.match(view_of(a), view_of(b));
  m.match(view_of(b), view_of(b));
  m.match(view_of(a), view_of(b));
  EXPECT_EQ(context.memory().allocations, before);
}

TEST_P(Matching, AnyNumberOfThreadsGivesTheSameMatches) {
  if (context.is_cuda()) GTEST_SKIP() << "threads are the CPU's";
  const Bytes a = descriptors(900, Kind::clustered, 1), b = descriptors(800, Kind::clustered, 2);
  const MatchOptions o{.ratio = 1};
  const auto one = Matcher(Context::cpu(1), o).match(view_of(a), view_of(b));
  for (int threads : {2, 3, 7}) {
    EXPECT_EQ(Matcher(Context::cpu(threads), o).match(view_of(a), view_of(b)), one);
  }
}

TEST_P(Matching, DescriptorsOnTheDeviceGiveTheSameMatches) {
  if (!context.is_cuda()) GTEST_SKIP() << "for CUDA";
  const Bytes a = descriptors(600, Kind::near, 1), b = descriptors(700, Kind::near, 2);
  Matcher m = matcher();
  // Also if they are not aligned.
  for (std::size_t shift : {std::size_t(0), std::size_t(3)}) {
    auto on_device = [&](const Bytes& bytes) {
      Memory memory = context.allocate(Place::device, bytes.size() + shift, "test");
      context.upload(static_cast<std::uint8_t*>(memory.data()) + shift, bytes.size(), bytes.data(),
                     bytes.size(), bytes.size(), 1);
      context.synchronize();
      return memory;
    };
    const Memory da = on_device(a), db = on_device(b);
    const DescriptorView va(static_cast<const std::uint8_t*>(da.data()) + shift, 600,
                            Place::device);
    const DescriptorView vb(static_cast<const std::uint8_t*>(db.data()) + shift, 700,
                            Place::device);
    EXPECT_EQ(m.match(va, vb), plain_match(a, b, {}));
    EXPECT_THROW(m.match(va, view_of(b)), Error);
  }
}

TEST_P(Matching, UploadsASetOfABatchOnce) {
  if (!context.is_cuda()) GTEST_SKIP() << "for CUDA";
  const Bytes a = descriptors(300, Kind::near, 1), b = descriptors(200, Kind::near, 2);
  Matcher m = matcher();
  const std::vector<MatchPair> pairs(10, {view_of(a), view_of(b)});
  const auto before = context.transfers();
  m.match_batch(pairs);
  const auto bytes = context.transfers().upload_bytes - before.upload_bytes;
  EXPECT_GE(bytes, a.size() + b.size());
  EXPECT_LT(bytes, a.size() + b.size() + 4096);  // the table of pairs
}

INSTANTIATE_TEST_SUITE_P(, Matching, ::testing::ValuesIn(ways()), [](const auto& info) {
  std::string name = info.param.device + "_" + info.param.kernel;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(MatchErrors, InvalidInputIsReported) {
  Matcher m(Context::cpu(1));
  const Bytes a(kLength, 1);
  EXPECT_THROW(m.match({nullptr, 3}, view_of(a)), Error);
  EXPECT_THROW(m.match({a.data(), -1}, view_of(a)), Error);
  EXPECT_THROW(m.match({a.data(), 1, Place::device}, view_of(a)), Error);
  Features without;
  without.keypoints.resize(3);
  EXPECT_THROW(m.match(without, view_of(a)), Error);
}

TEST(MatchErrors, InvalidOptionsAreReported) {
  for (const MatchOptions& o :
       {MatchOptions{.ratio = 0}, MatchOptions{.ratio = -1}, MatchOptions{.ratio = NAN},
        MatchOptions{.max_distance = -1}, MatchOptions{.max_distance = INFINITY}}) {
    EXPECT_THROW(Matcher(Context::cpu(1), o), Error);
  }
  EXPECT_THROW(matcher_with_kernel(Context::cpu(1), {}, "abacus"), Error);
}

TEST(MatchReports, NameTheKernelAndCountTheWork) {
  Features a, b;
  a.keypoints.resize(3);
  a.descriptors = descriptors(3, Kind::noise, 1);
  b = a;
  Matcher m(Context::cpu(1));
  m.time_stages(true);
  EXPECT_EQ(m.match(a, b).size(), 3u);
  EXPECT_EQ(m.report().kernel, match_kernels().front());
  EXPECT_EQ(m.report().distances, 9u);
  EXPECT_EQ(m.report().matches, 3u);
  EXPECT_FALSE(m.report().stages.empty());
  EXPECT_EQ(match_kernels().back(), "portable");
}

}  // namespace
}  // namespace cornea
