// SPDX-License-Identifier: Apache-2.0
// The studies that `cornea study` runs: the published systems' own experiments. Each returns the
// report that is printed, written (-o) and put into the JSON together with its further keys.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/study_page.h"

#include "cornea/cli/common.h"
#include "cornea/core/context.h"
#include "cornea/core/image.h"

namespace cornea::cli {

struct StudyCommand {
  CommonOptions common;
  std::string name, matches, images, output;
  int repeat = 20;
  bool quick = false;  // the smallest run that fills every table
  std::vector<std::string> labels;
};

// Always the CPU, and the GPU if there is one and the user did not ask for the CPU.
struct StudyDevices {
  Context cpu;
  std::optional<Context> cuda;

  const Context& chosen() const { return cuda ? *cuda : cpu; }
  std::vector<std::string> descriptions() const;
  std::string words() const;  // all of them: "CPU, 2 threads; NVIDIA H200 (cuda:0)"
};

struct StudyResult {
  study::Report report;
  Json more = Json::object();  // further keys of the JSON
  // results that should be equal differ: the command fails with this sentence
  std::string failure = {};
};

StudyResult study_foagdd(const StudyDevices& devices, const StudyCommand& command);
StudyResult study_moravec(const StudyDevices& devices, const StudyCommand& command);
StudyResult study_svd(const StudyDevices& devices, const StudyCommand& command);
StudyResult study_ransac(const StudyDevices& devices, const StudyCommand& command);
StudyResult study_trilateral(const StudyDevices& devices, const StudyCommand& command);

// The median milliseconds of `call` over `repeat` calls, or over as many as fit into the time
// limit. A call that takes more than a third of the limit is timed once, without a warm-up.
struct MedianTime {
  double milliseconds = 0;
  int calls = 0;
};
MedianTime median_time(int repeat, double most_milliseconds, const std::function<void()>& call);

struct StudyImage {
  std::string name;
  Image<std::uint8_t> pixels;
};
// The images of the folder that the user named, sorted by name; without one the generated images of
// a study: a board, the same with noise, a mural and boxes on a street.
std::vector<StudyImage> study_images(const Context& cpu, const StudyCommand& command, int width,
                                     int height);

Image<std::uint8_t> in_bytes(HostView<const float> image);  // 0..1 to 0..255, rounded

inline std::string size_text(int width, int height) { return text(width, "x", height); }

}  // namespace cornea::cli
