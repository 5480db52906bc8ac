// A folder of photographs into a verified graph of views: all steps in one call.
//
//   extract_folder  ->  choose_pairs  ->  match_all  ->  verify_all
//                       further_pairs  ->  match_all  ->  verify_all
//
// Each step leaves alone what the database holds already, and which pairs are chosen does not
// depend on that: a run that was stopped at any moment, however hard, is continued by the next, and
// ends with the contents of an undisturbed one. For all pairs these are the contents that the three
// steps give one by one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/match/match.h"
#include "cornea/pipeline/folder/choose_pairs.h"
#include "cornea/pipeline/folder/events.h"
#include "cornea/pipeline/folder/extract.h"
#include "cornea/pipeline/folder/match_all.h"
#include "cornea/pipeline/folder/verify.h"

namespace cornea {

struct CORNEA_API FolderOptions {
  ExtractOptions extract = {};
  ChoosePairsOptions pairs = {};
  MatchOptions match = {};
  VerifyOptions verify = {};
  // In the place of those of the steps. `stop` looks at matches and geometries too before anything
  // is written. To make them again deletes all matches and geometries first where they are of other
  // options, those of pairs that are not chosen now as well.
  Changed changed = Changed::stop;
  bool redo = false;

  void validate() const;
};

enum class FolderStage { extract, choose, match, verify, match_further, verify_further };
CORNEA_API std::string_view name(FolderStage stage);

// What is left to do after a stage has begun; estimated where the pairs are not yet chosen.
struct FolderAhead {
  std::int64_t matches = 0, geometries = 0;  // pairs, of later stages
};

struct FolderRunEvents {
  // Before the steps of a stage; `steps.begin` follows with their number.
  std::function<void(FolderStage stage, const FolderAhead& ahead)> stage =
      [](FolderStage, const FolderAhead&) {};
  FolderEvents steps = {};
};

struct CORNEA_API FolderReport {
  ExtractReport extract = {};
  ChosenPairs chosen = {};
  MatchAllReport match = {}, match_further = {};
  VerifyReport verify = {}, verify_further = {};
  bool stopped = false;                        // by FolderEvents::stop, before all was done
  FolderStage reached = FolderStage::extract;  // the last stage that began

  // What the database holds now.
  std::int64_t images = 0, features = 0;
  std::int64_t tried = 0, verified = 0;  // pairs with matches, be they none; with a geometry
  std::int64_t matches = 0, inliers = 0;
  // Images of each component, the largest first, of those that share a geometry; and the names of
  // the images that share none.
  std::vector<int> components = {};
  std::vector<std::string> unconnected = {};
  double milliseconds = 0;  // the whole call

  std::int64_t further() const { return match_further.pairs; }  // pairs of the further round
  // Whether this run added or removed anything.
  bool did_something() const;
  // Photographs and pairs that could not be done, each of which was reported.
  std::int64_t failures() const;
};

CORNEA_API FolderReport run_folder(const Context& context, const std::filesystem::path& photographs,
                                   colmap::Database& database, const FolderOptions& options = {},
                                   const FolderRunEvents& events = {});

}  // namespace cornea
