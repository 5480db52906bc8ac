// SPDX-License-Identifier: Apache-2.0
// A COLMAP database: cameras, images, features, matches and two-view geometries in one SQLite file.
//
// The layout is that of COLMAP 3.8 (PRAGMA user_version 3800). Newer versions, including 4.x, open
// it and add the tables and columns they need. Databases made by them are accepted as well, and
// images added to them get the rigs and frames that 4.x requires. The layout of 4.2.1 (4020100) is
// created on request.
//
//   cameras              model, size, parameters as doubles; SIMPLE_RADIAL (2): f, cx, cy, k
//   images               name with '/', relative to the folder of images; camera
//   keypoints            N x 6 float32: x, y and the shape s [cos a, -sin a; sin a, cos a], or the
//                        frame of an ellipse (affine_frame())
//   descriptors          N x 128 uint8
//   matches              N x 2 uint32 indices of keypoints, by pair_id
//   two_view_geometries  the inliers among the matches, in the same form; the configuration; F, E
//                        and H row-major; the pose as a unit quaternion w, x, y, z and a
//                        translation
//
//   pose_priors          since 3.10: GPS position of a camera; since 4.0: direction of gravity
//
//   COLMAP ignores these:
//
//   cornea_images        what Cornea's features were extracted from (records.h)
//
//   cornea_steps         the options that matches and geometries were made with
//
//   cornea_choice        the pairs that were chosen to be matched (only if the choice takes long)
//
//   cornea_cameras       which images share a camera (only if some do)
//
//   pair_id = 2147483647 image_id1 + image_id2, image_id1 < image_id2
//
// In COLMAP the centre of the first pixel is (0.5, 0.5), in Cornea (0, 0), and the orientation bins
// of a descriptor are in reverse order. Points, F, H and descriptors are in Cornea's conventions
// here; the parameters of cameras are COLMAP's. Blobs are little-endian; unset values and blobs
// without rows are NULL.
//
// Every change is part of a transaction. A process that is killed leaves the database as it was
// after its last commit (SQLite's write-ahead log). A power failure may also undo the last commits;
// the file stays intact.
//
// Only in builds with SQLite (kHasSqlite). A Database must be used by one thread at a time.
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
#include "cornea/export/colmap/records.h"
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

// The models that Cornea supports (intrinsics.h); COLMAP has more.
enum class CameraModel {
  simple_pinhole = 0,
  pinhole = 1,
  simple_radial = 2,
  radial = 3,
  opencv = 4
};
struct Camera {
  Id id = 0;  // assigned by the database
  int model = int(CameraModel::simple_radial);
  int width = 0, height = 0;
  std::vector<double> params = {};
  bool prior_focal_length = false;  // known, not guessed
};

// What is known of the pose of an image before any reconstruction.
struct PosePrior {
  std::optional<std::array<double, 3>> position = {};  // WGS 84: latitude, longitude, altitude (m)
  std::optional<std::array<double, 3>> gravity = {};   // direction of gravity in camera coordinates
};

// The tables of a new database.
enum class Schema { colmap_3_8, colmap_4 };  // user_version 3800; 4020100, of 4.2.1

struct ImageRow {
  Id id = 0;
  std::string name = {};
  Id camera = 0;
};

// A match: the index of a feature of the first image and of one of the second.
struct IndexPair {
  std::uint32_t first = 0, second = 0;
  friend bool operator==(const IndexPair&, const IndexPair&) = default;
};

struct Point {
  float x = 0, y = 0;
};

// The configuration of a row of two_view_geometries.
using Configuration = cornea::Configuration;

struct TwoViewRow {
  Configuration configuration = Configuration::undefined;
  std::vector<IndexPair> inliers = {};
  std::optional<std::array<double, 9>> F = {}, H = {};  // row-major, x2^T F x1 = 0, x2 ~ H x1
  std::optional<std::array<double, 9>> E = {};  // x2^T E x1 = 0 for rays in camera coordinates
  // COLMAP's cam2_from_cam1, X2 = R X1 + t in camera coordinates; both or neither are set.
  std::optional<std::array<double, 9>> R = {};
  std::optional<std::array<double, 3>> t = {};
  // Cameras estimated from the pair itself, whose focal lengths differ from those in the table of
  // cameras; COLMAP's mapper starts with them. Unset if the cameras were given.
  std::optional<Camera> camera1 = {}, camera2 = {};
};

