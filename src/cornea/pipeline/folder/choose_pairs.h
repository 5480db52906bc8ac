// SPDX-License-Identifier: Apache-2.0
// Chooses which pairs of the images of a COLMAP database are matched.
//
//   all          every image with every other: n (n - 1) / 2 pairs
//   sequential   each image with the `overlap` images after it in the order of names, as
//                MatchAllOptions::sequential
//   retrieve     each image with those that look most like it (retrieve/retrieve.h), by visual
//                words learned from the same images; uses the `retrieve_features` largest
//                features of each image
//   spatial      each image with the `nearest` ones within `max_metres`, by the GPS position in
//                EXIF without its altitude; images without a position have no pairs
//   listed       those of a file (read_pair_list of match_all.h)
//   automatic    all up to `all_up_to` images; above that those of retrieve, and the neighbours in
//                the sequences that names or times suggest
//
// A sequence by names consists of at least three images with the same folder, prefix and file
// ending, such as frame_0010.jpg, frame_0020.jpg, ..., in which at least half of the steps from one
// number to the next are equal. Two images are neighbours if they are at most `overlap` positions
// apart and their numbers differ by at most `overlap` such steps. A sequence by times consists of
// at least three photographs of one make and model (those without either count as one) in the order
// in which they were taken (EXIF; equal times: by name), each at most a minute after the previous
// one; neighbours are at most `overlap` positions apart.
//
// After these pairs are verified, one further round tries the neighbours of neighbours
// (further_pairs).
//
// The choice is a function of the images, their features and the options. It does not depend on the
// pairs that are already matched, the device, the number of threads, or the order in which images
// were added; further_pairs alone also depends on ids, which key the random samples of its
// geometries and order its ties. The choices that take long (retrieve, spatial,
// automatic) are stored in the database (cornea_choice) with a description of their inputs, and
// made again if these have changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/pipeline/folder/events.h"
#include "cornea/retrieve/retrieve.h"

namespace cornea {

enum class PairChoice { automatic, all, sequential, retrieve, spatial, listed };
CORNEA_API std::string_view name(PairChoice choice);

struct CORNEA_API ChoosePairsOptions {
  PairChoice choice = PairChoice::automatic;
  // For automatic: at most 19,900 pairs, the number above which COLMAP's automatic_reconstructor
  // stops exhaustive matching too.
  int all_up_to = 200;
  int overlap = 10;  // in sequences, images; as in COLMAP
  RetrieveOptions retrieve = {};
  int retrieve_features = 2000;     // per image; 0: all
  int nearest = 50;                 // for spatial, images; as in COLMAP
  double max_metres = 100;          // for spatial; as in COLMAP
  std::filesystem::path list = {};  // for listed
  // For the further round: the number of pairs that each image may propose. 0: no such round.
  int further = 10;

  void validate() const;
};

struct CORNEA_API ChosenPairs {
  PairChoice choice = PairChoice::automatic;  // automatic is resolved to all or retrieve
  int images = 0;                             // images with features
  // In ascending order of pair_id, each once, with the lower id first. Empty for `all`: these would
  // be too many, and match_all() enumerates them itself.
  std::vector<colmap::ImagePair> pairs = {};
  std::int64_t count = 0;                 // number of pairs, also for `all`
  int without_position = 0;               // for spatial: number of images; 0 if remembered
  std::vector<std::string> refused = {};  // PairList::refused
  bool remembered = false;                // the choice of an earlier run was reused
  bool stopped = false;                   // stopped by FolderEvents::stop; there are no pairs then
  double milliseconds = 0;
};

// `photographs` is the folder of those images whose folder the database does not know.
CORNEA_API ChosenPairs choose_pairs(const Context& context,
                                    const std::filesystem::path& photographs,
                                    colmap::Database& database,
                                    const ChoosePairsOptions& options = {},
                                    const FolderEvents& events = {});

// The neighbours of neighbours: pairs (a, c) that were not chosen, where an image b has a geometry
// with both. Only geometries of pairs in `chosen` count, so the round does not depend on how often
// a run was stopped. For each b, the 50 images that share most inliers with it are considered
// (ties: the lower id). The score of a pair is the sum over all such b of min(inliers of (a, b),
// inliers of (b, c)). Each image proposes its `further` pairs of highest score (ties: the lower id
// of the other image), and a pair is tried if either of its images proposes it. Empty if `chosen`
// are all, listed or sequential pairs: then exactly those are wanted.
CORNEA_API std::vector<colmap::ImagePair> further_pairs(const colmap::Database& database,
                                                        const ChosenPairs& chosen,
                                                        const ChoosePairsOptions& options = {});

}  // namespace cornea
