// SPDX-License-Identifier: Apache-2.0
//
// The relative pose of two photographs whose EXIF holds a focal length: X2 = R X1 + t for a point
// in the coordinates of the first and of the second camera (x right, y down, z forward), |t| = 1.
//
//   pose_from_exif a.jpg b.jpg
//
// EXIF's focal length is rounded and ignores cropping, so it is handed over as a guess: where the
// matches clearly speak for another one, it is corrected by a factor.
#include <exception>
#include <iostream>
#include <string>

#include <cornea/cornea.h>

namespace {

// The camera of a photograph: the focal length of EXIF, the principal point in the centre.
cornea::Intrinsics camera_of(const cornea::Photograph& photograph, const std::string& file) {
  const int width = photograph.image.width(), height = photograph.image.height();
  const double f = photograph.exif ? cornea::focal_pixels(*photograph.exif, width, height) : 0;
  cornea::require(f > 0, file, ": has no focal length in EXIF");
  return {.fx = f, .fy = f, .cx = (width - 1) / 2.0, .cy = (height - 1) / 2.0};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: pose_from_exif PHOTOGRAPH PHOTOGRAPH\n";
    return 2;
  }
  const cornea::Photograph a = cornea::read_photograph(argv[1]);
  const cornea::Photograph b = cornea::read_photograph(argv[2]);
  const cornea::IntrinsicsPair cameras{
      .first = camera_of(a, argv[1]), .second = camera_of(b, argv[2]), .focal_known = false};

  cornea::PairPipeline pipeline(cornea::Context::best(), {.max_size = 3200});
  cornea::PairResult pair;
  pipeline.run(a.image.view(), b.image.view(), {}, cameras, pair);
  if (!pair.by_essential) {
    std::cerr << "pose_from_exif: no pose fits the " << pair.matches.size() << " matches\n";
    return 1;
  }

  const cornea::EssentialResult& pose = pair.two_view->essential;
  std::cout << "focal lengths " << cameras.first.fx * pose.focal_factor << " and "
            << cameras.second.fx * pose.focal_factor << " pixels\n"
            << pose.inlier_count << " of " << pair.matches.size() << " matches are inliers\n"
            << "median angle between rays " << pose.median_angle_degrees << " degrees\n"
            << "rotation by " << cornea::rotation_of(pose.R).degrees << " degrees, R =\n";
  for (int i = 0; i < 9; ++i) std::cout << pose.R[std::size_t(i)] << (i % 3 < 2 ? ' ' : '\n');
  std::cout << "t =\n" << pose.t[0] << " " << pose.t[1] << " " << pose.t[2] << "\n";
} catch (const std::exception& error) {
  std::cerr << "pose_from_exif: " << error.what() << "\n";
  return 1;
}
