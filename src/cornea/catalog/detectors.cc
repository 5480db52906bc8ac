// SPDX-License-Identifier: Apache-2.0
#include "cornea/catalog/detectors.h"

#include "cornea/catalog/options_table.h"
#include "cornea/describe/sift/sift.h"
#include "cornea/detect/foagdd/foagdd.h"
#include "cornea/detect/harris/harris.h"
#include "cornea/detect/moravec/moravec.h"

namespace cornea {
namespace {

using namespace catalog;

constexpr Choice<CornerMeasure> kMeasures[] = {{CornerMeasure::harris, "harris"},
                                               {CornerMeasure::shi_tomasi, "shi-tomasi"}};
constexpr Choice<WindowShape> kShapes[] = {{WindowShape::box, "box"},
                                           {WindowShape::gaussian, "gaussian"}};
constexpr Choice<Subpixel> kSubpixel[] = {
    {Subpixel::none, "none"}, {Subpixel::quadratic, "quadratic"}, {Subpixel::gradient, "gradient"}};
constexpr Choice<Plateaus> kPlateaus[] = {{Plateaus::first, "first"}, {Plateaus::all, "all"}};

// Each options struct is listed once; one visitor describes it, another reads values into it.
template <class Options, class Visitor>
void visit_caps(Options& o, Visitor& v) {
  v("max-points", o.max_points, "keep the strongest N points; 0: no limit");
  v("cell", o.cell, "side of a grid cell, pixels; 0: no grid");
  v("max-per-cell", o.max_per_cell, "keep the strongest N points per cell; needs --cell");
}

template <class Visitor>
void visit(PeakOptions& o, Visitor& v) {
  v("threshold", o.threshold, "corners have a response above this (see --relative)");
  v("relative", o.relative, "the threshold is a fraction of the strongest response, 0 to 1");
  v("nms", o.nms, "side of the window of non-maximum suppression, pixels, odd");
  v("plateaus", o.plateaus, "which of several equal neighbouring maxima to keep", kPlateaus);
  v("subpixel", o.subpixel, "subpixel refinement, by the responses or the gradients", kSubpixel);
  v("subpixel-radius", o.subpixel_radius, "radius of the window of gradients, pixels, 1 to 15");
  v("min-distance", o.min_distance, "least distance between returned points, pixels; 0: no limit");
  visit_caps(o, v);
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
  v("window-sigma", o.sigma, "sigma of a gaussian window, pixels");
  v("k", o.k, "Harris' constant, 0 or more and less than 0.25");
  visit(o.peaks, v);
}

template <class Visitor>
void visit(FoagddOptions& o, Visitor& v) {
  v("directions", o.directions, "number of filter directions, 4 to 16");
  v("scales", o.scales, "variances of the filters, pixels^2, 1 to 5 of them separated by commas");
  v("rho", o.rho, "anisotropy of the filters, 0.1 to 10");
  v("lattice", o.lattice, "side of the filters, pixels, odd, 3 to 63");
  visit(o.peaks, v);
}

constexpr Choice<ScaleSpace> kScaleSpaces[] = {{ScaleSpace::gaussian, "gaussian"},
                                               {ScaleSpace::bilateral, "bilateral"},
                                               {ScaleSpace::trilateral, "trilateral"}};
constexpr Choice<Settling> kSettling[] = {{Settling::strict, "strict"},
                                          {Settling::lenient, "lenient"}};
constexpr Choice<KeepPoints> kKeepPoints[] = {
    {KeepPoints::contrast, "contrast"}, {KeepPoints::scale, "scale"}, {KeepPoints::both, "both"}};

template <class Visitor>
void visit(SiftOptions& o, Visitor& v) {
  v("scale-space", o.scale_space, "the filter that computes each level from the one before",
    kScaleSpaces);
  v("sigma-range", o.sigma_range, "range sigma of the bilateral filter, gray levels of 0..255");
  v("doubled", o.doubled, "begin with an octave of twice the image size");
  v("octaves", o.octaves, "maximum number of octaves; 0: as many as the image size allows");
  v("intervals", o.intervals, "levels per octave in which points are detected, 1 to 8");
  v("sigma", o.sigma, "sigma of the first level of an octave, in its pixels");
  v("blur", o.blur, "assumed blur of the input image (sigma), pixels");
  v("contrast", o.contrast, "least absolute DoG response times intervals; black to white is 1");
  v("edge-ratio", o.edge_ratio, "largest ratio of principal curvatures; 0: no edge test");
  v("settle", o.settle,
    "which fitted extrema are accepted: strict, offsets within half a pixel and half a level; "
    "lenient, also those whose fit converges within one level",
    kSettling);
  v("orientations", o.orientations, "most orientations per point, 1 to 8; 0: one, upright");
  v("affine-shape", o.affine_shape,
    "estimate the affine shape of each point (an ellipse) and describe it as a circle: for strong "
    "changes of viewpoint");
  v("domain-size-pooling", o.domain_size_pooling,
    "sum of the descriptors of 10 domain sizes, 1/6 to 2.72 times the usual one");
  v("root", o.root, "RootSIFT: square roots of the L1-normalised descriptor");
  v("keep", o.keep,
    "which points a limit keeps: those of largest contrast, of largest scale, or both: contrast "
    "times scale "
    "squared; limits count points, and a kept point has all its orientations",
    kKeepPoints);
  v("max-points", o.max_points, "most points per image, chosen by --keep; 0: no limit");
  v("cell", o.cell, "side of a grid cell, pixels; 0: no grid");
  v("max-per-cell", o.max_per_cell, "most points per cell, chosen by --keep; needs --cell");
}

// Common to both kinds of entries.
template <class Base, class Made, class Options>
auto made_from_options(const char* name, const char* summary, const char* source) {
  struct Entry {
    std::string name, summary, source;
    std::vector<Flag> flags;
    std::function<std::unique_ptr<Base>(const Context&, const Settings&)> make;
  };
  return options_entry<Entry, Base, Made, Options>("detector", name, summary, source,
                                                   [](Options& o, auto& v) { visit(o, v); });
}

DetectorEntry sift_entry() {
  auto e = made_from_options<Sift, Sift, SiftOptions>(
      "sift", "SIFT features: scale, angle, descriptor", "Lowe 2004");
  return {e.name, e.summary, e.source, e.flags, nullptr, e.make};
}

template <class Detector, class Options>
DetectorEntry detector_entry(const char* name, const char* summary, const char* source) {
  auto e = made_from_options<CornerDetector, Detector, Options>(name, summary, source);
  return {e.name, e.summary, e.source, e.flags, e.make, nullptr};
}

}  // namespace

const std::vector<DetectorEntry>& detector_table() {
  static const std::vector<DetectorEntry> table = {
      detector_entry<Foagdd, FoagddOptions>(
          "foagdd", "FOAGDD corners: many directions, several scales", "Zhang & Sun 2020"),
      detector_entry<Harris, HarrisOptions>("harris", "Harris or Shi-Tomasi corners",
                                            "Harris & Stephens 1988, Shi & Tomasi 1994"),
      detector_entry<Moravec, MoravecOptions>("moravec", "Moravec corners, in integers",
                                              "Moravec 1980"),
      sift_entry(),
  };
  return table;
}

std::vector<Flag> sift_flags(SiftOptions defaults) {
  DescribeOptions describe;
  visit(defaults, describe);
  return std::move(describe.flags);
}

SiftOptions sift_options(const Settings& settings, SiftOptions defaults) {
  ReadOptionValues read(settings);
  visit(defaults, read);
  read.check_all_used("SIFT");
  return defaults;
}

const DetectorEntry& find_detector(const std::string& name) {
  return find_entry(detector_table(), "detector", name);
}

}  // namespace cornea
