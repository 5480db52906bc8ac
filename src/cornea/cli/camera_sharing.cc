// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/camera_sharing.h"

#include <charconv>
#include <map>

#include "cornea/export/colmap/intrinsics.h"

namespace cornea::cli {
namespace {

const std::map<std::string, CameraSharing>& sharing_names() {
  static const std::map<std::string, CameraSharing> names = {
      {"auto", CameraSharing::automatic},
      {"single", CameraSharing::single},
      {"per-folder", CameraSharing::per_folder},
      {"per-image", CameraSharing::per_image}};
  return names;
}

// Parses numbers separated by commas; empty if one is invalid.
std::vector<double> camera_numbers(const std::string& words) {
  std::vector<double> all;
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find(',', begin), words.size());
    double value = 0;
    const char* last = words.data() + end;
    const auto [read, error] = std::from_chars(words.data() + begin, last, value);
    if (error != std::errc() || read != last) return {};
    all.push_back(value);
    begin = end + 1;
  }
  return all;
}

}  // namespace

void add_sharing_options(CLI::App& command, ExtractOptions& options) {
  CLI::Option* sharing = command.add_option_function<std::string>(
      "--cameras",
      [&options](const std::string& given) { options.cameras = sharing_names().at(given); },
      "which images share a camera. auto: those with the same EXIF make, model and focal "
      "length and the same size, as in COLMAP; others have one each. single: all. "
      "per-folder: those of a folder. per-image: none [auto]");
  sharing->type_name("auto|single|per-folder|per-image")->check([](const std::string& given) {
    return sharing_names().contains(given)
               ? std::string()
               : "takes auto, single, per-folder or per-image, not " + given;
  });
  command
      .add_flag_callback(
          "--single-camera", [&options] { options.cameras = CameraSharing::single; },
          "all images share one camera: --cameras single")
      ->excludes(sharing);
  command
      .add_option_function<std::string>(
          "--camera-model",
          [&options](const std::string& given) {
            options.camera_model = colmap::model_named(given);
          },
          "SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL or OPENCV [SIMPLE_RADIAL]")
      ->type_name("MODEL")
      ->check([](const std::string& given) {
        return colmap::model_named(given)
                   ? std::string()
                   : "takes SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL or OPENCV, not " + given;
      });
  command
      .add_option_function<std::string>(
          "--camera-params",
          [&options](const std::string& given) { options.camera_params = camera_numbers(given); },
          "parameters of the model in COLMAP's order, then marked as known: e.g. "
          "f,cx,cy,k "
          "of SIMPLE_RADIAL; default: the focal length of EXIF, or a guess")
      ->type_name("X,...")
      ->check([](const std::string& given) {
        return camera_numbers(given).empty()
                   ? "'" + given + "': parameters are numbers separated by commas"
                   : std::string();
      });
}

void add_schema_option(CLI::App& command, std::optional<colmap::Schema>& schema) {
  command
      .add_option_function<std::string>(
          "--schema",
          [&schema](const std::string& given) {
            schema = given == "4" ? colmap::Schema::colmap_4 : colmap::Schema::colmap_3_8;
          },
          "tables of a new database: those of COLMAP 3.8, which 4.x opens too, or of 4 (4.2.1), "
          "which store GPS and gravity from EXIF as pose priors [3.8]")
      ->type_name("3.8|4")
      ->check([](const std::string& given) {
        return given == "3.8" || given == "4" ? std::string() : "takes 3.8 or 4, not " + given;
      });
}

}  // namespace cornea::cli
