#include "cornea/pipeline/folder/extract.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "cornea/core/error.h"
#include "cornea/core/naming.h"
#include "cornea/core/stopwatch.h"
#include "cornea/export/colmap/camera.h"
#include "cornea/pipeline/folder/changes.h"
#include "cornea/pipeline/folder/in_order.h"
#include "cornea/pipeline/folder/options_text.h"
#include "cornea/pipeline/folder/photograph.h"
#include "cornea/pipeline/folder/team.h"

namespace cornea {
namespace {

using namespace core;
using namespace folder;

namespace fs = std::filesystem;
using colmap::Camera;
using colmap::Database;
using colmap::Id;
using colmap::ImageRecord;
using colmap::ImageRow;

// An error that no other image will escape.
bool ends_the_run(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  return known && (known->code() == ErrorCode::cuda || known->code() == ErrorCode::internal ||
                   known->code() == ErrorCode::device_unavailable);
}

class Extraction {
 public:
  Extraction(const Context& context, const fs::path& folder, Database& database,
             const ExtractOptions& options, const FolderEvents& events)
      : context_(context),
        folder_(folder),
        database_(database),
        options_(options),
        events_(events),
        options_text_(options_text(options)) {}

  ExtractReport run() {
    const Stopwatch watch;
    const FolderListing listing = list_images(folder_, options_.masks);
    report_.images = int(listing.names.size());
    report_.ignored = int(listing.ignored.size());
    look_for_changes(listing.names);
    if (!report_.stopped) find_pending(listing.names);
    events_.begin(int(pending_.size()));
    for (const std::string& sentence : listing.unreadable) fail_one(sentence);
    extract_pending();
    report_.milliseconds = watch.milliseconds();
    return report_;
  }

 private:
  // For the writer, who passes over one without features.
  struct Found {
    std::optional<Features> features;
    ImageRecord record;  // of no image: a row is made, with this camera
    Camera camera;       // with an id: it replaces the one of that id, which has another size
    bool again = false;
  };

  int decoders() const {
    if (options_.decoders > 0) return options_.decoders;
    return context_.is_cuda() ? std::clamp(context_.threads(), 1, 8) : 1;
  }

  void fail_one(const std::string& sentence) {
    ++report_.failed;
    events_.report(sentence);
  }

  // Stops or goes on as asked where images are not what their features were made of, or have
  // features of other options.
  void look_for_changes(const std::vector<std::string>& names) {
    version_ = database_.data_version();
    const std::vector<std::string> there = database_.options_of_images();
    known_options_.insert(there.begin(), there.end());
    changes_ = find_changes(folder_, names, database_, options_, events_.stop);
    report_.stopped = events_.stop();
    report_.changed = int(changes_.changed.size());
    report_.vanished = int(changes_.vanished.size());
    report_.elsewhere = int(changes_.elsewhere.size());
    for (const std::string& sentence : changes_.sentences) events_.note(sentence);
    const int unsaid = changes_.count() - int(changes_.sentences.size());
    if (unsaid > 0 && !options_.redo) events_.note(text("and ", unsaid, " more"));
    if (report_.stopped) return;
    if (changes_.count() > 0 && !redoes() && options_.changed == Changed::stop) {
      fail(ErrorCode::io, database_.file(), ": ", changes_.counts(),
           ", and nothing was written; changed = redo extracts what changed again and removes what "
           "is gone, changed = keep leaves all as it is");
    }
    remember_what_moved();
    if (redoes()) remove_vanished();
  }

  bool redoes() const { return options_.redo || options_.changed == Changed::redo; }

  void remember_what_moved() {
    if (changes_.moved.empty()) return;
    Database::Transaction transaction(database_);
    for (const ImageRecord& record : changes_.moved) database_.write_record(record);
    transaction.commit();
  }

  void remove_vanished() {
    if (changes_.vanished.empty()) return;
    Database::Transaction transaction(database_);
    for (const ImageRecord& record : changes_.vanished) database_.delete_image(record.image);
    transaction.commit();
    report_.removed = report_.vanished;
  }

  bool is_to_be_redone(const std::string& name) const {
    return options_.redo || (options_.changed == Changed::redo && changes_.changed.contains(name));
  }

