// SPDX-License-Identifier: Apache-2.0
// What the commands share: common options, JSON output, tables on the screen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cornea/cli/streams.h"
#include "cornea/cli/table_text.h"
#include "cornea/core/context.h"
#include "cornea/core/error.h"
#include "cornea/io/image_file.h"

namespace cornea::cli {

using Json = nlohmann::ordered_json;

// Wrong usage that CLI11 does not detect itself: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs code that reads the user's options; an invalid option is wrong usage.
template <class F>
auto usage_checked(F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.what());
    throw;
  }
}

struct CommonOptions {
  std::string device = "auto";
  int threads = 0;
  std::string json;  // a file, "-" for standard output, empty for none
  bool quiet = false;
  std::uint64_t max_pixels = ReadOptions().max_pixels;
  bool upright = false;
  std::string range = "auto";  // auto, full or LO,HI

  Context context() const;
  ReadOptions reading() const;
  // For masks, of which only black or not black matters.
  ReadOptions reading_masks() const;
  // Whether JSON goes to a file.
  bool json_in_file() const { return !json.empty() && json != "-"; }
  // Whether to print for a person on standard output: not with --quiet, and not if the JSON or one
  // of these results goes there.
  bool talks(const std::vector<std::string>& results = {}) const;
  void write_json(const Json& value) const;
  // The files that a command writes: those given that are not empty, and the JSON.
  std::vector<std::filesystem::path> outputs(const std::vector<std::string>& others) const;
};

// Adds --device, --threads, --json, --quiet.
void add_common_options(CLI::App& command, CommonOptions& options);
// Adds --max-pixels, --range, --upright and --as-stored, for commands that read images.
void add_reading_options(CLI::App& command, CommonOptions& options);
// Says on standard error, unless quiet, if an image was converted without being asked to.
void note_reading(const CommonOptions& options, const std::string& file, const GrayImage& image);
// How images were read: "orientation" and, if present, "exif_orientation" and "range"; a list of
// them for several images.
void add_reading(Json& json, const CommonOptions& options,
                 const std::vector<const GrayImage*>& images);

// Adds --max-size, for commands that find features; `max_size` is the default.
void add_max_size_option(CLI::App& command, int& max_size);

// Whether a file name ends in .pfm (upper or lower case), which holds exact floats.
bool is_pfm(const std::filesystem::path& file);

// Prints the sentence on one line of standard error, whatever bytes the names in it contain.
void print_error(const std::string& sentence);
// Learns the flags of the program: error sentences of the library name its options (max_points),
// and print_error() writes those with a flag as that flag (--max-points).
void learn_flags(const CLI::App& app);
// CLI11 reads 010 as 8, 0x10 as 16, and -5 as 2^64 - 5 where the number has no sign. Adds checks
// to all options of whole numbers, after which they are decimal and -5 is refused there.
void check_whole_numbers(CLI::App& app);

// For options that name a folder: an error sentence if the name is that of a stream, otherwise
// empty.
std::string no_folder(const std::string& name);
// Creates a folder for results, with its parents; an error names it.
void make_folder(const std::filesystem::path& folder);

// Objects indented, one member per line; a list of numbers on one line; a list of lists with one
// line per list.
std::string json_text(const Json& value);

// A file that the user gave, and how to call it if a result would overwrite it.
struct NamedInput {
  std::string file;
  const char* what = "an input";
};
inline constexpr char kTheDatabase[] = "the database";
// No result may overwrite an input, another result, or a file that SQLite keeps beside a database;
// standard input can be read only once, and standard output takes one result.
void check_outputs(const std::vector<NamedInput>& inputs,
                   const std::vector<std::filesystem::path>& outputs);
// The same for folders of inputs: a result may be written there, but over nothing except an earlier
// result (.json, but not cameras.json).
void check_outputs_in(const std::vector<std::string>& folders,
                      const std::vector<std::filesystem::path>& outputs);
bool is_inside(const std::filesystem::path& folder, const std::filesystem::path& path);

// Each of these functions adds a command to the program. The returned function runs it and returns
// the exit code.
using Run = std::function<int()>;
Run add_detect(CLI::App& app);
Run add_filter(CLI::App& app);
Run add_match(CLI::App& app);
Run add_fundamental(CLI::App& app);
Run add_essential(CLI::App& app);
Run add_homography(CLI::App& app);
// `words` is the whole command line, which the report repeats.
Run add_pair(CLI::App& app, const std::vector<std::string>& words);
Run add_folder(CLI::App& app, const std::vector<std::string>& words);
Run add_extract(CLI::App& app);
Run add_import(CLI::App& app);
Run add_match_all(CLI::App& app);
Run add_verify(CLI::App& app);
Run add_report(CLI::App& app, const std::vector<std::string>& words);
Run add_shard(CLI::App& app);
Run add_merge(CLI::App& app);
Run add_cluster(CLI::App& app, const std::vector<std::string>& words);
Run add_scene(CLI::App& app);
Run add_study(CLI::App& app);
Run add_evaluate(CLI::App& app, const std::vector<std::string>& words);
Run add_info(CLI::App& app);
Run add_certify(CLI::App& app);
Run add_completion(CLI::App& app);
Run add_manual(CLI::App& app);
Run add_bench(CLI::App& app);

}  // namespace cornea::cli
