// A COLMAP database: cameras, images, features, matches and two-view geometries in one SQLite file.
//
// The layout is the one of COLMAP 3.8 (PRAGMA user_version 3800). Newer versions, 4.x among them,
// open it and add the tables and columns they need by themselves; databases that they made are
// taken as well, and their images are given the rigs and frames that 4.x asks for.
//
//   cameras              model, size, parameters as doubles; SIMPLE_RADIAL (2): f, cx, cy, k
//   images               name with '/', below the folder of images; camera
//   keypoints            N x 6 float32: x, y and the shape s [cos a, -sin a; sin a, cos a]
//   descriptors          N x 128 uint8
//   matches              N x 2 uint32 indices of keypoints, by pair_id
//   two_view_geometries  the inliers among the matches, likewise; what they are; F and H by row
//
//   pair_id = 2147483647 image_id1 + image_id2, image_id1 < image_id2
//
// In COLMAP the centre of the first pixel is (0.5, 0.5), in Cornea (0, 0), and the directions of a
// descriptor go the other way round. What goes in and comes out here is Cornea's; points, F, H and
// descriptors are changed inside. Blobs are little-endian; what
// is unset, and a blob without rows, is NULL.
//
// Every change is part of a transaction. A process that is killed leaves the database as it was
// after its last commit (SQLite's write-ahead log). A loss of power may take back the last commits
// too; the file stays whole.
//
// Only in builds with SQLite (kHasSqlite). One thread uses a Database at a time.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cornea/core/export.h"
#include "cornea/core/features.h"

struct sqlite3;

namespace cornea::colmap {

using Id = std::int64_t;

inline constexpr Id kMostImages = 2147483647;
struct ImagePair {
  Id first = 0, second = 0;
  friend auto operator<=>(const ImagePair&, const ImagePair&) = default;
};
// Either order gives the same number. Ids are 0 to kMostImages - 1.
CORNEA_API Id pair_id(ImagePair pair);
CORNEA_API ImagePair pair_of(Id pair_id);

enum class CameraModel { simple_pinhole = 0, pinhole = 1, simple_radial = 2 };
struct Camera {
  Id id = 0;  // given by the database
  int model = int(CameraModel::simple_radial);
  int width = 0, height = 0;
  std::vector<double> params = {};
  bool prior_focal_length = false;  // known, not guessed
};

struct ImageRow {
  Id id = 0;
  std::string name = {};
  Id camera = 0;
};

// A feature of the first image and the one of the second, by index.
struct IndexPair {
  std::uint32_t first = 0, second = 0;
  friend bool operator==(const IndexPair&, const IndexPair&) = default;
};

struct Point {
  float x = 0, y = 0;
};

// COLMAP's TwoViewGeometry::ConfigurationType.
enum class Configuration {
  undefined = 0,
  degenerate = 1,
  calibrated = 2,
  uncalibrated = 3,
  planar = 4,
  panoramic = 5,
  planar_or_panoramic = 6
};

struct TwoViewRow {
  Configuration configuration = Configuration::undefined;
  std::vector<IndexPair> inliers = {};
  std::optional<std::array<double, 9>> F = {}, H = {};  // row by row, x2^T F x1 = 0, x2 ~ H x1
};

class CORNEA_API Database {
 public:
  enum class Open { existing, create };
  // An error that names the file where it is missing (unless it may be made) or is no such
  // database.
  explicit Database(const std::filesystem::path& file, Open how = Open::existing);
  ~Database();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;

  // What is written until commit() is kept whole or not at all; without it, not at all.
  class Transaction {
   public:
    explicit Transaction(Database& database);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

   private:
    Database& database_;
    bool open_ = true;
  };

  // In the order of their ids.
  std::vector<Camera> cameras() const;
  std::vector<ImageRow> images() const;
  Id add_camera(const Camera& camera);  // its id is ignored
  Id add_image(const std::string& name, Id camera);

  std::optional<Id> image_named(const std::string& name) const;

  // The number of points of each image that has a row of them, by rising id.
  struct FeatureCount {
    Id image = 0;
    int count = 0;
  };
  std::vector<FeatureCount> point_counts() const;
  bool has_points(Id image) const;
  // The same of images with descriptors too. An error where those are not SIFT's.
  std::vector<FeatureCount> descriptor_counts() const;
  // Replaces what was there.
  void write_features(Id image, const Features& features);
  std::vector<Point> points(Id image) const;
  // Appends count x 128 bytes and returns the count.
  int read_descriptors(Id image, std::vector<std::uint8_t>& out) const;

  // Pairs first..last of pair ids, both included, that have a row in matches.
  std::vector<Id> matched_pairs(Id first, Id last) const;
  void write_matches(ImagePair pair, std::span<const IndexPair> matches);
  std::vector<IndexPair> matches(Id pair_id) const;

  // Matched pairs without a two-view geometry: how many; those of first..last, both included.
  std::int64_t unverified_count() const;
  // Of these, the ones that do not name two images of the database, the lower id first.
  std::int64_t unverifiable_count() const;
  std::vector<Id> unverified_pairs(Id first, Id last) const;
  void write_two_view(Id pair_id, const TwoViewRow& row);
  std::optional<TwoViewRow> two_view(Id pair_id) const;

  // Rows of a table of the six.
  std::int64_t count(const std::string& table) const;
  const std::string& file() const { return file_; }

 private:
  friend class Statement;
  void run(const char* sql);
  void make_tables();
  bool check_tables();  // whether there are any
  void use_log();
  bool finds(const char* sql) const;  // whether it gives a row
  Id rig_of(Id camera);               // in COLMAP 4.x

  std::string file_;
  bool descriptors_have_type_ = false;
  bool images_have_frames_ = false;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace cornea::colmap
