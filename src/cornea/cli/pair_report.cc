// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/pair_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "cornea/cli/pose_words.h"
#include "cornea/cli/two_view.h"
#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/io/csv.h"
#include "cornea/report/page.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

// 12345 as 12,345.
std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (int at = int(digits.size()) - 3; at > 0; at -= 3) digits.insert(std::size_t(at), ",");
  return digits;
}

// "812 of 1,059 (77%)".
std::string share_text(std::size_t part, std::size_t all) {
  std::string words = text(grouped(part), " of ", grouped(all));
  if (all > 0) words += text(" (", std::lround(100.0 * double(part) / double(all)), "%)");
  return words;
}

// Rounded to hundredths of a pixel.
std::string pixels_text(double pixels) { return text(std::round(100 * pixels) / 100); }

// What the result means, in plain words, for the page.
std::string sentence_of(const PairResult& r, const FundamentalOptions& options) {
  const std::string count = grouped(r.matches.size());
  const std::string inliers = grouped(std::size_t(r.geometry.inlier_count));
  switch (r.geometry.kind) {
    case TwoView::general:
      return text(inliers, " of ", count, " matches agree with one ",
                  r.by_essential ? "essential" : "fundamental", " matrix, within ",
                  pixels_text(r.threshold), " pixels of their epipolar lines",
                  r.geometry.may_be_chance() ? text("; ", kChance, ".") : ".");
    case TwoView::planar:
      return text("The matches that agree lie on one plane, or the camera only rotated: ", inliers,
                  " of ", count,
                  " matches follow a homography. That is the result to use: such a scene does not "
                  "determine a fundamental matrix.");
    case TwoView::none:
      return text(
          "No geometry was found: no fundamental matrix agrees with more of the ", count,
          " matches than expected by chance. These may not be photographs of one scene, or they "
          "differ too much; nearer views or a larger --threshold may help.");
    case TwoView::degenerate:
      return text("No geometry can be found: the ", count,
                  " matched points are equal, lie on a line, or span so little that they cannot be "
                  "pixels, which does not determine a fundamental matrix.");
    case TwoView::too_few_points:
      return text("No geometry can be found: ",
                  r.matches.empty() ? "there are no matches"
                  : count == "1"    ? "there is only 1 match"
                                    : text("there are only ", count, " matches"),
                  ", but a fundamental matrix needs at least ", options.sample,
                  ". Sharper or nearer photographs, more features or a larger --ratio may help.");
  }
  return "";
}

// ---- Cameras --------------------------------------------------------------------------------

std::string source_text(const KnownCameras& cameras) {
  return cameras.source == "exif"    ? "focal lengths from EXIF"
         : cameras.source == "focal" ? "the focal length that was given"
                                     : "the cameras that were given";
}

std::string focal_text(const Intrinsics& camera) {
  const auto rounded = [](double v) { return std::round(10 * v) / 10; };
  return camera.fx == camera.fy ? text(rounded(camera.fx))
                                : text(rounded(camera.fx), " x ", rounded(camera.fy));
}

std::string cameras_text(const KnownCameras& cameras) {
  const Intrinsics &first = cameras.cameras.first, &second = cameras.cameras.second;
  const bool bent = first.is_distorted() || second.is_distorted();
  return text(source_text(cameras), ", ", focal_text(first),
              first == second ? "" : " and " + focal_text(second), " px",
              bent ? ", with distortion" : "",
              cameras.focal_factor != 1
                  ? text(", corrected by ", std::round(1000 * cameras.focal_factor) / 1000,
                         " to fit the matches")
                  : "");
}

// The model of the result: E, H, F or none.
std::string_view model_of(const PairResult& r) {
  if (r.by_essential) return "E";
  if (r.geometry.kind == TwoView::planar) return "H";
  return r.geometry.F != std::array<double, 9>{} ? "F" : "none";
}

// Correspondences per hypothesis of that model: 6 of them give E with a focal length.
int sample_of(const PairOutcome& o) {
  if (!o.result.by_essential) return o.command.options.fundamental.sample;
  return o.cameras->focal_factor != 1 ? 6 : 5;
}

