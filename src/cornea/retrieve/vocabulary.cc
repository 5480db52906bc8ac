// SPDX-License-Identifier: Apache-2.0
#include "cornea/retrieve/vocabulary.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <string_view>
#include <unordered_set>

#include "cornea/core/parallel.h"
#include "cornea/core/random.h"
#include "cornea/retrieve/retrieve_math.h"

namespace cornea::retrieve {
namespace {

using namespace core;

constexpr int kDescriptorsPerWord = 64;
constexpr std::int64_t kFewestWords = 256, kMostWords = 65536;
constexpr int kWordGrain = 64;  // words per piece of work

struct Drawn {
  std::uint64_t draw = 0;
  std::uint32_t row = 0;
  std::uint64_t rank = 0;
};

// The rows drawn from an image, in ascending order.
std::vector<Drawn> draw_rows(std::uint64_t seed, std::uint64_t key, std::uint32_t rows,
                             std::size_t count) {
  std::vector<Drawn> all(rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const Philox4 bits = philox(seed, key, row);
    all[row] = {std::uint64_t{bits.v[0]} << 32 | bits.v[1], row,
                std::uint64_t{bits.v[2]} << 32 | bits.v[3]};
  }
  if (count < all.size()) {
    std::nth_element(all.begin(), all.begin() + count, all.end(),
                     [](const Drawn& a, const Drawn& b) {
                       return a.draw != b.draw ? a.draw < b.draw : a.row < b.row;
                     });
    all.resize(count);
    std::sort(all.begin(), all.end(), [](const Drawn& a, const Drawn& b) { return a.row < b.row; });
  }
  return all;
}

std::vector<std::uint8_t> first_centroids(const Training& training, int words) {
  std::vector<std::uint32_t> rows(training.size());
  std::iota(rows.begin(), rows.end(), 0u);
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return training.ranks[a] != training.ranks[b] ? training.ranks[a] < training.ranks[b] : a < b;
  });
  const char* bytes = reinterpret_cast<const char*>(training.descriptors.data());
  std::unordered_set<std::string_view> seen;
  std::vector<std::uint32_t> chosen;
  for (const std::uint32_t row : rows) {
    if (chosen.size() == static_cast<std::size_t>(words)) break;
    if (seen.emplace(bytes + std::size_t{row} * kLength, kLength).second) chosen.push_back(row);
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<std::uint8_t> centroids;
  centroids.reserve(chosen.size() * kLength);
  for (const std::uint32_t row : chosen) {
    const auto from = training.descriptors.begin() + std::ptrdiff_t(row) * kLength;
    centroids.insert(centroids.end(), from, from + kLength);
  }
  return centroids;
}

// Rows sorted by word: those of word w are rows[begin[w]] to rows[begin[w + 1]].
struct Cells {
  Cells(const std::vector<std::uint32_t>& word_of, std::size_t words)
      : begin(words + 1), rows(word_of.size()) {
    for (const std::uint32_t word : word_of) ++begin[word + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t row = 0; row < word_of.size(); ++row) rows[next[word_of[row]]++] = row;
  }
  std::vector<std::uint32_t> begin, rows;
};

// Returns whether a centroid changed.
bool set_to_means(const Context& context, const Training& training, const Cells& cells,
                  std::vector<std::uint8_t>& centroids) {
  const std::vector<std::uint8_t> before = centroids;
  const int words = static_cast<int>(cells.begin.size()) - 1;
  parallel_for(context, words, kWordGrain, [&](int first, int end) {
    for (int word = first; word < end; ++word) {
      const std::uint64_t count = cells.begin[word + 1] - cells.begin[word];
      if (count == 0) continue;
      std::uint64_t sums[kLength] = {};
      for (std::uint32_t i = cells.begin[word]; i < cells.begin[word + 1]; ++i) {
        const std::uint8_t* d = training.descriptors.data() + std::size_t{cells.rows[i]} * kLength;
        for (int k = 0; k < kLength; ++k) sums[k] += d[k];
      }
      std::uint8_t* centroid = centroids.data() + std::size_t(word) * kLength;
      for (int k = 0; k < kLength; ++k) {
        centroid[k] = static_cast<std::uint8_t>((2 * sums[k] + count) / (2 * count));
      }
    }
  });
  return centroids != before;
}

}  // namespace

