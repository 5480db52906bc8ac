// SPDX-License-Identifier: Apache-2.0
// Shared by the studies: their images, and the timing of a call.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "study/study.h"

#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/scene/checkerboard.h"
#include "cornea/scene/degrade.h"
#include "cornea/scene/scene.h"

namespace cornea::cli {

namespace fs = std::filesystem;

namespace {

std::vector<StudyImage> images_of(const std::string& folder, const CommonOptions& common) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (auto it = fs::directory_iterator(folder, failed); !failed && it != fs::directory_iterator();
       it.increment(failed)) {
    if (it->is_regular_file() && can_read_extension(it->path())) files.push_back(it->path());
  }
  if (failed) fail(ErrorCode::io, folder, ": cannot be read (", failed.message(), ")");
  require(!files.empty(), folder, ": holds no image that can be read; name another folder");
  std::sort(files.begin(), files.end());
  std::vector<StudyImage> images;
  for (const fs::path& file : files) {
    images.push_back({file.filename().string(), read_image<std::uint8_t>(file, common.reading())});
  }
  return images;
}

}  // namespace

Image<std::uint8_t> in_bytes(HostView<const float> image) {
  Image<std::uint8_t> out(image.width, image.height);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      out(x, y) = std::uint8_t(std::clamp(image(x, y), 0.0f, 1.0f) * 255 + 0.5f);
    }
  }
  return out;
}

std::vector<StudyImage> study_images(const Context& cpu, const StudyCommand& command, int width,
                                     int height) {
  if (!command.images.empty()) return images_of(command.images, command.common);
  std::vector<StudyImage> images;
  CheckerboardOptions board{.width = width, .height = height};
  board.cell = width / 13.0;
  board.homography = tilted_view(width, height, 8, 25, 10, 1.2 * width);
  const Checkerboard made = checkerboard(cpu, board);
  images.push_back({"board", in_bytes(made.image.host())});
  images.push_back(
      {"board, noise 8", in_bytes(degrade(cpu, made.image.host(), {.noise = 8}).image.host())});
  for (const SceneKind kind : {SceneKind::plane, SceneKind::boxes}) {
    SceneOptions scene{.kind = kind, .views = 1, .width = width, .height = height, .samples = 3};
    const std::vector<View> views = make_views(cpu, scene);
    images.push_back(
        {kind == SceneKind::plane ? "mural" : "street", in_bytes(views.front().image.host())});
  }
  return images;
}

MedianTime median_time(int repeat, double most_milliseconds, const std::function<void()>& call) {
  std::vector<double> times;
  core::Stopwatch whole, watch;
  call();
  const double first = watch.milliseconds();
  if (first > most_milliseconds / 3) {
    times.push_back(first);
  } else {
    call();
    whole.start();
    while (int(times.size()) < repeat &&
           (times.empty() || whole.milliseconds() < most_milliseconds)) {
      watch.start();
      call();
      times.push_back(watch.milliseconds());
    }
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return {times[times.size() / 2], int(times.size())};
}

}  // namespace cornea::cli
