// SPDX-License-Identifier: Apache-2.0
// Measures the time per stage and the memory of choosing pairs; or writes the pairs of a file of
// descriptors, for bench/retrieve.py.
//
//   cornea_retrieve_bench [--images N,N,..] [--features N] [OPTION VALUE]..
//   cornea_retrieve_bench --collection FILE --pairs OUT.csv [--assign OUT] [OPTION VALUE]..
//
//   --device D, --threads N, --words N, --training N, --iterations N, --neighbours N, --power N,
//   --threshold N, --seed N, --label TEXT, --json FILE
//
// The generated images are ten views of each location. A location has 1.5 times as many descriptors
// as an image, taken from a pool of 2^18 random ones; a view shows two thirds of them, each
// perturbed by up to 12 per component. The file of a collection holds, little-endian, the number of
// images (int64), for every image its key (uint64) and its number of descriptors (int64), and then
// all descriptors. --assign writes the number of words (int64), their centroids, and the word of
// every descriptor (uint32).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "bench/random_descriptor.h"
#include <sys/resource.h>

#include "cornea/core/context.h"
#include "cornea/core/error.h"
#include "cornea/core/random.h"
#include "cornea/core/stopwatch.h"
#include "cornea/retrieve/image_blocks.h"
#include "cornea/retrieve/retrieve.h"
#include "cornea/retrieve/vocabulary.h"

namespace {

using namespace cornea;

constexpr int kLength = 128, kViews = 10, kNoise = 12;
constexpr std::uint32_t kPool = 1 << 18;
constexpr std::size_t kNoiseBytes = 1 << 20;

class Places {
 public:
  explicit Places(int features) : features_(features), pool_(std::size_t{kPool} * kLength) {
    core::Random random(1);
    for (std::size_t i = 0; i < kPool; ++i) {
      cli::draw_descriptor(random, pool_.data() + i * kLength);
    }
    for (std::size_t i = 0; i < kNoiseBytes; ++i) {
      noise_.push_back(static_cast<std::int8_t>(random.integer(-kNoise, kNoise)));
    }
  }

  // Two of every three of the location's descriptors; the view decides which ones, and the noise.
  void view(int image, std::vector<std::uint8_t>& out) const {
    const int place = image / kViews;
    const std::size_t begin = out.size();
    out.resize(begin + std::size_t(features_) * kLength);
    std::uint8_t* to = out.data() + begin;
    core::Random random(2, image);
    for (int i = 0; i < features_; ++i, to += kLength) {
      const int of_place = i / 2 * 3 + (i % 2 + image) % 3;
      const std::uint32_t row = core::bounded(core::philox(3, place, of_place).v[0], kPool);
      const std::uint8_t* from = pool_.data() + std::size_t{row} * kLength;
      const std::int8_t* noise =
          noise_.data() + core::bounded(random.bits(), kNoiseBytes - kLength);
      for (int k = 0; k < kLength; ++k) {
        to[k] = static_cast<std::uint8_t>(std::clamp(from[k] + noise[k], 0, 255));
      }
    }
  }

 private:
  int features_;
  std::vector<std::uint8_t> pool_;
  std::vector<std::int8_t> noise_;
};

RetrieveInput generated(const Places& places, int images, int features, double& read_ms) {
  RetrieveInput input;
  for (int i = 0; i < images; ++i) {
    const core::Philox4 bits = core::philox(4, 0, i);
    input.images.push_back({std::uint64_t{bits.v[0]} << 32 | bits.v[1], features});
  }
  input.read = [&](int image, std::vector<std::uint8_t>& out) {
    const core::Stopwatch watch;
    places.view(image, out);
    read_ms += watch.milliseconds();
  };
  return input;
}

// The fraction of pairs of views of the same location that were found.
double share_found(const std::vector<RetrievedPair>& pairs, int images) {
  std::int64_t found = 0, all = 0;
  for (const RetrievedPair& pair : pairs) found += pair.first / kViews == pair.second / kViews;
  for (int first = 0; first < images; first += kViews) {
    const int views = std::min(kViews, images - first);
    all += views * (views - 1) / 2;
  }
  return all > 0 ? double(found) / double(all) : 0;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024.0;
}

// Processor time of all threads so far, which is less affected by other programs than the clock.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// FNV-1a, to compare machines.
std::uint64_t hash_of(const std::vector<RetrievedPair>& pairs) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const RetrievedPair& pair : pairs) {
    for (std::uint64_t v :
         {std::uint64_t(pair.first), std::uint64_t(pair.second), std::uint64_t(pair.score)}) {
      for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (v >> 8 * byte & 0xFF)) * 0x100000001b3;
    }
  }
  return hash;
}

