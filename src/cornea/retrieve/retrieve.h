// SPDX-License-Identifier: Apache-2.0
// Image retrieval: finds the images of a collection that look alike, so that only those need to be
// matched.
//
// The vocabulary is learned from the collection itself: integer k-means over descriptors that are
// drawn with a counter-based generator. An image is then represented by one binary vector per
// visual word (ASMK*: Tolias, Avrithis, Jegou, "To aggregate or not to aggregate", ICCV 2013):
//
//   r_c    = sum of (d - centroid_c) over the image's descriptors d whose nearest word is c
//   b_c    = the 128 signs of T r_c            T: a rotation, see docs/retrieve.md
//   s(b,b')= (128 - 2 h) / 128                 h: Hamming distance of b and b'
//   raw    = sum over common words c of idf_c s^power, where s > threshold / 128
//   score  = raw(X, Y) / sqrt(raw(X, X) raw(Y, Y)),    idf_c = log2((N + 1) / N_c)
//
// with N images, of which N_c have the word c. All of it is integer arithmetic: nearest words are
// the exact matcher's, weights and logarithms are in fixed point, roots are rounded up. CPU and
// CUDA give the same bits, whatever the number of threads and the order of the images. Ties between
// words go to the lowest. A word that loses all its descriptors keeps its centroid.
//
// Cost: (training * iterations + descriptors) * words distances of 128 bytes, on the device; then
// on the host one comparison of 16 bytes per word and ordered pair of images that share it. Memory:
// training * 128 bytes, and 28 bytes per word of each image (44 while the index is built);
// descriptors are read twice, about a hundred thousand at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/stage_time.h"

namespace cornea {

struct CORNEA_API RetrieveOptions {
  int neighbours = 20;  // most similar images per image; a pair is kept if either image lists it
  int words = 0;        // visual words; 0: a power of two, about one per 64 descriptors, <= 65,536
  int training = 0;     // descriptors from which the words are learned; 0: 32 per word
  // Most iterations of k-means, which ends when no word changes.
  int iterations = 10;
  int power = 3;  // exponent of the similarity: large values favour nearly equal vectors, 1 to 8
  int threshold = 0;  // signs that agree minus those that differ must exceed it, 0 to 127
  std::uint64_t seed = 0;

  void validate() const;
};

// The key identifies an image independently of its index in the list, for example a hash of its
// name: the descriptors drawn from an image depend on it, and ties between similar images go to the
// lower key. Two images with the same key are an error.
struct RetrieveImage {
  std::uint64_t key = 0;
  int descriptors = 0;  // 0: the image is similar to no other
};

struct RetrieveInput {
  std::vector<RetrieveImage> images = {};
  // Appends the descriptors of an image, 128 bytes each. It is called from the calling thread,
  // twice per image that has descriptors, in the order of keys, and must give the same bytes both
  // times. A thousand or two of the strongest descriptors per image are enough.
  std::function<void(int image, std::vector<std::uint8_t>& out)> read = {};
};

// Indices of images, first < second. The score is symmetric and at most 2^30, which
// equal images reach but for rounding. Images that share nothing have 0 and are never listed.
struct RetrievedPair {
  int first = 0, second = 0;
  std::int64_t score = 0;
  friend bool operator==(const RetrievedPair&, const RetrievedPair&) = default;
};
inline constexpr std::int64_t kLargestRetrieveScore = std::int64_t{1} << 30;

struct RetrieveEvents {
  // Stages are "training", "vocabulary", "index" and "queries". The last call of a stage has done
  // == total, unless it was stopped.
  std::function<void(const char* stage, std::int64_t done, std::int64_t total)> progress =
      [](const char*, std::int64_t, std::int64_t) {};
  // Called between steps from the calling thread; returns true to end early, without a result.
  std::function<bool()> stop = [] { return false; };
};

struct RetrieveReport {
  int images = 0;  // with descriptors
  std::int64_t descriptors = 0, training = 0;
  int words = 0;             // learned; fewer than requested if fewer training descriptors differ
  int iterations = 0;        // of k-means
  std::int64_t entries = 0;  // of the inverted file: sum over images of the number of their words
  std::int64_t comparisons = 0;  // of binary vectors
  // The kernel that computed the dot products: "avx512-vnni", "tensor cores".
  std::string kernel = {};
  bool stopped = false;     // by RetrieveEvents::stop
  double milliseconds = 0;  // the whole call
  std::vector<StageTime> stages = {};
};

// The `neighbours` most similar images of every image, as pairs sorted by (first, second). Images
// without descriptors occur in none. Empty if `events.stop` ended it.
CORNEA_API std::vector<RetrievedPair> retrieve_pairs(const Context& context,
                                                     const RetrieveInput& input,
                                                     const RetrieveOptions& options = {},
                                                     RetrieveReport* report = nullptr,
                                                     const RetrieveEvents& events = {});

}  // namespace cornea
