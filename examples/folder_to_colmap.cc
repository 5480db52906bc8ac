// SPDX-License-Identifier: Apache-2.0
//
// A folder of photographs into a COLMAP database: features, the pairs worth matching, their matches
// and verified two-view geometries, as `cornea folder` does. `colmap mapper` or GLOMAP go on from
// it.
//
//   folder_to_colmap photographs database.db
//
// A run that was stopped is continued by the next one; what is done is kept.
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include <cornea/colmap.h>
#include <cornea/cornea.h>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: folder_to_colmap PHOTOGRAPHS DATABASE\n";
    return 2;
  }
  const std::filesystem::path photographs = argv[1], file = argv[2];
  // Before the database is made, which would stay behind.
  cornea::require(!cornea::list_images(photographs).names.empty(), argv[1], ": holds no images");
  cornea::colmap::Database database(file, cornea::colmap::Database::Open::create);

  cornea::FolderRunEvents events;
  events.stage = [](cornea::FolderStage stage, const cornea::FolderAhead&) {
    std::cout << cornea::name(stage) << std::endl;
  };
  // Photographs that cannot be read are named and left out.
  events.steps.report = [](const std::string& sentence) { std::cerr << sentence << "\n"; };

  cornea::FolderOptions options;
  options.pairs.choice = cornea::PairChoice::automatic;  // all pairs of up to 200 images
  const cornea::FolderReport report =
      cornea::run_folder(cornea::Context::best(), photographs, database, options, events);

  std::cout << report.images << " images, " << report.features << " features\n"
            << report.verified << " of " << report.tried << " pairs have a geometry, "
            << report.inliers << " inliers\n"
            << report.components.size() << " connected components, " << report.unconnected.size()
            << " images without a connection\n";
  return report.failures() == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "folder_to_colmap: " << error.what() << "\n";
  return 1;
}
