// SPDX-License-Identifier: Apache-2.0
// COLMAP's mapper, which reconstructs a scene from a database: its command line, and running it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cornea::cli {

struct MapperCall {
  std::filesystem::path database, photographs, models;  // models: the folder for its results
  // A shell command, which creates the folder too.
  std::string shell() const;
  std::vector<std::string> words() const;
};

// An error that says what to do if no program `colmap` is found.
void require_colmap();

struct MapperResult {
  std::vector<std::int64_t> models;  // number of images of each model, largest first
  double milliseconds = 0;
};
// The mapper's output goes to the file `log`. A folder with earlier models is renamed first (`note`
// says so). An error if the mapper fails or makes no model.
MapperResult run_mapper(const MapperCall& call, const std::filesystem::path& log,
                        std::string& note);

}  // namespace cornea::cli
