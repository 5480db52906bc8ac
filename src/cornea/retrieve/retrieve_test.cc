// SPDX-License-Identifier: Apache-2.0
#include "cornea/retrieve/retrieve.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/retrieve/codes.h"
#include "cornea/retrieve/retrieve_testing.h"
#include "cornea/retrieve/vocabulary.h"

namespace cornea {
namespace {

using namespace retrieve;
using testing::drawn_groups;
using testing::DrawnImage;
using testing::DrawnImages;
using testing::input_of;
using Pairs = std::vector<RetrievedPair>;

class Retrieve : public testing::OnEveryDevice {
 protected:
  Pairs pairs(const DrawnImages& images, const RetrieveOptions& options = {}) {
    return retrieve_pairs(context, input_of(images), options, &report);
  }
  RetrieveReport report;
};

// The signs of an image's words, with plain loops over the formulas.
std::map<int, std::vector<bool>> plain_codes(const DrawnImage& image,
                                             const Vocabulary& vocabulary) {
  std::map<int, std::vector<int>> residuals;
  for (int i = 0; i < image.count(); ++i) {
    const std::uint8_t* d = image.descriptors.data() + i * kLength;
    int word = 0, least = INT32_MAX;
    for (int w = 0; w < vocabulary.size(); ++w) {
      int d2 = 0;
      for (int k = 0; k < kLength; ++k) {
        const int difference = d[k] - vocabulary.centroids[w * kLength + k];
        d2 += difference * difference;
      }
      if (d2 < least) {
        least = d2;
        word = w;
      }
    }
    std::vector<int>& residual = residuals[word];
    residual.resize(kLength);
    for (int k = 0; k < kLength; ++k)
      residual[k] += d[k] - vocabulary.centroids[word * kLength + k];
  }
  std::map<int, std::vector<bool>> codes;
  for (const auto& [word, residual] : residuals) {
    for (int j = 0; j < kLength; ++j) {
      int rotated = 0;
      for (int k = 0; k < kLength; ++k) {
        const bool drawn = core::philox(0x7265747269657665, 0, k).v[0] >> 31;
        const bool hadamard = std::popcount(static_cast<unsigned>(j & k)) % 2;
        rotated += drawn != hadamard ? -residual[k] : residual[k];
      }
      codes[word].push_back(rotated > 0);
    }
  }
  return codes;
}

// The pairs by definition: a double loop over images without an inverted file.
Pairs plain_pairs(const DrawnImages& images, const RetrieveOptions& options) {
  const Context context = Context::cpu(1);
  const RetrieveInput input = input_of(images);
  const RetrieveEvents events;
  const Collection collection(input, events);
  const int words = options.words > 0 ? options.words : words_for(collection.descriptors);
  const Training training = draw_training(
      context, collection, options.training > 0 ? options.training : 32 * words, options.seed);
  NearestWords nearest(context);
  const Vocabulary vocabulary =
      learn_vocabulary(context, training, words, options.iterations, nearest, {});

  std::vector<std::map<int, std::vector<bool>>> codes;
  std::map<int, int> with_word;
  int described = 0;
  for (const DrawnImage& image : images) {
    codes.push_back(plain_codes(image, vocabulary));
    for (const auto& [word, signs] : codes.back()) ++with_word[word];
    described += image.count() > 0;
  }
  auto raw = [&](int a, int b) {
    std::int64_t sum = 0;
    for (const auto& [word, signs] : codes[a]) {
      const auto other = codes[b].find(word);
      if (other == codes[b].end()) continue;
      int agreement = 0;
      for (int k = 0; k < kLength; ++k) agreement += signs[k] == other->second[k] ? 1 : -1;
      if (agreement <= options.threshold) continue;
      Wide weight = 65536, whole = 1;
      for (int i = 0; i < options.power; ++i) {
        weight *= static_cast<unsigned>(agreement);
        whole *= 128;
      }
      sum += static_cast<std::int64_t>(weight / whole) *
             (log2_fixed(described + 1) - log2_fixed(with_word[word]));
    }
    return sum;
  };
  const int count = static_cast<int>(images.size());
  std::vector<std::uint64_t> roots;
  for (int i = 0; i < count; ++i) roots.push_back(root_fixed(raw(i, i)));
  auto score = [&](int a, int b) {
    const std::int64_t sum = raw(a, b);
    if (sum == 0) return std::int64_t{0};
    return static_cast<std::int64_t>((Wide{static_cast<std::uint64_t>(sum)} << 62) /
                                     (Wide{roots[a]} * roots[b]));
  };
  std::map<std::pair<int, int>, std::int64_t> kept;
  for (int a = 0; a < count; ++a) {
    std::vector<std::tuple<std::int64_t, std::uint64_t, int>> others;
    for (int b = 0; b < count; ++b) {
      const std::int64_t alike = b == a ? 0 : score(a, b);
      if (alike > 0) others.push_back({-alike, images[b].key, b});
    }
    std::sort(others.begin(), others.end());
    for (std::size_t i = 0; i < others.size() && i < std::size_t(options.neighbours); ++i) {
      const int b = std::get<2>(others[i]);
      kept[std::minmax(a, b)] = -std::get<0>(others[i]);
    }
  }
  Pairs pairs;
  for (const auto& [pair, value] : kept) pairs.push_back({pair.first, pair.second, value});
  return pairs;
}

TEST_P(Retrieve, EqualsTheDefinitionExactly) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const DrawnImages images = drawn_groups(5, 4, 40, seed);
    for (const RetrieveOptions& options :
         {RetrieveOptions{.neighbours = 3, .words = 50}, RetrieveOptions{.neighbours = 100},
          RetrieveOptions{.neighbours = 2, .words = 9, .power = 1, .threshold = 20},
          RetrieveOptions{.neighbours = 4,
          .words = 300,
          .training = 500,
          .iterations = 2,
          .power = 8,
          .seed = 77}}) {
      const Pairs found = pairs(images, options);
      ASSERT_EQ(found, plain_pairs(images, options)) << seed << ", " << options.words << " words";
      ASSERT_FALSE(found.empty());
    }
  }
}

