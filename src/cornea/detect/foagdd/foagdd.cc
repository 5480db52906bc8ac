// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/foagdd/foagdd.h"

#include <algorithm>
#include <mutex>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/detect/foagdd/device_foagdd.h"
#include "cornea/detect/foagdd/foagdd_band.h"
#include "cornea/detect/foagdd/foagdd_math.h"
#include "cornea/detect/response.h"

namespace cornea {
namespace {

using namespace core;
using namespace peaks;
using namespace detect;
using namespace foagdd;

// Each band recomputes the derivatives of some rows above and below it, so that few bands are best;
// but there should be enough of them to keep all threads busy.
constexpr int kMostRowsPerBand = 256;
constexpr int kCandidatesPerPiece = 16;

int rows_per_band(int height, int threads) {
  const int rounds = (height - 1) / (kMostRowsPerBand * threads) + 1;
  return std::max(1, (height - 1) / (rounds * threads) + 1);
}

std::vector<FoagddBank> make_banks(const FoagddOptions& options) {
  options.validate();
  std::vector<FoagddBank> banks;
  for (double scale : options.scales) banks.push_back(make_foagdd_bank(options, scale));
  return banks;
}

class FoagddResponse : public Response {
 public:
  FoagddResponse(const Context& context, const FoagddOptions& options)
      : Response(context), options_(options), banks_(make_banks(options)) {
    if constexpr (kHasCuda) {
      if (context.is_cuda()) device_ = std::make_unique<DeviceFoagdd>(context, banks_);
    }
  }

  Pixel map_pixel(Pixel) const override { return Pixel::f64; }
  double unit(Pixel) const override { return 1; }
  Margin margin() const override { return {options_.peaks.nms + 1, options_.peaks.nms}; }
  StageNames stage_names() const override { return {"first measure", "suppression"}; }
  void respond(const ResponseCall& call) override;
  bool confirms() const override { return options_.scales.size() > 1; }
  void confirm(AnyView image, double cutoff, std::vector<PixelAt>& candidates,
               StageClock& clock) override;
  void enqueue_confirm(AnyView first, const DeviceCandidates& candidates,
                       StageClock& clock) override {
    if constexpr (kHasCuda) {
      device_->enqueue_confirm(first, candidates);
      clock.mark("remaining measures");
    }
  }

 private:
  FoagddOptions options_;
  std::vector<FoagddBank> banks_;
  std::unique_ptr<DeviceFoagdd> device_;
};

void FoagddResponse::respond(const ResponseCall& call) {
  const AnyView& first = call.first;
  // Screening pays off only for small suppression squares: it reads the bounds of the whole square
  // around each pixel that may exceed the threshold.
  const FoagddScreen screen{options_.peaks.threshold, options_.peaks.nms / 2};
  const bool screens = call.use == MapUse::peaks && screen.radius <= kFoagddMostScreenRadius;
  if constexpr (kHasCuda) {
    if (context().is_cuda()) {
      const bool on_device = screens && device_->can_screen();
      device_->prepare(first.width(), first.height(), call.frames, on_device);
      call.clock->mark("prepare");
      device_->enqueue_response(call, on_device ? &screen : nullptr,
                                inside_margin(first.width(), first.height(), margin()));
      return;
    }
  }
  FoagddTimes times;
  std::mutex mutex;
  visit_gray(first, [&](auto image) {
    parallel_for(context(), image.height, rows_per_band(image.height, context().threads()),
                 [&](int begin, int end) {
                   const FoagddTimes mine =
                       foagdd_map_rows(image, banks_[0], screens ? &screen : nullptr, begin, end,
                                       call.first_map.host<double>());
                   const std::lock_guard lock(mutex);
                   times.derivatives += mine.derivatives;
                   times.measure += mine.measure;
                 });
  });
  call.clock->mark({{"derivatives", times.derivatives}, {"first measure", times.measure}});
}

void FoagddResponse::confirm(AnyView image, double cutoff, std::vector<PixelAt>& candidates,
                             StageClock& clock) {
  std::vector<std::uint8_t> stays(candidates.size(), 1);
  visit_gray(image, [&](auto pixels) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(pixels.data)>>;
    auto test = [&](int begin, int end) {
      for (std::size_t scale = 1; scale < banks_.size(); ++scale) {
        FoagddProbe<T> probe(pixels, banks_[scale]);
        for (int i = begin; i < end; ++i) {
          if (stays[i]) stays[i] = probe.measure(candidates[i].x, candidates[i].y) > cutoff;
        }
      }
    };
    parallel_for(context(), static_cast<int>(candidates.size()), kCandidatesPerPiece, test);
  });
  std::size_t i = 0;
  std::erase_if(candidates, [&](const PixelAt&) { return !stays[i++]; });
  clock.mark("remaining measures");
}

}  // namespace

void FoagddOptions::validate() const {
  require(directions >= kFoagddLeastDirections && directions <= kFoagddMostDirections,
          "directions is ", directions, " and must be ", kFoagddLeastDirections, " to ",
          kFoagddMostDirections);
  require(!scales.empty() && scales.size() <= kFoagddMostScales, "scales takes 1 to ",
          kFoagddMostScales, " numbers, not ", scales.size());
  for (double scale : scales) {
    require(scale >= 0.1 && scale <= 100, "scales has ", scale, " and each must be 0.1 to 100");
  }
  require(rho >= 0.1 && rho <= 10, "rho is ", rho, " and must be 0.1 to 10");
  require(lattice >= 3 && lattice <= 2 * kFoagddMostRadius + 1 && lattice % 2 == 1, "lattice is ",
          lattice, " and must be odd and from 3 to ", 2 * kFoagddMostRadius + 1, " pixels");
  peaks.validate();
}

Foagdd::Foagdd(const Context& context, const FoagddOptions& options)
    : CornerDetector(std::make_unique<FoagddResponse>(context, options), options.peaks) {}

}  // namespace cornea
