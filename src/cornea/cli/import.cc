// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/import.h"

#include <fstream>
#include <iostream>
#include <map>

#include "cornea/cli/camera_sharing.h"
#include "cornea/cli/folder.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

// COLMAP 4's numbers.
const std::map<std::string, int>& descriptor_types() {
  static const std::map<std::string, int> types = {
      {"other", -1}, {"aliked-n16rot", 1}, {"aliked-n32", 2}, {"loma-b", 3}, {"loma-b128", 4}};
  return types;
}

struct ImportCommand {
  CommonOptions common;  // only JSON and quiet are used
  std::string database, keypoints, descriptors, images, matches;
  ImportOptions options;
  ExtractOptions cameras;  // of new images
  std::optional<colmap::Schema> schema;
};

void print_import(const ImportCommand& c, const ImportReport& features,
                  const ImportReport& matches) {
  if (!c.keypoints.empty()) {
    std::cout << counted(features.images, "image") << ": "
              << grouped(features.imported - features.redone) << " new, ";
    if (features.redone > 0) std::cout << grouped(features.redone) << " done again, ";
    std::cout << grouped(features.skipped) << " already there, " << grouped(features.failed)
              << " failed; " << counted(std::int64_t(features.features), "feature")
              << " imported\n";
  }
  if (!c.matches.empty() && !features.stopped && features.failed == 0) {
    std::cout << counted(matches.pairs, "pair") << ": "
              << grouped(matches.matched - matches.matched_redone) << " new, ";
    if (matches.matched_redone > 0) {
      std::cout << grouped(matches.matched_redone) << " done again, ";
    }
    std::cout << grouped(matches.matched_skipped) << " already there; "
              << grouped(std::int64_t(matches.matches))
              << (matches.matches == 1 ? " match" : " matches") << " imported\n";
  }
  std::cout << seconds_text(features.milliseconds + matches.milliseconds)
            << "\ndatabase: " << c.database << std::endl;
}

std::vector<NamedInput> inputs_of(const ImportCommand& c) {
  std::vector<NamedInput> inputs = {{c.database, kTheDatabase}};
  if (!c.matches.empty()) inputs.push_back({c.matches});
  if (c.keypoints.empty()) return inputs;
  for (const std::string& name : images_with_points(c.keypoints)) {
    for (const std::string& folder : {c.keypoints, c.descriptors}) {
      if (!folder.empty()) inputs.push_back({(fs::path(folder) / (name + ".npy")).string()});
    }
    if (!c.images.empty()) inputs.push_back({(fs::path(c.images) / name).string()});
  }
  return inputs;
}

// Checks that inputs can be read before a database is created for them.
void check_inputs(const ImportCommand& c, std::ifstream& matches) {
  for (const std::string& folder : {c.descriptors, c.images}) {
    std::error_code ignored;
    if (!folder.empty() && !fs::is_directory(folder, ignored)) {
      fail(ErrorCode::io, folder, ": is not a folder");
    }
  }
  if (c.matches.empty() || is_standard(c.matches)) return;
  matches.open(c.matches, std::ios::binary);
  if (!matches || fs::is_directory(c.matches)) {
    fail(ErrorCode::io, c.matches,
         ": cannot be read; name a text file with pairs of images and their matches");
  }
}