TEST_P(Retrieve, FindsTheImagesOfAGroup) {
  const int groups = 30, in_group = 4;
  const DrawnImages images = drawn_groups(groups, in_group, 120, 9);
  const Pairs found = pairs(images, {.neighbours = in_group - 1});
  int together = 0;
  for (const RetrievedPair& pair : found) {
    EXPECT_LT(pair.first, pair.second);
    together += pair.first / in_group == pair.second / in_group;
  }
  EXPECT_EQ(together, groups * in_group * (in_group - 1) / 2);
  EXPECT_EQ(together, static_cast<int>(found.size()));
  EXPECT_EQ(report.images, groups * in_group);
  EXPECT_EQ(report.stages.size(), 4u);
  EXPECT_GT(report.comparisons, 0);
  EXPECT_FALSE(report.kernel.empty());
}

TEST_P(Retrieve, GivesTheSamePairsForEveryNumberOfThreads) {
  const DrawnImages images = drawn_groups(20, 5, 150, 4);
  const Pairs found = pairs(images, {.neighbours = 7});
  for (int threads : {1, 2, 5}) {
    EXPECT_EQ(retrieve_pairs(Context::cpu(threads), input_of(images), {.neighbours = 7}), found);
  }
}

TEST_P(Retrieve, GivesTheSamePairsWhateverTheOrderOfImages) {
  const DrawnImages images = drawn_groups(12, 4, 100, 6);
  const Pairs found = pairs(images, {.neighbours = 5});
  std::vector<int> order(images.size());
  std::iota(order.begin(), order.end(), 0);
  core::Random random(3);
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    std::swap(order[i], order[random.integer(0, static_cast<int>(i))]);
  }
  DrawnImages shuffled;
  for (int i : order) shuffled.push_back(images[i]);
  Pairs renamed;
  for (const RetrievedPair& pair : pairs(shuffled, {.neighbours = 5})) {
    const auto [first, second] = std::minmax(order[pair.first], order[pair.second]);
    renamed.push_back({first, second, pair.score});
  }
  std::sort(renamed.begin(), renamed.end(), [](const RetrievedPair& a, const RetrievedPair& b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  EXPECT_EQ(renamed, found);
}

TEST_P(Retrieve, TiesGoToTheLowestKeys) {
  // Five copies of an image: all scores are equal, so that each image lists the two lowest other
  // keys.
  DrawnImages images = drawn_groups(3, 1, 40, 2);
  const std::vector<std::uint64_t> keys = {50, 40, 30, 20, 10};
  for (std::uint64_t key : keys) images.push_back({key, images[0].descriptors});
  images.erase(images.begin());
  const Pairs found = pairs(images, {.neighbours = 2});
  std::set<std::pair<int, int>> copies;
  for (const RetrievedPair& pair : found) {
    if (pair.first < 2) continue;
    copies.insert({pair.first, pair.second});
    EXPECT_LE(pair.score, kLargestRetrieveScore);
    EXPECT_GE(pair.score, kLargestRetrieveScore - 2);
  }
  // Images 2 to 6 have the keys 50 to 10; those of 10, 20 and 30 are 6, 5 and 4.
  const std::set<std::pair<int, int>> expected = {{2, 5}, {2, 6}, {3, 5}, {3, 6},
                                                  {4, 5}, {4, 6}, {5, 6}};
  EXPECT_EQ(copies, expected);
}

TEST_P(Retrieve, AcceptsImagesWithoutDescriptors) {
  DrawnImages images = drawn_groups(2, 3, 50, 5);
  const Pairs before = pairs(images);
  images.insert(images.begin() + 3, DrawnImage{12345, {}});
  images.push_back({54321, {}});
  Pairs with_empty = pairs(images);
  for (RetrievedPair& pair : with_empty) {
    EXPECT_NE(pair.first, 3);
    EXPECT_NE(pair.second, 3);
    EXPECT_LT(pair.second, 7);
    pair.first -= pair.first > 3;
    pair.second -= pair.second > 3;
  }
  EXPECT_EQ(with_empty, before);
  EXPECT_EQ(report.images, 6);
}

TEST_P(Retrieve, AcceptsNoImageOneImageAndOnlyEmptyImages) {
  EXPECT_TRUE(pairs({}).empty());
  EXPECT_TRUE(pairs({DrawnImage{1, {}}, DrawnImage{2, {}}}).empty());
  EXPECT_EQ(report.images, 0);
  EXPECT_TRUE(pairs(drawn_groups(1, 1, 30, 1)).empty());
  EXPECT_EQ(report.images, 1);
  EXPECT_GT(report.words, 0);
}

TEST_P(Retrieve, AcceptsEqualDescriptors) {
  DrawnImages images;
  for (std::uint64_t key : {7, 5, 6}) {
    images.push_back({key, std::vector<std::uint8_t>(20 * kLength, 9)});
  }
  const Pairs found = pairs(images);
  EXPECT_EQ(report.words, 1);
  ASSERT_EQ(found.size(), 3u);  // copies of one another
  for (const RetrievedPair& pair : found) EXPECT_GE(pair.score, kLargestRetrieveScore - 2);
}

TEST_P(Retrieve, ReadsABlockAtATime) {
  // More descriptors than fit in a block: the collection is read in parts, and each image twice.
  DrawnImages images = drawn_groups(3, 2, 20, 11);
  DrawnImage large{99, {}};
  large.descriptors = testing::drawn_descriptors(kBlockRows + 100, 3);
  images.insert(images.begin() + 2, large);
  RetrieveInput input = input_of(images);
  std::map<int, int> reads;
  const auto read = input.read;
  std::size_t most = 0;
  input.read = [&](int image, std::vector<std::uint8_t>& out) {
    ++reads[image];
    read(image, out);
    most = std::max(most, out.size());
  };
  const RetrieveOptions options = {.words = 16, .training = 500, .iterations = 2};
  const Pairs found = retrieve_pairs(context, input, options);
  EXPECT_EQ(found, retrieve_pairs(Context::cpu(1), input_of(images), options));
  for (int image = 0; image < 7; ++image) EXPECT_EQ(reads[image], 2);
  EXPECT_LT(most, (std::size_t{kBlockRows} + 200) * kLength);
}

INSTANTIATE_TEST_SUITE_P(, Retrieve, testing::every_device(), testing::device_name);

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}
std::string refusal_of(const RetrieveOptions& options) {
  return refusal([&] { options.validate(); });
}

