// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/extract.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "cornea/core/error.h"
#include "cornea/core/naming.h"
#include "cornea/core/stopwatch.h"
#include "cornea/export/colmap/camera.h"
#include "cornea/pipeline/folder/camera_groups.h"
#include "cornea/pipeline/folder/changes.h"
#include "cornea/pipeline/folder/extract_listed.h"
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

// Whether an error will hit every other image too.
bool ends_the_run(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  return known && (known->code() == ErrorCode::cuda || known->code() == ErrorCode::internal ||
                   known->code() == ErrorCode::device_unavailable);
}

class Extraction {
 public:
  Extraction(const Context& context, const fs::path& folder, Database& database,
             const ExtractOptions& options, const FolderEvents& events,
             const ListedImages* listed = nullptr)
      : context_(context),
        folder_(folder),
        database_(database),
        options_(options),
        events_(events),
        listed_(listed),
        options_text_(options_text(options)) {}

  ExtractReport run() {
    const Stopwatch watch;
    const FolderListing listing = listing_of_images();
    groups_.emplace(options_, listing.names);
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
  FolderListing listing_of_images() const {
    if (!listed_) return list_images(folder_, options_.masks);
    FolderListing listing;
    listing.names.reserve(listed_->images().size());
    for (const ListedImages::Image& image : listed_->images()) listing.names.push_back(image.name);
    return listing;
  }

  // What the writer receives; it skips one without features.
  struct Found {
    std::optional<Features> features;
    ImageRecord record;  // without an image id: a new row is made, with this camera
    Camera camera;       // with an id: it replaces the camera of that id, which has another size
    // of the images that share this camera; empty if the camera is the image's own
    std::string group;
    colmap::PosePrior prior;
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

  // Stops or continues, as the options ask, if images have changed since their features were
  // extracted or have features of other options.
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
    // With `redo` all images are extracted again, and only those that are gone have a sentence.
    const int sayable = options_.redo ? report_.vanished + report_.elsewhere : changes_.count();
    const int unsaid = sayable - int(changes_.sentences.size());
    if (unsaid > 0) events_.note(text("and ", unsaid, " more"));
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

  // The images of the folder that have no features, or are to be extracted again.
  void find_pending(const std::vector<std::string>& names) {
    std::unordered_map<std::string, ImageRow> rows;
    std::unordered_map<Id, int> users;
    for (const ImageRow& row : database_.images()) {
      rows[row.name] = row;
      ++users[row.camera];
    }
    std::set<Id> done;
    std::vector<std::string> damaged;  // damaged rows count as not done
    for (const auto& [image, count] : database_.point_counts(&damaged)) done.insert(image);
    // Read cameras after images, so that the camera of an image that another run has just written
    // is included.
    std::unordered_map<Id, Camera> cameras;
    for (const Camera& camera : database_.cameras()) cameras[camera.id] = camera;
    cameras_version_ = database_.data_version();
    groups_->load(database_);
    std::unordered_set<std::string> skipped;
    for (const std::string& name : names) {
      const auto it = rows.find(name);
      if (it == rows.end()) {
        pending_.push_back({name, folder_});
        continue;
      }
      if (done.contains(it->second.id) && !is_to_be_redone(name)) {
        ++report_.skipped;
        skipped.insert(name);
        report_.unrecorded += !changes_.recorded.contains(name);
        report_.masked += changes_.masked.contains(name);
        continue;
      }
      const Id camera = it->second.camera;
      const bool has_points = database_.has_points(it->second.id);
      pending_.push_back(
          {name, folder_, it->second.id, cameras[camera], has_points, users[camera] > 1});
    }
    if (!skipped.empty()) note_other_cameras(skipped);
    if (!redoes()) return;
    for (const ImageRecord& record : changes_.elsewhere) {
      const auto it = rows.find(record.name);
      if (it == rows.end() || it->second.id != record.image) continue;  // removed since
      const Id camera = it->second.camera;
      pending_.push_back({record.name, record.folder, record.image, cameras[camera], true,
                          users[camera] > 1, record.mask.has_value()});
    }
  }

  void note_other_cameras(const std::unordered_set<std::string>& skipped) {
    report_.other_cameras = groups_->otherwise(database_, skipped);
    if (report_.other_cameras == 0) return;
    events_.note(text(database_.file(), ": ", report_.other_cameras,
                      report_.other_cameras == 1 ? " image that was there keeps a camera"
                                                 : " images that were there keep cameras",
                      " whose model, parameters or sharing differ from what is asked for; "
                      "begin a new database to apply the options to all images"));
  }

  // On CUDA the extractors of the last two sizes are kept, because a change of size costs more than
  // an image; on the CPU one extractor serves all sizes.
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
    std::exception_ptr lost;                           // why nothing more can be written
    CameraWriter cameras(*groups_, cameras_version_);  // outlives the writer's thread
    Team writer([&] { results.stop(); });
    writer.start([&] { write(results, cameras, lost); });
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
      found.record = {pending.image, pending.name,       folder_of_record(pending),
                      decoded->file, decoded->mask_file, options_text_};
      found.again = pending.again;
      try {
        if (!decoded->error.empty()) fail(ErrorCode::io, decoded->error);
        check_listed(pending.name, decoded->file);
        found.group = groups_->group_of(pending.name, decoded->photograph);
        found.camera = groups_->camera_for(pending, decoded->photograph, found.group);
        found.prior = colmap::pose_prior_of(decoded->photograph.exif);
        found.features = features_of(*decoded);
        groups_->take(found.group, found.camera);
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

  std::string folder_of_record(const Pending& pending) const {
    return listed_ ? listed_->folder() : canonical_name(pending.folder);
  }

  void check_listed(const std::string& name, const colmap::FileStamp& file) const {
    if (!listed_ || listed_->named(name).bytes == file.bytes) return;
    fail(ErrorCode::io, "has ", file.bytes, " bytes but had ", listed_->named(name).bytes,
         " when the folder was listed; put the file back, or list the folder again");
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

  // Runs on a thread of its own; each image with its camera and features is one transaction.
  void write(InOrder<Found>& results, CameraWriter& cameras, std::exception_ptr& lost) {
    double milliseconds = 0;
    int priors = 0;
    try {
      while (auto found = results.take()) {
        if (!found->features) continue;
        const Stopwatch watch;
        priors += write_one(*found, cameras);
        milliseconds += watch.milliseconds();
      }
    } catch (...) {
      lost = std::current_exception();
      results.stop();
    }
    report_.write_milliseconds = milliseconds;
    report_.pose_priors = priors;
  }

  // Returns whether a pose prior was written.
  bool write_one(Found& found, CameraWriter& cameras) {
    Database::Transaction transaction(database_);
    cameras.begin();
    if (options_.redo || options_.changed != Changed::keep) expect_known_options();
    Id& image = found.record.image;
    // Another run may have written this image since.
    if (image == kNoImage) image = database_.image_named(found.record.name).value_or(kNoImage);
    if (image == kNoImage) {
      const std::string& name = found.record.name;
      const std::optional<Id> id = listed_ ? std::optional(listed_->named(name).id) : std::nullopt;
      image = database_.add_image(
          name, cameras.camera_of(database_, name, found.group, found.camera), id);
    }
    if (found.again) {
      if (found.camera.id != 0) cameras.replace(database_, found.group, found.camera);
      database_.delete_pairs_of(image);
    } else if (database_.has_points(image)) {
      return false;
    }
    database_.write_features(image, *found.features);
    const bool prior = database_.write_pose_prior(image, found.prior);
    database_.write_record(found.record);
    transaction.commit();
    cameras.committed();
    return prior;
  }

  // Another run may have begun since, with options that neither this run nor the existing images
  // have.
  void expect_known_options() {
    const std::int64_t version = database_.data_version();
    if (std::exchange(version_, version) == version) return;
    for (const std::string& options : database_.options_of_images()) {
      if (options == options_text_ || known_options_.contains(options)) continue;
      fail(ErrorCode::io, database_.file(),
           ": another run is extracting into it with other options (",
           options_difference(options, options_text_),
           "); wait for it to end, then run the command again, which says what to do");
    }
  }

  const Context& context_;
  const fs::path& folder_;
  Database& database_;
  const ExtractOptions& options_;
  const FolderEvents& events_;
  const ListedImages* const listed_;
  const std::string options_text_;
  ExtractReport report_;
  FolderChanges changes_;
  std::set<std::string> known_options_;  // options that images had when this run began
  std::int64_t version_ = 0;             // data version when the options were last checked
  std::vector<Pending> pending_;
  std::optional<CameraGroups> groups_;
  std::int64_t cameras_version_ = 0;  // data version when the cameras were read
  std::vector<std::pair<std::pair<int, int>, std::unique_ptr<Sift>>> sifts_;
};

}  // namespace

ExtractReport extract_folder(const Context& context, const fs::path& folder, Database& database,
                             const ExtractOptions& options, const FolderEvents& events) {
  options.validate();
  options.validate_masks();
  return Extraction(context, folder, database, options, events).run();
}

ExtractReport folder::extract_listed(const Context& context, const fs::path& folder,
                                     Database& database, const ExtractOptions& options,
                                     const FolderEvents& events, const ListedImages& listed) {
  options.validate();
  options.validate_masks();
  return Extraction(context, folder, database, options, events, &listed).run();
}

}  // namespace cornea
