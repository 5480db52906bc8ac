// COLMAP's mapper, which makes a reconstruction of a database: the command line, and a run of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cornea::cli {

struct MapperCall {
  std::filesystem::path database, photographs, models;  // models: the folder for its results
  // To be typed in a shell; it makes the folder too.
  std::string shell() const;
  std::vector<std::string> words() const;
};

// An error that says what to do where no program `colmap` is found.
void require_colmap();

struct MapperResult {
  std::vector<std::int64_t> models;  // images of each, the most first
  double milliseconds = 0;
};
// What it says goes to the file `log`. A folder with earlier models is put aside under another name
// first (`note` says so). An error where the mapper fails, or makes no model.
MapperResult run_mapper(const MapperCall& call, const std::filesystem::path& log,
                        std::string& note);

}  // namespace cornea::cli
