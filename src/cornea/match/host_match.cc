// SPDX-License-Identifier: Apache-2.0
// Matching on the CPU: A is split into pieces of rows, which threads process one at a time; a piece
// is compared with B tile by tile. The column minima of all pieces are combined in one list; a
// minimum does not depend on the order.
#include <algorithm>
#include <atomic>

#include "cornea/core/buffer.h"
#include "cornea/core/parallel.h"
#include "cornea/match/match_backend.h"
#include "cornea/match/match_math.h"
#include "cornea/match/tile_kernel.h"

namespace cornea::match {
namespace {

using namespace core;

constexpr int kTile = kKeyIndices;  // rows and columns that the index bits of a key distinguish
constexpr int kPackGrain = 256;     // descriptors

// Small enough that all threads have pieces, large enough that a tile of B is reused often.
int piece_rows(int rows) { return rows >= 4096 ? kTile : kTile / 4; }

std::int32_t squared_norm(const std::uint8_t* d) {
  std::int32_t sum = 0;
  for (int k = 0; k < Features::kLength; ++k) sum += d[k] * d[k];
  return sum;
}

void keep_smaller(ColumnBest& best, ColumnBest candidate) {
  const std::atomic_ref<ColumnBest> shared(best);
  ColumnBest seen = shared.load(std::memory_order_relaxed);
  while (candidate < seen &&
         !shared.compare_exchange_weak(seen, candidate, std::memory_order_relaxed)) {
  }
}

// One side of a pair, padded to whole tiles of keys.
struct Side {
  Side(const char* packed, const char* bases)
      : packed(Place::host, packed), bases(Place::host, bases) {}
  const std::uint8_t* panels(std::size_t descriptor, std::size_t bytes) const {
    return packed.data<std::uint8_t>() + descriptor * bytes;
  }
  std::int32_t* base() const { return bases.data<std::int32_t>(); }
  std::int32_t norm(int i) const { return key_value(base()[i]); }

  Buffer packed, bases;
};

class HostMatcher : public MatchBackend {
 public:
  HostMatcher(const Context& context, const MatchOptions& options, const TileKernel& kernel)
      : context_(context),
        tests_{options.ratio, options.max_distance, options.mutual},
        kernel_(kernel) {}

  const char* kernel() const override { return kernel_.name; }

  void match(std::span<const MatchPair> pairs, std::span<std::vector<Match>> out,
             StageClock& clock) override {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      search(pairs[i], clock);
      const ColumnBest* columns = columns_.data<ColumnBest>();
      for (int a = 0; a < static_cast<int>(rows_.size()); ++a) {
        const Nearest& n = rows_[a];
        if (n.index >= 0 && is_match(n, a, column_index(columns[n.index]), tests_)) {
          out[i].push_back(match_of(n, a));
        }
      }
      clock.mark("tests");
    }
  }

  void nearest(std::span<const MatchPair> pairs, std::span<std::vector<Nearest>> out,
               StageClock& clock) override {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      search(pairs[i], clock);
      out[i] = rows_;
    }
  }

 private:
  // Computes panels and key bases; pack_panel(from, count, to, first descriptor) packs a panel.
  template <class PackPanel>
  void pack(const DescriptorView& view, Side& side, int panel, std::size_t bytes,
            const PackPanel& pack_panel) {
    const int padded = divide_up(view.count, kTile) * kTile;
    side.packed.reserve<std::uint8_t>(context_, padded * bytes);
    side.bases.reserve<std::int32_t>(context_, padded);
    parallel_for(
        context_, divide_up(view.count, panel) * panel, kPackGrain, [&](int begin, int end) {
          for (int i = begin; i < end; ++i) {
            side.base()[i] = i < view.count ? key_base(squared_norm(at(view, i)), i) : kNoKey;
          }
          for (int i = begin; i < end; i += panel) {
            pack_panel(at(view, i), std::min(panel, view.count - i),
                       side.packed.data<std::uint8_t>() + i * bytes, i);
          }
        });
  }
  static const std::uint8_t* at(const DescriptorView& view, int i) {
    return view.data + std::size_t(i) * Features::kLength;
  }

