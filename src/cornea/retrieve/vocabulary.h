// SPDX-License-Identifier: Apache-2.0
// Visual words: integer k-means over descriptors that are drawn from the collection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cornea/core/buffer.h"
#include "cornea/core/context.h"
#include "cornea/match/match.h"
#include "cornea/retrieve/image_blocks.h"
#include "cornea/retrieve/retrieve.h"

namespace cornea::retrieve {

// The number of words for words = 0: the largest power of two with at most one word per 64
// descriptors, between 256 and 65,536.
int words_for(std::int64_t descriptors);
// Used if training = 0.
inline constexpr int kTrainingPerWord = 32;
inline std::int64_t training_for(int words) { return std::int64_t{kTrainingPerWord} * words; }

// The drawn descriptors, in the order of (key of the image, descriptor).
struct Training {
  std::vector<std::uint8_t> descriptors;
  std::vector<std::uint64_t>
      ranks;  // random, one per descriptor: those with the lowest are the initial words

  std::size_t size() const { return ranks.size(); }
};

// From an image with n of all D descriptors draws the ceil(n wanted / D) with the lowest random
// numbers, which depend on (seed, key of the image, descriptor); ties go to the lower descriptor.
Training draw_training(const Context& context, const Collection& collection, std::int64_t wanted,
                       std::uint64_t seed);

// Nearest words by the exact matcher; ties go to the lowest word. Descriptors and words lie in host
// memory; on CUDA the words are uploaded once, when they are set.
class NearestWords {
 public:
  explicit NearestWords(const Context& context)
      : context_(context), matcher_(context, MatchOptions{.ratio = 1, .mutual = false}) {}

  void set_words(const std::vector<std::uint8_t>& centroids);
  std::vector<std::uint32_t> of(const std::uint8_t* descriptors, int count);
  const std::string& kernel() const { return matcher_.report().kernel; }

 private:
  DescriptorView where_matched(const std::uint8_t* descriptors, int count, core::Buffer& buffer);

  Context context_;
  Matcher matcher_;
  DescriptorView words_;
  core::Buffer word_buffer_{Place::device, "retrieve: words"};
  core::Buffer descriptor_buffer_{Place::device, "retrieve: descriptors"};
};

struct Vocabulary {
  std::vector<std::uint8_t> centroids;  // kLength bytes each
  int iterations = 0;

  int size() const;
};

// Starts with the descriptors of the lowest ranks, without duplicates, in the order of training. An
// iteration assigns every descriptor to its nearest word (ties go to the lowest) and sets each word
// to the mean of its descriptors, rounded half up; a word without descriptors is unchanged. Ends
// after `iterations`, or earlier if an iteration changes no word.
Vocabulary learn_vocabulary(const Context& context, const Training& training, int words,
                            int iterations, NearestWords& nearest, const RetrieveEvents& events);

}  // namespace cornea::retrieve
