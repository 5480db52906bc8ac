// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/pair.h"

#include <cmath>
#include <filesystem>
#include <memory>

#include "binding.h"
#include "pictures.h"
#include "tables.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "cornea/catalog/estimators.h"
#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/io/csv.h"
#include "cornea/report/page.h"

namespace cornea::python {
namespace {

using namespace nb::literals;

// A result that remains in C++ until Python asks for its parts.
struct PairObject {
  Context context;
  PairOptions options;
  std::optional<IntrinsicsPair> cameras;
  PairResult result;

  nb::tuple features(int which) const {
    return columns_of(Features(which == 0 ? result.first : result.second), true);
  }
  nb::object distances() const {
    if (result.distances.empty()) return nb::none();
    return array_from(std::vector<float>(result.distances), {result.distances.size()});
  }
  nb::object two_view() const {
    if (!result.two_view) return nb::none();
    return dict_of(*result.two_view);
  }

  // The contents of the program's matches.csv.
  std::string csv() const {
    io::CsvWriter csv("x1,y1,x2,y2,ratio,distance,inlier,descriptor_distance,index1,index2",
                      io::CsvNumbers::plain);
    for (std::size_t i = 0; i < result.matches.size(); ++i) {
      const Correspondence p = result.correspondence(i);
      const Match& m = result.matches[i];
      std::optional<float> distance;
      if (!result.distances.empty()) distance = result.distances[i];
      csv.row({p.x1, p.y1, p.x2, p.y2, m.ratio, distance, result.geometry.inliers[i], m.distance,
               float(m.a), float(m.b)});
    }
    return csv.contents();
  }

  std::string page(nb::handle first, nb::handle second, const std::string& name1,
                   const std::string& name2, const std::string& sentence,
                   const std::string& pose_sentence, const std::string& command,
                   const std::vector<std::string>& files) const;
};

std::string PairObject::page(nb::handle first, nb::handle second, const std::string& name1,
                             const std::string& name2, const std::string& sentence,
                             const std::string& pose_sentence, const std::string& command,
                             const std::vector<std::string>& files) const {
  const GivenImage image1 = image_of(context, first, "the first image");
  const GivenImage image2 = image_of(context, second, "the second image");
  nb::gil_scoped_release release;
  const auto pixels1 = colours_of(image1.view), pixels2 = colours_of(image2.view);
  const FundamentalResult& g = result.geometry;
  PairPage page;
  page.first = {name1, pixels1.host(), result.first.keypoints};
  page.second = {name2, pixels2.host(), result.second.keypoints};
  page.matches = result.matches;
  page.geometry = &g;
  page.distances = result.distances;
  page.threshold = float(result.threshold);
  if (result.by_essential) {
    const EssentialResult& e = result.two_view->essential;
    PagePose pose;
    pose.E = e.E;
    pose.R = e.R;
    pose.t = e.t;
    pose.cameras = cameras->refocused(e.focal_factor);
    pose.points = e.points;
    pose.of_undistorted = cameras->first.is_distorted() || cameras->second.is_distorted();
    pose.sentence = pose_sentence;
    page.pose = std::move(pose);
  }
  page.sentence = sentence;
  page.notice = g.kind != TwoView::general || g.may_be_chance() ||
                (result.by_essential && (result.two_view->essential.second_pose ||
                                         result.two_view->essential.leaves_points_behind()));
  page.stages = result.stages;
  page.facts = {
      {"Ran on", context.description()},
      {"Features", options.detector == "sift" ? "sift" : options.detector + ", described by SIFT"},
      {"Matching", text("exact nearest neighbours, ratio ", options.match.ratio,
                        options.match.mutual ? ", mutual" : "")},
      {"Geometry", text(g.hypotheses, " hypotheses, stopped by ", name(g.stop), ", seed ",
                        options.fundamental.seed)},
      {"Version", text("Cornea ", kVersion, ", from Python")}};
  page.command = command;
  page.files = files;
  return pair_page(context, page);
}

class PairMaker {
 public:
  PairMaker(const Context& context, const std::string& detector, const Settings& settings,
            int max_features, int max_size, const Settings& match, const Settings& fundamental,
            const Settings& essential, const Settings& homography)
      : pipeline_(context, {.detector = detector,
                            .settings = settings,
                            .max_features = max_features,
                            .max_size = max_size,
                            .match = options_from<MatchOptions>(match, "the matcher"),
                            .fundamental = fundamental_options(fundamental),
                            .essential = essential_options(essential),
                            .homography = homography_options(homography)}) {}

  std::unique_ptr<PairObject> run(nb::handle first, nb::handle second, nb::handle mask1,
                                  nb::handle mask2, nb::handle cameras) {
    const Context& context = pipeline_.context();
    const GivenImage a = image_of(context, first, "the first image");
    const GivenImage b = image_of(context, second, "the second image");
    const GivenImage hidden1 = mask_of(context, mask1, "the first mask");
    const GivenImage hidden2 = mask_of(context, mask2, "the second mask");
    auto pair = std::make_unique<PairObject>(
        PairObject{context, pipeline_.options(), cameras_from(cameras), {}});
    compute(mutex_, [&] {
      pipeline_.run(a.view, b.view, {hidden1.view, hidden2.view}, pair->cameras, pair->result);
    });
    return pair;
  }

 private:
  PairPipeline pipeline_;
  std::mutex mutex_;
};

}  // namespace

void bind_pair(nb::module_& m) {
  nb::class_<PairObject>(m, "PairResult")
      .def("features", &PairObject::features, "which"_a)
      .def("matches", [](const PairObject& p) { return columns_of(p.result.matches); })
      .def("geometry", [](const PairObject& p) { return dict_of(p.result.geometry); })
      .def("two_view", &PairObject::two_view)
      .def("distances", &PairObject::distances)
      .def("stages", [](const PairObject& p) { return stages_of(p.result.stages); })
      .def("csv", &PairObject::csv)
      .def("page", &PairObject::page, "first"_a.none(), "second"_a.none(), "name1"_a, "name2"_a,
           "sentence"_a, "pose_sentence"_a, "command"_a, "files"_a)
      .def_prop_ro("by_essential", [](const PairObject& p) { return p.result.by_essential; })
      .def_prop_ro("threshold", [](const PairObject& p) { return p.result.threshold; })
      .def_prop_ro("device", [](const PairObject& p) { return p.context.name(); });
  nb::class_<PairMaker>(m, "PairPipeline")
      .def(nb::init<const Context&, const std::string&, const Settings&, int, int, const Settings&,
                    const Settings&, const Settings&, const Settings&>(),
           "context"_a, "detector"_a, "settings"_a, "max_features"_a, "max_size"_a, "match"_a,
           "fundamental"_a, "essential"_a, "homography"_a)
      .def("run", &PairMaker::run, "first"_a.none(), "second"_a.none(), "mask1"_a.none(),
           "mask2"_a.none(), "cameras"_a.none());
}

}  // namespace cornea::python
