// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/moravec/moravec.h"

#include <algorithm>
#include <vector>

#include "cornea/core/build.h"
#include "cornea/core/parallel.h"
#include "cornea/core/simd.h"
#include "cornea/detect/moravec/device_moravec.h"
#include "cornea/detect/moravec/moravec_math.h"
#include "cornea/detect/response.h"

namespace cornea {
namespace {

using namespace core;
using namespace peaks;
using namespace detect;
using namespace moravec;

constexpr int kRowsPerPiece = 64;

// Adds a row of quad differences of one shift to the column sums and subtracts the oldest row.
template <int shift, class T, class S>
CORNEA_INTO_CLONES void enter(const T* __restrict row, const T* __restrict below,
                              S* __restrict columns, S* __restrict oldest, int quads) {
  for (int x = 0; x < quads; ++x) {
    const S d = quad_difference<shift>(row[x], row[x + 1], below[x], below[x + 1]);
    columns[x] += d - oldest[x];
    oldest[x] = d;
  }
}

// sums[x] = columns[x - radius] + ... + columns[x + radius]
template <class S>
CORNEA_INTO_CLONES void sum_window(const S* __restrict columns, S* __restrict sums, int radius,
                                   int quads) {
  for (int x = radius; x < quads - radius; ++x) sums[x] = columns[x - radius];
  for (int i = 1 - radius; i <= radius; ++i) {
    for (int x = radius; x < quads - radius; ++x) sums[x] += columns[x + i];
  }
}

// The window sums of the four shifts in one row of quads.
template <class S>
struct SumRows {
  const S* of[kMoravecShifts];
};

template <class S, class R>
CORNEA_INTO_CLONES void smallest_of_eight(const SumRows<S>& here, const SumRows<S>& above,
                                          R* __restrict out, int begin, int end) {
  const S *right = here.of[kRight], *down = here.of[kDown], *down_above = above.of[kDown];
  const S *diagonal = here.of[kDiagonal], *diagonal_above = above.of[kDiagonal];
  const S *anti = here.of[kAnti], *anti_above = above.of[kAnti];
  for (int x = begin; x < end; ++x) {
    const S a = std::min(std::min(right[x], right[x - 1]), std::min(down[x], down_above[x]));
    const S b = std::min(std::min(diagonal[x], diagonal_above[x - 1]),
                         std::min(anti[x - 1], anti_above[x]));
    out[x] = static_cast<R>(std::min(a, b));
  }
}

// The rows that a band keeps: the last w rows of differences and their column sums.
template <class T>
struct BandRows {
  using S = MoravecSum<T>;

  BandRows(int width, int radius) : quads(width - 1), radius(radius) {
    const int window = 2 * radius + 1;
    for (int s = 0; s < kMoravecShifts; ++s) {
      ring[s].assign(std::size_t(window) * quads, 0);
      columns[s].assign(quads, 0);
      for (auto& parity : sums) parity[s].assign(quads, 0);
    }
  }
  S* oldest(int shift, int y) {
    return ring[shift].data() + std::size_t(y % (2 * radius + 1)) * quads;
  }
  SumRows<S> sum_rows(int y) const {
    const auto& row = sums[y & 1];
    return {{row[0].data(), row[1].data(), row[2].data(), row[3].data()}};
  }