// Whether F and the epipoles refer to the pixels of cameras without distortion, as E does.
bool is_undistorted(const PairOutcome& o) {
  return o.result.by_essential &&
         (o.cameras->cameras.first.is_distorted() || o.cameras->cameras.second.is_distorted());
}

// Which model was chosen, and why.
std::string choice_text(const PairOutcome& o) {
  const TwoViewResult& v = *o.result.two_view;
  const std::string counts =
      text("E has ", grouped(std::size_t(v.compared_essential)), " inliers and F ",
           grouped(std::size_t(v.compared_fundamental)), " at the same threshold");
  const bool corrected = o.cameras->focal_factor != 1;
  const std::string source = corrected ? "corrected focal lengths" : source_text(*o.cameras);
  const bool one = !corrected && o.cameras->source == "focal";
  const std::string_view model = model_of(o.result);
  if (model == "E") {
    return text("E, since ", counts, ": ", source, one ? " fits" : " fit", " (E needs 95% of F's)");
  }
  const bool rotated = v.essential.pure_rotation || v.configuration == Configuration::panoramic;
  if (model == "H") {
    return rotated ? "H, since the camera only rotated: there is no baseline"
                   : "H, since the matches lie on one plane and E does not fit";
  }
  if (model == "none") return "none, since neither E nor F agrees with the matches";
  if (rotated) return "F, since E finds no baseline: the camera hardly moved";
  return text("F, since ", counts, ": ", source, one ? " does" : " do",
              " not fit (E needs 95% of F's)");
}

// Names and values, for terminal and page.
std::vector<std::pair<std::string, std::string>> pose_facts(const PairOutcome& o) {
  const TwoViewResult& v = *o.result.two_view;
  char angle[32];
  std::snprintf(angle, sizeof angle, "%.3g degrees", v.essential.median_angle_degrees);
  std::vector<std::pair<std::string, std::string>> facts = {
      {"Rotation", rotation_text(v.essential.R)},
      {"Translation", vector_text(v.essential.t) + ", of length 1"},
      {"Epipoles", epipoles_text(epipoles_of(o.result.geometry.F)) +
                       (is_undistorted(o) ? ", in undistorted pixels" : "")},
      {"Median angle", angle},
      {"Points",
       text(grouped(std::size_t(v.essential.in_front_count)), " in front of both cameras")}};
  if (v.configuration == Configuration::planar) {
    facts.push_back(
        {"Scene", v.essential.second_pose
                      ? "nearly all points lie on one plane, which allows two poses"
                      : "most points lie on one plane, which E allows; wrong focal lengths may "
                        "fit it, too"});
  }
  return facts;
}

// What the user should know: of the pose if E was chosen, otherwise of F or H.
std::string warning_of(const PairOutcome& o) {
  return o.result.by_essential ? pose_warning(o.result.two_view->essential)
                               : warning(o.result.geometry, o.command.options.fundamental);
}

std::optional<PagePose> page_pose(const PairOutcome& o) {
  if (!o.result.by_essential) return std::nullopt;
  const TwoViewResult& v = *o.result.two_view;
  PagePose pose;
  pose.E = v.essential.E;
  pose.R = v.essential.R;
  pose.t = v.essential.t;
  pose.cameras = o.cameras->cameras;
  pose.points = v.essential.points;
  pose.of_undistorted = is_undistorted(o);
  pose.sentence = baseline_sentence(pose.R, pose.t, v.essential.median_angle_degrees);
  pose.facts = pose_facts(o);
  pose.facts.push_back({"Cameras", cameras_text(*o.cameras)});
  pose.facts.push_back({"Chosen", choice_text(o)});
  return pose;
}

// The keys that cameras add; null without cameras, or if E was not chosen.
void add_pose(const PairOutcome& o, Json& json) {
  const PairResult& r = o.result;
  for (const char* key : {"E", "R", "t", "epipoles", "median_angle_degrees", "configuration",
                          "cameras", "model", "choice"}) {
    json[key] = nullptr;
  }
  const std::string_view model = model_of(r);
  if (model == "E" || model == "F") json["epipoles"] = epipoles_json(epipoles_of(r.geometry.F));
  json["model"] = model;
  json["undistorted"] = is_undistorted(o);
  if (!o.cameras) return;
  const TwoViewResult& v = *r.two_view;
  json["cameras"] = {{"source", o.cameras->source},
                     {"focal_factor", o.cameras->focal_factor},
                     {"first", camera_json(o.cameras->cameras.first)},
                     {"second", camera_json(o.cameras->cameras.second)}};
  json["configuration"] = name(v.configuration);
  json["choice"] = choice_text(o);
  if (!r.by_essential) return;
  json["E"] = matrix_json(v.essential.E);
  json["R"] = matrix_json(v.essential.R);
  json["t"] = v.essential.t;
  json["median_angle_degrees"] = v.essential.median_angle_degrees;
}

