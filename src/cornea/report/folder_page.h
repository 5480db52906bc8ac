// SPDX-License-Identifier: Apache-2.0
// The page that shows a folder of photographs and the pairs of them that share a geometry: the
// matrix of pairs, the view graph, its connected components, histograms, and a table that opens
// each pair with its inliers drawn. It needs neither network nor server: it is one HTML file for up
// to a few hundred images, and for more a small set of files beside it, which hold thumbnails and
// lines and are loaded on demand.
//
// Its text, style and behaviour are files that a designer can edit (page/folder.html, folder.css
// and the scripts), which share parts with those of the page of a pair (page.h). Only in builds
// with nlohmann-json (PAGES in the configure summary).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cornea/core/export.h"
#include "cornea/core/stage_time.h"
#include "cornea/geometry/two_view/two_view.h"

namespace cornea {

struct FolderPageImage {
  std::string name = {};      // any bytes; invalid UTF-8 is replaced
  int width = 0, height = 0;  // of the photograph, pixels; 0: not known
  int features = 0;
  // Index in FolderPage::components, set by find_components().
  int component = -1;
  std::vector<std::uint8_t> thumbnail = {};  // a JPEG file of the whole photograph; empty: none
  std::string problem = {};                  // why there is no thumbnail: "is not in the folder"
};

// A pair of images that was tried, whether or not it has a geometry.
struct CORNEA_API FolderPagePair {
  int first = 0, second = 0;  // indices in FolderPage::images, first < second
  int matches = 0, inliers = 0;
  // undefined: matched but not verified; degenerate: verified, without a geometry.
  Configuration kind = Configuration::undefined;
  // Median over the inliers, pixels: the sum of the distances of a match to both epipolar lines, or
  // the transfer error of the homography in both images. Negative: not known.
  float median_distance = -1;
  // Median angle between the two viewing rays of an inlier, degrees, which determines the accuracy
  // of depth. Negative: not known, because it requires cameras and a pose.
  float angle_degrees = -1;
  // x1, y1, x2, y2 in pixels of some inliers, for drawing.
  std::vector<std::array<float, 4>> lines = {};

  bool has_geometry() const {
    return kind != Configuration::undefined && kind != Configuration::degenerate && inliers > 0;
  }
  // Watermarks and time stamps are the same in every photograph, so they connect nothing.
  bool connects() const { return has_geometry() && kind != Configuration::watermark; }
};

// A connected component: images that are joined by pairs, directly or indirectly. An image without
// such a pair is a component of its own.
struct FolderPageComponent {
  int images = 0;
  int pairs = 0;
};

struct FolderPageWarning {
  std::string sentence = {};     // in plain words
  std::vector<int> images = {};  // the images concerned, if any
  bool serious = false;          // something is likely to be missing in a reconstruction
};

// Histogram of the distances of all inliers of the folder; the last bin holds everything beyond.
struct FolderPageDistances {
  float width = 0.1f;  // of a bin, pixels
  std::vector<std::int64_t> counts = {};
};

struct FolderPage {
  std::string title = {};  // name of the folder
  std::vector<FolderPageImage> images = {};
  std::vector<FolderPagePair> pairs = {};  // in ascending order of first and second
  // The number of pairs that were tried but are not in `pairs` because there are too many, and how
  // many of these have a geometry. Components and warnings take all pairs into account.
  std::int64_t further_pairs = 0, further_verified = 0;
  std::vector<FolderPageComponent> components = {};  // largest first
  FolderPageDistances distances = {};
  std::vector<FolderPageWarning> warnings = {};
  std::vector<StageTime> stages = {};
  std::vector<std::pair<std::string, std::string>> facts = {};  // what ran where: name and value
  std::string command = {};                                     // to repeat it in a shell
  std::string next = {};                                        // the next command to run, if any
  std::vector<std::string> files = {};  // files beside the page, which links to them
};

// Sets the components of the images and their list, from the pairs that connect(). The largest come
// first, ties in the order of their first image.
CORNEA_API void find_components(FolderPage& page);

// Warnings for the user, the serious ones first. Call it after find_components().
CORNEA_API std::vector<FolderPageWarning> folder_warnings(const FolderPage& page);

struct CORNEA_API FolderPageOptions {
  // Above this, thumbnails and lines are in further files.
  int most_images_in_one_file = 400;
  // Of lines in one file; beyond it pairs get fewer lines each.
  std::size_t most_line_bytes = 4000000;
  std::size_t most_part_bytes = 1500000;  // approximate size of a further file
  // Of lines in all further files; beyond it pairs get fewer lines each.
  std::size_t most_parts_bytes = 48000000;
  std::string parts_folder = "report_parts";  // the folder of further files, beside the page

  void validate() const;
};

struct FolderPageFile {
  std::string name = {};  // with '/' if it is in parts_folder
  std::string bytes = {};
};

// The first file is report.html; it works alone, and says so if the others are missing. The same
// page gives the same bytes.
CORNEA_API std::vector<FolderPageFile> folder_page(const FolderPage& page,
                                                   const FolderPageOptions& options = {});

}  // namespace cornea
