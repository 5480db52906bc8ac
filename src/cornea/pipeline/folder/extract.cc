#include "cornea/pipeline/folder/extract.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>

#include "cornea/core/error.h"
#include "cornea/core/reduce.h"
#include "cornea/core/stopwatch.h"
#include "cornea/export/colmap/camera.h"
#include "cornea/pipeline/folder/in_order.h"

namespace cornea {
namespace {

using namespace core;
using namespace folder;

namespace fs = std::filesystem;
using colmap::Camera;
using colmap::Database;
using colmap::Id;
using colmap::ImageRow;

bool is_image_name(const fs::path& file) {
  const std::string ending = extension_in_small_letters(file);
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".tif" ||
         ending == ".tiff";
}

// The sentence of an error, with the file in front once.
std::string naming(const fs::path& file, const std::exception& error) {
  const std::string sentence = error.what();
  const std::string front = file.string() + ": ";
  return sentence.starts_with(front) ? sentence : front + sentence;
}

// An error that no other image will escape.
bool ends_the_run(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  return known && (known->code() == ErrorCode::cuda || known->code() == ErrorCode::internal ||
                   known->code() == ErrorCode::device_unavailable);
}

// Threads that end with their owner, after `stop` was called.
class Team {
 public:
  explicit Team(std::function<void()> stop) : stop_(std::move(stop)) {}
  ~Team() {
    stop_();
    wait();
  }
  template <class F>
  void start(F&& f) {
    threads_.emplace_back(std::forward<F>(f));
  }
  void wait() {
    for (std::thread& t : threads_) {
      if (t.joinable()) t.join();
    }
  }

 private:
  std::function<void()> stop_;
  std::vector<std::thread> threads_;
};

class Extraction {
 public:
  Extraction(const Context& context, const fs::path& folder, Database& database,
             const ExtractOptions& options, const FolderEvents& events)
      : context_(context),
        folder_(folder),
        database_(database),
        options_(options),
        events_(events) {}

  ExtractReport run() {
    const Stopwatch watch;
    const FolderListing listing = list_images(folder_, options_.masks);
    report_.images = int(listing.names.size());
    find_pending(listing.names);
    events_.begin(int(pending_.size()));
    for (const std::string& sentence : listing.unreadable) fail_one(sentence);
    extract_pending();
    report_.milliseconds = watch.milliseconds();
    return report_;
  }

 private:
  static constexpr Id kNone = -1;
  struct Pending {
    std::string name;
    Id image = kNone;           // of the row without features that it has
    int width = 0, height = 0;  // of that row's camera
  };
  struct Decoded {
    Photograph photograph;
    Image<std::uint8_t> mask;
    Reduced reduced;    // both, as features are sought in them
    std::string error;  // empty: it could be read
    double milliseconds = 0;
  };
  // For the writer, who passes over one without features.
  struct Found {
    std::optional<Features> features;
    std::string name;
    Id image = kNone;  // none: a row is made, with this camera
    Camera camera;
  };

  int decoders() const {
    if (options_.decoders > 0) return options_.decoders;
    return context_.is_cuda() ? std::clamp(context_.threads(), 1, 8) : 1;
  }

  void fail_one(const std::string& sentence) {
    ++report_.failed;
    events_.report(sentence);
  }

  // What is in the folder and has no features.
  void find_pending(const std::vector<std::string>& names) {
    std::unordered_map<std::string, ImageRow> rows;
    for (const ImageRow& row : database_.images()) rows[row.name] = row;
    std::set<Id> done;
    for (const auto& [image, count] : database_.point_counts()) done.insert(image);
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
        pending_.push_back({name});
      } else if (done.contains(it->second.id)) {
        ++report_.skipped;
      } else {
        const Camera& camera = cameras[it->second.camera];
        pending_.push_back({name, it->second.id, camera.width, camera.height});
      }
    }
  }

  Decoded decode(const Pending& pending) const {
    const Stopwatch watch;
    const fs::path file = folder_ / pending.name;
    Decoded decoded;
    try {
      decoded.photograph = read_photograph(file, options_.reading);
      const GrayImage& image = decoded.photograph.image;
      decoded.mask = read_mask(pending.name, image.width(), image.height());
      decoded.reduced = Reduced(image.view(), decoded.mask, options_.max_size);
    } catch (const std::exception& error) {
      decoded.error = naming(file, error);
    }
    decoded.milliseconds = watch.milliseconds();
    return decoded;
  }

  Image<std::uint8_t> read_mask(const std::string& name, int width, int height) const {
    if (options_.masks.empty()) return {};
    const fs::path file = mask_of(options_.masks, name);
    if (!fs::exists(file)) return {};
    ReadOptions reading = options_.reading;
    reading.range = {};
    Image<std::uint8_t> mask = read_image<std::uint8_t>(file, reading);
    if (mask.width() != width || mask.height() != height) {
      fail(ErrorCode::invalid_argument, "the mask ", file.string(), " has ", mask.width(), " x ",
           mask.height(), " pixels and the image ", width, " x ", height, "; make them equal");
    }
    return mask;
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
    const Id shared_camera = shared_ ? shared_->id : kNone;
    writer.start([&, shared_camera] { write(results, shared_camera, lost); });
    {
      Team team([&] { pixels.stop(); });
      for (int i = 0; i < threads; ++i) {
        team.start([&] {
          while (const auto index = pixels.claim()) pixels.put(*index, decode(pending_[*index]));
        });
      }
      find_features(pixels, results);
    }
    writer.wait();
    if (lost) std::rethrow_exception(lost);
  }

