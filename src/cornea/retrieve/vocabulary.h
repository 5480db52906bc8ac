// Visual words: k-means in whole numbers over descriptors that are drawn from the collection.
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

// Where words = 0: the largest power of two of at most one word per 64 descriptors, of 256 to
// 65,536.
int words_for(std::int64_t descriptors);
// Where training = 0.
inline constexpr int kTrainingPerWord = 32;
inline std::int64_t training_for(int words) { return std::int64_t{kTrainingPerWord} * words; }

// Drawn descriptors, in the order of (key of the image, descriptor).
struct Training {
  std::vector<std::uint8_t> descriptors;
  std::vector<std::uint64_t> ranks;  // random, one each: the words begin with the lowest

  std::size_t size() const { return ranks.size(); }
};

// Of an image with n of all D descriptors the ceil(n wanted / D) whose random numbers of (seed, key
// of the image, descriptor) are lowest; of equal numbers the lower descriptor.
Training draw_training(const Context& context, const Collection& collection, std::int64_t wanted,
                       std::uint64_t seed);

// Nearest words by the exact matcher, the lowest of equally near ones. Descriptors and words lie in
// host memory; on CUDA words are uploaded once, where they are set.
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

// Begins with the descriptors of the lowest ranks, equal descriptors once, in the order of
// training. An iteration assigns every descriptor to its nearest word, the lowest of equally near
// ones, and sets each word to the mean of its descriptors, halves rounded up; a word without any
// stays. Ends after `iterations`, or before where an iteration changes no word.
Vocabulary learn_vocabulary(const Context& context, const Training& training, int words,
                            int iterations, NearestWords& nearest, const RetrieveEvents& events);

}  // namespace cornea::retrieve
