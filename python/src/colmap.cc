// SPDX-License-Identifier: Apache-2.0
// Collections: extract, match and verify in a COLMAP database, with callbacks for progress and
// cancellation.
#include <algorithm>
#include <exception>
#include <optional>

#include "binding.h"
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#if CORNEA_HAS_SQLITE
#include "tables.h"

#include "cornea/catalog/detectors.h"
#include "cornea/catalog/estimators.h"
#include "cornea/colmap.h"
#endif

namespace cornea::python {

#if CORNEA_HAS_SQLITE
namespace {

using namespace nb::literals;

// Calls Python from a run that does not hold the GIL. An exception in a callback, including Ctrl-C,
// ends the run between two steps and is rethrown afterwards; completed work is kept.
class PythonEvents {
 public:
  // progress(done, total), note(sentence), and cancel(), which returns a true value to end early;
  // each may be None.
  PythonEvents(nb::handle progress, nb::handle note, nb::handle cancel)
      : progress_(progress), note_(note), cancel_(cancel) {
    events.begin = [this](int total) { guarded([&] { total_ = total, tell(); }); };
    events.advance = [this](int count) { guarded([&] { done_ += count, tell(); }); };
    events.report = events.note = [this](const std::string& sentence) {
      guarded([&] {
        if (!note_.is_none()) note_(sentence);
      });
    };
    events.stop = [this] {
      bool stop = false;
      guarded([&] {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!cancel_.is_none()) stop = is_true(cancel_());
      });
      return stop || failed_;
    };
  }
  PythonEvents(const PythonEvents&) = delete;
  PythonEvents& operator=(const PythonEvents&) = delete;

  FolderEvents events;

  // Call it with the GIL, after the run.
  void throw_on() {
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  static bool is_true(const nb::object& answer) {
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) throw nb::python_error();
    return truth == 1;
  }
  void tell() {
    if (!progress_.is_none()) progress_(done_, total_);
  }
  template <class Call>
  void guarded(const Call& call) {
    const nb::gil_scoped_acquire acquire;
    if (failed_) return;
    try {
      call();
    } catch (...) {
      failed_ = std::current_exception();
    }
  }

