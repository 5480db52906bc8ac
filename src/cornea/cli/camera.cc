// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/camera.h"

#include <charconv>
#include <vector>

namespace cornea::cli {
namespace {

// COLMAP's models with the members that their parameters set; f sets both focal lengths.
struct Model {
  const char* name;
  std::vector<const char*> members;
};
const std::vector<Model>& models() {
  static const std::vector<Model> table = {
      {"SIMPLE_PINHOLE", {"f", "cx", "cy"}},
      {"PINHOLE", {"fx", "fy", "cx", "cy"}},
      {"SIMPLE_RADIAL", {"f", "cx", "cy", "k1"}},
      {"RADIAL", {"f", "cx", "cy", "k1", "k2"}},
      {"OPENCV", {"fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2"}}};
  return table;
}

[[noreturn]] void refuse(const std::string& flag, const std::string& words,
                         const std::string& why) {
  throw UsageError(text(flag, " '", words, "': ", why));
}

std::vector<double> numbers_of(const std::string& flag, const std::string& words,
                               const std::string& list) {
  std::vector<double> numbers;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    double value = 0;
    const char* last = list.data() + end;
    const auto [stop, error] = std::from_chars(list.data() + begin, last, value);
    if (error != std::errc() || stop != last) {
      refuse(flag, words, text("'", list.substr(begin, end - begin), "' is not a number"));
    }
    numbers.push_back(value);
    begin = end + 1;
  }
  return numbers;
}

void set(Intrinsics& camera, const std::string& member, double value) {
  if (member == "f") camera.fx = camera.fy = value;
  if (member == "fx") camera.fx = value;
  if (member == "fy") camera.fy = value;
  if (member == "cx") camera.cx = value;
  if (member == "cy") camera.cy = value;
  if (member == "k1") camera.k1 = value;
  if (member == "k2") camera.k2 = value;
  if (member == "p1") camera.p1 = value;
  if (member == "p2") camera.p2 = value;
}

Intrinsics colmap_camera(const std::string& flag, const std::string& words, std::size_t colon) {
  const std::string name = words.substr(0, colon);
  std::string known;
  for (const Model& model : models()) {
    known += text(known.empty() ? "" : ", ", model.name);
    if (name != model.name) continue;
    const std::vector<double> numbers = numbers_of(flag, words, words.substr(colon + 1));
    if (numbers.size() != model.members.size()) {
      std::string members;
      for (const char* member : model.members) members += text(members.empty() ? "" : ",", member);
      refuse(flag, words, text(model.name, " takes ", model.members.size(), " numbers, ", members));
    }
    Intrinsics camera;
    for (std::size_t i = 0; i < numbers.size(); ++i) set(camera, model.members[i], numbers[i]);
    // In COLMAP the centre of the first pixel is (0.5, 0.5).
    camera.cx -= 0.5;
    camera.cy -= 0.5;
    return camera;
  }
  refuse(flag, words, text("not a supported model of COLMAP; supported are ", known));
}

Intrinsics plain_camera(const std::string& flag, const std::string& words) {
  const std::vector<double> n = numbers_of(flag, words, words);
  if (n.size() < 4 || n.size() > 8) {
    refuse(flag, words,
           "a camera is fx,fy,cx,cy and, for a lens with distortion, k1,k2,p1,p2; or "
           "MODEL:params as in COLMAP");
  }
  Intrinsics camera;
  const char* members[] = {"fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2"};
  for (std::size_t i = 0; i < n.size(); ++i) set(camera, members[i], n[i]);
  return camera;
}

Intrinsics in_the_middle(double focal, const SizedExif& image) {
  return {focal, focal, (image.width - 1) / 2.0, (image.height - 1) / 2.0};
}

}  // namespace

Intrinsics camera_of_text(const std::string& flag, const std::string& words) {
  const std::size_t colon = words.find(':');
  const Intrinsics camera =
      colon == std::string::npos ? plain_camera(flag, words) : colmap_camera(flag, words, colon);
  try {
    camera.validate();
  } catch (const Error& error) {
    refuse(flag, words, error.what());
  }
  return camera;
}

std::optional<IntrinsicsPair> CameraOptions::given() const {
  if (!both.empty()) {
    if (!first.empty() || !second.empty()) {
      throw UsageError("--camera applies to both images; give it, or --camera1 and --camera2");
    }
    const Intrinsics camera = camera_of_text("--camera", both);
    return IntrinsicsPair{camera, camera};
  }
  if (first.empty() && second.empty()) return std::nullopt;
  if (first.empty() || second.empty()) {
    throw UsageError(text(first.empty() ? "--camera1" : "--camera2",
                          " is missing; give both cameras, or --camera if they are equal"));
  }
  return IntrinsicsPair{camera_of_text("--camera1", first), camera_of_text("--camera2", second)};
}

void add_camera_options(CLI::App& command, CameraOptions& options) {
  command
      .add_option(
          "--camera1", options.first,
          "camera of the first image, pixels: fx,fy,cx,cy, then k1,k2,p1,p2 if the lens has "
          "distortion (the centre of the first pixel is 0,0, as in OpenCV); or as in COLMAP "
          "MODEL:params, e.g. SIMPLE_RADIAL:f,cx,cy,k (the centre is 0.5,0.5); models "
          "SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL, OPENCV")
      ->type_name("CAMERA");
  command.add_option("--camera2", options.second, "the same for the second image")
      ->type_name("CAMERA");
  command.add_option("--camera", options.both, "the same, if both images have one camera")
      ->type_name("CAMERA");
}

void add_focal_options(CLI::App& command, CameraOptions& options) {
  command
      .add_option("--focal", options.focal,
                  "focal length of both images, pixels, with the principal points in the middle; "
                  "default: that of EXIF, if both images have one")
      ->check([](const std::string& given) {
        double focal = 0;
        const char* end = given.data() + given.size();
        const auto [read, error] = std::from_chars(given.data(), end, focal);
        const bool possible = error == std::errc() && read == end && focal > 0 && focal < 1e9;
        return possible ? "" : "'" + given + "': a focal length is a positive number of pixels";
      })
      ->type_name("PIXELS");
  command.add_flag("--no-cameras", options.ignore, "estimate F only, whatever EXIF says");
}

std::optional<KnownCameras> cameras_of(const CameraOptions& options, const SizedExif& first,
                                       const SizedExif& second) {
  const std::optional<IntrinsicsPair> given = options.given();
  if (int(given.has_value()) + int(options.focal > 0) + int(options.ignore) > 1) {
    throw UsageError(
        "give the cameras (--camera1 and --camera2, or --camera), --focal, or "
        "--no-cameras, but only one of these");
  }
  if (options.ignore) return std::nullopt;
  if (given) return KnownCameras{*given, "camera"};
  if (options.focal > 0) {
    return KnownCameras{
        {in_the_middle(options.focal, first), in_the_middle(options.focal, second), false},
        "focal"};
  }
  const auto focal = [](const SizedExif& image) {
    return image.exif ? focal_pixels(*image.exif, image.width, image.height) : 0;
  };
  if (focal(first) <= 0 || focal(second) <= 0) return std::nullopt;
  return KnownCameras{
      {in_the_middle(focal(first), first), in_the_middle(focal(second), second), false}, "exif"};
}

Json camera_json(const Intrinsics& c) {
  return {{"fx", c.fx}, {"fy", c.fy}, {"cx", c.cx}, {"cy", c.cy},
          {"k1", c.k1}, {"k2", c.k2}, {"p1", c.p1}, {"p2", c.p2}};
}

}  // namespace cornea::cli
