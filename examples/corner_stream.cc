// SPDX-License-Identifier: Apache-2.0
//
// Corners of a stream of frames. The detector is made once and then takes frame after frame. It
// runs on the first NVIDIA GPU, or on the CPU where there is none; the corners are the same on
// both.
//
//   corner_stream frame_000.png frame_001.png frame_002.png
//
// Frames of a camera arrive one by one: detect(). Frames of a recording are all there already:
// detect_batch() takes many of one size in one call, which on a GPU takes less time per frame.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <cornea/cornea.h>

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: corner_stream FRAME...\n";
    return 2;
  }
  std::string why_no_gpu;
  cornea::cuda_devices(&why_no_gpu);
  const cornea::Context context = cornea::Context::best();
  std::cout << "Harris corners on " << context.description();
  if (!context.is_cuda()) std::cout << ", because there is no GPU: " << why_no_gpu;
  std::cout << "\n";

  cornea::HarrisOptions options;
  options.peaks.threshold = 0.01;  // of the strongest response of the frame
  options.peaks.relative = true;
  options.peaks.max_points = 500;
  options.peaks.subpixel = cornea::Subpixel::quadratic;
  cornea::Harris harris(context, options);

  // One by one. After the first frame of a size the detector allocates no image memory.
  std::vector<cornea::GrayImage> frames;
  for (int i = 1; i < argc; ++i) {
    frames.push_back(cornea::read_gray(argv[i]));
    const std::vector<cornea::Corner> corners = harris.detect(frames.back().view());
    std::cout << argv[i] << ": " << corners.size() << " corners, " << harris.report().milliseconds
              << " ms\n";
  }

  // All in one call: the same corners.
  std::vector<cornea::AnyView> views;
  for (const cornea::GrayImage& frame : frames) views.push_back(frame.view());
  std::size_t total = 0;
  for (const auto& corners : harris.detect_batch(views)) total += corners.size();
  std::cout << "batch of " << views.size() << ": " << total << " corners, "
            << harris.report().milliseconds / double(views.size()) << " ms per frame\n";
} catch (const std::exception& error) {
  std::cerr << "corner_stream: " << error.what() << "\n";
  return 1;
}