int run_import(const ImportCommand& c) {
  if (c.keypoints.empty() && c.matches.empty()) {
    throw UsageError("there is nothing to import; give --keypoints, --matches or both");
  }
  ImportOptions options = c.options;
  options.keypoints = c.keypoints;
  options.descriptors = c.descriptors;
  options.images = c.images;
  options.cameras = c.cameras.cameras;
  options.camera_model = c.cameras.camera_model;
  options.camera_params = c.cameras.camera_params;
  usage_checked([&] { options.validate(); });
  check_outputs(inputs_of(c), c.common.outputs({}));
  std::ifstream file;
  check_inputs(c, file);
  FolderProgress progress("import", c.common.quiet);
  ImportReport features, matches;
  {
    // A new database can only be created if photographs are given.
    const auto how =
        c.images.empty() ? colmap::Database::Open::existing : colmap::Database::Open::create;
    colmap::Database database(c.database, how, c.schema);
    if (!c.keypoints.empty()) features = import_features(database, options, progress.events);
    // Matches by index belong to the points that were to be imported.
    if (!c.matches.empty() && !features.stopped && features.failed == 0) {
      matches = import_matches(database, is_standard(c.matches) ? std::cin : file,
                               input_name(c.matches), c.options.redo);
    }
  }
  progress.clear();
  if (c.common.talks()) print_import(c, features, matches);
  c.common.write_json({{"images", features.images},
                       {"imported", features.imported},
                       {"skipped", features.skipped},
                       {"redone", features.redone},
                       {"failed", features.failed},
                       {"features", features.features},
                       {"pairs", matches.pairs},
                       {"pairs_imported", matches.matched},
                       {"pairs_skipped", matches.matched_skipped},
                       {"pairs_redone", matches.matched_redone},
                       {"matches", matches.matches},
                       {"stopped", features.stopped},
                       {"milliseconds", features.milliseconds + matches.milliseconds},
                       {"database", c.database}});
  if (features.stopped) {
    return interrupted(c.database, features.imported, features.images - features.skipped,
                       "images are imported", kGoesOn);
  }
  if (features.failed > 0 && !c.matches.empty()) {
    print_error(text(c.matches, ": no match was imported, since the points of ",
                     counted(features.failed, "image"), " were not"));
  }
  return features.failed > 0 ? 1 : 0;
}

}  // namespace

Run add_import(CLI::App& app) {
  auto c = std::make_shared<ImportCommand>();
  CLI::App* command = app.add_subcommand(
      "import", "import features and matches of other programs into a COLMAP database");
  add_database_option(*command, c->database,
                      "COLMAP database; with --images it is created if missing");
  CLI::Option* keypoints =
      command
          ->add_option(
              "--keypoints", c->keypoints,
              "folder with the points of image NAME in NAME.npy: n x 2 (x, y), n x 4 "
              "(also scale, angle) or n x 6 (x, y and an affine frame), float32 or float64")
          ->type_name("DIR");
  command
      ->add_option("--descriptors", c->descriptors,
                   "folder with the descriptors of image NAME in NAME.npy: n x 128 uint8 (SIFT), "
                   "stored as they are; or n x D floats of another kind, which need --schema 4 "
                   "and are not matched by match-all; verify needs none")
      ->needs(keypoints)
      ->type_name("DIR");
  command
      ->add_option("--matches", c->matches,
                   "matches by index from 0: CSV with the columns image1,image2,index1,index2, or "
                   "COLMAP's text (two names, one line per match, a blank line); - for standard "
                   "input. If one match is invalid, none is written")
      ->type_name("FILE");
  command
      ->add_option("--images", c->images,
                   "folder of the photographs, for images that are not in the database: their "
                   "cameras are made from size and EXIF")
      ->type_name("DIR");
  command
      ->add_option_function<std::string>(
          "--first-pixel",
          [c](const std::string& given) { c->options.first_pixel = given == "0" ? 0 : 0.5; },
          "coordinate of the centre of the first pixel in the files: 0, as in OpenCV and most "
          "learned "
          "features, or 0.5, as in COLMAP [0]")
      ->type_name("0|0.5")
      ->check([](const std::string& given) {
        return given == "0" || given == "0.5" ? std::string() : "takes 0 or 0.5, not " + given;
      });
  command
      ->add_option_function<std::string>(
          "--descriptor-type",
          [c](const std::string& given) {
            c->options.descriptor_type = descriptor_types().at(given);
          },
          "type of float descriptors: aliked-n16rot, aliked-n32, loma-b, loma-b128, or other, "
          "which COLMAP cannot match either [other]")
      ->type_name("TYPE")
      ->check([](const std::string& given) {
        return descriptor_types().contains(given)
                   ? std::string()
                   : "takes aliked-n16rot, aliked-n32, loma-b, loma-b128 or other, not " + given;
      });
  add_sharing_options(*command, c->cameras);
  add_schema_option(*command, c->schema);
  command->add_flag("--redo", c->options.redo,
                    "replace existing features and matches that differ; deletes what was made from "
                    "them");
  command
      ->add_option("--json", c->common.json,
                   "write the result as JSON to FILE; - for standard output")
      ->type_name("FILE");
  command->add_flag("--quiet,-q", c->common.quiet, "print nothing but errors");
  return [c] { return run_import(*c); };
}

}  // namespace cornea::cli
