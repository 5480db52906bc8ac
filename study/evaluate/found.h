// SPDX-License-Identifier: Apache-2.0
// The data of `cornea evaluate`: images, sequences with homographies, labelled correspondences and
// views with known cameras, found in folders or generated.
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
  // Under which points of other programs are looked up: "graf/img1".
  std::string name = {};
  std::filesystem::path file = {};  // empty: generated
  Pixels generated = {};
  std::vector<Point> corners = {};  // labelled corners, if there are any

  // As 8-bit gray, whatever the file holds.
  Pixels pixels(const ReadOptions& reading) const;
};

// The first image of a plane, or of a distant scene, and other images of it.
struct Sequence {
  std::string name = {};
  std::vector<Picture> pictures = {};
  std::vector<Matrix> from_first = {};  // x ~ H x_first for each image; the identity for the first
};

// Correspondences of which some are labelled as correct.
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
  // "5 images, 4 sequences with 20 homographies, ..."
  std::string summary() const;
  // Files of other programs are found, and images written, by the names of the images.
  void require_different_names() const;
};

// Looks for data in the folders and their subfolders. Names are relative to the folder if there is
// one, and begin with the name of the folder if there are several.
Found look_into(const std::vector<std::string>& folders);

// A planar mural, a checkerboard and a street, seen by known cameras.
Found generated_scenes(const Context& context);

}  // namespace cornea::evaluate
