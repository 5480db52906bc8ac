// SPDX-License-Identifier: Apache-2.0
#include "binding.h"
#include "tables.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "cornea/core/error.h"
#include "cornea/linalg/svd/svd.h"

namespace cornea::python {
namespace {

using namespace nb::literals;

class SvdObject {
 public:
  SvdObject(const Context& context, const Settings& settings)
      : svd_(context, options_from<SvdOptions>(settings, "the SVD")) {}

  // Matrices count x m x n, C-contiguous float32 or float64, on the host: (U, S, V, report).
  nb::tuple compute_batch(nb::handle matrices, bool with_u, bool with_v) {
    nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu> floats;
    if (nb::try_cast(matrices, floats, false)) return run<float>(floats, with_u, with_v);
    nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu> doubles;
    require(nb::try_cast(matrices, doubles, false),
            "matrices must be float32 or float64, count x m x n, row by row");
    return run<double>(doubles, with_u, with_v);
  }

 private:
  template <class T, class Array>
  nb::tuple run(const Array& array, bool with_u, bool with_v) {
    constexpr std::size_t kMost = INT32_MAX;
    require(array.shape(0) <= kMost && array.shape(1) <= kMost && array.shape(2) <= kMost,
            "too many matrices, or too large ones");
    const SvdShape shape{int(array.shape(1)), int(array.shape(2)), int(array.shape(0))};
    const std::size_t count = array.shape(0), m = array.shape(1), n = array.shape(2);
    const auto k = std::size_t(shape.rank());
    std::vector<T> u(with_u ? count * m * k : 0), s(count * k), v(with_v ? count * n * k : 0);
    SvdReport report;
    compute(mutex_, [&] {
      svd_.compute<T>(shape, std::span<const T>(array.data(), count * m * n), u, s, v);
      report = svd_.report();
    });
    nb::dict facts;
    facts["most_sweeps"] = report.most_sweeps;
    facts["not_converged"] = report.not_converged;
    facts["not_finite"] = report.not_finite;
    facts["first_not_finite"] = report.first_not_finite;
    return nb::make_tuple(with_u ? array_from(std::move(u), {count, m, k}) : nb::none(),
                          array_from(std::move(s), {count, k}),
                          with_v ? array_from(std::move(v), {count, n, k}) : nb::none(), facts);
  }

  Svd svd_;
  std::mutex mutex_;
};

}  // namespace

void bind_linalg(nb::module_& m) {
  nb::class_<SvdObject>(m, "Svd")
      .def(nb::init<const Context&, const Settings&>(), "context"_a, "settings"_a)
      .def("compute", &SvdObject::compute_batch, "matrices"_a.none(), "with_u"_a, "with_v"_a);
}

}  // namespace cornea::python
