// SPDX-License-Identifier: Apache-2.0
#include "cornea/retrieve/retrieve.h"

#include <algorithm>
#include <new>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/core/stopwatch.h"
#include "cornea/retrieve/codes.h"
#include "cornea/retrieve/image_blocks.h"
#include "cornea/retrieve/inverted_file.h"
#include "cornea/retrieve/vocabulary.h"

namespace cornea {
namespace {

using namespace core;
using namespace retrieve;

constexpr int kMostWords = 1 << 20, kMostTraining = 1 << 26, kMostNeighbours = 1 << 20;
constexpr int kMostIterations = 1000, kMostPower = 8;

// Finds the nearest words of all descriptors and computes the codes of all images.
InvertedFile make_index(const Context& context, const Collection& collection,
                        const Vocabulary& vocabulary, NearestWords& nearest,
                        const Weights& weights) {
  InvertedFile file(vocabulary.size(), collection.descriptors);
  collection.read("index", [&](const Collection::Block& block) {
    const std::vector<std::uint32_t> word_of =
        nearest.of(block.descriptors.data(), static_cast<int>(block.rows.back()));
    std::vector<ImageCodes> codes(block.count);
    parallel_for(context, block.count, 1, [&](int first, int end) {
      for (int i = first; i < end; ++i) {
        const std::size_t begin = block.rows[i], count = block.rows[i + 1] - begin;
        codes[i] = codes_of_image(block.descriptors.data() + begin * kLength,
                                  {word_of.data() + begin, count}, vocabulary.centroids.data());
      }
    });
    for (const ImageCodes& image : codes) file.add(image);
  });
  file.finish(weights);
  return file;
}

// Each pair once, by indices of the input.
std::vector<RetrievedPair> pairs_of(const std::vector<std::vector<Alike>>& alike,
                                    const std::vector<int>& order) {
  std::vector<RetrievedPair> pairs;
  for (std::size_t place = 0; place < alike.size(); ++place) {
    for (const Alike& other : alike[place]) {
      const auto [first, second] = std::minmax(order[place], order[other.image]);
      pairs.push_back({first, second, other.score});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const RetrievedPair& a, const RetrievedPair& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

std::vector<RetrievedPair> run_stages(const Context& context, const Collection& collection,
                                      const RetrieveOptions& options, RetrieveReport& report) {
  Stopwatch watch;
  auto end_stage = [&](const char* stage) {
    report.stages.push_back({stage, watch.milliseconds()});
    watch.start();
  };
  NearestWords nearest(context);
  const int words = options.words > 0 ? options.words : words_for(collection.descriptors);
  const std::int64_t wanted = options.training > 0 ? options.training : training_for(words);
  Training training = draw_training(context, collection, wanted, options.seed);
  report.training = static_cast<std::int64_t>(training.size());
  end_stage("training");

  const Vocabulary vocabulary =
      learn_vocabulary(context, training, words, options.iterations, nearest, collection.events);
  training = {};
  report.words = vocabulary.size();
  report.iterations = vocabulary.iterations;
  report.kernel = nearest.kernel();
  end_stage("vocabulary");

  const Weights weights = weights_of(options.power, options.threshold);
  const InvertedFile file = make_index(context, collection, vocabulary, nearest, weights);
  report.entries = file.entries();
  report.comparisons = file.comparisons();
  end_stage("index");

  const auto alike = query_all(context, file, options.neighbours, weights, collection.events);
  std::vector<RetrievedPair> pairs = pairs_of(alike, collection.order);
  end_stage("queries");
  return pairs;
}

}  // namespace

void RetrieveOptions::validate() const {
  require(neighbours >= 1 && neighbours <= kMostNeighbours, "neighbours is 1 to ", kMostNeighbours,
          ", not ", neighbours);
  require(words >= 0 && words <= kMostWords, "words is 0 (chosen by the number of descriptors) to ",
          kMostWords, ", not ", words);
  require(training >= 0 && training <= kMostTraining, "training is 0 (", kTrainingPerWord,
          " per word) to ", kMostTraining, " descriptors, not ", training);
  require(iterations >= 1 && iterations <= kMostIterations, "iterations is 1 to ", kMostIterations,
          ", not ", iterations);
  require(power >= 1 && power <= kMostPower, "power is 1 to ", kMostPower, ", not ", power);
  require(threshold >= 0 && threshold < kLength, "threshold is 0 to ", kLength - 1, ", not ",
          threshold);
}

std::vector<RetrievedPair> retrieve_pairs(const Context& context, const RetrieveInput& input,
                                          const RetrieveOptions& options, RetrieveReport* report,
                                          const RetrieveEvents& events) {
  const Stopwatch watch;
  options.validate();
  const Collection collection(input, events);
  RetrieveReport learned;
  learned.images = collection.size();
  learned.descriptors = collection.descriptors;
  std::vector<RetrievedPair> pairs;
  try {
    if (collection.size() > 0) pairs = run_stages(context, collection, options, learned);
  } catch (const Stopped&) {
    learned.stopped = true;
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::out_of_memory, "there is no room for the visual words of ",
         collection.descriptors, " descriptors of ", collection.size(),
         " images; give fewer descriptors per image");
  }
  learned.milliseconds = watch.milliseconds();
  if (report) *report = std::move(learned);
  return pairs;
}

}  // namespace cornea