  int quads, radius;
  std::vector<S> ring[kMoravecShifts], columns[kMoravecShifts];
  std::vector<S> sums[2][kMoravecShifts];  // by the parity of the row
};

template <class T>
CORNEA_INTO_CLONES void enter_row(BandRows<T>& rows, HostView<const T> image, int y) {
  const T *row = image.row(y), *below = image.row(y + 1);
  enter<kRight>(row, below, rows.columns[kRight].data(), rows.oldest(kRight, y), rows.quads);
  enter<kDown>(row, below, rows.columns[kDown].data(), rows.oldest(kDown, y), rows.quads);
  enter<kDiagonal>(row, below, rows.columns[kDiagonal].data(), rows.oldest(kDiagonal, y),
                   rows.quads);
  enter<kAnti>(row, below, rows.columns[kAnti].data(), rows.oldest(kAnti, y), rows.quads);
}

template <class T>
CORNEA_INTO_CLONES void sum_windows(BandRows<T>& rows, int y) {
  for (int s = 0; s < kMoravecShifts; ++s) {
    sum_window(rows.columns[s].data(), rows.sums[y & 1][s].data(), rows.radius, rows.quads);
  }
}

// Rows begin <= y < end, none of which is within the margin of the image's edge.
template <class T, class R>
CORNEA_INTO_CLONES void respond_band(HostView<const T> image, int radius, int begin, int end,
                                     HostView<R> map) {
  BandRows<T> rows(image.width, radius);
  for (int y = begin - 1 - radius; y <= begin - 1 + radius; ++y) enter_row(rows, image, y);
  sum_windows(rows, begin - 1);
  for (int y = begin; y < end; ++y) {
    enter_row(rows, image, y + radius);
    sum_windows(rows, y);
    R* out = map.row(y);
    std::fill(out, out + radius + 1, R(0));
    smallest_of_eight(rows.sum_rows(y), rows.sum_rows(y - 1), out, radius + 1,
                      image.width - radius - 1);
    std::fill(out + image.width - radius - 1, out + image.width, R(0));
  }
}

CORNEA_LOOP_CLONES void respond_rows(HostView<const std::uint8_t> image, int radius, int begin,
                                     int end, HostView<float> map) {
  respond_band(image, radius, begin, end, map);
}
CORNEA_LOOP_CLONES void respond_rows(HostView<const std::uint16_t> image, int radius, int begin,
                                     int end, HostView<double> map) {
  respond_band(image, radius, begin, end, map);
}

template <class T, class R>
void host_response(const Context& context, HostView<const T> image, int window, HostView<R> map) {
  const int radius = window / 2;
  const Region inside = inside_margin(image.width, image.height, radius + 1);
  parallel_for(context, image.height, kRowsPerPiece, [&](int begin, int end) {
    const int first = inside.empty() ? end : std::clamp(inside.top, begin, end);
    const int last = inside.empty() ? end : std::clamp(inside.bottom, first, end);
    for (int y = begin; y < first; ++y) std::fill_n(map.row(y), map.width, R(0));
    if (first < last) respond_rows(image, radius, first, last, map);
    for (int y = last; y < end; ++y) std::fill_n(map.row(y), map.width, R(0));
  });
}

class MoravecResponse : public Response {
 public:
  MoravecResponse(const Context& context, int window) : Response(context), window_(window) {}

  Working working() const override { return Working::integers; }
  Pixel map_pixel(Pixel working) const override {
    return working == Pixel::u8 ? Pixel::f32 : Pixel::f64;
  }
  double unit(Pixel working) const override { return working == Pixel::u8 ? 1 : 257.0 * 257.0; }
  Margin margin() const override { return window_ / 2 + 1; }

  void respond(const ResponseCall& call) override {
    call.first.pixel() == Pixel::u8 ? respond<std::uint8_t, float>(call)
                                    : respond<std::uint16_t, double>(call);
  }

 private:
  template <class T, class R>
  void respond(const ResponseCall& call) {
    if constexpr (kHasCuda) {
      if (context().is_cuda()) {
        return enqueue_moravec_response(context(), call.first.device<T>(), call.frames, window_,
                                        call.first_map.device<R>(),
                                        static_cast<OrderedBits<R>*>(call.strongest));
      }
    }
    host_response(context(), call.first.host<T>(), window_, call.first_map.host<R>());
  }

  int window_;
};

}  // namespace

void MoravecOptions::validate() const {
  require(window >= 3 && window <= 15 && window % 2 == 1, "window is ", window,
          " and must be odd and from 3 to 15 pixels");
  peaks.validate();
}

Moravec::Moravec(const Context& context, const MoravecOptions& options)
    : CornerDetector(std::make_unique<MoravecResponse>(context, options.window), options.peaks) {
  options.validate();
}

}  // namespace cornea
