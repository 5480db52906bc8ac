// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/foagdd/foagdd_band.h"

#include <algorithm>

#include "cornea/core/pixels.h"
#include "cornea/core/stopwatch.h"

namespace cornea::foagdd {
namespace {

using namespace core;

constexpr int kDisc = kFoagddDiscRadius;

// A row of the extended image from column `left` on, as gray levels.
template <class T>
void read_extended(HostView<const T> image, int left, int y, int columns, float* out) {
  const int row = foagdd_source(y, image.height);
  if (row < 0) return std::fill(out, out + columns, 0.0f);
  const T* from = image.row(row);
  auto outside = [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int x = foagdd_source(left + i, image.width);
      out[i] = x < 0 ? 0.0f : gray_level(from[x]);
    }
  };
  const int begin = std::clamp(-left, 0, columns), end = std::clamp(image.width - left, 0, columns);
  outside(0, begin);
  for (int i = begin; i < end; ++i) out[i] = gray_level(from[left + i]);
  outside(end, columns);
}

// A ring buffer of rows, indexed by row number, that keeps the last `count`.
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

// The exact measure from the derivatives that `at(dx, dy, d)` returns.
template <class At>
double exact_measure(int directions, At&& at) {
  return with_directions(directions, [&](auto count) {
    constexpr int n = count;
    double tensor[foagdd_tensor_size(n)];
    foagdd_tensor<n>(
        [&](int dx, int dy, double(&d)[n]) {
          for (int i = 0; i < n; ++i) d[i] = at(dx, dy, i);
        },
        tensor);
    return foagdd_measure<n>(tensor);
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
        // Exact values are needed up to two suppression radii above the last rows of bounds.
        reach_(screen ? 2 * screen->radius : 0),
        stride_(image.width + 2 * kDisc + kFoagddSlack),
        source_(2 * bank.radius + 1, image.width + 2 * (kDisc + bank.radius) + kFoagddSlack),
        derivatives_(2 * kDisc + 2 + reach_, stride_ * n_) {
    if (!screen) return;
    const std::size_t length = image.width + kFoagddSlack;
    upper_ = Ring<float>(reach_ + 2, length);
    lower_ = Ring<float>(reach_ + 2, length);
    square_.resize(length);
    open_.resize(length);
    exact_ = Ring<std::uint8_t>(reach_ + 2, length);
  }

  FoagddTimes run() {
    // With a screen rows are processed in pairs, like cells; the first row of a pair is even.
    const int first_row = screen_ ? (begin_ - reach_) & ~1 : begin_;
    const int last_row = screen_ ? (end_ - 1 + reach_) | 1 : end_ - 1;
    const int first = first_row - kDisc, last = last_row + kDisc;
    for (int y = first - bank_.radius; y < first + bank_.radius; ++y) enter_source(y);
    for (int y = first; y <= last; ++y) {
      Stopwatch watch;
      enter_source(y + bank_.radius);
      make_derivatives(y);
      times_.derivatives += watch.milliseconds();
      watch.start();
      const int row = y - kDisc;  // the row whose disc is now complete
      if (!screen_ && row >= begin_) measure_row(row);
      if (screen_ && row > first_row && row % 2 != 0) {
        screen_rows(row - 1);
        // The suppression squares of these rows are now complete.
        const int r = screen_->radius;
        for (int whole = row - 1 - r; whole <= row - r; ++whole) {
          if (whole >= begin_ - r && whole < end_ + r) decide_row(whole);
        }
      }
      times_.measure += watch.milliseconds();
    }
    return times_;
  }

 private:
  void enter_source(int y) {
    const int margin = kDisc + bank_.radius;
    read_extended(image_, -margin, y, image_.width + 2 * margin + 1, source_.row(y));
  }

  // Derivatives of row y at columns -3 .. width + 3; column x has index x + 3.
  void make_derivatives(int y) {
    const float* rows[2 * kFoagddMostRadius + 1];
    for (int a = 0; a <= 2 * bank_.radius; ++a) {
      rows[a] = source_.row(y + a - bank_.radius) + bank_.radius;
    }
    float* out[kFoagddMostDirections];
    for (int d = 0; d < n_; ++d) out[d] = derivatives_.row(y) + d * stride_;
    foagdd_derivatives(bank_, rows, image_.width + 2 * kDisc + 1, scratch_, out);
  }

  // The rows of derivatives from y - 3 on.
  template <std::size_t rows>
  void fill_window(int y, FoagddRows<rows>& window) {
    for (std::size_t k = 0; k < rows; ++k) {
      for (int d = 0; d < n_; ++d) {
        window[k][d] = derivatives_.row(y - kDisc + static_cast<int>(k)) + d * stride_ + kDisc;
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

  // Where most cells were open, the next few pairs of rows are assumed to be open too: computing
  // their bounds would cost more than it saves.
  void find_open_cells(int y, float threshold) {
    const int cells = (image_.width + 1) / 2;
    if (pairs_taken_for_open_ > 0) {
      --pairs_taken_for_open_;
      std::fill_n(open_.data(), cells, std::uint8_t(1));
      return;
    }
    FoagddCellWindow window;
    fill_window(y, window);
    foagdd_open_cells(window, n_, image_.width, threshold, scratch_, open_.data());
    const auto open = std::count(open_.data(), open_.data() + cells, std::uint8_t(1));
    if (open > kMostlyOpen * cells) pairs_taken_for_open_ = 7;
  }

  // Computes the bounds of the rows y and y + 1, which may lie beyond the band, and writes the
  // lower bounds into the map.
  void screen_rows(int y) {
    if (y + 1 < 0 || y >= image_.height) return;
    const float threshold = foagdd_screen_threshold(screen_->threshold);
    find_open_cells(y, threshold);
    for (int row = std::max(y, 0); row <= std::min(y + 1, image_.height - 1); ++row) {
      FoagddWindow window;
      fill_window(row, window);
      float* lower = lower_.row(row);
      foagdd_bounds(window, n_, image_.width, threshold, open_.data(), scratch_, upper_.row(row),
                    lower);
      if (row < begin_ || row >= end_) continue;
      std::copy_n(lower, image_.width, map_.row(row));
      std::fill_n(exact_.row(row), image_.width, std::uint8_t(0));
    }
  }

  // Finds the pixels of row y that may be the largest of their suppression square, and computes the
  // exact measure of these and of all pixels in their squares that may be larger.
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
      // Comparing with the column maximum first rejects most pixels.
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

  static constexpr double kMostlyOpen = 0.5;

  HostView<const T> image_;
  const FoagddBank& bank_;
  const FoagddScreen* screen_;
  int begin_, end_;
  HostView<double> map_;
  int n_, reach_;
  int pairs_taken_for_open_ = 0;  // pairs of rows that are still assumed to be open
  std::size_t stride_;
  Ring<float> source_, derivatives_;
  Ring<float> upper_{1, 1}, lower_{1, 1};
  Ring<std::uint8_t> exact_{1, 1};
  std::vector<std::uint8_t> open_;
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
  derivatives_.resize(std::size_t(2 * kDisc + 1) * bank.directions * kFoagddSlack + kFoagddSlack);
}

template <class T>
double FoagddProbe<T>::measure(int x, int y) {
  constexpr int kSide = 2 * kDisc + 1;
  const int n = bank_.directions, margin = bank_.radius + kDisc, side = 2 * margin + 1;
  for (int j = 0; j < side; ++j) {
    read_extended(image_, x - margin, y - margin + j, side, &patch_[std::size_t(j) * side]);
  }
  for (int k = 0; k < kSide; ++k) {
    // The disc is symmetric: half heights of columns are also half widths of rows.
    const int half = foagdd_disc_half_height(k - kDisc), first = kDisc - half;
    const float* rows[2 * kFoagddMostRadius + 1];
    for (int a = 0; a <= 2 * bank_.radius; ++a) {
      rows[a] = &patch_[std::size_t(k + a) * side] + bank_.radius + first;
    }
    float* out[kFoagddMostDirections];
    for (int d = 0; d < n; ++d) {
      out[d] = &derivatives_[std::size_t(k * n + d) * kFoagddSlack] + first;
    }
    foagdd_derivatives(bank_, rows, 2 * half + 1, scratch_, out);
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

}  // namespace cornea::foagdd
