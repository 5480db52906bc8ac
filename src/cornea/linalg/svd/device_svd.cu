// SPDX-License-Identifier: Apache-2.0
// The SVD on CUDA: chooses the steps for a shape and manages their memory.
#include <algorithm>

#include "cornea/core/buffer.h"
#include "cornea/core/cuda.h"
#include "cornea/linalg/svd/device_svd.h"
#include "cornea/linalg/svd/svd_backend.h"
#include "cornea/linalg/svd/svd_math.h"

namespace cornea::svd {
namespace {

using namespace core;

using svd::DeviceCounts;

// Matrices that need scratch memory are processed in pieces that need less than this, with at least
// one matrix each.
constexpr std::size_t kScratchBytes = std::size_t{512} << 20;

// A batch on the device; a matrix with fewer rows than columns is treated as its transpose.
template <class T>
struct DeviceBatch {
  const T* a;
  T *left, *s, *right;  // tall x k, k, k x k; or null
  int tall, k, count;
  bool transposed;

  // The sub-batch that begins at matrix `first`.
  DeviceBatch from(int first, int how_many) const {
    const std::size_t i = first, size = std::size_t(tall) * k;
    return {a + i * size,
            left ? left + i * size : nullptr,
            s ? s + i * k : nullptr,
            right ? right + i * k * k : nullptr,
            tall,
            k,
            how_many,
            transposed};
  }
};

// Hands out arrays from one block of memory; without one, it only adds up their sizes.
class Cutter {
 public:
  explicit Cutter(void* memory) : next_(static_cast<unsigned char*>(memory)) {}
  template <class U>
  U* take(std::size_t count) {
    U* taken = next_ ? reinterpret_cast<U*>(next_ + used_) : nullptr;
    used_ += divide_up<std::size_t>(count * sizeof(U), 256) * 256;
    return taken;
  }
  std::size_t used() const { return used_; }

 private:
  unsigned char* next_;
  std::size_t used_ = 0;
};

// The scratch memory for `count` matrices that are not both small and square.
template <class T>
struct Scratch {
  Scratch(Cutter& cut, int tall, int k, std::size_t count, bool small, bool left)
      : reflectors(cut.take<T>(count * tall * k)),
        product(left ? cut.take<T>(count * tall * k) : nullptr),
        triangle(cut.take<T>(count * k * k)),
        core(left ? cut.take<T>(count * k * k) : nullptr),
        beta(cut.take<T>(count * k)),
        squares(cut.take<T>(count * k)),
        values(small ? nullptr : cut.take<T>(count * k)),
        shares(small ? nullptr : cut.take<T>(count * k)),
        order(cut.take<int>(count * k)),
        places(small ? nullptr : cut.take<int>(count * k)),
        ranks(cut.take<int>(count)),
        exponents(cut.take<int>(count)) {}

  T *reflectors, *product, *triangle, *core, *beta, *squares, *values, *shares;
  int *order, *places, *ranks, *exponents;
};

class DeviceSvd final : public SvdBackend {
 public:
  DeviceSvd(const Context& context, const SvdOptions& options)
      : context_(context), options_(options) {}

  void run(const SvdShape& shape, const float* a, float* u, float* s, float* v,
           Place place) override {
    run_at(shape, a, u, s, v, place);
  }
  void run(const SvdShape& shape, const double* a, double* u, double* s, double* v,
           Place place) override {
    run_at(shape, a, u, s, v, place);
  }

  SvdReport report() override {
    if (!counts_.data<DeviceCounts>()) return {};
    DeviceGuard guard(context_);
    auto* host = host_counts_.reserve<DeviceCounts>(context_, 1);
    context_.download(host, sizeof *host, counts_.data<DeviceCounts>(), sizeof *host, sizeof *host,
                      1);
    context_.synchronize();
    SvdReport report{host->most_sweeps, host->not_converged, host->not_finite, -1};
    if (host->not_finite > 0) report.first_not_finite = INT_MAX - host->first_not_finite;
    return report;
  }
  Place place() const override { return Place::device; }

 private:
  template <class T>
  void run_at(const SvdShape& shape, const T* a, T* u, T* s, T* v, Place place) {
    DeviceGuard guard(context_);
    cuda_check(cudaMemsetAsync(counts_.reserve<DeviceCounts>(context_, 1), 0, sizeof(DeviceCounts),
                               cuda_stream(context_)),
               "clearing the SVD's counts");
    if (shape.count == 0) return;
    if (place == Place::device) {
      enqueue(shape, a, u, s, v);
    } else {
      run_from_host(shape, a, u, s, v);
    }
  }

