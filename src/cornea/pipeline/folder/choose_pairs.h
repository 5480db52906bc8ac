// Which pairs of the images of a COLMAP database are matched.
//
//   all          every image with every other: n (n - 1) / 2 pairs
//   sequential   each image with the `overlap` after it in the order of names, as
//                MatchAllOptions::sequential
//   retrieve     each image with those that look most like it (retrieve/retrieve.h), by words that
//                are learned from the same images; the `retrieve_features` largest of each count
//   spatial      each image with the `nearest` ones within `max_metres`, by the GPS position in
//                EXIF, along the Earth's surface; images without a position have no pairs
//   listed       those of a file (read_pair_list of match_all.h)
//   automatic    all up to `all_up_to` images; above that those of retrieve, and the neighbours in
//                the sequences that names or times suggest
//
// A sequence by names: images of one folder, prefix and ending, as frame_0010.jpg, frame_0020.jpg,
// ..., at least three, of whose steps from one number to the next at least half are equal. Two of
// them are neighbours where they are at most `overlap` places apart, and their numbers at most
// `overlap` such steps. A sequence by times: photographs of one make and model in the order in
// which they were taken (EXIF), each at most a minute after the one before; neighbours are at most
// `overlap` places apart.
//
// After these pairs are verified one further round tries the neighbours of neighbours
// (further_pairs).
//
// The choice is a function of the images, their features and the options: not of the pairs that are
// matched already, the device, the number of threads, or the order in which images came. One that
// took long, of retrieve, spatial and automatic, is remembered in the database (cornea_choice) with
// what it was made of, and made again where that is different.
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
  // Of automatic: 19,900 pairs at most, the number at which COLMAP's automatic_reconstructor too
  // leaves exhaustive matching.
  int all_up_to = 200;
  int overlap = 10;  // of sequences, images; COLMAP's
  RetrieveOptions retrieve = {};
  int retrieve_features = 2000;     // per image; 0: all
  int nearest = 50;                 // of spatial, images; COLMAP's
  double max_metres = 100;          // likewise
  std::filesystem::path list = {};  // of listed
  // Of the further round: the pairs that each image may ask for. 0: no such round.
  int further = 10;

  void validate() const;
};

struct CORNEA_API ChosenPairs {
  PairChoice choice = PairChoice::automatic;  // what automatic came to: all or retrieve
  int images = 0;                             // with features
  // By rising pair_id, each once, the lower id first. Of `all` they are left out: there are too
  // many of them, and match_all() takes them by itself.
  std::vector<colmap::ImagePair> pairs = {};
  std::int64_t count = 0;                 // of them, those of `all` too
  int without_position = 0;               // of spatial: images
  std::vector<std::string> refused = {};  // PairList::refused
  bool remembered = false;                // by an earlier run
  bool stopped = false;                   // by FolderEvents::stop: there are no pairs then
  double milliseconds = 0;
};

// `photographs` is the folder of the images of which the database does not know where they are.
CORNEA_API ChosenPairs choose_pairs(const Context& context,
                                    const std::filesystem::path& photographs,
                                    colmap::Database& database,
                                    const ChoosePairsOptions& options = {},
                                    const FolderEvents& events = {});

// The neighbours of neighbours: pairs a, c that were not chosen, where an image b has a geometry
// with both. Geometries count where the pair is among `chosen`, with or without those that later
// pairs got, so that the round is the same however often a run is stopped. The images that b joins
// are the 50 that share most inliers with it (ties: the lower id). A pair's score is the sum over
// all such b of the smaller number of inliers of a, b and b, c; each image asks for the `further`
// pairs of the highest score (ties: the lower id of the other image), and a pair is tried that one
// of its images asks for. None where `chosen` are all, or were listed or sequential: then
// exactly those are wanted.
CORNEA_API std::vector<colmap::ImagePair> further_pairs(const colmap::Database& database,
                                                        const ChosenPairs& chosen,
                                                        const ChoosePairsOptions& options = {});

}  // namespace cornea