// Features of another program, in COLMAP's layout.
struct ForeignFeatures {
  // 2: x, y; 4: also scale and angle; 6: x, y and an affine frame
  int columns = 2;
  std::vector<float> keypoints = {};  // row-major; the centre of the first pixel is (0.5, 0.5)
  int descriptor_bytes = 0;           // size of one descriptor; 0: no descriptors
  std::vector<std::uint8_t> descriptors = {};
  int descriptor_type = 0;  // 0: SIFT; others are COLMAP 4's; -1: unknown to COLMAP
  std::size_t size() const { return keypoints.size() / std::size_t(columns); }
};

// A row with invalid contents; other rows of the database may be intact.
class CORNEA_API DamagedRow : public Error {
 public:
  explicit DamagedRow(const std::string& sentence) : Error(ErrorCode::io, sentence) {}
};

class CORNEA_API Database {
 public:
  // finished: read-only, and no process writes to it any more. No lock is taken and no file is
  // created beside it, so it may be on a network mount, where SQLite's locks do not work. scratch:
  // a new file that no other process uses and that is worthless until it is complete. The disk is
  // not waited for, and everything is in this one file once the object is destroyed.
  enum class Open { existing, create, finished, scratch };
  // An error that names the file if it is missing (unless it may be created), is not a COLMAP
  // database, or has another schema than the one asked for. If `schema` is unset, an existing
  // schema is kept and a new database gets that of 3.8.
  explicit Database(const std::filesystem::path& file, Open how = Open::existing,
                    std::optional<Schema> schema = {});
  ~Database();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;

  // Changes are kept as a whole by commit(), and discarded without it.
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

  // In the order of their ids. Images whose ids do not fit into a pair_id, and cameras whose
  // parameters are not a whole number of doubles, are an error. If `refused` is given, they are
  // left out instead, each with a sentence there that begins with its name.
  std::vector<Camera> cameras(std::vector<std::string>* refused = nullptr) const;
  std::vector<ImageRow> images(std::vector<std::string>* refused = nullptr) const;
  Id add_camera(const Camera& camera);  // its id is ignored
  void replace_camera(Id camera, const Camera& by);
  // Uses the next free id unless one is given.
  Id add_image(const std::string& name, Id camera, std::optional<Id> id = {});
  // The cameras that several images share, by the text that these images have in common; if several
  // cameras have the same text, the one with the lowest id. A camera has one text, which is deleted
  // with the camera.
  std::map<std::string, Id> camera_groups() const;
  void write_camera_group(Id camera, const std::string& common);
  void forget_camera_group(Id camera);

  // Whether there is a table of pose priors. Its columns depend on the version.
  bool has_pose_priors() const;
  // Replaces a prior from GPS or gravity; a prior in Cartesian coordinates, which a user provided,
  // is kept. An empty prior removes the row. Does nothing if there is no such table. Returns
  // whether a row was written.
  bool write_pose_prior(Id image, const PosePrior& prior);

  std::optional<Id> image_named(const std::string& name) const;
  // Deletes the image with its features, pairs and record, and its camera if no other image uses
  // that.
  void delete_image(Id image);

  // The number of points of each image with a row of keypoints, in ascending order of ids.
  // `refused` as above; only images() reports impossible image ids.
  struct FeatureCount {
    Id image = 0;
    int count = 0;
  };
  std::vector<FeatureCount> point_counts(std::vector<std::string>* refused = nullptr) const;
  bool has_points(Id image) const;
  // The same for images that also have descriptors. An error if those are not SIFT's.
  std::vector<FeatureCount> descriptor_counts(std::vector<std::string>* refused = nullptr) const;
  // Replaces existing features.
  void write_features(Id image, const Features& features);
  // Stores the bytes unchanged. Descriptors that are not SIFT's need a database with a column for
  // their type (Schema::colmap_4). Cornea's record of the image is deleted.
  void write_foreign_features(Id image, const ForeignFeatures& features);
  // Whether the image has exactly these features.
  bool has_features(Id image, const ForeignFeatures& features) const;
  bool says_type_of_descriptors() const { return descriptors_have_type_; }
  // This function and those below throw DamagedRow if a blob does not have the length that its row
  // says.
  std::vector<Point> points(Id image) const;
  // The sizes of the points in pixels: sqrt |det| of the shape. 0 if the keypoints have no
  // shape.
  std::vector<float> scales(Id image) const;
  // Appends count x 128 bytes and returns the count.
  int read_descriptors(Id image, std::vector<std::uint8_t>& out) const;

