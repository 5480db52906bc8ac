// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/overview.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "cornea/core/error.h"
#include "cornea/export/colmap/intrinsics.h"
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/geometry/two_view/homography.h"
#include "cornea/geometry/two_view/relative_pose.h"
#include "cornea/pipeline/folder/changes.h"
#include "cornea/pipeline/folder/thumbnails.h"

namespace cornea {
namespace {

using namespace folder;

using colmap::Database;
using colmap::Id;
using colmap::Point;
using colmap::TwoViewRow;
using Matrix = std::array<double, 9>;

// What the measures of an image's pairs need to know of the image.
struct Source {
  Id id = 0;
  std::optional<Intrinsics> camera = {};
};

float median(std::vector<float>& values) {
  if (values.empty()) return -1;
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool is_set(const std::optional<Matrix>& matrix) { return matrix && *matrix != Matrix{}; }

bool is_flat(Configuration kind) {
  return kind == Configuration::planar || kind == Configuration::panoramic ||
         kind == Configuration::planar_or_panoramic;
}

// Distances of matches to the model of the row; infinite where a lens model cannot be inverted, and
// empty if the row has no model.
std::vector<float> distances_to(const TwoViewRow& row, const std::optional<IntrinsicsPair>& cameras,
                                const std::vector<Correspondence>& matches) {
  const bool by_h =
      is_set(row.H) && (is_flat(row.configuration) || (!is_set(row.F) && !is_set(row.E)));
  // E refers to undistorted pixels, F as it is stored to the pixels themselves.
  const bool by_e = !by_h && is_set(row.E) && cameras;
  if (!by_h && !by_e && !is_set(row.F)) return {};
  const Matrix model = by_h ? *row.H : by_e ? fundamental_of(*row.E, *cameras) : *row.F;
  std::vector<float> all;
  for (const Correspondence& match : matches) {
    const std::optional<Correspondence> place = by_e ? undistorted(*cameras, match) : match;
    const double distance = !place ? std::numeric_limits<double>::infinity()
                            : by_h ? transfer_distance(model, *place)
                                   : epipolar_distance(model, *place);
    all.push_back(std::isnan(distance) ? std::numeric_limits<float>::infinity() : float(distance));
  }
  return all;
}

// The median angle between the two viewing rays of a match, in degrees; -1 if the pose or a camera
// is not known.
float angle_of(const TwoViewRow& row, const std::optional<IntrinsicsPair>& cameras,
               const std::vector<Correspondence>& matches) {
  if (!row.R || !cameras) return -1;
  const Matrix& R = *row.R;
  std::vector<float> angles;
  for (const Correspondence& m : matches) {
    const auto p = cameras->first.place(m.x1, m.y1), q = cameras->second.place(m.x2, m.y2);
    if (!p || !q) continue;
    const double a[3] = {R[0] * (*p)[0] + R[1] * (*p)[1] + R[2],
                         R[3] * (*p)[0] + R[4] * (*p)[1] + R[5],
                         R[6] * (*p)[0] + R[7] * (*p)[1] + R[8]};
    const double b[3] = {(*q)[0], (*q)[1], 1};
    const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                         a[0] * b[1] - a[1] * b[0]};
    const double cross = std::sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
    angles.push_back(float(std::atan2(cross, dot) * (180 / 3.14159265358979323846)));
  }
  return median(angles);
}

class Overview {
 public:
  Overview(const Context& context, const Database& database,
           const std::filesystem::path& photographs, const OverviewOptions& options,
           const FolderEvents& events)
      : context_(context),
        database_(database),
        photographs_(photographs),
        options_(options),
        events_(events) {}

  FolderPage run() {
    page_.title = photographs_.lexically_normal().filename().string();
    if (page_.title.empty()) {
      page_.title = photographs_.lexically_normal().parent_path().filename().string();
    }
    if (page_.title.empty() || page_.title == "." || page_.title == "..") {
      page_.title = std::filesystem::path(canonical_name(photographs_)).filename().string();
    }
    if (page_.title.empty()) page_.title = photographs_.string();
    read_images();
    list_pairs();
    const std::size_t photographs = options_.thumbnails ? page_.images.size() : 0;
    events_.begin(int(photographs + to_measure()));
    // Uses all pairs, before those beyond most_pairs are left out.
    find_components(page_);
    if (options_.thumbnails) {
      add_thumbnails(context_, page_, photographs_,
                     {options_.thumbnail_side, options_.max_pixels, events_});
    }
    page_.warnings = folder_warnings(page_);
    leave_out_pairs();
    page_.distances.counts.assign(kBars + 1, 0);
    for (FolderPagePair& pair : page_.pairs) {
      if (!pair.has_geometry()) continue;
      if (events_.stop()) break;
      measure(pair);
      events_.advance(1);
    }
    points_.clear();
    return std::move(page_);
  }