  // Writes the two nearest neighbours of every row to rows_ and the nearest row of every column to
  // columns_.
  void search(const MatchPair& pair, StageClock& clock) {
    rows_.assign(pair.a.count, {});
    if (pair.a.count == 0 || pair.b.count == 0) return;
    offsets_.reserve<std::int32_t>(context_, divide_up(pair.a.count, kTile) * kTile);
    pack(pair.a, a_, kernel_.rows, kernel_.packed_bytes,
         [&](const std::uint8_t* from, int count, std::uint8_t* to, int i) {
           kernel_.pack_rows(from, count, to, offsets_.data<std::int32_t>() + i);
         });
    pack(pair.b, b_, kernel_.columns, kernel_.packed_bytes,
         [&](const std::uint8_t* from, int count, std::uint8_t* to, int) {
           kernel_.pack_columns(from, count, to);
         });
    columns_.reserve<ColumnBest>(context_, pair.b.count);
    std::fill_n(columns_.data<ColumnBest>(), pair.b.count, kNoColumnBest);
    clock.mark("packing");
    parallel_for(context_, pair.a.count, piece_rows(pair.a.count), [&](int begin, int end) {
      for (int b = 0; b < pair.b.count; b += kTile) {
        search_tile(begin, end, b, std::min(b + kTile, pair.b.count));
      }
      for (int a = begin; a < end; ++a) finish_row(a);
    });
    clock.mark("search");
  }

  void search_tile(int a_begin, int a_end, int b_begin, int b_end) {
    alignas(64) std::int32_t best[kTile], second[kTile], column[kTile];
    kernel_.walk({a_.panels(a_begin, kernel_.packed_bytes), a_.base() + a_begin,
                  offsets_.data<std::int32_t>() + a_begin, divide_up(a_end - a_begin, kernel_.rows),
                  b_.panels(b_begin, kernel_.packed_bytes), b_.base() + b_begin,
                  divide_up(b_end - b_begin, kernel_.columns), best, second, column});
    for (int a = a_begin; a < a_end; ++a) {
      enter_keys(rows_[a], best[a - a_begin], second[a - a_begin], b_begin);
    }
    ColumnBest* columns = columns_.data<ColumnBest>();
    const int a_tile = a_begin / kTile * kTile;
    for (int b = b_begin; b < b_end; ++b) {
      const std::int32_t key = column[b - b_begin];
      keep_smaller(columns[b], column_best(key_value(key) + b_.norm(b), a_tile + key_index(key)));
    }
  }

  // The distances of a row do not include |a|^2 until the row is finished.
  static void enter_keys(Nearest& row, std::int32_t best, std::int32_t second, int b_begin) {
    if (key_value(best) >= row.second_d2) return;  // ties keep the earlier neighbour
    enter_neighbour(row, key_value(best), b_begin + key_index(best));
    if (second != kNoKey) enter_neighbour(row, key_value(second), b_begin + key_index(second));
  }

  void finish_row(int a) {
    Nearest& row = rows_[a];
    row.d2 += a_.norm(a);
    if (row.second >= 0) row.second_d2 += a_.norm(a);
  }

  Context context_;
  MatchTests tests_;
  const TileKernel& kernel_;
  Side a_{"match: rows", "match: norms of rows"};
  Side b_{"match: columns", "match: norms of columns"};
  Buffer offsets_{Place::host, "match: offsets of rows"};
  Buffer columns_{Place::host, "match: nearest of columns"};
  std::vector<Nearest> rows_;
};

}  // namespace

std::unique_ptr<MatchBackend> make_host_matcher(const Context& context, const MatchOptions& options,
                                                const TileKernel& kernel) {
  return std::make_unique<HostMatcher>(context, options, kernel);
}

}  // namespace cornea::match
