// SPDX-License-Identifier: Apache-2.0
#include "cornea/catalog/filters.h"

#include "cornea/catalog/options_table.h"
#include "cornea/filter/bilateral/bilateral.h"
#include "cornea/filter/gaussian/gaussian.h"
#include "cornea/filter/trilateral/trilateral.h"

namespace cornea {
namespace {

using namespace catalog;

constexpr Choice<Grouping> kGroupings[] = {
    {Grouping::fastest, "fastest"}, {Grouping::none, "none"}, {Grouping::sorted, "sorted"}};

constexpr Choice<Exponential> kExponentials[] = {{Exponential::exact, "exact"},
                                                 {Exponential::fast, "fast"}};
constexpr const char* kExponentialHelp =
    "exact: the same bits on every device; fast: the GPU's own instruction";

template <class Visitor>
void visit(GaussianOptions& o, Visitor& v) {
  v("sigma", o.sigma, "spatial sigma, pixels");
}

template <class Visitor>
void visit(BilateralOptions& o, Visitor& v) {
  v("sigma", o.sigma, "spatial sigma, pixels");
  v("sigma-range", o.sigma_range, "range sigma, gray levels of 0..255");
  v("radius", o.radius, "radius of the square window, pixels; 0: 3 sigma");
  v("exponential", o.exponential, kExponentialHelp, kExponentials);
}

template <class Visitor>
void visit(TrilateralOptions& o, Visitor& v) {
  v("sigma", o.sigma, "spatial sigma, pixels");
  v("grouping", o.grouping, "order of the work; changes the time, not the result", kGroupings);
  v("exponential", o.exponential, kExponentialHelp, kExponentials);
}

template <class Filter, class Options>
FilterEntry filter_entry(const char* name, const char* summary, const char* source) {
  return options_entry<FilterEntry, ImageFilter, Filter, Options>(
      "filter", name, summary, source, [](Options& o, auto& v) { visit(o, v); });
}

}  // namespace

const std::vector<FilterEntry>& filter_table() {
  static const std::vector<FilterEntry> table = {
      filter_entry<GaussianFilter, GaussianOptions>("gaussian", "blurs", "Gauss"),
      filter_entry<BilateralFilter, BilateralOptions>("bilateral", "blurs, keeps edges",
                                                      "Tomasi & Manduchi 1998"),
      filter_entry<TrilateralFilter, TrilateralOptions>(
          "trilateral", "blurs, keeps edges and slopes", "Choudhury & Tumblin 2003"),
  };
  return table;
}

const FilterEntry& find_filter(const std::string& name) {
  return find_entry(filter_table(), "filter", name);
}

}  // namespace cornea