  nb::handle progress_, note_, cancel_;
  int done_ = 0, total_ = 0;
  std::exception_ptr failed_;
};

Changed changed_from(const std::string& name) {
  require(name == "stop" || name == "redo" || name == "keep",
          "changed is 'stop', 'redo' or 'keep', not '", name, "'");
  return name == "redo" ? Changed::redo : name == "keep" ? Changed::keep : Changed::stop;
}

CameraSharing sharing_from(const std::string& name) {
  if (name == "auto") return CameraSharing::automatic;
  if (name == "single") return CameraSharing::single;
  if (name == "per-folder") return CameraSharing::per_folder;
  require(name == "per-image", "cameras is 'auto', 'single', 'per-folder' or 'per-image', not '",
          name, "'");
  return CameraSharing::per_image;
}

std::optional<colmap::Schema> schema_from(const std::string& name) {
  if (name.empty()) return std::nullopt;
  require(name == "3.8" || name == "4", "schema is '3.8' or '4', not '", name, "'");
  return name == "4" ? colmap::Schema::colmap_4 : colmap::Schema::colmap_3_8;
}

template <class Run>
auto with_database(const std::filesystem::path& file, colmap::Database::Open how,
                   PythonEvents& events, const Run& run,
                   std::optional<colmap::Schema> schema = {}) {
  const auto report = [&] {
    nb::gil_scoped_release release;
    colmap::Database database(file, how, schema);
    return run(database);
  }();
  events.throw_on();
  return report;
}

nb::dict extract(const Context& context, const std::filesystem::path& database,
                 const std::filesystem::path& folder, const Settings& sift,
                 const std::filesystem::path& masks, const std::string& cameras,
                 const std::string& camera_model, const std::vector<double>& camera_params,
                 const std::string& schema, int max_size, int decoders, const std::string& changed,
                 bool redo, bool automatic_range, nb::handle progress, nb::handle note,
                 nb::handle cancel) {
  ExtractOptions options;
  options.sift = sift_options(sift, folder_sift_options());
  options.masks = masks;
  options.cameras = sharing_from(cameras);
  if (!camera_model.empty()) {
    options.camera_model = colmap::model_named(camera_model);
    require(options.camera_model.has_value(),
            "camera_model is SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL or OPENCV, not ",
            camera_model);
  }
  options.camera_params = camera_params;
  options.max_size = max_size;
  options.decoders = decoders;
  options.changed = changed_from(changed);
  options.redo = redo;
  if (automatic_range) options.reading.range.kind = PixelRange::Kind::automatic;
  options.validate();
  PythonEvents events(progress, note, cancel);
  const ExtractReport r = with_database(
      database, colmap::Database::Open::create, events,
      [&](colmap::Database& open) {
        return extract_folder(context, folder, open, options, events.events);
      },
      schema_from(schema));
  nb::dict d;
  d["images"] = r.images;
  d["extracted"] = r.extracted;
  d["redone"] = r.redone;
  d["skipped"] = r.skipped;
  d["failed"] = r.failed;
  d["masked"] = r.masked;
  d["changed"] = r.changed;
  d["vanished"] = r.vanished;
  d["removed"] = r.removed;
  d["elsewhere"] = r.elsewhere;
  d["other_cameras"] = r.other_cameras;
  d["pose_priors"] = r.pose_priors;
  d["unrecorded"] = r.unrecorded;
  d["ignored"] = r.ignored;
  d["stopped"] = r.stopped;
  d["twelve_bit"] = r.twelve_bit;
  d["features"] = r.features;
  d["milliseconds"] = r.milliseconds;
  return d;
}

nb::dict match_database(const Context& context, const std::filesystem::path& database,
                        const Settings& match, int sequential, const std::filesystem::path& pairs,
                        const std::string& changed, bool redo, nb::handle progress, nb::handle note,
                        nb::handle cancel) {
  MatchAllOptions options;
  options.match = options_from<MatchOptions>(match, "the matcher");
  options.sequential = sequential;
  options.listed = !pairs.empty();
  options.changed = changed_from(changed);
  options.redo = redo;
  options.validate();
  PythonEvents events(progress, note, cancel);
  std::size_t refused = 0;
  const MatchAllReport r = with_database(database, colmap::Database::Open::existing, events,
                                         [&](colmap::Database& open) {
                                           if (options.listed) {
                                             PairList list = read_pair_list(pairs, open);
                                             for (const std::string& sentence : list.refused)
                                               events.events.note(sentence);
                                             refused = list.refused.size();
                                             options.pairs = std::move(list.pairs);
                                           }
                                           return match_all(context, open, options, events.events);
                                         });
  nb::dict d;
  d["images"] = r.images;
  d["pairs"] = r.pairs;
  d["matched"] = r.matched;
  d["skipped"] = r.skipped;
  d["missing"] = r.missing;
  d["refused"] = refused;
  d["redone"] = r.redone;
  d["bad_images"] = r.bad_images;
  d["stopped"] = r.stopped;
  d["matches"] = r.matches;
  d["milliseconds"] = r.milliseconds;
  return d;
}

// `shared` are the options that F, E and H have in common, as in the program's `verify`.
TwoViewOptions two_view_from(Settings shared) {
  TwoViewOptions options = folder_two_view_options();
  const auto given = [&](const char* name, auto set) {
    const auto found = shared.find(name);
    if (found == shared.end()) return;
    // Parsed with the table of F, which has all of them.
    set(fundamental_options({{found->first, found->second}}));
    shared.erase(found);
  };
  const auto threshold = [&](const FundamentalOptions& o) {
    options.fundamental.threshold = options.essential.threshold = o.threshold;
    if (o.threshold > 0) options.homography.threshold = 2 * o.threshold;
  };
  const auto all = [&](auto member_of) {
    member_of(options.fundamental), member_of(options.essential), member_of(options.homography);
  };
  require(!shared.contains("threshold") || !shared.contains("threshold-per-line"),
          "threshold_per_line is half of the threshold; give one of the two");
  given("threshold", threshold);
  given("threshold-per-line", threshold);
  given("confidence",
        [&](const FundamentalOptions& o) { all([&](auto& to) { to.confidence = o.confidence; }); });
  given("max-hypotheses", [&](const FundamentalOptions& o) {
    all([&](auto& to) { to.max_hypotheses = o.max_hypotheses; });
  });
  given("seed", [&](const FundamentalOptions& o) { all([&](auto& to) { to.seed = o.seed; }); });
  if (!shared.empty()) {
    fail(ErrorCode::invalid_argument, "verify has no option ",
         catalog::option_name(shared.begin()->first));
  }
  return options;
}

nb::dict verify(const Context& context, const std::filesystem::path& database,
                const Settings& shared, int min_inliers, bool use_cameras, bool detect_watermark,
                const std::string& changed, bool redo, nb::handle progress, nb::handle note,
                nb::handle cancel) {
  VerifyOptions options;
  options.two_view = two_view_from(shared);
  options.min_inliers = min_inliers;
  options.use_cameras = use_cameras;
  options.detect_watermark = detect_watermark;
  options.changed = changed_from(changed);
  options.redo = redo;
  options.validate();
  PythonEvents events(progress, note, cancel);
  const VerifyReport r = with_database(
      database, colmap::Database::Open::existing, events,
      [&](colmap::Database& open) { return verify_all(context, open, options, events.events); });
  nb::dict kinds;
  for (int kind = int(Configuration::degenerate); kind <= int(Configuration::watermark); ++kind) {
    std::string key(name(Configuration(kind)));
    std::replace(key.begin(), key.end(), ' ', '_');
    kinds[nb::cast(key)] = r.of(Configuration(kind));
  }
  nb::dict d;
  d["pairs"] = r.pairs;
  d["verified"] = r.done();
  d["skipped"] = r.skipped;
  d["missing"] = r.missing;
  d["redone"] = r.redone;
  d["bad"] = r.bad;
  d["bad_images"] = r.bad_images;
  d["bad_cameras"] = r.bad_cameras;
  d["stopped"] = r.stopped;
  d["configurations"] = kinds;
  d["with_cameras"] = r.with_cameras;
  d["guessed_cameras"] = r.guessed_cameras;
  d["unread_cameras"] = r.unread_cameras;
  d["inliers"] = r.inliers;
  d["milliseconds"] = r.milliseconds;
  return d;
}

}  // namespace

