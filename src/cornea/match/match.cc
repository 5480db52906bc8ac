#include "cornea/match/match.h"

#include <cmath>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/match/match_backend.h"
#include "cornea/match/tile_kernel.h"

namespace cornea {
namespace {

constexpr int kMostDescriptors = 1 << 30;  // indices and their padding fit in 32 bits

void check_view(const DescriptorView& view, const Context& context) {
  require(view.count >= 0 && view.count <= kMostDescriptors, "a set of ", view.count,
          " descriptors cannot be matched; it has 0 to ", kMostDescriptors);
  require(view.count == 0 || view.data != nullptr, "a set of ", view.count,
          " descriptors was given without data");
  require(context.is_cuda() || !view.on_device(),
          "the descriptors lie in device memory and the context is the CPU's; use the context that "
          "owns them");
}

}  // namespace

void MatchOptions::validate() const {
  require(ratio > 0 && std::isfinite(ratio),
          "the ratio is a positive number (1 or more: no test), not ", ratio);
  require(max_distance >= 0 && std::isfinite(max_distance),
          "the largest distance is 0 (no limit) or more, not ", max_distance);
  if (!kernel.empty()) find_tile_kernel(kernel);
}

DescriptorView::DescriptorView(const Features& features)
    : data(features.descriptors.data()), count(static_cast<int>(features.size())) {
  require(features.descriptors.size() == features.size() * Features::kLength, features.size(),
          " points have ", features.descriptors.size(), " bytes of descriptors, not ",
          Features::kLength, " each; describe them first");
}

Matcher::Matcher(const Context& context, const MatchOptions& options)
    : context_(context), options_(options), clock_(context) {
  options.validate();
  if constexpr (kHasCuda) {
    if (context.is_cuda()) backend_ = make_device_matcher(context, options);
  }
  if (!backend_) backend_ = make_host_matcher(context, options);
}

Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;

void Matcher::check(std::span<const MatchPair> pairs) const {
  const DescriptorView* first = nullptr;
  for (const MatchPair& pair : pairs) {
    for (const DescriptorView* view : {&pair.a, &pair.b}) {
      check_view(*view, context_);
      if (view->count == 0) continue;
      if (!first) first = view;
      require(view->on_device() == first->on_device(),
              "some descriptors lie in host and some in device memory; copy them to one place");
    }
  }
}

template <class Result>
std::vector<std::vector<Result>> Matcher::run(std::span<const MatchPair> pairs) {
  const Stopwatch watch;
  check(pairs);
  StageClock* clock = time_stages_ ? &clock_ : nullptr;
  if (clock) clock->start();
  std::vector<std::vector<Result>> results(pairs.size());
  if constexpr (std::is_same_v<Result, Match>) {
    backend_->match(pairs, results, clock);
  } else {
    backend_->nearest(pairs, results, clock);
  }
  report_ = {static_cast<int>(pairs.size()), 0, 0, 0, backend_->kernel(), {}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    report_.distances += std::uint64_t(pairs[i].a.count) * pairs[i].b.count;
    report_.matches += results[i].size();
  }
  if (clock) report_.stages = clock->read();
  report_.milliseconds = watch.milliseconds();
  return results;
}

std::vector<Match> Matcher::match(DescriptorView a, DescriptorView b) {
  const MatchPair pair{a, b};
  return std::move(run<Match>({&pair, 1})[0]);
}

std::vector<std::vector<Match>> Matcher::match_batch(std::span<const MatchPair> pairs) {
  return run<Match>(pairs);
}

std::vector<Nearest> Matcher::nearest(DescriptorView a, DescriptorView b) {
  const MatchPair pair{a, b};
  return std::move(run<Nearest>({&pair, 1})[0]);
}

std::vector<std::string> match_kernels() {
  std::vector<std::string> names;
  for (const TileKernel* kernel : tile_kernels()) names.push_back(kernel->name);
  return names;
}

}  // namespace cornea
