// SPDX-License-Identifier: Apache-2.0
#include "cornea/linalg/svd/svd.h"

#include <algorithm>
#include <vector>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/linalg/svd/host_svd.h"
#include "cornea/linalg/svd/svd_backend.h"
#include "cornea/linalg/svd/svd_math.h"

namespace cornea {
namespace {

using namespace core;
using namespace svd;

constexpr int kSmallPerPiece = 64;  // matrices; a multiple of the pack size on every machine

class HostSvd final : public SvdBackend {
 public:
  HostSvd(const Context& context, const SvdOptions& options)
      : context_(context), options_(options) {}

  void run(const SvdShape& shape, const float* a, float* u, float* s, float* v, Place) override {
    run_batch(svd::HostBatch<float>(shape, a, u, s, v));
  }
  void run(const SvdShape& shape, const double* a, double* u, double* s, double* v,
           Place) override {
    run_batch(svd::HostBatch<double>(shape, a, u, s, v));
  }
  SvdReport report() override { return report_; }
  Place place() const override { return Place::host; }

 private:
  template <class T>
  void run_batch(const svd::HostBatch<T>& batch) {
    const bool small = batch.k <= svd::kMostSmall;
    const int grain = small ? kSmallPerPiece : 1;
    std::vector<SvdReport> pieces(divide_up(batch.count, grain));
    parallel_for(context_, batch.count, grain, [&](int begin, int end) {
      SvdReport& report = pieces[begin / grain];
      if (small) {
        host_small_svd(batch, begin, end, options_.max_sweeps, report);
      } else {
        host_large_svd(batch, begin, options_.max_sweeps, report);
      }
    });
    report_ = {};
    for (const SvdReport& piece : pieces) {
      report_.most_sweeps = std::max(report_.most_sweeps, piece.most_sweeps);
      report_.not_converged += piece.not_converged;
      report_.not_finite += piece.not_finite;
      if (report_.first_not_finite < 0) report_.first_not_finite = piece.first_not_finite;
    }
  }

  Context context_;
  SvdOptions options_;
  SvdReport report_;
};

std::unique_ptr<SvdBackend> make_backend(const Context& context, const SvdOptions& options) {
  if constexpr (kHasCuda) {
    if (context.is_cuda()) return make_device_svd(context, options);
  }
  return std::make_unique<HostSvd>(context, options);
}

void check_shape(const SvdShape& shape) {
  require(shape.rows >= 0 && shape.cols >= 0 && shape.count >= 0, "the SVD was called with ",
          shape.count, " matrices of ", shape.rows, " x ", shape.cols,
          "; none of these may be negative");
}

// Whether there is anything to do.
bool has_values(const SvdShape& shape) { return shape.rank() > 0 && shape.count > 0; }

void check_size(std::size_t given, std::size_t needed, const char* name, const char* of) {
  require(given == needed, "the SVD's ", name, " has ", given, " numbers and needs ", needed, of);
}

}  // namespace

void SvdOptions::validate() const {
  require(max_sweeps >= 1 && max_sweeps <= 1000, "max_sweeps is ", max_sweeps,
          " and must be 1 to 1000");
}

Svd::Svd(const Context& context, const SvdOptions& options) {
  options.validate();
  backend_ = make_backend(context, options);
}
Svd::~Svd() = default;
Svd::Svd(Svd&&) noexcept = default;

template <class T>
void Svd::compute(const SvdShape& shape, std::span<const T> a, std::span<T> u, std::span<T> s,
                  std::span<T> v) {
  check_shape(shape);
  const std::size_t count = shape.count, rows = shape.rows, cols = shape.cols, k = shape.rank();
  check_size(a.size(), count * rows * cols, "input", ": count x rows x cols");
  if (!u.empty()) check_size(u.size(), count * rows * k, "U", ": count x rows x k, or none");
  if (!s.empty()) check_size(s.size(), count * k, "S", ": count x k, or none");
  if (!v.empty()) check_size(v.size(), count * cols * k, "V", ": count x cols x k, or none");
  backend_->run(has_values(shape) ? shape : SvdShape{}, a.data(), u.empty() ? nullptr : u.data(),
                s.empty() ? nullptr : s.data(), v.empty() ? nullptr : v.data(), Place::host);
}

template <class T>
void Svd::enqueue(const SvdShape& shape, const T* a, T* u, T* s, T* v) {
  check_shape(shape);
  require(!has_values(shape) || a != nullptr, "the SVD's input is a null pointer");
  backend_->run(has_values(shape) ? shape : SvdShape{}, a, u, s, v, backend_->place());
}

SvdReport Svd::report() const { return backend_->report(); }

template void Svd::compute(const SvdShape&, std::span<const float>, std::span<float>,
                           std::span<float>, std::span<float>);
template void Svd::compute(const SvdShape&, std::span<const double>, std::span<double>,
                           std::span<double>, std::span<double>);
template void Svd::enqueue(const SvdShape&, const float*, float*, float*, float*);
template void Svd::enqueue(const SvdShape&, const double*, double*, double*, double*);

}  // namespace cornea