  // What is in the folder and has no features, or is to have others.
  void find_pending(const std::vector<std::string>& names) {
    std::unordered_map<std::string, ImageRow> rows;
    std::unordered_map<Id, int> users;
    for (const ImageRow& row : database_.images()) {
      rows[row.name] = row;
      ++users[row.camera];
    }
    std::set<Id> done;
    std::vector<std::string> damaged;  // these are not done, whatever there is of them
    for (const auto& [image, count] : database_.point_counts(&damaged)) done.insert(image);
    // After the images, so that the camera of one that another run has just written is among them.
    std::unordered_map<Id, Camera> cameras;
    for (const Camera& camera : database_.cameras()) cameras[camera.id] = camera;
    if (options_.single_camera && cameras.size() > 1) {
      fail(ErrorCode::invalid_argument, database_.file(), ": has ", cameras.size(),
           " cameras; leave single_camera off, or begin a new database");
    }
    if (options_.single_camera && !cameras.empty()) shared_ = cameras.begin()->second;
    for (const std::string& name : names) {
      const auto it = rows.find(name);
      if (it == rows.end()) {
        pending_.push_back({name, folder_});
        continue;
      }
      if (done.contains(it->second.id) && !is_to_be_redone(name)) {
        ++report_.skipped;
        report_.unrecorded += !changes_.recorded.contains(name);
        report_.masked += changes_.masked.contains(name);
        continue;
      }
      const Id camera = it->second.camera;
      const bool has_points = database_.has_points(it->second.id);
      pending_.push_back(
          {name, folder_, it->second.id, cameras[camera], has_points, users[camera] > 1});
    }
    if (!redoes()) return;
    for (const ImageRecord& record : changes_.elsewhere) {
      const auto it = rows.find(record.name);
      if (it == rows.end() || it->second.id != record.image) continue;  // removed since
      const Id camera = it->second.camera;
      pending_.push_back({record.name, record.folder, record.image, cameras[camera], true,
                          users[camera] > 1, record.mask.has_value()});
    }
  }

  // Kept by size: on CUDA a change of size costs more than a frame.
  Sift& sift_for(int width, int height) {
    const std::size_t most = context_.is_cuda() ? 2 : 1;
    const std::pair size(width, height);
    for (auto it = sifts_.begin(); it != sifts_.end(); ++it) {
      if (it->first != size) continue;
      std::rotate(sifts_.begin(), it, it + 1);
      return *sifts_.front().second;
    }
    if (most == 1 && !sifts_.empty()) {
      sifts_.front().first = size;
      return *sifts_.front().second;
    }
    while (sifts_.size() >= most) sifts_.pop_back();
    sifts_.insert(sifts_.begin(), {size, std::make_unique<Sift>(context_, options_.sift)});
    return *sifts_.front().second;
  }

  void extract_pending() {
    if (pending_.empty()) return;
    const int threads = decoders();
    InOrder<Decoded> pixels(pending_.size(), std::size_t(threads) + 1);
    InOrder<Found> results(pending_.size(), 3);
    std::exception_ptr lost;  // why nothing more can be written
    Team writer([&] { results.stop(); });
    const Id shared_camera = shared_ ? shared_->id : kNoImage;
    writer.start([&, shared_camera] { write(results, shared_camera, lost); });
    {
      Team team([&] { pixels.stop(); });
      for (int i = 0; i < threads; ++i) {
        team.start([&] {
          while (const auto index = pixels.claim())
            pixels.put(*index, decode(pending_[*index], options_));
        });
      }
      find_features(pixels, results);
    }
    writer.wait();
    if (lost) std::rethrow_exception(lost);
  }

  void find_features(InOrder<Decoded>& pixels, InOrder<Found>& results) {
    for (const Pending& pending : pending_) {
      report_.stopped = events_.stop();
      if (report_.stopped) return results.finish();
      const Stopwatch watch;
      const std::optional<Decoded> decoded = pixels.take();
      report_.waiting_milliseconds += watch.milliseconds();
      const auto slot = results.claim();
      if (!decoded || !slot) return;  // the writer gave up
      report_.decode_milliseconds += decoded->milliseconds;
      Found found;
      found.record = {pending.image, pending.name,       canonical_name(pending.folder),
                      decoded->file, decoded->mask_file, options_text_};
      found.again = pending.again;
      try {
        if (!decoded->error.empty()) fail(ErrorCode::io, decoded->error);
        found.camera = camera_of(pending, decoded->photograph);
        found.features = features_of(*decoded);
        if (options_.single_camera && !shared_) shared_ = found.camera;
        found.record.features = std::int64_t(found.features->size());
        ++report_.extracted;
        report_.redone += pending.again;
        report_.masked += !decoded->mask.empty();
        report_.twelve_bit += options_.reading.range.kind == PixelRange::Kind::automatic &&
                              decoded->photograph.image.range.has_value();
        report_.features += found.features->size();
      } catch (const std::exception& error) {
        if (ends_the_run(error)) throw;
        fail_one(naming(pending.file().string(), error.what()));
      }
      results.put(*slot, std::move(found));
      events_.advance(1);
    }
  }

  // An error where the image cannot have the camera that it should have.
  Camera camera_of(const Pending& pending, const Photograph& photograph) const {
    const int width = photograph.image.width(), height = photograph.image.height();
    if (pending.image != kNoImage) {
      const Camera& own = pending.camera;
      if (own.width == width && own.height == height) return {};
      if (pending.again && !pending.shares && !options_.single_camera) {
        Camera other = colmap::camera_of_image(width, height, photograph.exif);
        other.id = own.id;
        return other;
      }
      require_size(width, height, own.width, own.height, "its camera in the database",
                   "give the file another name, so that it gets a camera of its own");
    }
    if (shared_) {
      require_size(width, height, shared_->width, shared_->height, "the single camera",
                   "leave single_camera off");
      return *shared_;
    }
    return colmap::camera_of_image(width, height, photograph.exif);
  }

