#include "cornea/pipeline/detectors.h"

#include "cornea/detect/foagdd/foagdd.h"
#include "cornea/detect/harris/harris.h"
#include "cornea/detect/moravec/moravec.h"
#include "cornea/pipeline/options_table.h"

namespace cornea {
namespace {

constexpr Choice<CornerMeasure> kMeasures[] = {{CornerMeasure::harris, "harris"},
                                               {CornerMeasure::shi_tomasi, "shi-tomasi"}};
constexpr Choice<WindowShape> kShapes[] = {{WindowShape::box, "box"},
                                           {WindowShape::gaussian, "gaussian"}};
constexpr Choice<Subpixel> kSubpixel[] = {
    {Subpixel::none, "none"}, {Subpixel::quadratic, "quadratic"}, {Subpixel::gradient, "gradient"}};
constexpr Choice<Plateaus> kPlateaus[] = {{Plateaus::first, "first"}, {Plateaus::all, "all"}};

// Each options struct is listed once; a visitor describes it, another reads values into it.
template <class Visitor>
void visit(PeakOptions& o, Visitor& v) {
  v("threshold", o.threshold, "a corner's response is above this (see --relative)");
  v("relative", o.relative, "the threshold is a share of the strongest response, 0 to 1");
  v("nms", o.nms, "side of the square in which a corner is the largest, pixels, odd");
  v("plateaus", o.plateaus, "of equal neighbours keep the first or all", kPlateaus);
  v("subpixel", o.subpixel, "positions between pixels: from the responses or the gradients",
    kSubpixel);
  v("subpixel-radius", o.subpixel_radius, "of the square of gradients, pixels, 1 to 15");
  v("max-points", o.max_points, "keep the strongest N of all; 0: no limit");
  v("cell", o.cell, "side of a grid cell, pixels; 0: no grid");
  v("max-per-cell", o.max_per_cell, "keep the strongest N of each cell; needs --cell");
}

template <class Visitor>
void visit(MoravecOptions& o, Visitor& v) {
  v("window", o.window, "side of the window, pixels, odd, 3 to 15");
  visit(o.peaks, v);
}

template <class Visitor>
void visit(HarrisOptions& o, Visitor& v) {
  v("measure", o.measure, "det - k trace^2, or the smaller eigenvalue", kMeasures);
  v("window", o.window, "side of the window, pixels, odd, 3 to 15");
  v("window-shape", o.shape, "weights of the window", kShapes);
  v("window-sigma", o.sigma, "of a gaussian window, pixels");
  v("k", o.k, "Harris' constant, 0 to 0.25");
  visit(o.peaks, v);
}

template <class Visitor>
void visit(FoagddOptions& o, Visitor& v) {
  v("directions", o.directions, "of the filters, 4 to 16");
  v("scales", o.scales, "of the filters, pixels, 1 to 5 of them with commas between");
  v("rho", o.rho, "anisotropy of the filters, 0.1 to 10");
  v("lattice", o.lattice, "side of the filters, pixels, odd, 3 to 63");
  visit(o.peaks, v);
}

template <class Detector, class Options>
DetectorEntry entry(const char* name, const char* summary, const char* source) {
  return options_entry<DetectorEntry, CornerDetector, Detector, Options>(
      "detector", name, summary, source, [](Options& o, auto& v) { visit(o, v); });
}

}  // namespace

const std::vector<DetectorEntry>& detector_table() {
  static const std::vector<DetectorEntry> table = {
      entry<Foagdd, FoagddOptions>("foagdd", "FOAGDD corners: many directions, several scales",
                                   "Zhang & Sun 2020"),
      entry<Harris, HarrisOptions>("harris", "Harris or Shi-Tomasi corners",
                                   "Harris & Stephens 1988, Shi & Tomasi 1994"),
      entry<Moravec, MoravecOptions>("moravec", "Moravec corners, in integers", "Moravec 1980"),
  };
  return table;
}

const DetectorEntry& find_detector(const std::string& name) {
  return find_entry(detector_table(), "detector", name);
}

}  // namespace cornea