  // Pair ids in first..last, inclusive, that have a row in matches.
  std::vector<Id> matched_pairs(Id first, Id last) const;
  // The first index of a match is of a feature of pair.first. The database has the lower id first
  // and gets the matches in that order.
  void write_matches(ImagePair pair, std::span<const IndexPair> matches);
  std::vector<IndexPair> matches(Id pair_id) const;

  // Matched pairs without a two-view geometry: their number, and those in first..last, inclusive.
  std::int64_t unverified_count() const;
  std::vector<Id> unverified_pairs(Id first, Id last) const;
  // Of these, the pairs that do not name two images of the database with the lower id first: their
  // number, and the first `most` of them.
  std::int64_t unverifiable_count() const;
  std::vector<Id> unverifiable_pairs(int most) const;
  // Values that the database has no column for are left out: camera1 and camera2 are new in 4.2.
  void write_two_view(Id pair_id, const TwoViewRow& row);
  std::optional<TwoViewRow> two_view(Id pair_id) const;

  // All pairs with a row in matches or in two_view_geometries, in ascending order of ids, without
  // reading their blobs.
  struct PairSummary {
    Id pair = 0;
    std::int64_t matches = 0, inliers = 0;
    Configuration configuration = Configuration::undefined;  // undefined also without a geometry
  };
  std::vector<PairSummary> pair_summaries() const;

  // The number of rows of one of the six tables.
  std::int64_t count(const std::string& table) const;
  // Changes after every change made through another connection.
  std::int64_t data_version() const;
  // The sum of the row counts stored in keypoints, descriptors, matches or two_view_geometries.
  std::int64_t total(const std::string& table) const;

  // Visits the records of images whose number of points is still the recorded one, in ascending
  // order of ids; `visit` must not change the database.
  void visit_records(const std::function<void(const ImageRecord&)>& visit) const;
  void write_record(const ImageRecord& record);  // replaces the record of the image
  // The distinct options of all records, as text.
  std::vector<std::string> options_of_images() const;
  // The options, as text, that the rows of matches ("match") or two_view_geometries ("verify") were
  // made with.
  std::vector<std::string> options_of_step(const std::string& step) const;
  void add_options_of_step(const std::string& step, const std::string& options);
  void forget_options_of_step(const std::string& step);
  // The pairs that were chosen from the inputs described by this text; nullopt if another choice
  // or none is stored.
  std::optional<std::vector<Id>> chosen_pairs(const std::string& from) const;
  // Replaces any stored choice.
  void write_chosen_pairs(const std::string& from, std::span<const Id> pairs);

  // Delete matches and geometries: of all pairs of an image; of one pair; and the geometries of all
  // pairs that have matches.
  void delete_pairs_of(Id image);
  void delete_pair(Id pair_id);
  void delete_two_views_of_matches();
  // Deletes all matches and geometries, with the options that they were made with.
  void delete_all_pairs();
  const std::string& file() const { return file_; }
  Schema schema() const;

 private:
  friend class Statement;
  void run(const char* sql);
  // Unless another process has made them meanwhile.
  void make_tables(Schema schema);
  bool check_tables();  // whether there are any
  void require_schema(std::optional<Schema> wanted) const;
  void make_record_tables();  // creates Cornea's own tables
  bool has_records() const;
  bool has_camera_records() const;
  void delete_pose_prior(Id image);
  void use_log();
  void use_no_log();
  bool finds(const char* sql) const;  // whether the query returns a row
  Id rig_of(Id camera);               // in COLMAP 4.x
  void delete_frame_of(Id image);     // in COLMAP 4.x
  void delete_camera_unless_used(Id camera);
  void find_two_view_columns();

  std::string file_;
  bool descriptors_have_type_ = false;
  bool images_have_frames_ = false;
  std::vector<std::string> two_view_columns_ = {};  // those that only some versions have
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace cornea::colmap
