// SPDX-License-Identifier: Apache-2.0
// Points, descriptors and matches of other programs: per image NAME.csv and NAME.npy, per pair
// A-B.csv.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "study/evaluate/candidates.h"

#include "cornea/core/error.h"
#include "cornea/io/matches_csv.h"
#include "cornea/io/npy.h"
#include "cornea/io/points_csv.h"

namespace cornea::evaluate {
namespace {

namespace fs = std::filesystem;

// A coordinate far outside of the image belongs to another image or has another unit.
constexpr float kBeyond = 1;  // pixels

class FileCandidate : public Candidate {
 public:
  FileCandidate(const std::string& name, const fs::path& folder)
      : Candidate(name), folder_(folder) {
    if (!fs::is_directory(folder)) {
      fail(ErrorCode::io, folder.string(), ": there is no such folder for the points of ", name);
    }
  }

  bool has_points(const std::string& image) const override {
    return fs::is_regular_file(file(image, ".csv"));
  }
  bool has_matches(const std::string& a, const std::string& b) const override {
    return fs::is_regular_file(pair_file(a, b)) ||
           (fs::is_regular_file(file(a, ".npy")) && fs::is_regular_file(file(b, ".npy")));
  }

  std::vector<Point> places(const Asked& image, int most) override {
    std::vector<Point> places;
    std::set<std::pair<float, float>> seen;
    for (const Keypoint& p : read(image, most, false).points) {
      if (seen.emplace(p.x, p.y).second) places.push_back({p.x, p.y});
    }
    return places;
  }
  PointSet described(const Asked& image, int most) override { return read(image, most, true); }

  std::optional<std::vector<Correspondence>> own_matches(const Asked& a, const Asked& b) override {
    const fs::path path = pair_file(a.name, b.name);
    if (!fs::is_regular_file(path)) return std::nullopt;
    std::vector<Correspondence> matches = read_matches_csv(path);
    for (const Correspondence& m : matches) {
      check_inside(path, m.x1, m.y1, a);
      check_inside(path, m.x2, m.y2, b);
    }
    return matches;
  }

 private:
  fs::path file(const std::string& image, const char* ending) const {
    return folder_ / (image + ending);
  }
  // "graf/img1" and "graf/img2": graf/img1-img2.csv.
  fs::path pair_file(const std::string& a, const std::string& b) const {
    return folder_ / (a + "-" + fs::path(b).filename().string() + ".csv");
  }

  static void check_inside(const fs::path& path, float x, float y, const Asked& image) {
    const bool inside = x >= -kBeyond && x <= image.pixels.width() - 1 + kBeyond && y >= -kBeyond &&
                        y <= image.pixels.height() - 1 + kBeyond;
    if (inside) return;
    fail(ErrorCode::io, path.string(), ": the point (", x, ", ", y, ") lies outside of ",
         image.name, ", which has ", image.pixels.width(), " x ", image.pixels.height(),
         " pixels; x goes right, y down, and the centre of the first pixel is (0, 0)");
  }

  // For example, floats of 0..1 that were rounded to bytes are all 0, and nothing would ever match.
  static void check_distinct(const fs::path& path, const io::NpyTable& numbers) {
    auto all_equal = [&](const auto& values) {
      return std::equal(values.begin() + std::ptrdiff_t(numbers.columns), values.end(),
                        values.begin());
    };
    if (numbers.rows < 2) return;
    if (numbers.is_bytes ? all_equal(numbers.bytes) : all_equal(numbers.floats)) {
      fail(ErrorCode::io, path.string(), ": all its ", numbers.rows,
           " descriptors are equal; floats of 0..1 must stay floats, or be scaled before they "
           "are converted to bytes");
    }
  }

  static bool counts(const Keypoint& p, const Asked& image) {
    if (image.mask.empty()) return true;
    const int x = std::clamp(int(std::lround(p.x)), 0, image.mask.width() - 1);
    const int y = std::clamp(int(std::lround(p.y)), 0, image.mask.height() - 1);
    return image.mask.host<std::uint8_t>()(x, y) != 0;
  }

  // The strongest of the positions that count, in the order of the file; without responses the
  // first ones. Several points at one position, which have several orientations, are kept together,
  // as SIFT does.
  std::vector<int> kept(const io::PointTable& table, const Asked& image, int most) const {
    std::vector<int> order, kept;
    for (int i = 0; i < int(table.points.size()); ++i) {
      if (counts(table.points[i], image)) order.push_back(i);
    }
    if (table.has_response) {
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return std::abs(table.points[a].response) > std::abs(table.points[b].response);
      });
    }
    std::set<std::pair<float, float>> places;
    for (const int i : order) {
      const std::pair place(table.points[i].x, table.points[i].y);
      if (int(places.size()) == most && !places.contains(place)) continue;
      places.insert(place);
      kept.push_back(i);
    }
    std::sort(kept.begin(), kept.end());
    return kept;
  }

  PointSet read(const Asked& image, int most, bool with_descriptors) const {
    const fs::path path = file(image.name, ".csv"), described = file(image.name, ".npy");
    const io::PointTable table = io::read_points_csv(path);
    for (const Keypoint& p : table.points) check_inside(path, p.x, p.y, image);
    io::NpyTable numbers;
    if (with_descriptors) {
      numbers = io::read_npy(described);
      if (numbers.rows != table.points.size()) {
        fail(ErrorCode::io, described.string(), ": has ", numbers.rows, " rows, but ",
             path.filename().string(), " lists ", table.points.size(),
             " points; each point has one row");
      }
      if (numbers.columns == 0) fail(ErrorCode::io, described.string(), ": has no columns");
      check_distinct(described, numbers);
    }
    PointSet set;
    set.length = int(numbers.columns);
    for (const int i : kept(table, image, most)) {
      set.points.push_back(table.points[i]);
      const std::size_t begin = std::size_t(i) * numbers.columns, end = begin + numbers.columns;
      if (!with_descriptors) continue;
      if (numbers.is_bytes) {
        set.bytes.insert(set.bytes.end(), numbers.bytes.begin() + std::ptrdiff_t(begin),
                         numbers.bytes.begin() + std::ptrdiff_t(end));
      } else {
        set.floats.insert(set.floats.end(), numbers.floats.begin() + std::ptrdiff_t(begin),
                          numbers.floats.begin() + std::ptrdiff_t(end));
      }
    }
    return set;
  }

  fs::path folder_;
};

}  // namespace

std::unique_ptr<Candidate> file_candidate(const std::string& name, const fs::path& folder) {
  return std::make_unique<FileCandidate>(name, folder);
}

}  // namespace cornea::evaluate
