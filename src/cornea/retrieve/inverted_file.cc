// SPDX-License-Identifier: Apache-2.0
#include "cornea/retrieve/inverted_file.h"

#include <algorithm>
#include <numeric>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/retrieve/image_blocks.h"

namespace cornea::retrieve {
namespace {

constexpr int kQueriesAtOnce = 1024;  // between two calls of RetrieveEvents::stop
constexpr int kQueryGrain = 8;  // queries per piece of work, which share the memory of their sums

// The highest scores so far, as a heap with the lowest on top.
class Best {
 public:
  explicit Best(int count) : count_(count) {}

  // Images are offered in ascending order, so that ties keep the earlier one.
  void offer(std::uint32_t image, Wide numerator, Wide denominator) {
    const bool full = heap_.size() == count_;
    const std::int64_t least = full ? heap_.front().score + 1 : 1;
    if (numerator < denominator * static_cast<std::uint64_t>(least)) return;
    if (full) {
      std::pop_heap(heap_.begin(), heap_.end(), precedes);
      heap_.pop_back();
    }
    heap_.push_back({image, static_cast<std::int64_t>(numerator / denominator)});
    std::push_heap(heap_.begin(), heap_.end(), precedes);
  }
  std::vector<Alike> sorted() && {
    std::sort(heap_.begin(), heap_.end(), precedes);
    return std::move(heap_);
  }

 private:
  static bool precedes(const Alike& a, const Alike& b) {
    return a.score != b.score ? a.score > b.score : a.image < b.image;
  }
  std::size_t count_;
  std::vector<Alike> heap_;
};

}  // namespace

InvertedFile::InvertedFile(int words, std::size_t expected) : word_begin_(words + 1) {
  words_.reserve(expected);
  codes_.reserve(expected);
}

void InvertedFile::add(const ImageCodes& image) {
  require(words_.size() + image.words.size() <= UINT32_MAX, "the images have more than ",
          UINT32_MAX, " visual words together; give fewer descriptors per image");
  words_.insert(words_.end(), image.words.begin(), image.words.end());
  codes_.insert(codes_.end(), image.codes.begin(), image.codes.end());
  image_begin_.push_back(words_.size());
  for (const std::uint32_t word : image.words) ++word_begin_[word + 1];
}

void InvertedFile::finish(const Weights& weights) {
  const std::size_t words = word_begin_.size() - 1;
  idf_.assign(words, 0);
  for (std::size_t word = 0; word < words; ++word) {
    const std::size_t with_word = word_begin_[word + 1];
    if (with_word > 0) idf_[word] = inverse_document_frequency(images(), with_word);
  }
  std::partial_sum(word_begin_.begin(), word_begin_.end(), word_begin_.begin());

  std::vector<std::size_t> next(word_begin_.begin(), word_begin_.end() - 1);
  std::vector<Code> by_word(words_.size());
  places_.resize(words_.size());
  images_.resize(words_.size());
  for (int image = 0; image < images(); ++image) {
    std::uint64_t self = 0;
    for (std::size_t entry = image_begin_[image]; entry < image_begin_[image + 1]; ++entry) {
      const std::size_t place = next[words_[entry]]++;
      places_[entry] = static_cast<std::uint32_t>(place);
      images_[place] = static_cast<std::uint32_t>(image);
      by_word[place] = codes_[entry];
      self += idf_[words_[entry]] * weights[0];
    }
    roots_.push_back(root_fixed(self));
  }
  codes_ = std::move(by_word);
}

std::int64_t InvertedFile::comparisons() const {
  std::int64_t sum = 0;
  for (std::size_t word = 0; word + 1 < word_begin_.size(); ++word) {
    const auto count = static_cast<std::int64_t>(word_begin_[word + 1] - word_begin_[word]);
    sum += count * (count - 1);
  }
  return sum;
}

WordList InvertedFile::list_of(std::uint32_t word) const {
  const std::size_t begin = word_begin_[word];
  return {images_.data() + begin, codes_.data() + begin, word_begin_[word + 1] - begin};
}

std::vector<Alike> InvertedFile::most_alike(int image, int count, const Weights& weights,
                                            std::vector<std::int64_t>& sums) const {
  sums.assign(images(), 0);
  for (std::size_t entry = image_begin_[image]; entry < image_begin_[image + 1]; ++entry) {
    const std::uint32_t word = words_[entry];
    add_similarities(list_of(word), code_of_entry(entry), idf_[word], weights.data(), sums.data());
  }
  Best best(count);
  for (int other = 0; other < images(); ++other) {
    if (other == image || sums[other] == 0) continue;
    best.offer(other, score_numerator(sums[other]),
               score_denominator(roots_[image], roots_[other]));
  }
  return std::move(best).sorted();
}

std::vector<std::vector<Alike>> query_all(const Context& context, const InvertedFile& file,
                                          int count, const Weights& weights,
                                          const RetrieveEvents& events) {
  std::vector<std::vector<Alike>> results(file.images());
  for (int first = 0; first < file.images(); first += kQueriesAtOnce) {
    stop_if_asked(events);
    const int at_once = std::min(kQueriesAtOnce, file.images() - first);
    core::parallel_for(context, at_once, kQueryGrain, [&](int begin, int end) {
      std::vector<std::int64_t> sums;
      for (int i = first + begin; i < first + end; ++i) {
        results[i] = file.most_alike(i, count, weights, sums);
      }
    });
    events.progress("queries", first + at_once, file.images());
  }
  return results;
}

}  // namespace cornea::retrieve