TEST(RetrieveInput, InvalidOptionsAreReportedByName) {
  EXPECT_NO_THROW(RetrieveOptions{}.validate());
  EXPECT_EQ(refusal_of({.neighbours = 0}), "neighbours is 1 to 1048576, not 0");
  EXPECT_EQ(refusal_of({.neighbours = INT32_MAX}), "neighbours is 1 to 1048576, not 2147483647");
  EXPECT_EQ(refusal_of({.words = -1}),
            "words is 0 (chosen by the number of descriptors) to 1048576, not -1");
  EXPECT_NE(refusal_of({.words = INT32_MAX}).find("not 2147483647"), std::string::npos);
  EXPECT_NE(refusal_of({.training = -5}).find("training is 0"), std::string::npos);
  EXPECT_NE(refusal_of({.training = INT32_MAX}).find("training is 0"), std::string::npos);
  EXPECT_NE(refusal_of({.iterations = 0}).find("iterations is 1"), std::string::npos);
  EXPECT_NE(refusal_of({.iterations = 2000}).find("iterations is 1"), std::string::npos);
  EXPECT_NE(refusal_of({.power = 0}).find("power is 1"), std::string::npos);
  EXPECT_NE(refusal_of({.power = 9}).find("power is 1"), std::string::npos);
  EXPECT_NE(refusal_of({.threshold = -1}).find("threshold is 0"), std::string::npos);
  EXPECT_NE(refusal_of({.threshold = 128}).find("threshold is 0"), std::string::npos);
}

