#include "cornea/detect/foagdd/foagdd_band.h"

#include <algorithm>
#include <chrono>

#include "cornea/core/pixels.h"

namespace cornea {
namespace {

constexpr int kDisc = kFoagddDiscRadius;

// A row of the extended image from column `left` on, as gray levels.
template <class T>
void read_extended(HostView<const T> image, int left, int y, int columns, float* out) {
  const int row = foagdd_source(y, image.height);
  if (row < 0) return std::fill(out, out + columns, 0.0f);
  const T* from = image.row(row);
  for (int i = 0; i < columns; ++i) {
    const int x = foagdd_source(left + i, image.width);
    out[i] = x < 0 ? 0.0f : gray_level(from[x]);
  }
}

// Rows by number, of which the last `count` are kept.
template <class V>
class Ring {
 public:
  Ring(int count, std::size_t length) : count_(count), length_(length), data_(count * length) {}
  V* row(int y) { return data_.data() + std::size_t((y + kOffset) % count_) * length_; }
  const V* row(int y) const { return data_.data() + std::size_t((y + kOffset) % count_) * length_; }

 private:
  static constexpr int kOffset = 1 << 20;  // row numbers may be negative
  int count_;
  std::size_t length_;
  std::vector<V> data_;
};

// The exact measure from derivatives that `at(dx, dy, d)` finds.
template <class At>
double exact_measure(int directions, At&& at) {
  return with_directions(directions, [&](auto count) {
    constexpr int n = count;
    double tensor[1][foagdd_tensor_size(n)];
    foagdd_tensor<n, 1>(
        [&](int dx, int dy, double(&d)[n]) {
          for (int i = 0; i < n; ++i) d[i] = at(dx, dy, i);
        },
        tensor);
    return foagdd_measure<n>(tensor[0]);
  });
}

template <class T>
class Band {
 public:
  Band(HostView<const T> image, const FoagddBank& bank, const FoagddScreen* screen, int begin,
       int end, HostView<double> map)
      : image_(image),
        bank_(bank),
        screen_(screen),
        begin_(begin),
        end_(end),
        map_(map),
        n_(bank.directions),
        // Exact values are asked for up to two suppression radii above the last row of bounds.
        reach_(screen ? 2 * screen->radius : 0),
        stride_(image.width + 2 * kDisc + kFoagddSlack),
        source_(2 * bank.radius + 1, image.width + 2 * (kDisc + bank.radius) + kFoagddSlack),
        derivatives_(2 * kDisc + 1 + reach_, stride_ * n_) {
    if (!screen) return;
    const std::size_t length = image.width + kFoagddSlack;
    upper_ = Ring<float>(reach_ + 1, length);
    lower_ = Ring<float>(reach_ + 1, length);
    square_.resize(length);
    exact_ = Ring<std::uint8_t>(reach_ + 1, length);
  }

  FoagddTimes run() {
    const int first = begin_ - reach_ - kDisc, last = end_ - 1 + reach_ + kDisc;
    for (int y = first - bank_.radius; y < first + bank_.radius; ++y) enter_source(y);
    for (int y = first; y <= last; ++y) {
      const auto start = Clock::now();
      enter_source(y + bank_.radius);
      make_derivatives(y);
      const auto middle = Clock::now();
      times_.derivatives += seconds(start, middle);
      const int centre = y - kDisc;
      if (centre < begin_ - reach_) continue;
      if (!screen_) {
        measure_row(centre);
      } else {
        bound_row(centre);
        const int whole = centre - screen_->radius;  // its square's bounds are all known now
        if (whole >= begin_ - screen_->radius) decide_row(whole);
      }
      times_.measure += seconds(middle, Clock::now());
    }
    return times_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }

  void enter_source(int y) {
    const int margin = kDisc + bank_.radius;
    read_extended(image_, -margin, y, image_.width + 2 * margin, source_.row(y));
  }

  // Derivatives of row y at columns -3 .. width + 2; column x lies at x + 3.
  void make_derivatives(int y) {
    const float* rows[2 * kMostRadius + 1];
    for (int a = 0; a <= 2 * bank_.radius; ++a) {
      rows[a] = source_.row(y + a - bank_.radius) + bank_.radius;
    }
    float* out[kFoagddMostDirections];
    for (int d = 0; d < n_; ++d) out[d] = derivatives_.row(y) + d * stride_;
    foagdd_derivatives(bank_, rows, image_.width + 2 * kDisc, scratch_, out);
  }

  void fill_window(int y, FoagddWindow& window) {
    for (int k = -kDisc; k <= kDisc; ++k) {
      for (int d = 0; d < n_; ++d) {
        window[k + kDisc][d] = derivatives_.row(y + k) + d * stride_ + kDisc;
      }
    }
  }

  void measure_row(int y) {
    FoagddWindow window;
    fill_window(y, window);
    row_.resize(image_.width + kFoagddSlack);
    foagdd_measures(window, n_, image_.width, scratch_, row_.data());
    std::copy_n(row_.data(), image_.width, map_.row(y));
  }