 private:
  void read_images() {
    std::vector<std::string> refused;
    std::unordered_map<Id, colmap::Camera> cameras;
    for (colmap::Camera& camera : database_.cameras(&refused))
      cameras[camera.id] = std::move(camera);
    std::unordered_map<Id, int> counts;
    for (const auto& [image, count] : database_.point_counts(&refused)) counts[image] = count;
    const std::vector<colmap::ImageRow> rows = database_.images(&refused);
    for (const std::string& sentence : refused) events_.report(sentence);
    for (const colmap::ImageRow& row : rows) {
      FolderPageImage image;
      Source source{row.id, {}};
      image.name = row.name;
      image.features = counts[row.id];
      if (const auto camera = cameras.find(row.camera); camera != cameras.end()) {
        image.width = std::max(0, camera->second.width);
        image.height = std::max(0, camera->second.height);
        source.camera = known_camera(camera->second);
      }
      index_[row.id] = int(page_.images.size());
      page_.images.push_back(std::move(image));
      sources_.push_back(source);
    }
  }

  // Empty if its model is not supported or its parameters are invalid.
  static std::optional<Intrinsics> known_camera(const colmap::Camera& camera) {
    try {
      return colmap::intrinsics_of(camera);
    } catch (const colmap::DamagedRow&) {
      return std::nullopt;
    }
  }

  // All pairs that were tried.
  void list_pairs() {
    for (const Database::PairSummary& row : database_.pair_summaries()) {
      const auto [low, high] = colmap::pair_of(row.pair);
      const auto a = index_.find(low), b = index_.find(high);
      // Not two images of the database.
      if (a == index_.end() || b == index_.end() || low >= high) continue;
      FolderPagePair pair;
      pair.first = a->second, pair.second = b->second;
      pair.matches = limited(std::max(row.matches, row.inliers));
      pair.inliers = limited(row.inliers);
      pair.kind = row.configuration;
      const int kind = int(pair.kind);
      if (kind < 0 || kind > int(Configuration::watermark)) {
        // COLMAP's higher configuration numbers are for merged geometries.
        pair.kind = pair.inliers > 0 ? Configuration::uncalibrated : Configuration::degenerate;
      }
      page_.pairs.push_back(std::move(pair));
    }
    std::sort(page_.pairs.begin(), page_.pairs.end(), by_images);
  }

  static bool by_images(const FolderPagePair& p, const FolderPagePair& q) {
    return std::pair(p.first, p.second) < std::pair(q.first, q.second);
  }

  // If there are too many pairs, keep the best ones.
  void leave_out_pairs() {
    const auto most = std::size_t(options_.most_pairs);
    if (page_.pairs.size() <= most) return;
    const auto by_worth = [](const FolderPagePair& p, const FolderPagePair& q) {
      if (p.has_geometry() != q.has_geometry()) return p.has_geometry();
      const auto key = [](const FolderPagePair& r) { return std::pair(r.inliers, r.matches); };
      return key(p) != key(q) ? key(p) > key(q) : by_images(p, q);
    };
    std::sort(page_.pairs.begin(), page_.pairs.end(), by_worth);
    for (std::size_t k = most; k < page_.pairs.size(); ++k) {
      ++page_.further_pairs;
      page_.further_verified += page_.pairs[k].has_geometry();
    }
    page_.pairs.resize(most);
    std::sort(page_.pairs.begin(), page_.pairs.end(), by_images);
  }

  static int limited(std::int64_t count) {
    return int(std::clamp<std::int64_t>(count, 0, std::numeric_limits<int>::max()));
  }

  std::size_t to_measure() const {
    const auto verified = std::count_if(page_.pairs.begin(), page_.pairs.end(),
                                        [](const FolderPagePair& p) { return p.has_geometry(); });
    return std::min(std::size_t(verified), std::size_t(options_.most_pairs));
  }