  void find_features(InOrder<Decoded>& pixels, InOrder<Found>& results) {
    for (const Pending& pending : pending_) {
      const Stopwatch watch;
      const std::optional<Decoded> decoded = pixels.take();
      report_.waiting_milliseconds += watch.milliseconds();
      const auto slot = results.claim();
      if (!decoded || !slot) return;  // the writer gave up
      report_.decode_milliseconds += decoded->milliseconds;
      Found found;
      found.name = pending.name;
      found.image = pending.image;
      try {
        if (!decoded->error.empty()) fail(ErrorCode::io, decoded->error);
        found.camera = camera_of(pending, decoded->photograph);
        found.features = features_of(*decoded);
        if (options_.single_camera && !shared_) shared_ = found.camera;
        ++report_.extracted;
        report_.masked += !decoded->mask.empty();
        report_.twelve_bit += options_.reading.range.kind == PixelRange::Kind::automatic &&
                              decoded->photograph.image.range.has_value();
        report_.features += found.features->size();
      } catch (const std::exception& error) {
        if (ends_the_run(error)) throw;
        fail_one(naming(folder_ / pending.name, error));
      }
      results.put(*slot, std::move(found));
      events_.advance(1);
    }
  }

  // An error where the image cannot have the camera that it should have.
  Camera camera_of(const Pending& pending, const Photograph& photograph) const {
    const int width = photograph.image.width(), height = photograph.image.height();
    if (pending.image != kNone) {
      require_size(width, height, pending.width, pending.height, "its camera in the database",
                   "it changed, make a new database");
      return {};
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
        Database::Transaction transaction(database_);
        // Another run may have been here since.
        if (found->image == kNone)
          found->image = database_.image_named(found->name).value_or(kNone);
        if (found->image == kNone) {
          Id camera = shared_camera;
          if (camera == kNone && options_.single_camera) camera = camera_of_another_run(*found);
          if (camera == kNone) camera = database_.add_camera(found->camera);
          if (options_.single_camera) shared_camera = camera;
          found->image = database_.add_image(found->name, camera);
        }
        if (database_.has_points(found->image)) continue;
        database_.write_features(found->image, *found->features);
        transaction.commit();
        milliseconds += watch.milliseconds();
      }
    } catch (...) {
      lost = std::current_exception();
      results.stop();
    }
    report_.write_milliseconds = milliseconds;
  }

  // The single camera, where another run has made it since this one began; otherwise none. It is of
  // the same first image, unless only one of the runs could read that.
  Id camera_of_another_run(const Found& found) const {
    const std::vector<Camera> cameras = database_.cameras();
    if (cameras.empty()) return kNone;
    const Camera &mine = found.camera, &other = cameras.front();
    if (mine.width != other.width || mine.height != other.height) {
      fail(ErrorCode::io, database_.file(), ": another run has made a single camera of ",
           other.width, " x ", other.height, " pixels, and ", found.name, " has ", mine.width,
           " x ", mine.height, "; run the command again, it continues");
    }
    return other.id;
  }

  const Context& context_;
  const fs::path& folder_;
  Database& database_;
  const ExtractOptions& options_;
  const FolderEvents& events_;
  ExtractReport report_;
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

FolderListing list_images(const fs::path& folder, const fs::path& except) {
  std::error_code failed;
  FolderListing listing;
  if (!fs::is_directory(folder, failed)) {
    fail(ErrorCode::io, folder.string(), ": is no folder; name one that holds images");
  }
  require(except.empty() || !fs::equivalent(folder, except, failed), folder.string(),
          ": holds the images and cannot hold their masks; move those into a folder of their own");
  failed.clear();
  auto it = fs::recursive_directory_iterator(folder, failed);
  for (; !failed && it != fs::recursive_directory_iterator(); it.increment(failed)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) {
      std::error_code closed;
      const fs::directory_iterator opened(it->path(), closed);
      if (closed) {
        listing.unreadable.push_back(text(it->path().string(),
                                          ": is a folder that cannot be read (", closed.message(),
                                          "); check its permissions"));
      }
      if (closed || (!except.empty() && fs::equivalent(it->path(), except, ignored))) {
        it.disable_recursion_pending();
      }
      continue;
    }
    if (!is_image_name(it->path())) continue;
    // A link to nothing is an image that cannot be read, and is reported as one.
    const bool dangles = it->is_symlink(ignored) && !it->exists(ignored);
    if (!dangles && !it->is_regular_file(ignored)) continue;
    listing.names.push_back(it->path().lexically_relative(folder).generic_string());
  }
  if (failed) fail(ErrorCode::io, folder.string(), ": cannot be read (", failed.message(), ")");
  std::sort(listing.names.begin(), listing.names.end());
  return listing;
}

ExtractReport extract_folder(const Context& context, const fs::path& folder, Database& database,
                             const ExtractOptions& options, const FolderEvents& events) {
  options.validate();
  return Extraction(context, folder, database, options, events).run();
}

}  // namespace cornea
