// SPDX-License-Identifier: Apache-2.0
// The page that shows two photographs and the geometry between them: one HTML file that needs
// nothing else, neither network nor server.
//
// Its text, style and behaviour are files that a designer can edit (page/page.html, page.css and
// the scripts); the build embeds them in the library. The code fills them with data: photographs as
// JPEG previews, points as numbers, names and sentences escaped for their context. Only in builds
// with nlohmann-json (PAGES in the configure summary).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/core/stage_time.h"
#include "cornea/geometry/two_view/essential.h"
#include "cornea/geometry/two_view/fundamental.h"

namespace cornea {

struct PagePhotograph {
  std::string name = {};  // any bytes; invalid UTF-8 is replaced
  HostView<const Rgb<std::uint8_t>> pixels = {};
  std::span<const Keypoint> points = {};
};

// The cameras and the triangulated points, for the view in three dimensions.
struct PagePose {
  std::array<double, 9> E = {}, R = {};  // as in EssentialResult
  std::array<double, 3> t = {};
  IntrinsicsPair cameras = {};
  std::span<const std::array<float, 3>> points = {};  // of the matches; 0, 0, 0: none
  // Whether the page's F relates undistorted pixels: it was computed from E, and a lens has
  // distortion.
  bool of_undistorted = false;
  // About the baseline, in plain words.
  std::string sentence = {};
  std::vector<std::pair<std::string, std::string>> facts = {};  // rotation, translation, ...
};

struct PairPage {
  PagePhotograph first = {}, second = {};
  std::span<const Match> matches = {};
  const FundamentalResult* geometry = nullptr;  // of the matches
  std::span<const float> distances = {};        // of the matches, pixels; empty if there is no F
  float threshold = 0;                          // of an inlier's distance; 0: not shown
  std::optional<PagePose> pose = {};            // if the cameras are known
  std::string sentence = {};                    // what the result means, in plain words
  bool notice = false;                          // show the sentence as a warning
  std::vector<StageTime> stages = {};
  std::vector<std::pair<std::string, std::string>> facts = {};  // what ran where: name and value
  std::string command = {};                                     // to repeat it in a shell
  std::vector<std::string> files = {};  // files beside the page, which links to them
};

struct CORNEA_API PageOptions {
  int longest_side = 2000;  // of a preview, pixels
  // of the page; previews get the bytes that the numbers leave
  std::size_t most_bytes = 6000000;
  std::size_t most_matches = 40000;  // an even sample if there are more
  // points without a match, per image; an even sample if there are more
  std::size_t most_other_points = 8000;

  void validate() const;
};

CORNEA_API std::string pair_page(const Context& context, const PairPage& page,
                                 const PageOptions& options = {});

}  // namespace cornea
