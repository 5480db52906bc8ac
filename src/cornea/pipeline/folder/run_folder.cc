// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/run_folder.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/pipeline/folder/collection.h"
#include "cornea/pipeline/folder/earlier_options.h"
#include "cornea/pipeline/folder/options_text.h"
#include "cornea/pipeline/folder/view_graph.h"

namespace cornea {
namespace {

using namespace core;
using namespace folder;

namespace fs = std::filesystem;
using colmap::Database;
using colmap::Id;

class FolderRun {
 public:
  FolderRun(const Context& context, const fs::path& photographs, Database& database,
            const FolderOptions& options, const FolderRunEvents& events)
      : context_(context),
        photographs_(photographs),
        database_(database),
        options_(options),
        events_(events) {}

  FolderReport run() {
    const Stopwatch watch;
    stop_for_other_options();
    do_stages();
    look_at_result();
    report_.milliseconds = watch.milliseconds();
    return std::move(report_);
  }

 private:
  // Each stage is followed by a return if it was stopped.
  void do_stages() {
    extract();
    if (report_.stopped) return;
    begin_anew();
    choose();
    if (report_.stopped) return;
    report_.match = match(FolderStage::match, report_.chosen);
    if (report_.stopped) return;
    report_.verify = verify(FolderStage::verify);
    if (report_.stopped) return;
    further_ = report_.chosen;
    further_.pairs = further_pairs(database_, report_.chosen, options_.pairs);
    further_.count = std::int64_t(further_.pairs.size());
    if (further_.pairs.empty()) return;
    report_.match_further = match(FolderStage::match_further, further_);
    if (report_.stopped) return;
    report_.verify_further = verify(FolderStage::verify_further);
  }

  bool differs(const char* step, const char* table, const std::string& now) const {
    return database_.count(table) > 0 && !earlier_options(database_, step, now).empty();
  }

  // Checks this first, rather than after an hour of reading photographs.
  void stop_for_other_options() const {
    if (options_.redo || options_.changed != Changed::stop) return;
    const auto check = [&](const char* step, const char* table, const std::string& now) {
      redo_for_options(database_, database_.count(table), earlier_options(database_, step, now),
                       Changed::stop, events_.steps);
    };
    check("match", "matches", options_text(options_.match));
    check("verify", "two_view_geometries", options_text(options_.verify));
  }

  // Deletes all matches and geometries, because options are recorded for all pairs together.
  void begin_anew() {
    const bool other_matches = options_.changed == Changed::redo &&
                               differs("match", "matches", options_text(options_.match));
    if (!options_.redo && !other_matches) return;
    Database::Transaction transaction(database_);
    report_.deleted = std::int64_t(database_.pair_summaries().size());
    database_.delete_all_pairs();
    transaction.commit();
  }

  void begin(FolderStage stage, std::int64_t pairs) {
    report_.reached = stage;
    FolderAhead ahead;
    if (stage < FolderStage::match) {
      ahead.matches = std::max<std::int64_t>(0, pairs - database_.count("matches"));
    }
    if (stage != FolderStage::verify && stage != FolderStage::verify_further) {
      // The pairs of the further round have no geometry yet; the table holds the first round's.
      const std::int64_t done =
          stage == FolderStage::match_further ? 0 : database_.count("two_view_geometries");
      ahead.geometries = std::max<std::int64_t>(0, pairs - done);
    }
    events_.stage(stage, ahead);
  }

  void extract() {
    const auto images =
        std::int64_t(list_images(photographs_, options_.extract.masks).names.size());
    begin(FolderStage::extract, folder::expected_pairs(options_.pairs, images));
    ExtractOptions options = options_.extract;
    options.changed = options_.changed;
    options.redo = options_.redo;
    report_.extract = extract_folder(context_, photographs_, database_, options, events_.steps);
    report_.stopped = report_.extract.stopped;
  }

