// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_match.h"

#include <cstring>
#include <iostream>

#include "bench/bench_timing.h"
#include "bench/random_descriptor.h"
#include "study/table.h"

#include "cornea/cli/progress.h"
#include "cornea/core/random.h"
#include "cornea/match/match.h"

namespace cornea::cli {
namespace {

constexpr int kBatchPairs = 100, kBatchPoints = 2000;  // of the batch of small pairs
constexpr int kLength = Features::kLength;

std::vector<std::uint8_t> random_descriptors(int count, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(std::size_t(count) * kLength);
  core::Random random(seed);
  for (int i = 0; i < count; ++i) draw_descriptor(random, bytes.data() + std::size_t(i) * kLength);
  return bytes;
}

// Every second descriptor of the second set is a perturbed copy of one in the first.
void share_points(const std::vector<std::uint8_t>& a, std::vector<std::uint8_t>& b) {
  core::Random random(7);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const std::size_t point = i / kLength;
    if (point % 2 || point * kLength >= a.size()) continue;
    b[i] = static_cast<std::uint8_t>(
        std::clamp(a[point * kLength + i % kLength] + random.integer(-8, 8), 0, 255));
  }
}

Memory on_device(const Context& context, const std::vector<std::uint8_t>& bytes) {
  Memory memory = context.allocate(Place::device, bytes.size(), "bench: descriptors");
  context.upload(memory.data(), bytes.size(), bytes.data(), bytes.size(), bytes.size(), 1);
  context.synchronize();
  return memory;
}

// Matches this number of pairs in one call, each with its own descriptors.
Json measure_pair(const Context& context, MatchSize size, int pairs, int repeat) {
  std::vector<std::vector<std::uint8_t>> sets;
  std::vector<MatchPair> host_pairs, device_pairs;
  std::vector<Memory> device_sets;
  for (int i = 0; i < pairs; ++i) {
    sets.push_back(random_descriptors(size.a, 2 * i));
    sets.push_back(random_descriptors(size.b, 2 * i + 1));
    share_points(sets[2 * i], sets[2 * i + 1]);
  }
  for (int i = 0; i < pairs; ++i) {
    host_pairs.push_back({{sets[2 * i].data(), size.a}, {sets[2 * i + 1].data(), size.b}});
    if (!context.is_cuda()) continue;
    auto view = [&](const std::vector<std::uint8_t>& set, int count) {
      device_sets.push_back(on_device(context, set));
      return DescriptorView(static_cast<const std::uint8_t*>(device_sets.back().data()), count,
                            Place::device);
    };
    const DescriptorView a = view(sets[2 * i], size.a), b = view(sets[2 * i + 1], size.b);
    device_pairs.push_back({a, b});
  }
  Matcher matcher(context);
  const Timing whole = time_calls(repeat, [&] { matcher.match_batch(host_pairs); });
  const std::vector<MatchPair>& best = context.is_cuda() ? device_pairs : host_pairs;
  Timing resident = whole;
  if (context.is_cuda()) resident = time_calls(repeat, [&] { matcher.match_batch(best); });
  matcher.time_stages(true);
  const Json stages = stage_medians(repeat, [&] {
    matcher.match_batch(best);
    return matcher.report().stages;
  });
  const double products = double(matcher.report().distances) * kLength;
  Json result = {{"a", size.a},
                 {"b", size.b},
                 {"pairs", pairs},
                 {"matches", matcher.report().matches},
                 {"kernel", matcher.report().kernel},
                 {"milliseconds", timing_json(whole)},
                 {"stages", stages},
                 {"gmac_per_second", products / resident.median / 1e6},
                 {"memory_bytes", context.memory().bytes}};
  if (context.is_cuda()) result["milliseconds_resident"] = timing_json(resident);
  return result;
}

}  // namespace

std::vector<MatchSize> parse_match_sizes(const std::vector<std::string>& sizes) {
  std::vector<MatchSize> result;
  for (const std::string& size : sizes) {
    MatchSize m;
    int used = 0;
    if (std::sscanf(size.c_str(), "%7dx%7d%n", &m.a, &m.b, &used) != 2 ||
        used != static_cast<int>(size.size()) || m.a < 1 || m.b < 1) {
      throw UsageError("--match takes two numbers of descriptors, such as 5000x7000, not '" + size +
                       "'");
    }
    result.push_back(m);
  }
  return result;
}

Json measure_matches(const Context& context, const std::vector<MatchSize>& sizes, int repeat,
                     bool quiet) {
  Json results = Json::array();
  Progress progress("matching", static_cast<int>(sizes.size()) + 1, quiet);
  for (const MatchSize& size : sizes) {
    results.push_back(measure_pair(context, size, 1, repeat));
    progress.advance();
  }
  results.push_back(
      measure_pair(context, {kBatchPoints, kBatchPoints}, kBatchPairs, std::max(3, repeat / 10)));
  return results;
}

void print_matches(const Json& results, const std::string& device) {
  study::Table table{.columns =
                         study::text_columns({"descriptors", "pairs", "matches", "host to host",
                                              "p90", "resident", "of that", "GMAC/s", "kernel"})};
  for (const Json& r : results) {
    std::string stages;
    for (const auto& [stage, ms] : r["stages"].items()) {
      stages += text(stages.empty() ? "" : ", ", stage, " ", milliseconds_text(ms));
    }
    table.add({text(r["a"], "x", r["b"]), text(r["pairs"]), text(r["matches"]),
               milliseconds_text(r["milliseconds"]["median"]),
               milliseconds_text(r["milliseconds"]["p90"]),
               r.contains("milliseconds_resident")
                   ? milliseconds_text(r["milliseconds_resident"]["median"])
                   : "-",
               stages, text(std::lround(r["gmac_per_second"].get<double>())),
               r["kernel"].get<std::string>()});
  }
  std::cout << device << ", descriptors to matches in host memory\n"
            << study::terminal_text(table) << std::flush;
}

}  // namespace cornea::cli