int words_for(std::int64_t descriptors) {
  const auto most = static_cast<std::uint64_t>(descriptors / kDescriptorsPerWord);
  return static_cast<int>(
      std::clamp(static_cast<std::int64_t>(std::bit_floor(most)), kFewestWords, kMostWords));
}

Training draw_training(const Context& context, const Collection& collection, std::int64_t wanted,
                       std::uint64_t seed) {
  wanted = std::min(wanted, collection.descriptors);
  std::vector<std::size_t> begin = {0};
  for (int place = 0; place < collection.size(); ++place) {
    const std::int64_t share = collection.image(place).descriptors * wanted;
    begin.push_back(begin.back() + (share + collection.descriptors - 1) / collection.descriptors);
  }
  Training training;
  training.descriptors.resize(begin.back() * kLength);
  training.ranks.resize(begin.back());
  collection.read("training", [&](const Collection::Block& block) {
    parallel_for(context, block.count, 1, [&](int first, int end) {
      for (int i = first; i < end; ++i) {
        const int place = block.first + i;
        const RetrieveImage& image = collection.image(place);
        const std::uint8_t* rows = block.descriptors.data() + block.rows[i] * kLength;
        std::size_t to = begin[place];
        for (const Drawn& drawn :
             draw_rows(seed, image.key, image.descriptors, begin[place + 1] - to)) {
          std::memcpy(training.descriptors.data() + to * kLength,
                      rows + std::size_t{drawn.row} * kLength, kLength);
          training.ranks[to++] = drawn.rank;
        }
      }
    });
  });
  return training;
}

DescriptorView NearestWords::where_matched(const std::uint8_t* descriptors, int count,
                                           Buffer& buffer) {
  if (!context_.is_cuda()) return {descriptors, count};
  const std::size_t bytes = std::size_t(count) * kLength;
  auto* device = buffer.reserve<std::uint8_t>(context_, bytes);
  context_.upload(device, bytes, descriptors, bytes, bytes, 1);
  return {device, count, Place::device};
}

void NearestWords::set_words(const std::vector<std::uint8_t>& centroids) {
  words_ =
      where_matched(centroids.data(), static_cast<int>(centroids.size() / kLength), word_buffer_);
  context_.synchronize();
}

std::vector<std::uint32_t> NearestWords::of(const std::uint8_t* descriptors, int count) {
  const std::vector<Nearest> nearest =
      matcher_.nearest(where_matched(descriptors, count, descriptor_buffer_), words_);
  std::vector<std::uint32_t> result(nearest.size());
  std::transform(nearest.begin(), nearest.end(), result.begin(),
                 [](const Nearest& n) { return static_cast<std::uint32_t>(n.index); });
  return result;
}

int Vocabulary::size() const { return static_cast<int>(centroids.size() / kLength); }

Vocabulary learn_vocabulary(const Context& context, const Training& training, int words,
                            int iterations, NearestWords& nearest, const RetrieveEvents& events) {
  Vocabulary vocabulary;
  vocabulary.centroids = first_centroids(training, words);
  if (vocabulary.centroids.empty()) return vocabulary;
  const auto rows = static_cast<std::int64_t>(training.size()), steps = rows * iterations;
  nearest.set_words(vocabulary.centroids);
  std::vector<std::uint32_t> word_of(training.size());
  for (bool changed = true; changed && vocabulary.iterations < iterations;) {
    for (std::int64_t row = 0; row < rows; row += kBlockRows) {
      stop_if_asked(events);
      const int count = static_cast<int>(std::min<std::int64_t>(kBlockRows, rows - row));
      const auto found = nearest.of(training.descriptors.data() + row * kLength, count);
      std::copy(found.begin(), found.end(), word_of.begin() + row);
      events.progress("vocabulary", vocabulary.iterations * rows + row + count, steps);
    }
    const Cells cells(word_of, vocabulary.size());
    changed = set_to_means(context, training, cells, vocabulary.centroids);
    nearest.set_words(vocabulary.centroids);
    ++vocabulary.iterations;
  }
  if (vocabulary.iterations < iterations) events.progress("vocabulary", steps, steps);
  return vocabulary;
}

}  // namespace cornea::retrieve