  static void require_size(int width, int height, int camera_width, int camera_height,
                           const char* camera, const char* remedy) {
    if (width == camera_width && height == camera_height) return;
    fail(ErrorCode::io, "has ", width, " x ", height, " pixels and ", camera, " ", camera_width,
         " x ", camera_height, "; ", remedy);
  }

  Features features_of(const Decoded& decoded) {
    const Stopwatch watch;
    const AnyView image = decoded.reduced.image();
    Features features;
    sift_for(image.width(), image.height()).detect(image, features, decoded.reduced.mask());
    decoded.reduced.to_given(features.keypoints);
    report_.compute_milliseconds += watch.milliseconds();
    return features;
  }

  // On a thread of its own: an image with its camera and features is one transaction.
  void write(InOrder<Found>& results, Id shared_camera, std::exception_ptr& lost) {
    double milliseconds = 0;
    try {
      while (auto found = results.take()) {
        if (!found->features) continue;
        const Stopwatch watch;
        write_one(*found, shared_camera);
        milliseconds += watch.milliseconds();
      }
    } catch (...) {
      lost = std::current_exception();
      results.stop();
    }
    report_.write_milliseconds = milliseconds;
  }

  void write_one(Found& found, Id& shared_camera) {
    Database::Transaction transaction(database_);
    if (options_.redo || options_.changed != Changed::keep) expect_known_options();
    Id& image = found.record.image;
    // Another run may have been here since.
    if (image == kNoImage) image = database_.image_named(found.record.name).value_or(kNoImage);
    if (image == kNoImage) {
      Id camera = shared_camera;
      if (camera == kNoImage && options_.single_camera) camera = camera_of_another_run(found);
      if (camera == kNoImage) camera = database_.add_camera(found.camera);
      if (options_.single_camera) shared_camera = camera;
      image = database_.add_image(found.record.name, camera);
    }
    if (found.again) {
      if (found.camera.id != 0) database_.replace_camera(found.camera.id, found.camera);
      database_.delete_pairs_of(image);
    } else if (database_.has_points(image)) {
      return;
    }
    database_.write_features(image, *found.features);
    database_.write_record(found.record);
    transaction.commit();
  }

  // Another run may have begun since, with other options than this one and all that it found.
  void expect_known_options() {
    const std::int64_t version = database_.data_version();
    if (std::exchange(version_, version) == version) return;
    for (const std::string& options : database_.options_of_images()) {
      if (options == options_text_ || known_options_.contains(options)) continue;
      fail(ErrorCode::io, database_.file(), ": another run extracts into it with other options (",
           options_difference(options, options_text_),
           "); let it end, and run the command again, which says what to do");
    }
  }

  // The single camera, where another run has made it since this one began; otherwise none. It is of
  // the same first image, unless only one of the runs could read that.
  Id camera_of_another_run(const Found& found) const {
    const std::vector<Camera> cameras = database_.cameras();
    if (cameras.empty()) return kNoImage;
    const Camera &mine = found.camera, &other = cameras.front();
    if (mine.width != other.width || mine.height != other.height) {
      fail(ErrorCode::io, database_.file(), ": another run has made a single camera of ",
           other.width, " x ", other.height, " pixels, and ", found.record.name, " has ",
           mine.width, " x ", mine.height, "; run the command again, it continues");
    }
    return other.id;
  }

  const Context& context_;
  const fs::path& folder_;
  Database& database_;
  const ExtractOptions& options_;
  const FolderEvents& events_;
  const std::string options_text_;
  ExtractReport report_;
  FolderChanges changes_;
  std::set<std::string> known_options_;  // that images had when this run began
  std::int64_t version_ = 0;             // of the database when options were last looked at
  std::vector<Pending> pending_;
  std::optional<Camera> shared_;  // where there is a single camera: that one, once it is known
  std::vector<std::pair<std::pair<int, int>, std::unique_ptr<Sift>>> sifts_;
};

}  // namespace

SiftOptions folder_sift_options() {
  SiftOptions options;
  options.contrast = 0.02;
  options.orientations = 2;
  options.root = true;
  options.max_points = 8192;
  return options;
}

void ExtractOptions::validate() const {
  sift.validate();
  check_max_size(max_size);
  require(decoders >= 0 && decoders <= 64, "decoders are 0 (as many as suit) to 64, not ",
          decoders);
  require(masks.empty() || fs::is_directory(masks), masks.string(), ": is no folder of masks");
}

double ExtractReport::decode_share() const {
  const double all = decode_milliseconds + compute_milliseconds + write_milliseconds;
  return all > 0 ? decode_milliseconds / all : 0;
}

fs::path mask_of(const fs::path& masks, const std::string& name) { return masks / (name + ".png"); }

ExtractReport extract_folder(const Context& context, const fs::path& folder, Database& database,
                             const ExtractOptions& options, const FolderEvents& events) {
  options.validate();
  return Extraction(context, folder, database, options, events).run();
}

}  // namespace cornea