TEST(RetrieveInput, InvalidImagesAreRejected) {
  const Context context = Context::cpu(1);
  DrawnImages images = drawn_groups(2, 2, 10, 1);
  auto said = [&](const RetrieveInput& input) {
    return refusal([&] { retrieve_pairs(context, input); });
  };
  RetrieveInput input = input_of(images);
  input.images[2].descriptors = 11;
  EXPECT_EQ(said(input),
            "image 2 was said to have 11 descriptors, 1408 bytes, and `read` appended " +
                std::to_string(images[2].descriptors.size()));
  input.images[2].descriptors = -1;
  EXPECT_EQ(said(input), "image 2 has -1 descriptors and must have 0 to 16777216");
  input = input_of(images);
  input.read = nullptr;
  EXPECT_EQ(said(input), "images have descriptors and `read` is not set");
  images[3].key = images[1].key;
  EXPECT_EQ(said(input_of(images)), "images 1 and 3 have the same key, " +
                                        std::to_string(images[1].key) +
                                        "; give each image a key of its own");
}

TEST(RetrieveEvents, ProgressReachesTheTotalOfEveryStage) {
  const DrawnImages images = drawn_groups(4, 3, 50, 1);
  std::vector<std::string> stages;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> last;
  RetrieveEvents events;
  events.progress = [&](const char* stage, std::int64_t done, std::int64_t total) {
    if (stages.empty() || stages.back() != stage) stages.push_back(stage);
    EXPECT_GE(done, last[stage].first);
    last[stage] = {done, total};
  };
  retrieve_pairs(Context::cpu(1), input_of(images), {}, nullptr, events);
  EXPECT_EQ(stages, (std::vector<std::string>{"training", "vocabulary", "index", "queries"}));
  for (const auto& [stage, steps] : last) EXPECT_EQ(steps.first, steps.second) << stage;
}

TEST(RetrieveEvents, StopEndsTheCallWithoutAResultAtEveryStep) {
  const DrawnImages images = drawn_groups(4, 3, 50, 1);
  bool ended = false;
  for (int steps = 0; !ended; ++steps) {
    ASSERT_LT(steps, 100);
    int asked = 0;
    RetrieveEvents events;
    events.stop = [&] { return asked++ == steps; };
    RetrieveReport report;
    const Pairs found = retrieve_pairs(Context::cpu(1), input_of(images), {}, &report, events);
    ended = asked <= steps;
    EXPECT_EQ(report.stopped, !ended);
    EXPECT_EQ(found.empty(), !ended);
    EXPECT_TRUE(!ended || steps >= 4) << steps;
  }
}

TEST(RetrieveCodes, TheSignOfZeroIsNotSet) {
  // The only descriptor of a word is its centroid: all residuals are 0.
  const std::vector<std::uint8_t> centroid(kLength, 3);
  const std::uint32_t word = 0;
  const ImageCodes codes = codes_of_image(centroid.data(), {&word, 1}, centroid.data());
  ASSERT_EQ(codes.codes.size(), 1u);
  EXPECT_EQ(codes.codes[0], (Code{{0, 0}}));
}

}  // namespace
}  // namespace cornea
