// Milliseconds of batches of small matrices, host to host.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "bench/bench_timing.h"
#include "study/study.h"
#include <Eigen/Dense>

#include "cornea/core/random.h"
#include "cornea/core/stopwatch.h"
#include "cornea/linalg/svd/svd.h"

namespace cornea::cli {
namespace {

std::string scientific(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1e", value);
  return buffer;
}

struct SvdRow {
  int n, count;
  double median_ms, least_ms, reconstruction, orthogonality;
  SvdReport report;
};

// The largest errors |A - U S V^T| / |A| and max(|U^T U - I|, |V^T V - I|) / sqrt(n) of the batch.
void measure_errors(const std::vector<float>& a, const std::vector<float>& u,
                    const std::vector<float>& s, const std::vector<float>& v, SvdRow& row) {
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int n = row.n;
  auto matrix = [&](const std::vector<float>& from, int i) {
    return Eigen::MatrixXd(
        Eigen::Map<const Rows>(from.data() + std::size_t(i) * n * n, n, n).cast<double>());
  };
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  for (int i = 0; i < row.count; ++i) {
    const Eigen::MatrixXd A = matrix(a, i), U = matrix(u, i), V = matrix(v, i);
    const Eigen::VectorXd S =
        Eigen::Map<const Eigen::VectorXf>(s.data() + std::size_t(i) * n, n).cast<double>();
    row.reconstruction =
        std::max(row.reconstruction, (A - U * S.asDiagonal() * V.transpose()).norm() / A.norm());
    const double off = std::max((U.transpose() * U - one).norm(), (V.transpose() * V - one).norm());
    row.orthogonality = std::max(row.orthogonality, off / std::sqrt(double(n)));
  }
}

SvdRow measure_svd(Svd& svd, int n, int count, int repeat) {
  SvdRow row{n, count, 0, 0, 0, 0, {}};
  std::vector<float> a(std::size_t(n) * n * count), u(a.size()), v(a.size()),
      s(std::size_t(n) * count);
  core::Random random(n, count);
  for (float& x : a) x = static_cast<float>(random.normal());
  auto call = [&] { svd.compute<float>({n, n, count}, a, u, s, v); };
  for (int i = 0; i < 3; ++i) call();
  std::vector<double> times(repeat);
  for (double& t : times) {
    const core::Stopwatch watch;
    call();
    t = watch.milliseconds();
  }
  std::sort(times.begin(), times.end());
  row.median_ms = times[times.size() / 2];
  row.least_ms = times.front();
  row.report = svd.report();
  measure_errors(a, u, s, v, row);
  return row;
}

Json svd_table(Svd& svd, const StudyCommand& c, const std::string& title,
               const std::vector<std::pair<int, int>>& sizes) {
  std::vector<std::vector<std::string>> rows = {
      {"matrices", "batch", "least", "a matrix", "|A - USV'|", "|U'U - I|", "sweeps"}};
  Json list = Json::array();
  for (const auto& [n, count] : sizes) {
    const SvdRow r = measure_svd(svd, n, count, c.repeat);
    rows.push_back(
        {text(n, " x ", n, " x ", count), milliseconds_text(r.median_ms),
         milliseconds_text(r.least_ms), text(std::round(r.median_ms / count * 1e5) / 100, " us"),
         scientific(r.reconstruction), scientific(r.orthogonality), text(r.report.most_sweeps)});
    list.push_back({{"n", n},
                    {"count", count},
                    {"milliseconds", {{"median", r.median_ms}, {"least", r.least_ms}}},
                    {"microseconds_a_matrix", r.median_ms * 1000 / count},
                    {"reconstruction", r.reconstruction},
                    {"orthogonality", r.orthogonality},
                    {"most_sweeps", r.report.most_sweeps},
                    {"not_converged", r.report.not_converged}});
  }
  if (c.common.talks()) std::cout << title << "\n" << table_text(rows) << std::endl;
  return list;
}

}  // namespace

// The tables of Palhares' thesis (2009): batches of 6 x 6, and sizes 4 to 20.
Json study_svd(const Context& context, const StudyCommand& c) {
  Svd svd(context);
  if (c.common.talks()) {
    std::cout << "SVD on " << context.description() << ", float, U S V, host to host; medians of "
              << c.repeat << "\n\n";
  }
  std::vector<std::pair<int, int>> batches, of_225, of_100;
  for (int side : {10, 15, 20, 25, 30, 35, 40, 45, 50}) batches.emplace_back(6, side * side);
  for (int n = 4; n <= 20; ++n) {
    of_225.emplace_back(n, 225);
    of_100.emplace_back(n, 100);
  }
  return {{"study", "svd"},
          {"device", context.description()},
          {"repeat", c.repeat},
          {"batches_of_6x6", svd_table(svd, c, "Batches of 6 x 6", batches)},
          {"sizes_x_225", svd_table(svd, c, "225 matrices", of_225)},
          {"sizes_x_100", svd_table(svd, c, "100 matrices", of_100)}};
}

}  // namespace cornea::cli
