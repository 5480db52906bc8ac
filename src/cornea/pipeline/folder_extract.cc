#include "cornea/pipeline/folder_extract.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>

#include "cornea/core/error.h"
#include "cornea/export/colmap/camera.h"
#include "cornea/io/exif.h"
#include "cornea/pipeline/in_order.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using colmap::Camera;
using colmap::Database;
using colmap::Id;
using colmap::ImageRow;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

bool is_image_name(const fs::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".tif" ||
         ending == ".tiff";
}

// The sentence of an error, with the file in front once.
std::string naming(const fs::path& file, const std::exception& error) {
  const std::string sentence = error.what();
  return sentence.starts_with(file.string()) ? sentence : file.string() + ": " + sentence;
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

// What the header of a new image says.
struct Header {
  Camera camera;
  std::string error;  // empty: it could be read
};

std::vector<Header> read_headers(const fs::path& folder, const std::vector<std::string>& names,
                                 const ReadOptions& reading, int threads) {
  std::vector<Header> headers(names.size());
  std::atomic<std::size_t> next{0};
  auto read = [&] {
    for (std::size_t i; (i = next++) < names.size();) {
      const fs::path file = folder / names[i];
      try {
        const ImageFileInfo info = probe_image(file, reading);
        headers[i].camera = colmap::camera_of_image(info.width, info.height, read_exif(file));
      } catch (const std::exception& error) {
        headers[i].error = naming(file, error);
      }
    }
  };
  Team team([] {});
  for (int i = 1; i < threads && i < int(names.size()); ++i) team.start(read);
  read();
  team.wait();
  return headers;
}

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
    const auto begin = Clock::now();
    const std::vector<std::string> names = images_in(folder_);
    report_.images = int(names.size());
    add_new_images(names);
    find_pending(names);
    events_.begin(int(pending_.size()));
    for (const std::string& sentence : unreadable_) fail_image(sentence);
    extract_pending();
    report_.milliseconds = milliseconds_since(begin);
    return report_;
  }

 private:
  struct Pending {
    ImageRow row;
    int width, height;
  };
  struct Decoded {
    GrayImage image;
    Image<std::uint8_t> mask;
    std::string error;
    double milliseconds = 0;
  };
  static constexpr Id kNoImage = -1;  // of one that failed
  struct Found {
    Id image;
    Features features;
  };

  int decoders() const {
    if (options_.decoders > 0) return options_.decoders;
    return context_.is_cuda() ? std::clamp(context_.threads(), 1, 8) : 1;
  }

  void fail_image(const std::string& sentence) {
    ++report_.failed;
    events_.report(sentence);
  }

  // Rows for the images that have none yet. One that cannot be read gets none.
  void add_new_images(const std::vector<std::string>& names) {
    std::set<std::string> known;
    std::optional<Camera> shared;
    for (const ImageRow& row : database_.images()) known.insert(row.name);
    if (options_.single_camera) {
      const std::vector<Camera> cameras = database_.cameras();
      if (!cameras.empty()) shared = cameras.front();
    }
    std::vector<std::string> fresh;
    for (const std::string& name : names) {
      if (!known.contains(name)) fresh.push_back(name);
    }
    if (fresh.empty()) return;
    const std::vector<Header> headers =
        read_headers(folder_, fresh, options_.reading, context_.threads());
    Database::Transaction transaction(database_);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      if (!headers[i].error.empty()) {
        unreadable_.push_back(headers[i].error);
        continue;
      }
      const Camera& own = headers[i].camera;
      if (options_.single_camera && shared &&
          (own.width != shared->width || own.height != shared->height)) {
        unreadable_.push_back(text((folder_ / fresh[i]).string(), ": has ", own.width, " x ",
                                   own.height, " pixels, and the single camera ", shared->width,
                                   " x ", shared->height, "; leave --single-camera out"));
        continue;
      }
      Id camera;
      if (options_.single_camera && shared) {
        camera = shared->id;
      } else {
        camera = database_.add_camera(own);
        if (options_.single_camera) shared = own, shared->id = camera;
      }
      database_.add_image(fresh[i], camera);
    }
    transaction.commit();
  }

  void find_pending(const std::vector<std::string>& names) {
    std::unordered_map<Id, Camera> cameras;
    for (const Camera& camera : database_.cameras()) cameras[camera.id] = camera;
    std::map<std::string, ImageRow> rows;
    for (ImageRow& row : database_.images()) rows[row.name] = row;
    std::set<Id> done;
    for (const auto& [image, count] : database_.feature_counts()) done.insert(image);
    for (const std::string& name : names) {
      const auto it = rows.find(name);
      if (it == rows.end()) continue;
      const ImageRow& row = it->second;
      if (done.contains(row.id)) {
        ++report_.skipped;
      } else {
        pending_.push_back({row, cameras[row.camera].width, cameras[row.camera].height});
      }
    }
  }

  Decoded decode(const Pending& pending) const {
    const auto begin = Clock::now();
    const fs::path file = folder_ / pending.row.name;
    Decoded decoded;
    try {
      decoded.image = read_gray(file, options_.reading);
      const int width = decoded.image.width(), height = decoded.image.height();
      if (width != pending.width || height != pending.height) {
        fail(ErrorCode::io, file.string(), ": has ", width, " x ", height,
             " pixels and its camera in the database ", pending.width, " x ", pending.height,
             "; it changed, make a new database");
      }
      decoded.mask = mask_of(pending.row.name, width, height);
    } catch (const std::exception& error) {
      decoded.error = naming(file, error);
    }
    decoded.milliseconds = milliseconds_since(begin);
    return decoded;
  }

  Image<std::uint8_t> mask_of(const std::string& name, int width, int height) const {
    if (options_.masks.empty()) return {};
    const fs::path file = options_.masks / (name + ".png");
    if (!fs::exists(file)) return {};
    Image<std::uint8_t> mask = read_image<std::uint8_t>(file, options_.reading);
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
    writer.start([&] { write(results, lost); });
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
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const auto begin = Clock::now();
      std::optional<Decoded> decoded = pixels.take();
      report_.waiting_milliseconds += milliseconds_since(begin);
      const auto slot = results.claim();
      if (!decoded || !slot) return;  // the writer gave up
      report_.decode_milliseconds += decoded->milliseconds;
      Found found{kNoImage, {}};
      if (!decoded->error.empty()) {
        fail_image(decoded->error);
      } else if (extract(pending_[i], *decoded, found.features)) {
        found.image = pending_[i].row.id;
        ++report_.extracted;
        report_.features += found.features.size();
      }
      results.put(*slot, std::move(found));
      events_.advance(1);
    }
  }

  bool extract(const Pending& pending, const Decoded& decoded, Features& out) {
    const auto begin = Clock::now();
    try {
      const AnyView image = decoded.image.view();
      sift_for(image.width(), image.height()).detect(image, out, decoded.mask);
    } catch (const std::exception& error) {
      if (ends_the_run(error)) throw;
      fail_image(naming(folder_ / pending.row.name, error));
      return false;
    }
    report_.compute_milliseconds += milliseconds_since(begin);
    return true;
  }

  // On a thread of its own: an image is one transaction.
  void write(InOrder<Found>& results, std::exception_ptr& lost) {
    double milliseconds = 0;
    try {
      while (const auto found = results.take()) {
        if (found->image == kNoImage) continue;
        const auto begin = Clock::now();
        Database::Transaction transaction(database_);
        database_.write_features(found->image, found->features);
        transaction.commit();
        milliseconds += milliseconds_since(begin);
      }
    } catch (...) {
      lost = std::current_exception();
      results.stop();
    }
    report_.write_milliseconds = milliseconds;
  }

  const Context& context_;
  const fs::path& folder_;
  Database& database_;
  const ExtractOptions& options_;
  const FolderEvents& events_;
  ExtractReport report_;
  std::vector<std::string> unreadable_;
  std::vector<Pending> pending_;
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
  require(decoders >= 0 && decoders <= 64, "decoders are 0 (as many as suit) to 64, not ",
          decoders);
  require(masks.empty() || fs::is_directory(masks), masks.string(), ": is no folder of masks");
}

