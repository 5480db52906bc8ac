// SPDX-License-Identifier: Apache-2.0
#include "cornea/retrieve/vocabulary.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/retrieve/retrieve_testing.h"

namespace cornea::retrieve {
namespace {

using Bytes = std::vector<std::uint8_t>;

class RetrieveVocabulary : public testing::OnEveryDevice {
 protected:
  Vocabulary learn(const Training& training, int words, int iterations) {
    NearestWords nearest(context);
    return learn_vocabulary(context, training, words, iterations, nearest, {});
  }
};

Training training_of(const Bytes& descriptors) {
  Training training{descriptors, {}};
  core::Random random(5);
  for (std::size_t i = 0; i < descriptors.size() / kLength; ++i) {
    training.ranks.push_back(random.bits());
  }
  return training;
}

// k-means with plain loops.
Vocabulary plain_vocabulary(const Training& training, int words, int iterations) {
  std::vector<int> rows(training.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](int a, int b) { return training.ranks[a] < training.ranks[b]; });
  auto row_bytes = [&](int row) {
    const auto begin = training.descriptors.begin() + row * kLength;
    return Bytes(begin, begin + kLength);
  };
  std::set<Bytes> taken;
  std::set<int> chosen;
  for (int row : rows) {
    if (static_cast<int>(chosen.size()) < words && taken.insert(row_bytes(row)).second) {
      chosen.insert(row);
    }
  }
  std::vector<Bytes> centroids;
  for (int row : chosen) centroids.push_back(row_bytes(row));
  Vocabulary result;
  for (bool changed = true; changed && result.iterations < iterations; ++result.iterations) {
    std::vector<std::vector<int>> sums(centroids.size(), std::vector<int>(kLength));
    std::vector<int> counts(centroids.size());
    for (std::size_t row = 0; row < training.size(); ++row) {
      int nearest = 0, least = INT32_MAX;
      for (std::size_t word = 0; word < centroids.size(); ++word) {
        int d2 = 0;
        for (int k = 0; k < kLength; ++k) {
          const int d = training.descriptors[row * kLength + k] - centroids[word][k];
          d2 += d * d;
        }
        if (d2 < least) {
          least = d2;
          nearest = static_cast<int>(word);
        }
      }
      ++counts[nearest];
      for (int k = 0; k < kLength; ++k) sums[nearest][k] += training.descriptors[row * kLength + k];
    }
    changed = false;
    for (std::size_t word = 0; word < centroids.size(); ++word) {
      for (int k = 0; k < kLength && counts[word] > 0; ++k) {
        const int mean = (sums[word][k] + counts[word] / 2) / counts[word];  // rounded half up
        changed |= centroids[word][k] != mean;
        centroids[word][k] = static_cast<std::uint8_t>(mean);
      }
    }
  }
  for (const Bytes& centroid : centroids) {
    result.centroids.insert(result.centroids.end(), centroid.begin(), centroid.end());
  }
  return result;
}

TEST_P(RetrieveVocabulary, EqualsPlainKMeans) {
  for (int words : {1, 7, 40, 300}) {
    const Training training = training_of(testing::drawn_descriptors(700, words));
    for (int iterations : {1, 3}) {
      const Vocabulary found = learn(training, words, iterations);
      const Vocabulary plain = plain_vocabulary(training, words, iterations);
      ASSERT_EQ(found.centroids, plain.centroids) << words << " words";
      ASSERT_EQ(found.iterations, plain.iterations);
    }
  }
}

TEST_P(RetrieveVocabulary, EndsWhenNothingChanges) {
  Bytes bytes = testing::drawn_descriptors(5, 3);
  const Bytes five = bytes;
  for (int copies = 0; copies < 3; ++copies) bytes.insert(bytes.end(), five.begin(), five.end());
  const Vocabulary found = learn(training_of(bytes), 5, 100);
  EXPECT_EQ(found.iterations, 1);
  EXPECT_EQ(found.size(), 5);
}

TEST_P(RetrieveVocabulary, EqualDescriptorsGiveOneWord) {
  const Bytes equal(100 * kLength, 77);
  const Vocabulary found = learn(training_of(equal), 16, 10);
  EXPECT_EQ(found.centroids, Bytes(kLength, 77));
}

TEST_P(RetrieveVocabulary, AWordWithoutDescriptorsIsUnchanged) {
  // All descriptors lie on a line; the words start at 0, 10 and 11. In the first iteration the word
  // at 10 has the descriptors 6 and 10 and moves to 8, while the twenty at 5, which are as close to
  // 0 as to 10, move the word at 0 to 5. Then 6 belongs to that word and 10 to the word at 11.
  Bytes bytes;
  for (int v : {0, 10, 11, 6}) bytes.insert(bytes.end(), kLength, v);
  bytes.insert(bytes.end(), 20 * kLength, 5);
  Training training{bytes, std::vector<std::uint64_t>(bytes.size() / kLength, 100)};
  training.ranks[0] = training.ranks[1] = training.ranks[2] = 1;
  const Vocabulary found = learn(training, 3, 10);
  Bytes expected;
  for (int v : {5, 8, 11}) expected.insert(expected.end(), kLength, v);
  EXPECT_EQ(found.centroids, expected);
  EXPECT_EQ(found.iterations, 2);
  NearestWords nearest(context);
  nearest.set_words(found.centroids);
  const auto words = nearest.of(bytes.data(), static_cast<int>(bytes.size() / kLength));
  EXPECT_EQ(std::count(words.begin(), words.end(), 1u), 0);
}

TEST_P(RetrieveVocabulary, IsTheSameForEveryNumberOfThreads) {
  const Training training = training_of(testing::drawn_descriptors(3000, 8));
  const Vocabulary found = learn(training, 200, 5);
  for (int threads : {1, 3}) {
    const Context cpu = Context::cpu(threads);
    NearestWords nearest(cpu);
    EXPECT_EQ(found.centroids, learn_vocabulary(cpu, training, 200, 5, nearest, {}).centroids);
  }
}

TEST(RetrieveTraining, EveryImageContributesItsShareInAnyOrderOfImages) {
  testing::DrawnImages images = testing::drawn_groups(4, 3, 50, 1);
  const Context context = Context::cpu(2);
  auto draw = [&](std::int64_t wanted, std::uint64_t seed) {
    const RetrieveInput input = testing::input_of(images);
    const RetrieveEvents events;
    return draw_training(context, Collection(input, events), wanted, seed);
  };
  const Training first = draw(100, 0), other_seed = draw(100, 1);
  EXPECT_GE(first.size(), 100u);
  EXPECT_LE(first.size(), 112u);  // rounded up per image
  EXPECT_NE(first.descriptors, other_seed.descriptors);
  std::reverse(images.begin(), images.end());
  const Training reversed = draw(100, 0);
  EXPECT_EQ(first.descriptors, reversed.descriptors);
  EXPECT_EQ(first.ranks, reversed.ranks);
  std::size_t all = 0;
  for (const testing::DrawnImage& image : images) all += image.count();
  EXPECT_EQ(draw(1 << 20, 0).size(), all);
}

TEST(RetrieveWords, AreAPowerOfTwoByTheNumberOfDescriptors) {
  EXPECT_EQ(words_for(1), 256);
  EXPECT_EQ(words_for(64 * 1024), 1024);
  EXPECT_EQ(words_for(64 * 1024 - 1), 512);
  EXPECT_EQ(words_for(2'000'000), 16384);
  EXPECT_EQ(words_for(20'000'000), 65536);
}

INSTANTIATE_TEST_SUITE_P(, RetrieveVocabulary, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea::retrieve
