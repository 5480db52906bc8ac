// SPDX-License-Identifier: Apache-2.0
// The inverted file: all codes of a collection by word, and queries for the most similar images.
// Images are numbered in the order in which they are added.
#pragma once

#include <cstdint>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/retrieve/codes.h"
#include "cornea/retrieve/list_scan.h"
#include "cornea/retrieve/retrieve.h"
#include "cornea/retrieve/retrieve_math.h"

namespace cornea::retrieve {

struct Alike {
  std::uint32_t image = 0;
  std::int64_t score = 0;
  friend bool operator==(const Alike&, const Alike&) = default;
};

class InvertedFile {
 public:
  // `expected`: number of entries to reserve memory for.
  InvertedFile(int words, std::size_t expected);

  void add(const ImageCodes& image);
  // After the last image: computes the lists by word, the idf, and the norms of images.
  void finish(const Weights& weights);

  int images() const { return static_cast<int>(image_begin_.size()) - 1; }
  std::int64_t entries() const { return static_cast<std::int64_t>(words_.size()); }
  std::int64_t comparisons() const;  // over all queries

  // The `count` images with the highest scores in descending order; ties are ordered by index, and
  // images with a score of 0 are omitted. `sums` is scratch memory with one number per image.
  std::vector<Alike> most_alike(int image, int count, const Weights& weights,
                                std::vector<std::int64_t>& sums) const;

 private:
  WordList list_of(std::uint32_t word) const;
  Code code_of_entry(std::size_t entry) const { return codes_[places_[entry]]; }

  // By image, entries image_begin_[i] to image_begin_[i + 1]: word, and index in the lists.
  std::vector<std::size_t> image_begin_ = {0};
  std::vector<std::uint32_t> words_, places_;
  // By word, entries word_begin_[w] to word_begin_[w + 1]; until finish() codes are sorted by
  // image.
  std::vector<std::size_t> word_begin_;
  std::vector<std::uint32_t> images_;
  std::vector<Code> codes_;
  std::vector<std::int64_t> idf_;     // per word
  std::vector<std::uint64_t> roots_;  // per image: square root of its similarity to itself
};

// The most similar images of every image, on all threads.
std::vector<std::vector<Alike>> query_all(const Context& context, const InvertedFile& file,
                                          int count, const Weights& weights,
                                          const RetrieveEvents& events);

}  // namespace cornea::retrieve
