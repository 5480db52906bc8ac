// What `cornea evaluate` works on: pictures, sequences with homographies, labelled correspondences
// and views with known cameras, found in folders or generated.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "study/evaluate/measures.h"

#include "cornea/core/context.h"
#include "cornea/core/image.h"
#include "cornea/geometry/two_view/intrinsics.h"
#include "cornea/io/image_file.h"

namespace cornea::evaluate {

using Pixels = std::shared_ptr<const Image<std::uint8_t>>;

struct Picture {
  std::string name = {};            // that points of others are looked up by: "graf/img1"
  std::filesystem::path file = {};  // empty: it was generated
  Pixels generated = {};
  std::vector<Point> corners = {};  // labelled ones, where there are such

  // 8-bit gray, whatever the file holds.
  Pixels pixels(const ReadOptions& reading) const;
};

// The first picture of a plane, or of a far scene, and others of it.
struct Sequence {
  std::string name = {};
  std::vector<Picture> pictures = {};
  std::vector<Matrix> from_first = {};  // of each picture x ~ H x_first; the first one's is 1
};

// Correspondences of which some are known to be right.
struct Labelled {
  std::string name = {};
  std::vector<Correspondence> matches = {}, right = {};
};

struct Views {
  struct Camera {
    Intrinsics intrinsics = {};
    Matrix R{};  // x_camera = R x_world + t
    std::array<double, 3> t{};
  };
  std::string name = {};
  std::vector<Picture> pictures = {};
  std::vector<Camera> cameras = {};
};
RelativePose relative_pose(const Views::Camera& first, const Views::Camera& second);

struct Found {
  std::vector<Picture> pictures = {};
  std::vector<Sequence> sequences = {};
  std::vector<Labelled> labelled = {};
  std::vector<Views> views = {};

  bool empty() const {
    return pictures.empty() && sequences.empty() && labelled.empty() && views.empty();
  }
  // "5 pictures, 4 sequences of 20 pairs, ..."
  std::string summary() const;
};

// What the folders and the folders in them hold. With one folder names begin in it, with several
// they begin with the name of the folder.
Found look_into(const std::vector<std::string>& folders);

// A flat mural, a checkerboard and a street seen by known cameras.
Found generated_scenes(const Context& context);

}  // namespace cornea::evaluate
