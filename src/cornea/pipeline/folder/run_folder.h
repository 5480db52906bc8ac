// SPDX-License-Identifier: Apache-2.0
// From a folder of photographs to a verified view graph: all steps in one call.
//
//   extract_folder  ->  choose_pairs  ->  match_all  ->  verify_all
//                       further_pairs  ->  match_all  ->  verify_all
//
// Each step skips what the database contains already, and the choice of pairs does not depend on
// that. So a run that was interrupted at any moment, even killed, is continued by the next and ends
// with the contents of an uninterrupted one. If all pairs are chosen, the contents are those of the
// three steps run one by one.
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
  // Used instead of those of the steps. `stop` checks matches and geometries too before anything is
  // written. Redo first deletes all matches and geometries that were made with other options,
  // including those of pairs that are not chosen now.
  Changed changed = Changed::stop;
  bool redo = false;

  void validate() const;
};

enum class FolderStage { extract, choose, match, verify, match_further, verify_further };
CORNEA_API std::string_view name(FolderStage stage);

// The work left after a stage has begun; an estimate until the pairs are chosen.
struct FolderAhead {
  std::int64_t matches = 0, geometries = 0;  // pairs of later stages
};

struct FolderRunEvents {
  // Called before the steps of a stage; `steps.begin` follows with their number.
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
  std::int64_t deleted = 0;  // pairs deleted at the beginning; those still chosen are made again

  // Totals of the database after the run.
  std::int64_t images = 0, features = 0;
  // Pairs with a row of matches, even an empty one; pairs with a geometry.
  std::int64_t tried = 0, verified = 0;
  std::int64_t matches = 0, inliers = 0;
  // The number of images of each connected component of the view graph, the largest first, and the
  // names of the images without any geometry.
  std::vector<int> components = {};
  std::vector<std::string> unconnected = {};
  double milliseconds = 0;  // the whole call

  std::int64_t further() const { return match_further.pairs; }  // pairs of the further round
  // Whether this run added or removed anything.
  bool did_something() const;
  // Photographs and pairs that failed. Each was reported, but for pairs of missing images, which
  // are only counted.
  std::int64_t failures() const;
};

CORNEA_API FolderReport run_folder(const Context& context, const std::filesystem::path& photographs,
                                   colmap::Database& database, const FolderOptions& options = {},
                                   const FolderRunEvents& events = {});

}  // namespace cornea