std::string json_of(const RetrieveReport& r, const std::vector<RetrievedPair>& pairs,
                    double processor, double read_ms, double found) {
  std::ostringstream out;
  out << "{\"images\": " << r.images << ", \"descriptors\": " << r.descriptors
      << ", \"words\": " << r.words << ", \"training\": " << r.training
      << ", \"iterations\": " << r.iterations << ", \"entries\": " << r.entries
      << ", \"comparisons\": " << r.comparisons << ", \"pairs\": " << pairs.size()
      << ", \"pairs_hash\": \"" << std::hex << hash_of(pairs) << std::dec << "\""
      << ", \"milliseconds\": " << r.milliseconds
      << ", \"milliseconds_per_image\": " << (r.images > 0 ? r.milliseconds / r.images : 0)
      << ", \"processor_seconds\": " << processor << ", \"reading_milliseconds\": " << read_ms
      << ", \"stages\": {";
  for (std::size_t i = 0; i < r.stages.size(); ++i) {
    out << (i ? ", " : "") << '"' << r.stages[i].stage << "\": " << r.stages[i].milliseconds;
  }
  out << "}, \"kernel\": \"" << r.kernel << "\", \"peak_mb\": " << peak_megabytes();
  if (found >= 0) out << ", \"pairs_of_places_found\": " << found;
  out << "}";
  return out.str();
}

struct StoredCollection {
  explicit StoredCollection(const std::string& file) : in(file, std::ios::binary) {
    std::int64_t count = 0;
    read(&count, sizeof count);
    std::int64_t rows = 0;
    for (std::int64_t i = 0; i < count && in; ++i) {
      std::uint64_t key = 0;
      std::int64_t descriptors = 0;
      read(&key, sizeof key);
      read(&descriptors, sizeof descriptors);
      input.images.push_back({key, static_cast<int>(descriptors)});
      begin.push_back(rows);
      rows += descriptors;
    }
    require(bool(in), file, " is not a collection of descriptors");
    const std::streamoff first = in.tellg();
    input.read = [this, first](int image, std::vector<std::uint8_t>& out) {
      const std::size_t bytes = std::size_t(input.images[image].descriptors) * kLength;
      in.seekg(first + std::streamoff(begin[image]) * kLength);
      out.resize(out.size() + bytes);
      read(out.data() + out.size() - bytes, bytes);
      require(bool(in), "the file of descriptors ends before image ", image);
    };
  }
  void read(void* to, std::size_t bytes) {
    in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  }
  std::ifstream in;
  std::vector<std::int64_t> begin;
  RetrieveInput input;
};