double ExtractReport::decode_share() const {
  const double all = decode_milliseconds + compute_milliseconds + write_milliseconds;
  return all > 0 ? decode_milliseconds / all : 0;
}

std::vector<std::string> images_in(const fs::path& folder) {
  std::error_code failed;
  std::vector<std::string> names;
  if (!fs::is_directory(folder, failed)) {
    fail(ErrorCode::io, folder.string(), ": is no folder; name one that holds images");
  }
  auto it = fs::recursive_directory_iterator(folder, failed);
  for (; !failed && it != fs::recursive_directory_iterator(); it.increment(failed)) {
    std::error_code ignored;
    if (!is_image_name(it->path())) continue;
    // A link to nothing is an image that cannot be read, and is reported as one.
    const bool dangles = it->is_symlink(ignored) && !it->exists(ignored);
    if (!dangles && !it->is_regular_file(ignored)) continue;
    names.push_back(it->path().lexically_relative(folder).generic_string());
  }
  if (failed) fail(ErrorCode::io, folder.string(), ": cannot be read (", failed.message(), ")");
  std::sort(names.begin(), names.end());
  return names;
}

ExtractReport extract_folder(const Context& context, const fs::path& folder, Database& database,
                             const ExtractOptions& options, const FolderEvents& events) {
  options.validate();
  return Extraction(context, folder, database, options, events).run();
}

}  // namespace cornea