double median_of_inliers(const PairResult& r) {
  std::vector<float> inliers;
  for (std::size_t i = 0; i < r.distances.size(); ++i) {
    if (r.geometry.inliers[i]) inliers.push_back(r.distances[i]);
  }
  if (inliers.empty()) return 0;
  const auto middle = inliers.begin() + std::ptrdiff_t(inliers.size() / 2);
  std::nth_element(inliers.begin(), middle, inliers.end());
  return *middle;
}

// F, or H if that is the result to use; also E if there is one.
void print_model(const PairOutcome& o) {
  const PairResult& r = o.result;
  const FundamentalResult& g = r.geometry;
  if (r.by_essential) {
    std::cout << "E (x2^T E x1 = 0, rays in camera coordinates)\n"
              << matrix_text(r.two_view->essential.E);
  }
  if (g.kind == TwoView::planar) {
    std::cout << "H (x2 ~ H x1, pixels)\n" << matrix_text(with_unit_corner(g.H));
  } else if (g.F != std::array<double, 9>{}) {
    std::cout << "F (x2^T F x1 = 0, " << (is_undistorted(o) ? "undistorted " : "") << "pixels)\n"
              << matrix_text(g.F);
  }
}

}  // namespace

std::string csv_text(const PairResult& r) {
  io::CsvWriter csv("x1,y1,x2,y2,ratio,distance,inlier,descriptor_distance,index1,index2",
                    io::CsvNumbers::plain);
  for (std::size_t i = 0; i < r.matches.size(); ++i) {
    const Correspondence p = r.correspondence(i);
    std::optional<float> distance;
    if (!r.distances.empty()) distance = r.distances[i];
    const Match& m = r.matches[i];
    csv.row({p.x1, p.y1, p.x2, p.y2, m.ratio, distance, r.geometry.inliers[i], m.distance,
             float(m.a), float(m.b)});
  }
  return csv.contents();
}

Json summary_json(const PairOutcome& o) {
  const PairCommand& c = o.command;
  const PairResult& r = o.result;
  const FundamentalResult& g = r.geometry;
  const bool has_f = g.F != std::array<double, 9>{};
  const std::string note = warning_of(o);
  Json json = {
      {"keypoints", {r.first.size(), r.second.size()}},
      {"matches", r.matches.size()},
      {"inliers", g.inlier_count},
      {"F", has_f ? matrix_json(g.F) : Json(nullptr)},
      {"milliseconds", Json::object()},
      {"images", {c.first, c.second}},
      {"sizes", {{o.first.width(), o.first.height()}, {o.second.width(), o.second.height()}}},
      {"max_size", c.options.max_size},
      {"detector", c.options.detector},
      {"device", o.context.name()},
      {"device_name", o.context.description()},
      {"command", c.words},
      {"kind", name(g.kind)},
      {"warning", note.empty() ? Json() : Json(note)},
      {"hypotheses", g.hypotheses},
      {"rounds", g.rounds},
      {"converged", g.converged()},
      {"threshold", io::shortest(g.threshold)},
      {"version", kVersion}};
  add_reading(json, c.common, {&o.first, &o.second});
  add_pose(o, json);
  if (g.kind == TwoView::planar) json["H"] = matrix_json(g.H);
  const auto mask_json = [](const std::string& file) { return file.empty() ? Json() : Json(file); };
  if (c.has_masks()) json["masks"] = {mask_json(c.mask1), mask_json(c.mask2)};
  return json;
}

