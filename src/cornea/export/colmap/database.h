// A COLMAP database: cameras, images, features, matches and two-view geometries in one SQLite file.
//
// The layout is the one of COLMAP 3.8 (PRAGMA user_version 3800). Newer versions, 4.x among them,
// open it and add the tables and columns they need by themselves; databases that they made are
// taken as well, and their images are given the rigs and frames that 4.x asks for.
//
//   cameras              model, size, parameters as doubles; SIMPLE_RADIAL (2): f, cx, cy, k
//   images               name with '/', below the folder of images; camera
//   keypoints            N x 6 float32: x, y and the shape s [cos a, -sin a; sin a, cos a], or the
//                        frame of an ellipse (affine_frame())
//   descriptors          N x 128 uint8
//   matches              N x 2 uint32 indices of keypoints, by pair_id
//   two_view_geometries  the inliers among the matches, likewise; what they are; F, E and H by row;
//                        the pose as a unit quaternion w, x, y, z and a translation
//
//   cornea_images        what Cornea's features were made of (memory.h); COLMAP passes over these
//   cornea_steps         the options that matches and geometries were made with
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
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cornea/core/error.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/export/colmap/memory.h"
#include "cornea/geometry/two_view/two_view.h"

struct sqlite3;

namespace cornea::colmap {

inline constexpr Id kMostImages = 2147483647;
struct ImagePair {
  Id first = 0, second = 0;
  friend auto operator<=>(const ImagePair&, const ImagePair&) = default;
};
// Either order gives the same number. Ids are 0 to kMostImages - 1.
CORNEA_API Id pair_id(ImagePair pair);
CORNEA_API ImagePair pair_of(Id pair_id);

// Those that Cornea reads (intrinsics.h); COLMAP has more.
enum class CameraModel {
  simple_pinhole = 0,
  pinhole = 1,
  simple_radial = 2,
  radial = 3,
  opencv = 4
};
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

// Of a row of two_view_geometries.
using Configuration = cornea::Configuration;

struct TwoViewRow {
  Configuration configuration = Configuration::undefined;
  std::vector<IndexPair> inliers = {};
  std::optional<std::array<double, 9>> F = {}, H = {};  // row by row, x2^T F x1 = 0, x2 ~ H x1
  std::optional<std::array<double, 9>> E = {};  // x2^T E x1 = 0 for rays in camera coordinates
  // COLMAP's cam2_from_cam1, X2 = R X1 + t in camera coordinates; both or neither.
  std::optional<std::array<double, 9>> R = {};
  std::optional<std::array<double, 3>> t = {};
  // Cameras that were estimated from the pair itself, whose focal lengths are not those of the
  // table of cameras: COLMAP's mapper begins with them. Unset where the cameras were given.
  std::optional<Camera> camera1 = {}, camera2 = {};
};

// A row whose contents cannot be: the rest of the database may be well.
class CORNEA_API DamagedRow : public Error {
 public:
  explicit DamagedRow(const std::string& sentence) : Error(ErrorCode::io, sentence) {}
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

  // In the order of their ids. Images whose ids no pair_id has room for, and cameras whose
  // parameters are no whole numbers of doubles, are an error; with `refused` they are left out,
  // with a sentence there for each, which begins with its name.
  std::vector<Camera> cameras(std::vector<std::string>* refused = nullptr) const;
  std::vector<ImageRow> images(std::vector<std::string>* refused = nullptr) const;
  Id add_camera(const Camera& camera);  // its id is ignored
  void replace_camera(Id camera, const Camera& by);
  Id add_image(const std::string& name, Id camera);

  std::optional<Id> image_named(const std::string& name) const;
  // With its features, pairs and record, and with its camera where no other image has that.
  void delete_image(Id image);

  // The number of points of each image that has a row of them, by rising id. `refused` as above; of
  // images with impossible ids only images() speaks.
  struct FeatureCount {
    Id image = 0;
    int count = 0;
  };
  std::vector<FeatureCount> point_counts(std::vector<std::string>* refused = nullptr) const;
  bool has_points(Id image) const;
  // The same of images with descriptors too. An error where those are not SIFT's.
  std::vector<FeatureCount> descriptor_counts(std::vector<std::string>* refused = nullptr) const;
  // Replaces what was there.
  void write_features(Id image, const Features& features);
  // Here and below: DamagedRow where a blob is not as long as its row says.
  std::vector<Point> points(Id image) const;
  // Appends count x 128 bytes and returns the count.
  int read_descriptors(Id image, std::vector<std::uint8_t>& out) const;

  // Pairs first..last of pair ids, both included, that have a row in matches.
  std::vector<Id> matched_pairs(Id first, Id last) const;
  void write_matches(ImagePair pair, std::span<const IndexPair> matches);
  std::vector<IndexPair> matches(Id pair_id) const;

  // Matched pairs without a two-view geometry: how many; those of first..last, both included.
  std::int64_t unverified_count() const;
  // Of these, the ones that do not name two images of the database, the lower id first: how many,
  // and the first `most` of them.
  std::int64_t unverifiable_count() const;
  std::vector<Id> unverifiable_pairs(int most) const;
  std::vector<Id> unverified_pairs(Id first, Id last) const;
  // What the database has no column for is left out: camera1 and camera2 are new in 4.2.
  void write_two_view(Id pair_id, const TwoViewRow& row);
  std::optional<TwoViewRow> two_view(Id pair_id) const;

  // Rows of a table of the six.
  std::int64_t count(const std::string& table) const;
  // Another number after each change that came through another connection.
  std::int64_t data_version() const;
  // What the rows of keypoints, descriptors, matches or two_view_geometries hold together.
  std::int64_t total(const std::string& table) const;

  // What Cornea remembers of the images whose points are still those that it wrote, by rising id;
  // `visit` changes nothing in the database.
  void visit_records(const std::function<void(const ImageRecord&)>& visit) const;
  void write_record(const ImageRecord& record);  // replaces the image's
  // The options, as text, of all records, each once.
  std::vector<std::string> options_of_images() const;
  // The options, as text, that rows of matches ("match") or two_view_geometries ("verify") were
  // made with.
  std::vector<std::string> options_of_step(const std::string& step) const;
  void add_options_of_step(const std::string& step, const std::string& options);
  void forget_options_of_step(const std::string& step);

  // Matches and geometries of all pairs of an image, of a pair, and the geometries of all pairs
  // that have matches.
  void delete_pairs_of(Id image);
  void delete_pair(Id pair_id);
  void delete_two_views_of_matches();
  const std::string& file() const { return file_; }

 private:
  friend class Statement;
  void run(const char* sql);
  void make_tables();
  bool check_tables();  // whether there are any
  void make_memory();   // the tables that COLMAP does not know
  bool has_memory() const;
  void use_log();
  bool finds(const char* sql) const;  // whether it gives a row
  Id rig_of(Id camera);               // in COLMAP 4.x
  void delete_frame_of(Id image);     // likewise
  void delete_camera_unless_used(Id camera);
  void find_two_view_columns();

  std::string file_;
  bool descriptors_have_type_ = false;
  bool images_have_frames_ = false;
  std::vector<std::string> two_view_columns_ = {};  // those that not every version has
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace cornea::colmap
