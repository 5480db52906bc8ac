// All codes of a collection by word, and the images that are most alike. Images are numbers in the
// order in which they are added.
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
  // `expected`: room for so many entries.
  InvertedFile(int words, std::size_t expected);

  void add(const ImageCodes& image);
  // After the last image: lists by word, idf, and the norms of images.
  void finish(const Weights& weights);

  int images() const { return static_cast<int>(image_begin_.size()) - 1; }
  std::int64_t entries() const { return static_cast<std::int64_t>(words_.size()); }
  std::int64_t comparisons() const;  // of all queries

  // The `count` images of the highest scores, highest first; of equal ones the lower number first,
  // and none whose score is 0. `sums` is room for a number per image.
  std::vector<Alike> most_alike(int image, int count, const Weights& weights,
                                std::vector<std::int64_t>& sums) const;

 private:
  WordList list_of(std::uint32_t word) const;
  Code code_of_entry(std::size_t entry) const { return codes_[places_[entry]]; }

  // By image, entries image_begin_[i] to image_begin_[i + 1]: word, and place in the lists.
  std::vector<std::size_t> image_begin_ = {0};
  std::vector<std::uint32_t> words_, places_;
  // By word, places word_begin_[w] to word_begin_[w + 1]; until finish() codes are by image.
  std::vector<std::size_t> word_begin_;
  std::vector<std::uint32_t> images_;
  std::vector<Code> codes_;
  std::vector<std::int64_t> idf_;     // of words
  std::vector<std::uint64_t> roots_;  // of the images' similarity to themselves
};

// Of every image, on all threads.
std::vector<std::vector<Alike>> query_all(const Context& context, const InvertedFile& file,
                                          int count, const Weights& weights,
                                          const RetrieveEvents& events);

}  // namespace cornea::retrieve