  void measure(FolderPagePair& pair) {
    try {
      measure_row(pair);
    } catch (const colmap::DamagedRow& error) {
      events_.report(text("the pair ", page_.images[std::size_t(pair.first)].name, " and ",
                          page_.images[std::size_t(pair.second)].name,
                          " is shown without its inliers: ", error.what()));
    }
  }

  void measure_row(FolderPagePair& pair) {
    const Source &a = sources_[std::size_t(pair.first)], &b = sources_[std::size_t(pair.second)];
    const std::optional<TwoViewRow> row = database_.two_view(colmap::pair_id({a.id, b.id}));
    if (!row) return;
    const std::vector<Correspondence> matches = correspondences(a.id, b.id, row->inliers);
    const std::optional<IntrinsicsPair> cameras = cameras_of(*row, a, b);
    std::vector<float> distances = distances_to(*row, cameras, matches);
    for (const float distance : distances) count(distance);
    pair.median_distance = median(distances);
    if (!std::isfinite(pair.median_distance)) pair.median_distance = -1;
    pair.angle_degrees = angle_of(*row, cameras, matches);
    const std::size_t all = matches.size(), shown = std::min(all, std::size_t(options_.most_lines));
    for (std::size_t k = 0; k < shown; ++k) {
      const Correspondence& m = matches[k * all / shown];
      pair.lines.push_back({m.x1, m.y1, m.x2, m.y2});
    }
  }

  std::vector<Correspondence> correspondences(Id first, Id second,
                                              const std::vector<colmap::IndexPair>& inliers) {
    if (points_held_ > kMostPoints) points_.clear(), points_held_ = 0;
    const std::vector<Point>&a = points(first), &b = points(second);
    std::vector<Correspondence> all;
    for (const colmap::IndexPair& m : inliers) {
      if (m.first >= a.size() || m.second >= b.size()) {
        throw colmap::DamagedRow(text("it has an inlier of points ", m.first, " and ", m.second,
                                      ", but the images have ", a.size(), " and ", b.size(),
                                      " points; match and verify the two again"));
      }
      const Point &p = a[m.first], &q = b[m.second];
      if (!std::isfinite(p.x + p.y + q.x + q.y)) {
        throw colmap::DamagedRow("a point has a position that is not a number");
      }
      all.push_back({p.x, p.y, q.x, q.y});
    }
    return all;
  }

  const std::vector<Point>& points(Id image) {
    const auto found = points_.find(image);
    if (found != points_.end()) return found->second;
    const auto& read = points_.emplace(image, database_.points(image)).first->second;
    points_held_ += read.size();
    return read;
  }

  // Intrinsics that were estimated from the pair take precedence over those of the images.
  static std::optional<IntrinsicsPair> cameras_of(const TwoViewRow& row, const Source& a,
                                                  const Source& b) {
    if (!is_set(row.E) && !row.R) return std::nullopt;
    const auto first = row.camera1 ? known_camera(*row.camera1) : a.camera;
    const auto second = row.camera2 ? known_camera(*row.camera2) : b.camera;
    if (!first || !second) return std::nullopt;
    return IntrinsicsPair{*first, *second};
  }

  void count(float distance) {
    const float bar = distance / page_.distances.width;
    ++page_.distances.counts[bar < float(kBars) ? std::size_t(bar) : kBars];
  }

  static constexpr std::size_t kBars = 80;                           // up to 8 pixels
  static constexpr std::size_t kMostPoints = std::size_t{48} << 20;  // 384 MB
  const Context& context_;
  const Database& database_;
  const std::filesystem::path photographs_;
  const OverviewOptions& options_;
  const FolderEvents& events_;
  FolderPage page_;
  std::vector<Source> sources_;
  std::unordered_map<Id, int> index_;
  std::unordered_map<Id, std::vector<Point>> points_;
  std::size_t points_held_ = 0;
};

}  // namespace

void OverviewOptions::validate() const {
  require(thumbnail_side == 0 || (thumbnail_side >= 16 && thumbnail_side <= 4000),
          "thumbnail_side is ", thumbnail_side, " and must be 16 to 4000 pixels, or 0");
  require(most_lines >= 0, "most_lines is ", most_lines, " and must not be below 0");
  require(most_pairs >= 1, "most_pairs is ", most_pairs, " and must be at least 1");
}

FolderPage folder_overview(const Context& context, const Database& database,
                           const std::filesystem::path& photographs, const OverviewOptions& options,
                           const FolderEvents& events) {
  options.validate();
  return Overview(context, database, photographs, options, events).run();
}

}  // namespace cornea
