// SPDX-License-Identifier: Apache-2.0
// Part four: the pose between views with known cameras, by E and by F with the same cameras.
#include <algorithm>
#include <array>
#include <map>

#include "study/evaluate/evaluate.h"

#include "cornea/cli/progress.h"
#include "cornea/core/error.h"
#include "cornea/geometry/pose/pose.h"

namespace cornea::evaluate {
namespace {

using study::Table;

constexpr std::array<double, 3> kPoseErrors = {1, 5, 10};  // degrees

// E = K2^T F K1; of its four poses the one with most inliers in front of both cameras (cheirality).
RelativePose pose_of(const FundamentalResult& found, const std::vector<Correspondence>& matches,
                     const Intrinsics& first, const Intrinsics& second) {
  const Matrix K1 = {first.fx, 0, first.cx, 0, first.fy, first.cy, 0, 0, 1};
  const Matrix K2t = {second.fx, 0, 0, 0, second.fy, 0, second.cx, second.cy, 1};
  const Matrix e = product(product(K2t, found.F), K1);
  geometry::Matrix3<double> E;
  bool any = false;
  for (int i = 0; i < 9; ++i) {
    E.v[i] = e[i];
    any |= e[i] != 0;
  }
  if (!any) return {};
  geometry::Pose poses[4];
  geometry::poses_of(geometry::essential_frame(E), poses);
  std::array<int, 4> votes{};
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (!found.inliers[i]) continue;
    const Correspondence& m = matches[i];
    const geometry::PointPair rays = {(m.x1 - first.cx) / first.fx, (m.y1 - first.cy) / first.fy,
                                      (m.x2 - second.cx) / second.fx,
                                      (m.y2 - second.cy) / second.fy};
    for (int k = 0; k < 4; ++k) {
      votes[k] += geometry::is_in_front_of_both(geometry::scaled_depths(poses[k], rays));
    }
  }
  const geometry::Pose& best = poses[std::max_element(votes.begin(), votes.end()) - votes.begin()];
  RelativePose pose;
  for (int i = 0; i < 9; ++i) pose.R[i] = best.rotation.v[i];
  pose.t = {best.translation.x, best.translation.y, best.translation.z};
  return pose;
}

// The poses of a pair, one per estimator and seed.
struct Estimated {
  std::string estimator;
  RelativePose pose;
};
std::vector<Estimated> estimate(Evaluation& evaluation, const std::vector<Correspondence>& matches,
                                const Intrinsics& first, const Intrinsics& second) {
  std::vector<Estimated> list;
  for (EstimatorCandidate& e : evaluation.estimators) {
    for (AnyEstimator& seeded : e.by_seed) {
      if (auto* essential = std::get_if<EssentialEstimator>(&seeded)) {
        const EssentialResult found =
            essential->estimate(matches, {.first = first, .second = second});
        // After a pure rotation t means nothing.
        const RelativePose none = {found.R, {}};
        list.push_back({e.name, found.pure_rotation ? none : RelativePose{found.R, found.t}});
      } else if (auto* fundamental = std::get_if<FundamentalEstimator>(&seeded)) {
        const FundamentalResult found = fundamental->estimate(matches);
        list.push_back({e.name, pose_of(found, matches, first, second)});
      }
    }
  }
  return list;
}

struct PoseSums {
  std::vector<double> matches;
  std::map<std::string, std::vector<double>> errors;  // by estimator, all seeds
};

// All pairs of a set of views for one candidate.
void run_views(Evaluation& evaluation, const Views& views, const std::vector<Asked>& asked,
               int most, Candidate& candidate, PoseSums& sums, Json& results,
               cli::Progress& progress) {
  PairMatcher matcher(evaluation, candidate, asked, most);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    for (std::size_t j = i + 1; j < asked.size(); ++j) {
      const std::vector<Correspondence> matches = matcher.match(i, j);
      const RelativePose truth = relative_pose(views.cameras[i], views.cameras[j]);
      sums.matches.push_back(double(matches.size()));
      Json row = {{"detector", candidate.name()},
                  {"pair", {asked[i].name, asked[j].name}},
                  {"matches", matches.size()},
                  {"poses", Json::array()}};
      for (const Estimated& e : estimate(evaluation, matches, views.cameras[i].intrinsics,
                                         views.cameras[j].intrinsics)) {
        const double error = pose_error(e.pose, truth);
        sums.errors[e.estimator].push_back(error);
        row["poses"].push_back({{"estimator", e.estimator},
                                {"R", e.pose.R},
                                {"t", e.pose.t},
                                {"error_degrees", error}});
      }
      results.push_back(std::move(row));
      progress.advance();
    }
  }
}

}  // namespace

Part measure_poses(Evaluation& evaluation, const std::vector<Views>& views) {
  Part part{{"Poses between views with known cameras"}};
  std::vector<ImagePair> pairs;
  for (const Views& v : views) {
    for (std::size_t i = 0; i < v.pictures.size(); ++i) {
      for (std::size_t j = i + 1; j < v.pictures.size(); ++j) {
        pairs.push_back({v.pictures[i].name, v.pictures[j].name});
      }
    }
  }
  const std::vector<Candidate*> who = who_knows(evaluation.candidates, pairs, part.section.words);
  std::map<Candidate*, PoseSums> sums;
  Json results = Json::array();
  cli::Progress progress("pairs of known cameras", int(pairs.size() * who.size()),
                         evaluation.quiet);
  for (const Views& v : views) {
    std::vector<Pixels> pixels;
    for (const Picture& p : v.pictures) pixels.push_back(p.pixels(evaluation.reading));
    std::vector<Asked> asked;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      asked.push_back({v.pictures[i].name, *pixels[i], {}});
    }
    const int most = equal_number(who, asked, evaluation.points);
    for (Candidate* c : who) run_views(evaluation, v, asked, most, *c, sums[c], results, progress);
  }
  progress.finish();
  part.details = {{"results", results}};
  const std::size_t seeds =
      evaluation.estimators.empty() ? 0 : evaluation.estimators.front().by_seed.size();
  Table table{"Poses",
              text("Error: the larger one of the angles of rotation and direction of translation; ",
                   pairs.size(), " pairs, ", seeds, " seeds, at most ", evaluation.points,
                   " points per image"),
              {{"detector"}, {"estimator"}, {"matches", "", 0}},
              {}};
  for (const double area : kPoseErrors) table.columns.push_back({text("AUC at ", area), "%", 1});
  table.columns.push_back({"median error", "degrees", 2});
  for (Candidate* c : who) {
    for (const auto& [estimator, errors] : sums[c].errors) {
      std::vector<study::Cell> row = {c->name(), estimator, mean_of(sums[c].matches)};
      for (const double area : kPoseErrors) row.push_back(percent(area_under_recall(errors, area)));
      row.push_back(median_of(errors));
      table.add(std::move(row));
    }
  }
  sort_by(table, 4);
  study::Plot plot{.name = "poses", .title = "Poses", .caption = table.caption, .y = {"AUC (%)"}};
  for (const double area : kPoseErrors)
    plot.groups.push_back(text(area, area == 1 ? " degree" : " degrees"));
  for (const auto& row : table.rows) {
    study::Series series{*row[0].text() + ", " + *row[1].text(), {}};
    for (std::size_t k = 0; k < kPoseErrors.size(); ++k) series.y.push_back(*row[3 + k].number());
    plot.series.push_back(std::move(series));
  }
  part.best = {best_of(table, 4, "poses, AUC at 5 degrees")};
  part.section.plots = {std::move(plot)};
  part.section.tables = {std::move(table)};
  return part;
}

}  // namespace cornea::evaluate
