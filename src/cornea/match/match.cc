// SPDX-License-Identifier: Apache-2.0
#include "cornea/match/match.h"

#include <cmath>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/stage_clock.h"
#include "cornea/core/stopwatch.h"
#include "cornea/match/match_backend.h"
#include "cornea/match/match_kernels.h"
#include "cornea/match/tile_kernel.h"

namespace cornea {
namespace {

using namespace core;
using namespace match;

constexpr int kMostDescriptors = 1 << 30;  // indices and their padding fit in 32 bits

void check_view(const DescriptorView& view, const Context& context) {
  require(view.count >= 0 && view.count <= kMostDescriptors, "a set of ", view.count,
          " descriptors cannot be matched; it has 0 to ", kMostDescriptors);
  require(view.count == 0 || view.data != nullptr, "a set of ", view.count,
          " descriptors has no data (its pointer is null)");
  require(
      context.is_cuda() || !view.on_device(),
      "the descriptors lie in device memory but the context is a CPU context; use the context that "
      "owns them");
}

void check_pairs(std::span<const MatchPair> pairs, const Context& context) {
  const DescriptorView* first = nullptr;
  for (const MatchPair& pair : pairs) {
    for (const DescriptorView* view : {&pair.a, &pair.b}) {
      check_view(*view, context);
      if (view->count == 0) continue;
      if (!first) first = view;
      require(
          view->on_device() == first->on_device(),
          "some descriptors lie in host and some in device memory; copy them to the same kind of "
          "memory");
    }
  }
}

std::unique_ptr<MatchBackend> make_backend(const Context& context, const MatchOptions& options,
                                           const std::string& kernel) {
  options.validate();
  if constexpr (kHasCuda) {
    if (context.is_cuda()) return make_device_matcher(context, options);
  }
  return make_host_matcher(context, options,
                           kernel.empty() ? *tile_kernels().front() : find_tile_kernel(kernel));
}

}  // namespace

void MatchOptions::validate() const {
  require(ratio > 0 && std::isfinite(ratio), "ratio is ", ratio,
          " and must be a positive number (1 or more: no test)");
  require(max_distance >= 0 && std::isfinite(max_distance), "max_distance is ", max_distance,
          " and must be 0 (no limit) or more");
}

DescriptorView::DescriptorView(const Features& features)
    : data(features.descriptors.data()), count(static_cast<int>(features.size())) {
  require(features.descriptors.size() == features.size() * Features::kLength, features.size(),
          " points have ", features.descriptors.size(), " bytes of descriptors, not ",
          Features::kLength, " each; describe them first");
}

struct Matcher::Inside {
  Inside(const Context& given, const MatchOptions& wanted, const std::string& kernel)
      : context(given),
        options(wanted),
        backend(make_backend(given, wanted, kernel)),
        clock(given) {}

  template <class Result>
  std::vector<std::vector<Result>> run(std::span<const MatchPair> pairs);

  Context context;
  MatchOptions options;
  std::unique_ptr<MatchBackend> backend;
  StageClock clock;
  bool time_stages = false;
  MatchReport report;
};

template <class Result>
std::vector<std::vector<Result>> Matcher::Inside::run(std::span<const MatchPair> pairs) {
  const Stopwatch watch;
  check_pairs(pairs, context);
  clock.start(time_stages);
  std::vector<std::vector<Result>> results(pairs.size());
  if constexpr (std::is_same_v<Result, Match>) {
    backend->match(pairs, results, clock);
  } else {
    backend->nearest(pairs, results, clock);
  }
  report = {static_cast<int>(pairs.size()), 0, 0, 0, backend->kernel(), clock.read()};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    report.distances += std::uint64_t(pairs[i].a.count) * pairs[i].b.count;
    report.matches += results[i].size();
  }
  report.milliseconds = watch.milliseconds();
  return results;
}

Matcher::Matcher(const Context& context, const MatchOptions& options)
    : Matcher(std::make_unique<Inside>(context, options, "")) {}
Matcher::Matcher(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;

void Matcher::time_stages(bool on) { inside_->time_stages = on; }
const MatchReport& Matcher::report() const { return inside_->report; }
const Context& Matcher::context() const { return inside_->context; }
const MatchOptions& Matcher::options() const { return inside_->options; }

std::vector<Match> Matcher::match(DescriptorView a, DescriptorView b) {
  const MatchPair pair{a, b};
  return std::move(inside_->run<Match>({&pair, 1})[0]);
}

std::vector<std::vector<Match>> Matcher::match_batch(std::span<const MatchPair> pairs) {
  return inside_->run<Match>(pairs);
}

std::vector<Nearest> Matcher::nearest(DescriptorView a, DescriptorView b) {
  const MatchPair pair{a, b};
  return std::move(inside_->run<Nearest>({&pair, 1})[0]);
}

namespace match {

std::vector<std::string> match_kernels() {
  std::vector<std::string> names;
  for (const TileKernel* kernel : tile_kernels()) names.push_back(kernel->name);
  return names;
}

Matcher matcher_with_kernel(const Context& context, const MatchOptions& options,
                            const std::string& kernel) {
  return Matcher(std::make_unique<Matcher::Inside>(context, options, kernel));
}

}  // namespace match
}  // namespace cornea