// Learns the vocabulary of retrieve_pairs() again.
void write_words(const Context& context, const RetrieveInput& input, const RetrieveOptions& options,
                 const std::string& file) {
  using namespace retrieve;
  const RetrieveEvents events;
  const Collection collection(input, events);
  const int words = options.words > 0 ? options.words : words_for(collection.descriptors);
  const Training training =
      draw_training(context, collection,
                    options.training > 0 ? options.training : training_for(words), options.seed);
  NearestWords nearest(context);
  const Vocabulary vocabulary =
      learn_vocabulary(context, training, words, options.iterations, nearest, events);
  std::ofstream out(file, std::ios::binary);
  auto write = [&](const void* data, std::size_t bytes) {
    out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  };
  const std::int64_t count = vocabulary.size();
  write(&count, sizeof count);
  write(vocabulary.centroids.data(), vocabulary.centroids.size());
  std::vector<std::uint8_t> descriptors;
  for (std::size_t i = 0; i < input.images.size(); ++i) {
    if (input.images[i].descriptors == 0) continue;
    descriptors.clear();
    input.read(static_cast<int>(i), descriptors);
    const auto found = nearest.of(descriptors.data(), input.images[i].descriptors);
    write(found.data(), found.size() * sizeof found[0]);
  }
  require(bool(out.flush()), "'", file, "' could not be written");
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

int run(int argc, char** argv) {
  std::map<std::string, std::string> given = {
      {"images", "1000"}, {"features", "1000"}, {"device", "auto"}, {"threads", "0"},
      {"words", "0"},     {"training", "0"},    {"iterations", ""}, {"neighbours", "10"},
      {"power", ""},      {"threshold", ""},    {"seed", ""},       {"label", ""},
      {"json", ""},       {"collection", ""},   {"pairs", ""},      {"assign", ""}};
  for (int i = 1; i < argc; i += 2) {
    const auto option = !std::strncmp(argv[i], "--", 2) ? given.find(argv[i] + 2) : given.end();
    if (option == given.end() || i + 1 == argc) {
      std::fprintf(stderr,
                   "cornea_retrieve_bench [--images N,N,..] [--features N] [OPTION VALUE]..;"
                   " the options are described at the top of bench/retrieve_bench.cc\n");
      return 2;
    }
    option->second = argv[i + 1];
  }
  auto number = [&](const char* name, int otherwise) {
    return given[name].empty() ? otherwise : std::atoi(given[name].c_str());
  };
  RetrieveOptions options;
  options.neighbours = number("neighbours", options.neighbours);
  options.words = number("words", options.words);
  options.training = number("training", options.training);
  options.iterations = number("iterations", options.iterations);
  options.power = number("power", options.power);
  options.threshold = number("threshold", options.threshold);
  options.seed = number("seed", 0);
  const Context context = Context::from_name(given["device"], number("threads", 0));

  std::vector<std::string> rows;
  RetrieveReport report;
  if (!given["collection"].empty()) {
    StoredCollection stored(given["collection"]);
    const double before = processor_seconds();
    const auto pairs = retrieve_pairs(context, stored.input, options, &report);
    const double processor = processor_seconds() - before;
    std::ofstream out(given["pairs"]);
    out << "first,second,score\n";
    for (const RetrievedPair& p : pairs)
      out << p.first << ',' << p.second << ',' << p.score << '\n';
    require(bool(out.flush()), "the pairs could not be written to '", given["pairs"], "'");
    if (!given["assign"].empty()) {
      write_words(context, stored.input, options, given["assign"]);
    }
    rows.push_back(json_of(report, pairs, processor, 0, -1));
  } else {
    const int features = std::max(1, number("features", 1000));
    const Places places(features);
    for (const std::string& count : split(given["images"])) {
      const int images = std::max(1, std::atoi(count.c_str()));
      double read_ms = 0;
      const RetrieveInput input = generated(places, images, features, read_ms);
      const double before = processor_seconds();
      const auto pairs = retrieve_pairs(context, input, options, &report);
      rows.push_back(json_of(report, pairs, processor_seconds() - before, read_ms,
                             share_found(pairs, images)));
      std::fprintf(stderr, "%s\n", rows.back().c_str());
    }
  }
  std::ostringstream json;
  json << "{\"device\": \"" << context.description() << "\", \"threads\": " << context.threads()
       << ", \"label\": \"" << given["label"] << "\", \"neighbours\": " << options.neighbours
       << ", \"results\": [\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json << "  " << rows[i] << (i + 1 < rows.size() ? ",\n" : "\n");
  }
  json << "]}\n";
  if (given["json"].empty() || given["json"] == "-") {
    std::fputs(json.str().c_str(), stdout);
    return 0;
  }
  std::ofstream out(given["json"]);
  out << json.str();
  require(bool(out.flush()), "'", given["json"], "' could not be written");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cornea_retrieve_bench: %s\n", error.what());
    return 1;
  }
}