  // Bounds of row y, which may lie beyond the band, and lower bounds into the map.
  void bound_row(int y) {
    if (y < 0 || y >= image_.height) return;
    FoagddWindow window;
    fill_window(y, window);
    const float threshold = foagdd_screen_threshold(screen_->threshold);
    float* lower = lower_.row(y);
    foagdd_bounds(window, n_, image_.width, threshold, scratch_, upper_.row(y), lower);
    if (y < begin_ || y >= end_) return;
    std::copy_n(lower, image_.width, map_.row(y));
    std::fill_n(exact_.row(y), image_.width, std::uint8_t(0));
  }

  // Row y may hold the largest of a square: those pixels, and all in their squares that may be
  // larger, become exact.
  void decide_row(int y) {
    if (y < 0 || y >= image_.height) return;
    const int r = screen_->radius, w = image_.width;
    const int top = std::max(0, y - r), bottom = std::min(image_.height - 1, y + r);
    std::copy_n(lower_.row(top), w, square_.data());
    for (int j = top + 1; j <= bottom; ++j) {
      const float* row = lower_.row(j);
      for (int x = 0; x < w; ++x) square_[x] = std::max(square_[x], row[x]);
    }
    const float* upper = upper_.row(y);
    for (int x = 0; x < w; ++x) {
      // First against the column, which leaves few.
      if (!(upper[x] > screen_->threshold) || upper[x] < square_[x]) continue;
      const int left = std::max(0, x - r), right = std::min(w - 1, x + r);
      if (upper[x] < *std::max_element(&square_[left], &square_[right] + 1)) continue;
      const float least = lower_.row(y)[x];
      for (int j = std::max(top, begin_); j <= std::min(bottom, end_ - 1); ++j) {
        for (int i = left; i <= right; ++i) {
          const float u = upper_.row(j)[i];
          if (u >= least && u > screen_->threshold && !exact_.row(j)[i]) make_exact(i, j);
        }
      }
    }
  }

  void make_exact(int x, int y) {
    exact_.row(y)[x] = 1;
    map_(x, y) = exact_measure(n_, [&](int dx, int dy, int d) {
      return derivatives_.row(y + dy)[d * stride_ + kDisc + x + dx];
    });
  }

  static constexpr int kMostRadius = 31;

  HostView<const T> image_;
  const FoagddBank& bank_;
  const FoagddScreen* screen_;
  int begin_, end_;
  HostView<double> map_;
  int n_, reach_;
  std::size_t stride_;
  Ring<float> source_, derivatives_;
  Ring<float> upper_{1, 1}, lower_{1, 1};
  Ring<std::uint8_t> exact_{1, 1};
  std::vector<float> square_;
  std::vector<double> row_;
  FoagddScratch scratch_;
  FoagddTimes times_;
};

}  // namespace

template <class T>
FoagddTimes foagdd_map_rows(HostView<const T> image, const FoagddBank& bank,
                            const FoagddScreen* screen, int begin, int end, HostView<double> map) {
  return Band<T>(image, bank, screen, begin, end, map).run();
}

template <class T>
FoagddProbe<T>::FoagddProbe(HostView<const T> image, const FoagddBank& bank)
    : image_(image), bank_(bank) {
  const std::size_t side = 2 * (bank.radius + kDisc) + 1;
  patch_.resize(side * side + kFoagddSlack);
  derivatives_.resize(std::size_t(2 * kDisc + 1) * bank.directions * kFoagddSlack);
}

template <class T>
double FoagddProbe<T>::measure(int x, int y) {
  constexpr int kSide = 2 * kDisc + 1;
  const int n = bank_.directions, margin = bank_.radius + kDisc, side = 2 * margin + 1;
  for (int j = 0; j < side; ++j) {
    read_extended(image_, x - margin, y - margin + j, side, &patch_[std::size_t(j) * side]);
  }
  for (int k = 0; k < kSide; ++k) {
    const float* rows[64];
    for (int a = 0; a <= 2 * bank_.radius; ++a) {
      rows[a] = &patch_[std::size_t(k + a) * side] + bank_.radius;
    }
    float* out[kFoagddMostDirections];
    for (int d = 0; d < n; ++d) out[d] = &derivatives_[std::size_t(k * n + d) * kFoagddSlack];
    foagdd_derivatives(bank_, rows, kSide, scratch_, out);
  }
  return exact_measure(n, [&](int dx, int dy, int d) {
    return derivatives_[std::size_t((dy + kDisc) * n + d) * kFoagddSlack + dx + kDisc];
  });
}

template FoagddTimes foagdd_map_rows(HostView<const std::uint8_t>, const FoagddBank&,
                                     const FoagddScreen*, int, int, HostView<double>);
template FoagddTimes foagdd_map_rows(HostView<const std::uint16_t>, const FoagddBank&,
                                     const FoagddScreen*, int, int, HostView<double>);
template FoagddTimes foagdd_map_rows(HostView<const float>, const FoagddBank&, const FoagddScreen*,
                                     int, int, HostView<double>);
template class FoagddProbe<std::uint8_t>;
template class FoagddProbe<std::uint16_t>;
template class FoagddProbe<float>;

}  // namespace cornea
