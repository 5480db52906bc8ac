// The page that shows a folder of photographs and the pairs of them that share a geometry: the
// matrix of pairs, the graph, what hangs together and what does not, histograms, and a table that
// opens each pair with its inliers drawn. It needs nothing else, neither network nor server: one
// HTML file for up to a few hundred images, and for more a small set of files beside it, which
// hold thumbnails and lines and are read when they are asked for.
//
// Its text, style and behaviour are files that a designer can edit (page/folder.html, folder.css
// and the scripts), which share their parts with those of the page of a pair (page.h). Only in
// builds with nlohmann-json (PAGES in the configure summary).
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
  std::string name = {};      // any bytes; what is not UTF-8 is replaced
  int width = 0, height = 0;  // pixels, of the photograph; 0: not known
  int features = 0;
  int component = -1;                        // of FolderPage::components; find_components() sets it
  std::vector<std::uint8_t> thumbnail = {};  // a JPEG file of the whole photograph; empty: none
  std::string problem = {};                  // why there is none: "is not in the folder"
};

// A pair of images that was tried, whether or not it has a geometry.
struct CORNEA_API FolderPagePair {
  int first = 0, second = 0;  // of FolderPage::images, first < second
  int matches = 0, inliers = 0;
  // undefined: matched and not verified; degenerate: verified, and there is no geometry.
  Configuration kind = Configuration::undefined;
  // Of the inliers, pixels: how far a match lies from both of its epipolar lines, or from where the
  // homography puts it in both images. Below 0: not known.
  float median_distance = -1;
  // Between the two rays of an inlier, the median, degrees: what depth rests on. Below 0: not
  // known, for it takes cameras and a pose.
  float angle_degrees = -1;
  // x1, y1, x2, y2 in pixels of some inliers, to be drawn.
  std::vector<std::array<float, 4>> lines = {};

  bool has_geometry() const {
    return kind != Configuration::undefined && kind != Configuration::degenerate && inliers > 0;
  }
  // Watermarks and time stamps are the same in every photograph: they join nothing.
  bool connects() const { return has_geometry() && kind != Configuration::watermark; }
};

// Images that are joined by pairs, in any number of steps; an image without such a pair is one by
// itself.
struct FolderPageComponent {
  int images = 0;
  int pairs = 0;
};

struct FolderPageWarning {
  std::string sentence = {};     // in plain words
  std::vector<int> images = {};  // that it speaks of, if any
  bool serious = false;          // something is likely to be missing from a reconstruction
};

// Distances of all inliers of the folder, in bars of one width; the last bar is of all beyond.
struct FolderPageDistances {
  float width = 0.1f;  // of a bar, pixels
  std::vector<std::int64_t> counts = {};
};

struct FolderPage {
  std::string title = {};  // the folder's name
  std::vector<FolderPageImage> images = {};
  std::vector<FolderPagePair> pairs = {};  // by rising first and second
  // Pairs that were tried and are not in `pairs`, for want of room; of these, with a geometry.
  // Components and warnings are of all pairs.
  std::int64_t further_pairs = 0, further_verified = 0;
  std::vector<FolderPageComponent> components = {};  // the largest first
  FolderPageDistances distances = {};
  std::vector<FolderPageWarning> warnings = {};
  std::vector<StageTime> stages = {};
  std::vector<std::pair<std::string, std::string>> facts = {};  // what ran where: name and value
  std::string command = {};                                     // to repeat it in a shell
  std::string next = {};                                        // the command to type next, if any
  std::vector<std::string> files = {};  // that lie beside the page, which links to them
};

// Sets the images' components and their list, from the pairs that connect(). The largest come
// first, equal ones in the order of their first image.
CORNEA_API void find_components(FolderPage& page);

// What a person should know before going on, most serious first: images that share no geometry with
// the rest, photographs that cannot be shown, few features, watermarks, pairs that were not
// verified. After find_components().
CORNEA_API std::vector<FolderPageWarning> folder_warnings(const FolderPage& page);

struct CORNEA_API FolderPageOptions {
  int most_images_in_one_file = 400;          // of more, thumbnails and lines lie in further files
  std::size_t most_line_bytes = 4000000;      // in one file; pairs get fewer lines each
  std::size_t most_part_bytes = 1500000;      // of a further file, about
  std::size_t most_parts_bytes = 48000000;    // of all further files with lines; likewise
  std::string parts_folder = "report_parts";  // in which further files lie, beside the page

  void validate() const;
};

struct FolderPageFile {
  std::string name = {};  // with '/' where it lies in parts_folder
  std::string bytes = {};
};

// The first is report.html; it works alone, and without the others says that they are missing. The
// same page gives the same bytes.
CORNEA_API std::vector<FolderPageFile> folder_page(const FolderPage& page,
                                                   const FolderPageOptions& options = {});

}  // namespace cornea
