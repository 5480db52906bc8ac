// A COLMAP database: cameras, images, features, matches and two-view geometries in one SQLite file.
//
// The layout is the one of COLMAP 3.8 (PRAGMA user_version 3800). Newer versions, 4.x among them,
// open it and add the tables and columns they need by themselves; databases that they made are
// taken as well, and their images are given the rigs and frames that 4.x asks for. The layout of
// 4.2.1 (4020100) is made where it is asked for.
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
//   pose_priors          since 3.10: where a camera was by GPS; since 4.0: which way is down
//
//   cornea_images        what Cornea's features were made of (memory.h); COLMAP passes over these
//   cornea_steps         the options that matches and geometries were made with
//   cornea_choice        the pairs that were chosen to be matched (only where that takes long)
//   cornea_cameras       which images a camera of several is for; only where there are such
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
#include <map>
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
  // NOLINTNEXTLINE(modernize-use-nullptr)
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

// What is known of the camera of one image before any reconstruction.
struct PosePrior {
  std::optional<std::array<double, 3>> position = {};  // WGS 84: latitude, longitude, altitude (m)
  std::optional<std::array<double, 3>> gravity = {};   // which way is down, in camera coordinates
};

// The tables that a new database is given.
enum class Schema { colmap_3_8, colmap_4 };  // user_version 3800; 4020100, of 4.2.1

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

// Features of another program, as COLMAP keeps them.
struct ForeignFeatures {
  int columns = 2;                    // 2: x, y; 4: scale and angle too; 6: and a frame
  std::vector<float> keypoints = {};  // row by row; the centre of the first pixel is (0.5, 0.5)
  int descriptor_bytes = 0;           // of one descriptor; 0: there are none
  std::vector<std::uint8_t> descriptors = {};
  int descriptor_type = 0;  // 0: SIFT; others are COLMAP 4's, -1 one that it does not know
  std::size_t size() const { return keypoints.size() / std::size_t(columns); }
};

// A row whose contents cannot be: the rest of the database may be well.
class CORNEA_API DamagedRow : public Error {
 public:
  explicit DamagedRow(const std::string& sentence) : Error(ErrorCode::io, sentence) {}
};

class CORNEA_API Database {
 public:
  // finished: to be read only, and nobody writes it any more. No lock is asked for and no file is
  // made beside it, so that it may lie on a network mount, where SQLite's locks do not hold.
  // scratch: a new file that nobody else uses and that is worth nothing before it is whole: the
  // disk is not waited for, and all is in this one file once the object is gone.
  enum class Open { existing, create, finished, scratch };
  // An error that names the file where it is missing (unless it may be made), is no such database,
  // or has the tables of another schema than is asked for. Unset: those that it has, and 3.8's of
  // a new one.
  explicit Database(const std::filesystem::path& file, Open how = Open::existing,
                    std::optional<Schema> schema = {});
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
  // Its id is the next one unless it is given.
  Id add_image(const std::string& name, Id camera, std::optional<Id> id = {});
  // The cameras that were made for several images, by what these have in common; of each text the
  // camera with the lowest id. A camera has one text; it is forgotten with the camera.
  std::map<std::string, Id> camera_groups() const;
  void write_camera_group(Id camera, const std::string& common);
  void forget_camera_group(Id camera);

  // Whether there is a table of pose priors; which of them it has room for is its version's.
  bool has_pose_priors() const;
  // Takes the place of one of GPS or of gravity; one in Cartesian coordinates, which somebody gave,
  // stays. An empty one removes. Nothing happens where there is no such table. Whether a row was
  // written.
  bool write_pose_prior(Id image, const PosePrior& prior);

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
  // Bytes as they are. Descriptors that are not SIFT's need a database that says what they are
  // (Schema::colmap_4). What Cornea remembers of the image is forgotten.
  void write_foreign_features(Id image, const ForeignFeatures& features);
  // Whether the image has exactly these.
  bool has_features(Id image, const ForeignFeatures& features) const;
  bool says_type_of_descriptors() const { return descriptors_have_type_; }
  // Here and below: DamagedRow where a blob is not as long as its row says.
  std::vector<Point> points(Id image) const;
  // The sizes of the points, pixels: the root of the area that the shape's unit square has. 0 where
  // keypoints have no shape.
  std::vector<float> scales(Id image) const;
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

  // Every pair that has a row in matches or in two_view_geometries, by rising id, without reading
  // what they hold.
  struct PairSummary {
    Id pair = 0;
    std::int64_t matches = 0, inliers = 0;
    Configuration configuration = Configuration::undefined;  // likewise without a geometry
  };
  std::vector<PairSummary> pair_summaries() const;

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
  // Pairs that were chosen from what this text says; empty where others are remembered, or none.
  std::optional<std::vector<Id>> chosen_pairs(const std::string& from) const;
  void write_chosen_pairs(const std::string& from, std::span<const Id> pairs);  // replaces all

  // Matches and geometries of all pairs of an image, of a pair, and the geometries of all pairs
  // that have matches.
  void delete_pairs_of(Id image);
  void delete_pair(Id pair_id);
  void delete_two_views_of_matches();
  // All matches and geometries, with the options that they were made with.
  void delete_all_pairs();
  const std::string& file() const { return file_; }
  Schema schema() const;

 private:
  friend class Statement;
  void run(const char* sql);
  void make_tables(Schema schema);
  bool check_tables();  // whether there are any
  void make_memory();   // the tables that COLMAP does not know
  bool has_memory() const;
  bool has_camera_memory() const;
  void delete_pose_prior(Id image);
  void use_log();
  void use_no_log();
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