void bind_colmap(nb::module_& m) {
  m.def("colmap_extract", &extract, "context"_a, "database"_a, "folder"_a, "sift"_a, "masks"_a,
        "cameras"_a, "camera_model"_a, "camera_params"_a, "schema"_a, "max_size"_a, "decoders"_a,
        "changed"_a, "redo"_a, "automatic_range"_a, "progress"_a.none(), "note"_a.none(),
        "cancel"_a.none());
  m.def("colmap_match", &match_database, "context"_a, "database"_a, "match"_a, "sequential"_a,
        "pairs"_a, "changed"_a, "redo"_a, "progress"_a.none(), "note"_a.none(), "cancel"_a.none());
  m.def("colmap_verify", &verify, "context"_a, "database"_a, "shared"_a, "min_inliers"_a,
        "use_cameras"_a, "detect_watermark"_a, "changed"_a, "redo"_a, "progress"_a.none(),
        "note"_a.none(), "cancel"_a.none());
  m.attr("EXTRACT_MAX_SIZE") = ExtractOptions().max_size;
  m.attr("VERIFY_MIN_INLIERS") = VerifyOptions().min_inliers;
}
#else
// The Python side notices that these functions are missing and reports what to install.
void bind_colmap(nb::module_&) {}
#endif

}  // namespace cornea::python
