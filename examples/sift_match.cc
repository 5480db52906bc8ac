// SPDX-License-Identifier: Apache-2.0
//
// SIFT features of two images and the matches between them: for each descriptor of the first image
// the exact nearest one of the second, if it passes Lowe's ratio test and the mutual check.
//
//   sift_match a.jpg b.jpg [matches.png]
//
// With a third argument both images are drawn side by side with lines between matched features.
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include <cornea/cornea.h>

int main(int argc, char** argv) try {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: sift_match IMAGE IMAGE [PICTURE]\n";
    return 2;
  }
  const cornea::Context context = cornea::Context::best();

  cornea::Sift sift(context, {.max_points = 8000});
  const cornea::Features a = sift.detect(cornea::read_gray(argv[1]).view());
  const cornea::Features b = sift.detect(cornea::read_gray(argv[2]).view());

  cornea::Matcher matcher(context, {.ratio = 0.8f});
  // A point with several orientations may be matched several times: it counts once.
  const std::vector<cornea::Match> matches =
      cornea::one_per_place(matcher.match(a, b), a.keypoints, b.keypoints);

  std::cout << a.size() << " and " << b.size() << " features, " << matches.size() << " matches on "
            << context.description() << "\n";
  std::cout << "x1,y1,x2,y2 of the first matches:\n";
  for (std::size_t i = 0; i < matches.size() && i < 5; ++i) {
    const cornea::Keypoint& p = a.keypoints[std::size_t(matches[i].a)];
    const cornea::Keypoint& q = b.keypoints[std::size_t(matches[i].b)];
    std::cout << p.x << "," << p.y << "," << q.x << "," << q.y << "\n";
  }

  if (argc == 4) {
    using Colour = cornea::Rgb<std::uint8_t>;
    const auto first = cornea::read_image<Colour>(argv[1]);
    const auto second = cornea::read_image<Colour>(argv[2]);
    cornea::write_image(argv[3], cornea::draw_matches(context, first.host(), second.host(),
                                                      a.keypoints, b.keypoints, matches));
    std::cout << "drawn in " << argv[3] << "\n";
  }
} catch (const std::exception& error) {
  std::cerr << "sift_match: " << error.what() << "\n";
  return 1;
}
