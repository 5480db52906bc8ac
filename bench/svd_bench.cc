// SPDX-License-Identifier: Apache-2.0
// Compares Cornea's SVD with cuSOLVER's gesvdjBatched in one run: the same matrices, on the device,
// U, S and V, timed with events on the stream.
//
//   cornea_svd_bench [--label TEXT] [--repeat N] [--json FILE]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <Eigen/Dense>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include "cornea/core/context.h"
#include "cornea/core/error.h"
#include "cornea/core/random.h"
#include "cornea/linalg/svd/svd.h"

namespace {

using namespace cornea;

constexpr int kWarmUp = 5;
constexpr int kChecked = 2000;  // matrices whose errors are measured, distributed over the batch

void check(cudaError_t status) {
  if (status != cudaSuccess) fail(ErrorCode::cuda, cudaGetErrorString(status));
}
void check(cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS) fail(ErrorCode::cuda, "cuSOLVER: status ", int(status));
}

// The median milliseconds of `call`; `prepare` runs before each and is not timed.
double median_ms(cudaStream_t stream, int repeat, const std::function<void()>& prepare,
                 const std::function<void()>& call) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < kWarmUp + repeat; ++i) {
    prepare();
    check(cudaEventRecord(begin, stream));
    call();
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i >= kWarmUp) times.push_back(ms);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class T>
class DeviceArray {
 public:
  DeviceArray(const Context& context, std::size_t count)
      : memory_(context.allocate(Place::device, count * sizeof(T), "bench")), count_(count) {}
  T* data() const { return static_cast<T*>(memory_.data()); }
  void put(const std::vector<T>& from) {
    check(cudaMemcpy(data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> get() const {
    std::vector<T> to(count_);
    check(cudaMemcpy(to.data(), data(), count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  Memory memory_;
  std::size_t count_;
};

struct Errors {
  double reconstruction = 0, orthogonality = 0;
};

template <class T>
struct Results {
  std::vector<T> u, s, v;
};

// The largest errors of n x n matrices, either row-major, or column-major with the transposed
// input.
template <class T, int layout>
Errors largest_errors(const std::vector<T>& a, const Results<T>& r, int n, int count) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, layout>;
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  auto matrix = [&](const std::vector<T>& from, int i) {
    return Eigen::MatrixXd(Eigen::Map<const Matrix>(from.data() + std::size_t(i) * n * n, n, n)
                               .template cast<double>());
  };
  Errors most;
  for (int i = 0; i < count; i += std::max(1, count / kChecked)) {
    const Eigen::MatrixXd A = matrix(a, i), U = matrix(r.u, i), V = matrix(r.v, i);
    Eigen::VectorXd S(n);
    for (int j = 0; j < n; ++j) S(j) = r.s[std::size_t(i) * n + j];
    most.reconstruction =
        std::max(most.reconstruction, (A - U * S.asDiagonal() * V.transpose()).norm() / A.norm());
    most.orthogonality =
        std::max({most.orthogonality, (U.transpose() * U - one).norm() / std::sqrt(double(n)),
                  (V.transpose() * V - one).norm() / std::sqrt(double(n))});
  }
  return most;
}

class CuSolver {
 public:
  explicit CuSolver(cudaStream_t stream) {
    check(cusolverDnCreate(&handle_));
    check(cusolverDnSetStream(handle_, stream));
    check(cusolverDnCreateGesvdjInfo(&parameters_));
    check(cusolverDnXgesvdjSetSortEig(parameters_, 1));
  }
  ~CuSolver() {
    cusolverDnDestroyGesvdjInfo(parameters_);
    cusolverDnDestroy(handle_);
  }
  template <class T>
  int work_size(int n, T* a, T* s, T* u, T* v, int count) {
    int size = 0;
    if constexpr (std::is_same_v<T, float>) {
      check(cusolverDnSgesvdjBatched_bufferSize(handle_, CUSOLVER_EIG_MODE_VECTOR, n, n, a, n, s, u,
                                                n, v, n, &size, parameters_, count));
    } else {
      check(cusolverDnDgesvdjBatched_bufferSize(handle_, CUSOLVER_EIG_MODE_VECTOR, n, n, a, n, s, u,
                                                n, v, n, &size, parameters_, count));
    }
    return size;
  }
  template <class T>
  void run(int n, T* a, T* s, T* u, T* v, T* work, int size, int* info, int count) {
    if constexpr (std::is_same_v<T, float>) {
      check(cusolverDnSgesvdjBatched(handle_, CUSOLVER_EIG_MODE_VECTOR, n, n, a, n, s, u, n, v, n,
                                     work, size, info, parameters_, count));
    } else {
      check(cusolverDnDgesvdjBatched(handle_, CUSOLVER_EIG_MODE_VECTOR, n, n, a, n, s, u, n, v, n,
                                     work, size, info, parameters_, count));
    }
  }

 private:
  cusolverDnHandle_t handle_{};
  gesvdjInfo_t parameters_{};
};

struct Row {
  const char* type;
  int n, count;
  double ours_ms, theirs_ms;
  Errors ours, theirs;
  SvdReport report;
};

template <class T>
Row measure(const Context& context, Svd& svd, CuSolver& solver, int n, int count, int repeat) {
  const auto stream = static_cast<cudaStream_t>(context.stream());
  const std::size_t size = std::size_t(n) * n * count;
  std::vector<T> host(size);
  core::Random random(n);
  for (T& x : host) x = static_cast<T>(random.normal());
  DeviceArray<T> a(context, size), kept(context, size), u(context, size), v(context, size),
      s(context, std::size_t(n) * count);
  kept.put(host);
  Row row{sizeof(T) == sizeof(float) ? "float" : "double", n, count, 0, 0, {}, {}, {}};
  auto restore = [&] {
    check(
        cudaMemcpyAsync(a.data(), kept.data(), size * sizeof(T), cudaMemcpyDeviceToDevice, stream));
  };
  auto results = [&] {
    context.synchronize();
    return Results<T>{u.get(), s.get(), v.get()};
  };
  row.ours_ms = median_ms(stream, repeat, restore, [&] {
    svd.enqueue<T>({n, n, count}, a.data(), u.data(), s.data(), v.data());
  });
  row.ours = largest_errors<T, Eigen::RowMajor>(host, results(), n, count);
  row.report = svd.report();

  const int work_size = solver.work_size(n, a.data(), s.data(), u.data(), v.data(), count);
  DeviceArray<T> work(context, work_size);
  DeviceArray<int> info(context, count);
  row.theirs_ms = median_ms(stream, repeat, restore, [&] {
    solver.run(n, a.data(), s.data(), u.data(), v.data(), work.data(), work_size, info.data(),
               count);
  });
  row.theirs = largest_errors<T, Eigen::ColMajor>(host, results(), n, count);
  return row;
}

void print(const Row& r) {
  std::printf("%-7s %3d x %-3d x %7d  %9.3f ms  %9.3f ms  %6.1fx   %.1e %.1e   %.1e %.1e   %d\n",
              r.type, r.n, r.n, r.count, r.ours_ms, r.theirs_ms, r.theirs_ms / r.ours_ms,
              r.ours.reconstruction, r.ours.orthogonality, r.theirs.reconstruction,
              r.theirs.orthogonality, r.report.most_sweeps);
  std::fflush(stdout);
}

std::string json_of(const Row& r) {
  char line[640];
  std::snprintf(line, sizeof line,
                "  {\"type\": \"%s\", \"n\": %d, \"count\": %d, \"cornea_ms\": %.6f, "
                "\"cusolver_ms\": %.6f, \"ratio\": %.3f, \"cornea_reconstruction\": %.3e, "
                "\"cornea_orthogonality\": %.3e, \"cusolver_reconstruction\": %.3e, "
                "\"cusolver_orthogonality\": %.3e, \"most_sweeps\": %d, \"not_converged\": %d}",
                r.type, r.n, r.count, r.ours_ms, r.theirs_ms, r.theirs_ms / r.ours_ms,
                r.ours.reconstruction, r.ours.orthogonality, r.theirs.reconstruction,
                r.theirs.orthogonality, r.report.most_sweeps, r.report.not_converged);
  return line;
}

int run(int argc, char** argv) {
  std::string label, json;
  int repeat = 20;
  for (int i = 1; i < argc; i += 2) {
    const bool has_value = i + 1 < argc;
    if (has_value && !std::strcmp(argv[i], "--label")) {
      label = argv[i + 1];
    } else if (has_value && !std::strcmp(argv[i], "--json")) {
      json = argv[i + 1];
    } else if (has_value && !std::strcmp(argv[i], "--repeat")) {
      repeat = std::max(10, std::atoi(argv[i + 1]));
    } else {
      std::fprintf(stderr, "cornea_svd_bench [--label TEXT] [--repeat N] [--json FILE]\n");
      return 2;
    }
  }
  const Context context = Context::cuda();
  Svd svd(context);
  CuSolver solver(static_cast<cudaStream_t>(context.stream()));
  std::printf("%s, medians of %d, on the device, U S V\n", context.description().c_str(), repeat);
  std::printf(
      "type    matrices               Cornea       cuSOLVER    ratio   errors (A, U V) of "
      "Cornea, of cuSOLVER; sweeps\n");
  std::vector<Row> rows;
  auto add = [&](const Row& row) {
    print(row);
    rows.push_back(row);
  };
  add(measure<float>(context, svd, solver, 6, 2500, repeat));
  for (int n : {3, 4, 5, 6, 7, 8, 9, 10, 16, 24, 32}) {
    add(measure<float>(context, svd, solver, n, n <= 10 ? 100000 : 20000, repeat));
  }
  for (int n : {3, 4, 5, 6, 7, 8, 9, 10, 16, 24, 32}) {
    add(measure<double>(context, svd, solver, n, n <= 10 ? 100000 : 20000, repeat));
  }
  if (json.empty()) return 0;
  std::ofstream out(json);
  out << "{\"device\": \"" << context.description() << "\", \"commit\": \"" << label
      << "\", \"repeat\": " << repeat << ", \"warm_up\": " << kWarmUp << ", \"rows\": [\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out << json_of(rows[i]) << (i + 1 < rows.size() ? ",\n" : "\n");
  }
  out << "]}\n";
  return out ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "cornea_svd_bench: %s\n", e.what());
    return 1;
  }
}