  template <class T>
  void run_from_host(const SvdShape& shape, const T* a, T* u, T* s, T* v) {
    const std::size_t count = shape.count, k = shape.rank();
    const std::size_t input = count * shape.rows * shape.cols;
    const std::size_t of_u = u ? count * shape.rows * k : 0, of_s = s ? count * k : 0;
    const std::size_t of_v = v ? count * shape.cols * k : 0;
    Cutter sizes(nullptr);
    for (std::size_t n : {input, of_u, of_s, of_v}) sizes.take<T>(n);
    Cutter cut(copies_.reserve_bytes(context_, sizes.used()));
    T* device_a = cut.take<T>(input);
    T* device_u = cut.take<T>(of_u);
    T* device_s = cut.take<T>(of_s);
    T* device_v = cut.take<T>(of_v);
    const std::size_t bytes = input * sizeof(T);
    context_.upload(device_a, bytes, a, bytes, bytes, 1);
    enqueue(shape, device_a, u ? device_u : nullptr, s ? device_s : nullptr,
            v ? device_v : nullptr);
    fetch(u, device_u, of_u);
    fetch(s, device_s, of_s);
    fetch(v, device_v, of_v);
    context_.synchronize();
  }
  template <class T>
  void fetch(T* to, const T* from, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (count > 0) context_.download(to, bytes, from, bytes, bytes, 1);
  }

  template <class T>
  void enqueue(const SvdShape& shape, const T* a, T* u, T* s, T* v) {
    const bool transposed = shape.rows < shape.cols;
    const DeviceBatch<T> all{a,
                             transposed ? v : u,
                             s,
                             transposed ? u : v,
                             std::max(shape.rows, shape.cols),
                             shape.rank(),
                             shape.count,
                             transposed};
    const bool small = all.k <= svd::kMostSmall;
    if (small && all.tall == all.k) {
      return enqueue_kogbetliantz(
          context_,
          svd::SquareBatch<T>{all.a, all.left, all.s, all.right, nullptr, all.k, all.count,
                              options_.max_sweeps, 0, counts_.data<DeviceCounts>()});
    }
    const int piece = matrices_per_piece(all, small);
    for (int first = 0; first < all.count; first += piece) {
      enqueue_piece(all.from(first, std::min(piece, all.count - first)), small, first);
    }
  }

  template <class T>
  static int matrices_per_piece(const DeviceBatch<T>& batch, bool small) {
    Cutter one(nullptr);
    Scratch<T>(one, batch.tall, batch.k, 1, small, batch.left != nullptr);
    const std::size_t fit = std::max<std::size_t>(1, kScratchBytes / one.used());
    return static_cast<int>(std::min<std::size_t>(fit, batch.count));
  }

  // QR, then the SVD of the triangle, then Q times its left vectors.
  template <class T>
  void enqueue_piece(const DeviceBatch<T>& batch, bool small, int first) {
    const int k = batch.k;
    const bool left = batch.left != nullptr;
    Cutter sizes(nullptr);
    Scratch<T>(sizes, batch.tall, k, batch.count, small, left);
    Cutter cut(scratch_.reserve_bytes(context_, sizes.used()));
    const Scratch<T> at(cut, batch.tall, k, batch.count, small, left);
    const svd::TallBatch<T> tall{batch.a,     batch.transposed, batch.tall,  k,        batch.count,
                                 !small,      at.reflectors,    at.beta,     at.order, at.squares,
                                 at.triangle, at.ranks,         at.exponents};
    enqueue_qr(context_, tall);
    svd::Core<T> core{at.core, k, 1, nullptr};
    if (small) {
      enqueue_kogbetliantz(
          context_, svd::SquareBatch<T>{at.triangle, at.core, batch.s, batch.right, at.exponents, k,
                                        batch.count, options_.max_sweeps, first,
                                        counts_.data<DeviceCounts>()});
    } else {
      core = {at.core, 1, k, at.places};
      enqueue_column_jacobi(
          context_, svd::ColumnBatch<T>{at.triangle, at.core, at.order, at.ranks, at.exponents,
                                        at.values, at.squares, at.shares, at.places, batch.s,
                                        batch.right, k, batch.count, options_.max_sweeps, first,
                                        counts_.data<DeviceCounts>()});
    }
    if (left) enqueue_apply_q(context_, tall, core, at.product, batch.left);
  }

  Context context_;
  SvdOptions options_;
  Buffer counts_{Place::device, "SVD: counts"}, host_counts_{Place::pinned, "SVD: counts"};
  Buffer copies_{Place::device, "SVD: copies of host data"};
  Buffer scratch_{Place::device, "SVD: scratch"};
};

}  // namespace

std::unique_ptr<SvdBackend> make_device_svd(const Context& context, const SvdOptions& options) {
  return std::make_unique<DeviceSvd>(context, options);
}

}  // namespace cornea::svd