  void choose() {
    begin(FolderStage::choose,
          folder::expected_pairs(options_.pairs, database_.count("keypoints")));
    report_.chosen = choose_pairs(context_, photographs_, database_, options_.pairs, events_.steps);
    for (const std::string& sentence : report_.chosen.refused) events_.steps.report(sentence);
    report_.stopped = report_.chosen.stopped;
  }

  // Events of a step that is run for the first and for the further pairs: what fails in both is
  // reported once.
  FolderEvents steps() {
    FolderEvents events = events_.steps;
    events.report = [this](const std::string& sentence) {
      if (reported_.insert(sentence).second) events_.steps.report(sentence);
    };
    return events;
  }

  MatchAllReport match(FolderStage stage, const ChosenPairs& chosen) {
    begin(stage, chosen.count);
    MatchAllOptions options{.match = options_.match, .changed = options_.changed};
    options.listed = chosen.choice != PairChoice::all;
    options.pairs = chosen.pairs;
    MatchAllReport done = match_all(context_, database_, options, steps());
    report_.stopped = done.stopped;
    return done;
  }

  VerifyReport verify(FolderStage stage) {
    begin(stage, 0);
    VerifyOptions options = options_.verify;
    options.changed = options_.changed;
    options.redo = false;  // begin_anew() deleted the geometries that are made again
    FolderEvents events = steps();
    if (stage == FolderStage::verify_further && options.changed == Changed::keep) {
      events.note = [](const std::string&) {};  // notes were already given in the first round
    }
    VerifyReport done = verify_all(context_, database_, options, events);
    report_.stopped = done.stopped;
    return done;
  }

  void look_at_result() {
    std::vector<std::string> refused;
    std::vector<Id> images;
    std::unordered_map<Id, std::string> names;
    for (colmap::ImageRow& row : database_.images(&refused)) {
      images.push_back(row.id);
      names[row.id] = std::move(row.name);
    }
    report_.images = std::int64_t(images.size());
    report_.features = database_.total("keypoints");
    report_.tried = database_.count("matches");
    report_.matches = database_.total("matches");
    report_.inliers = database_.total("two_view_geometries");
    const std::vector<Edge> edges = edges_of(database_);
    report_.verified = std::int64_t(edges.size());
    for (const std::vector<Id>& component : components_of(images, edges)) {
      if (component.size() > 1) {
        report_.components.push_back(int(component.size()));
      } else {
        report_.unconnected.push_back(names[component.front()]);
      }
    }
    std::sort(report_.unconnected.begin(), report_.unconnected.end());
  }

  const Context& context_;
  const fs::path& photographs_;
  Database& database_;
  const FolderOptions& options_;
  const FolderRunEvents& events_;
  FolderReport report_;
  ChosenPairs further_;
  std::set<std::string> reported_;  // sentences of steps that are run twice
};

}  // namespace

std::string_view name(FolderStage stage) {
  switch (stage) {
    case FolderStage::extract:
      return "extract";
    case FolderStage::choose:
      return "choose";
    case FolderStage::match:
      return "match";
    case FolderStage::verify:
      return "verify";
    case FolderStage::match_further:
      return "match_further";
    case FolderStage::verify_further:
      return "verify_further";
  }
  return "";
}

void FolderOptions::validate() const {
  extract.validate();
  pairs.validate();
  match.validate();
  verify.validate();
}

bool FolderReport::did_something() const {
  return extract.extracted > 0 || extract.removed > 0 || deleted > 0 || match.matched > 0 ||
         match_further.matched > 0 || verify.done() > 0 || verify_further.done() > 0;
}

std::int64_t FolderReport::failures() const {
  const VerifyReport& last = reached == FolderStage::verify_further ? verify_further : verify;
  return extract.failed + std::int64_t(chosen.refused.size()) + match.missing + match.bad_images +
         last.missing + last.bad + last.bad_images + last.bad_cameras;
}

FolderReport run_folder(const Context& context, const fs::path& photographs, Database& database,
                        const FolderOptions& options, const FolderRunEvents& events) {
  options.validate();
  return FolderRun(context, photographs, database, options, events).run();
}

}  // namespace cornea
