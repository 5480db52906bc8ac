// SPDX-License-Identifier: Apache-2.0
// Milliseconds of batches of small matrices, host to host: Eigen, the library on both devices, and
// cuSOLVER if available.
#include <algorithm>
#include <cmath>

#include "study/study.h"
#include "study/svd_peers.h"
#include <Eigen/Dense>

#include "cornea/cli/progress.h"
#include "cornea/core/build.h"
#include "cornea/core/random.h"
#include "cornea/linalg/svd/svd.h"

namespace cornea::cli {
namespace {

using study::Cell;
using study::kThreeDigits;

struct SvdRow {
  int n, count;
  double reconstruction = 0, orthogonality = 0;
  SvdReport report = {};
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

// The implementations timed at every size.
struct Solvers {
  Svd cpu;
  std::optional<Svd> cuda;
  std::unique_ptr<study::CuSolverSvd> cusolver;
  std::string why_no_cusolver = {};

  explicit Solvers(const StudyDevices& devices) : cpu(devices.cpu) {
    if (!devices.cuda) return;
    cuda.emplace(*devices.cuda);
    if constexpr (kHasCuda) {
      cusolver = study::CuSolverSvd::load(*devices.cuda, why_no_cusolver);
    }
  }
};

constexpr double kMostMilliseconds = 600;  // for one cell of a table

std::vector<study::Column> columns(const Solvers& solvers) {
  std::vector<study::Column> list = {{"matrices"},
                                     {"Eigen", "ms", kThreeDigits},
                                     {"CPU", "ms", kThreeDigits},
                                     {"Eigen / CPU", "", 1}};
  if (solvers.cuda) {
    list.push_back({"CUDA", "ms", kThreeDigits});
    list.push_back({"CPU / CUDA", "", 1});
  }
  if (solvers.cusolver) {
    list.push_back({"cuSOLVER", "ms", kThreeDigits});
    list.push_back({"cuSOLVER / CUDA", "", 1});
  }
  for (const study::Column& column :
       {study::Column{"per matrix", "us", 2}, study::Column{"|A - USV'|", "", study::kScientific},
        study::Column{"|U'U - I|", "", study::kScientific}, study::Column{"sweeps", "", 0}}) {
    list.push_back(column);
  }
  return list;
}

// A row of the table and of the JSON, whose numbers are those of the chosen device.
Json measure(Solvers& solvers, study::Table& table, study::Plot& plot, int n, int count, int repeat,
             double x) {
  std::vector<float> a(std::size_t(n) * n * count), u(a.size()), v(a.size()),
      s(std::size_t(n) * count);
  core::Random random(n, count);
  for (float& value : a) value = static_cast<float>(random.normal());
  const double eigen = median_time(repeat, kMostMilliseconds, [&] {
                         study::eigen_svd(n, count, a, u, s, v);
                       }).milliseconds;
  std::vector<double> values = {eigen};
  auto timed = [&](Svd& svd) {
    return median_time(repeat, kMostMilliseconds, [&] {
      svd.compute<float>({n, n, count}, a, u, s, v);
    });
  };
  SvdRow row{n, count};
  MedianTime chosen = timed(solvers.cpu);
  values.push_back(chosen.milliseconds);
  std::vector<Cell> cells = {text(n, " x ", n, " x ", count), eigen, chosen.milliseconds,
                             eigen / chosen.milliseconds};
  if (solvers.cusolver) {
    if (n <= study::CuSolverSvd::kMost) {
      values.push_back(median_time(repeat, kMostMilliseconds, [&] {
                         solvers.cusolver->compute(n, count, a, u, s, v);
                       }).milliseconds);
    } else {
      values.push_back(std::nan(""));
    }
  }
  // Runs last, so that the measured errors are those of the chosen device.
  if (solvers.cuda) {
    const double cpu = chosen.milliseconds;
    chosen = timed(*solvers.cuda);
    values.insert(values.begin() + 2, chosen.milliseconds);
    cells.push_back(chosen.milliseconds);
    cells.push_back(cpu / chosen.milliseconds);
    if (solvers.cusolver) {
      cells.push_back(values[3]);
      cells.push_back(values[3] / chosen.milliseconds);
    }
  } else {
    solvers.cpu.compute<float>({n, n, count}, a, u, s, v);
  }
  row.report = solvers.cuda ? solvers.cuda->report() : solvers.cpu.report();
  measure_errors(a, u, s, v, row);
  cells.push_back(chosen.milliseconds / count * 1000);
  cells.push_back(row.reconstruction);
  cells.push_back(row.orthogonality);
  cells.push_back(row.report.most_sweeps);
  table.add(std::move(cells));
  for (std::size_t i = 0; i < values.size(); ++i) {
    plot.series[i].x.push_back(x);
    plot.series[i].y.push_back(values[i]);
  }
  return {{"n", n},
          {"count", count},
          {"milliseconds", {{"median", chosen.milliseconds}}},
          {"timed_calls", chosen.calls},
          {"microseconds_per_matrix", chosen.milliseconds * 1000 / count},
          {"reconstruction", row.reconstruction},
          {"orthogonality", row.orthogonality},
          {"most_sweeps", row.report.most_sweeps},
          {"not_converged", row.report.not_converged}};
}

study::Plot empty_plot(const Solvers& solvers, const char* name, const std::string& title,
                       const char* x) {
  study::Plot plot{.name = name, .title = title};
  plot.x = {x, study::AxisScale::logarithmic};
  plot.y = {"time of the batch (ms)", study::AxisScale::logarithmic};
  plot.series = {{"Eigen, one thread", {}}, {"CPU", {}}};
  if (solvers.cuda) plot.series.push_back({"CUDA", {}});
  if (solvers.cusolver) plot.series.push_back({"cuSOLVER", {}});
  return plot;
}

}  // namespace

// The tables of Palhares' thesis (2009): batches of 6 x 6, and sizes from 4 on, here up to 64.
StudyResult study_svd(const StudyDevices& devices, const StudyCommand& c) {
  Solvers solvers(devices);
  std::vector<int> sizes, sides = {10, 15, 20, 25, 30, 35, 40, 45, 50};
  for (int n = 4; n <= 20; ++n) sizes.push_back(n);
  for (const int n : {24, 32, 48, 64}) sizes.push_back(n);
  if (c.quick) sizes = {4, 6, 8}, sides = {10, 15};
  StudyResult result;
  result.report.title = "SVD of batches of small matrices";
  Progress progress("measuring", int(sides.size() + 2 * sizes.size()), c.common.quiet);
  const std::string where =
      text("Float; U, S and V; host to host, transfers included; medians of ", c.repeat,
           " calls or as many as fit into ", kMostMilliseconds / 1000,
           " s. Eigen: BDCSVD, one thread. ", devices.words(),
           solvers.cusolver ? "; cuSOLVER: gesvdjBatched, which takes up to 32 x 32" : "", ".");
  const std::string last_columns =
      text(" The last four columns are those of the library on ", solvers.cuda ? "CUDA" : "the CPU",
           ": largest errors of the batch, most sweeps.");
  study::Section counts{"Batches of 6 x 6"}, by_size{"Size of the matrices"};
  counts.words.push_back(
      "The original (Palhares 2009) decomposes batches of 6 x 6 and matrices from 4 x 4 to 20 x "
      "20, at "
      "most 24 x 24; its tables' numbers and its device are not known to us.");
  if (devices.cuda && !solvers.cusolver) {
    counts.words.push_back("cuSOLVER is not measured: " + solvers.why_no_cusolver + ".");
  }
  auto section = [&](study::Section& to, const char* key, const std::string& title,
                     const std::vector<std::pair<int, int>>& cases, study::Plot plot,
                     bool by_count) {
    study::Table table{
        .title = title, .caption = where + last_columns, .columns = columns(solvers)};
    Json list = Json::array();
    for (const auto& [n, count] : cases) {
      list.push_back(measure(solvers, table, plot, n, count, c.repeat, by_count ? count : n));
      progress.advance();
    }
    plot.caption = where;
    result.more[key] = std::move(list);
    to.tables.push_back(std::move(table));
    to.plots.push_back(std::move(plot));
  };
  std::vector<std::pair<int, int>> batches, of_225, of_100;
  for (const int side : sides) batches.emplace_back(6, side * side);
  for (const int n : sizes) of_225.emplace_back(n, 225), of_100.emplace_back(n, 100);
  section(counts, "batches_of_6x6", "Batches of 6 x 6", batches,
          empty_plot(solvers, "svd-batches", "SVD of 6 x 6 matrices by their number",
                     "matrices in the batch"),
          true);
  section(
      by_size, "sizes_x_225", "225 matrices", of_225,
      empty_plot(solvers, "svd-sizes-225", "SVD of 225 matrices by their size", "rows and columns"),
      false);
  section(
      by_size, "sizes_x_100", "100 matrices", of_100,
      empty_plot(solvers, "svd-sizes-100", "SVD of 100 matrices by their size", "rows and columns"),
      false);
  result.report.sections = {std::move(counts), std::move(by_size)};
  return result;
}

}  // namespace cornea::cli
