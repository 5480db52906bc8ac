#include "cornea/detect/foagdd/foagdd.h"

#include <algorithm>
#include <mutex>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/detect/foagdd/device_foagdd.h"
#include "cornea/detect/foagdd/foagdd_band.h"
#include "cornea/detect/foagdd/foagdd_math.h"

namespace cornea {
namespace {

// A band makes the derivatives of some rows above and below it a second time, so that few bands are
// best; but each thread should have work to the end.
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

}  // namespace

void FoagddOptions::validate() const {
  require(directions >= kFoagddLeastDirections && directions <= kFoagddMostDirections,
          "FOAGDD takes ", kFoagddLeastDirections, " to ", kFoagddMostDirections,
          " directions, not ", directions);
  require(!scales.empty() && scales.size() <= kFoagddMostScales, "FOAGDD takes 1 to ",
          kFoagddMostScales, " scales, not ", scales.size());
  for (double scale : scales) {
    require(scale >= 0.1 && scale <= 100, "a scale of FOAGDD lies in 0.1 to 100, not ", scale);
  }
  require(rho >= 0.1 && rho <= 10, "FOAGDD's anisotropy rho lies in 0.1 to 10, not ", rho);
  require(lattice >= 3 && lattice <= 2 * kFoagddMostRadius + 1 && lattice % 2 == 1,
          "the side of FOAGDD's filters is odd and from 3 to ", 2 * kFoagddMostRadius + 1,
          " pixels, not ", lattice);
  peaks.validate();
}

Foagdd::Foagdd(const Context& context, const FoagddOptions& options)
    : CornerDetector(context, options.peaks), options_(options), banks_(make_banks(options)) {
  if constexpr (kHasCuda) {
    if (context.is_cuda()) device_ = std::make_unique<DeviceFoagdd>(context, banks_);
  }
}

Foagdd::~Foagdd() = default;

void Foagdd::respond(AnyView first, int frames, Map map, MapUse use, void* strongest) {
  // The bounds pay where squares are small: what may be the largest is looked for in them alone.
  const FoagddScreen screen{options_.peaks.threshold, options_.peaks.nms / 2};
  const bool screens = use == MapUse::peaks && screen.radius <= kFoagddMostScreenRadius;
  if constexpr (kHasCuda) {
    if (context().is_cuda()) {
      const bool on_device = screens && device_->can_screen();
      device_->prepare(first.width(), first.height(), frames, on_device);
      mark("prepare");
      device_->enqueue_response(first, frames, on_device ? &screen : nullptr,
                                inside_margin(first.width(), first.height(), margin()),
                                map.device<double>(), device_peaks(),
                                static_cast<std::uint64_t*>(strongest),
                                [this](const char* stage) { mark(stage); });
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
                                       map.host<double>());
                   const std::lock_guard lock(mutex);
                   times.derivatives += mine.derivatives;
                   times.measure += mine.measure;
                 });
  });
  mark({{"derivatives", times.derivatives}, {"first measure", times.measure}});
}

void Foagdd::confirm(AnyView image, double cutoff, std::vector<PixelAt>& candidates) {
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
  mark("remaining measures");
}

void Foagdd::enqueue_confirm(AnyView first, const DeviceCandidates& candidates) {
  if constexpr (kHasCuda) {
    device_->enqueue_confirm(first, candidates);
    mark("remaining measures");
  }
}

}  // namespace cornea