std::string page_text(const PairOutcome& o, const std::vector<StageTime>& stages) {
  const PairCommand& c = o.command;
  const PairResult& r = o.result;
  const auto first = colours_from(c.first, c.common.reading());
  const auto second = colours_from(c.second, c.common.reading());
  const FundamentalResult& g = r.geometry;
  PairPage page;
  page.first = {c.first, first.host(), r.first.keypoints};
  page.second = {c.second, second.host(), r.second.keypoints};
  page.matches = r.matches;
  page.geometry = &g;
  page.distances = r.distances;
  page.threshold = float(r.threshold);
  page.pose = page_pose(o);
  page.sentence = sentence_of(r, c.options.fundamental);
  const std::string doubts = r.by_essential ? pose_doubts(r.two_view->essential) : "";
  if (!doubts.empty()) page.sentence += " " + doubts;
  page.notice = g.kind != TwoView::general || g.may_be_chance() || !doubts.empty();
  page.stages = stages;
  page.facts = {
      {"Ran on", o.context.description()},
      {"Features",
       c.options.detector == "sift" ? "sift" : c.options.detector + ", described by SIFT"},
      {"Matching", text("exact nearest neighbours", r.match_kernel.empty() ? "" : " (",
                        r.match_kernel, r.match_kernel.empty() ? "" : ")", ", ratio ",
                        c.options.match.ratio, c.options.match.mutual ? ", mutual" : "")},
      {"Geometry", g.hypotheses == 0 ? "no hypothesis was tried"
                                     : text(grouped(std::size_t(g.hypotheses)),
                                            g.hypotheses == 1 ? " hypothesis" : " hypotheses",
                                            " of ", sample_of(o), " matches, stopped by ",
                                            name(g.stop), ", seed ", c.options.fundamental.seed)},
      {"Version", text("Cornea ", kVersion)},
      {"In the folder", fs::current_path().string()}};
  if (c.has_masks()) {
    const std::string first_mask = c.mask1.empty() ? "none" : c.mask1;
    const std::string second_mask = c.mask2.empty() ? "none" : c.mask2;
    page.facts.insert(page.facts.begin() + 2, {"Masks", first_mask + " and " + second_mask});
  }
  if (o.cameras && !r.by_essential) {
    page.facts.insert(page.facts.begin() + 2,
                      {{"Cameras", cameras_text(*o.cameras)}, {"Chosen", choice_text(o)}});
  }
  page.command = c.words;
  page.files = {"matches.csv", "summary.json"};
  return pair_page(o.context, page);
}

void print_result(const PairOutcome& o, const std::vector<StageTime>& stages) {
  const PairCommand& c = o.command;
  const PairResult& r = o.result;
  std::vector<std::vector<std::string>> rows = {
      {"features", text(grouped(r.first.size()), " and ", grouped(r.second.size()))},
      {"matches", grouped(r.matches.size())},
      {"inliers", share_text(std::size_t(r.geometry.inlier_count), r.matches.size())}};
  if (r.geometry.inlier_count > 0 && !r.distances.empty()) {
    char median[32];
    std::snprintf(median, sizeof median, "%.3f px", median_of_inliers(r));
    rows.push_back({"median distance", median});
  }
  if (o.cameras) {
    rows.push_back({"cameras", cameras_text(*o.cameras)});
    rows.push_back({"chosen", choice_text(o)});
  }
  if (r.by_essential) {
    for (auto [name, value] : pose_facts(o)) {
      name[0] = char(name[0] - 'A' + 'a');
      rows.push_back({name, value});
    }
  }
  std::string all;
  for (const StageTime& s : stages) {
    all += text(all.empty() ? "" : ", ", s.stage, " ", milliseconds_text(s.milliseconds));
  }
  for (const auto& row : rows) {
    std::cout << row[0] << std::string(17 - row[0].size(), ' ') << row[1] << "\n";
  }
  std::cout << "time             " << all << "\n"
            << c.options.detector << " on " << o.context.description() << "\n";
  print_model(o);
  if (r.by_essential) {
    const EssentialResult& e = r.two_view->essential;
    std::cout << baseline_sentence(e.R, e.t, e.median_angle_degrees) << "\n";
  }
  const std::string note = warning_of(o);
  if (!note.empty()) std::cout << note << "\n";
  std::cout << "page: " << c.in_folder("report.html").string() << std::endl;
}

}  // namespace cornea::cli
