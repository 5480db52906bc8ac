// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/common.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <set>

#include "cornea/core/error.h"
#include "cornea/core/reduce.h"

namespace cornea::cli {

namespace fs = std::filesystem;

namespace {

// One canonical name for all spellings of a file name.
fs::path same_name(const fs::path& file) {
  std::error_code failed;
  const fs::path name = fs::weakly_canonical(fs::absolute(file), failed);
  return failed ? file.lexically_normal() : name;
}

// The flags of all commands, without the leading dashes.
std::set<std::string>& known_flags() {
  static std::set<std::string> flags;
  return flags;
}

std::string with_flags(const std::string& sentence) {
  auto is_of_name = [](char c) { return std::islower(static_cast<unsigned char>(c)) || c == '_'; };
  auto is_of_file = [](char c) {
    return std::isgraph(static_cast<unsigned char>(c)) && c != ',' && c != ';' && c != '(' &&
           c != ')';
  };
  std::string out;
  for (std::size_t begin = 0; begin < sentence.size();) {
    std::size_t end = begin;
    while (end < sentence.size() && is_of_file(sentence[end])) ++end;
    std::string word = sentence.substr(begin, end - begin);
    const std::string before = sentence.substr(0, begin), after = sentence.substr(end);
    std::string flag = word;
    std::replace(flag.begin(), flag.end(), '_', '-');
    // An option of one word looks like any other word, so it counts only where the sentence speaks
    // of options.
    const bool with_value = after.starts_with(" = ");
    const bool option = flag != word || with_value || before.ends_with("no option ") ||
                        before.ends_with("the option ") ||
                        (begin == 0 && (after.starts_with(" takes ") || after.starts_with(" is ")));
    if (option && std::all_of(word.begin(), word.end(), is_of_name) &&
        known_flags().contains(flag)) {
      word = "--" + flag;
      if (with_value) end += 2;
    }
    out += word;
    if (end < sentence.size()) out += sentence[end++];
    begin = end;
  }
  return out;
}

}  // namespace

void learn_flags(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& flag : option->get_lnames()) known_flags().insert(flag);
    }
  }
}

void check_whole_numbers(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options()) {
      std::string type = option->get_type_name();
      type.erase(std::min(type.find(':'), type.size()));  // CLI11's checks
      const bool is_unsigned = type == "UINT";
      if (!is_unsigned && type != "INT" && type != "N" && type != "SIDE") continue;
      option->transform(CLI::Validator(
          [is_unsigned](std::string& given) {
            const std::size_t begin = given.starts_with('-');
            const std::size_t digits =
                std::min(given.find_first_not_of('0', begin), given.size() - 1);
            std::uint64_t value = 0;
            const char* const end = given.data() + given.size();
            const auto read = std::from_chars(given.data() + begin, end, value);
            if (read.ec != std::errc() || read.ptr != end || (is_unsigned && begin > 0)) {
              return text("takes a whole number", is_unsigned ? " of 0 or more" : "", ", not ",
                          given);
            }
            given.erase(begin, digits - begin);
            return std::string();
          },
          ""));
    }
  }
}

Context CommonOptions::context() const {
  return usage_checked([&] { return Context::from_name(device, threads); });
}

void CommonOptions::write_json(const Json& value) const {
  if (!json.empty()) write_text(json, json_text(value));
}

bool CommonOptions::talks(const std::vector<std::string>& results) const {
  return !quiet && !is_standard(json) && std::none_of(results.begin(), results.end(), is_standard);
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  command.add_option("--device", options.device, "auto, cpu, cuda or cuda:N")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--threads", options.threads, "CPU threads; 0: OMP_NUM_THREADS, or all available")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--json", options.json, "write the result as JSON to FILE; - for standard output")
      ->type_name("FILE");
  command.add_flag("--quiet,-q", options.quiet, "print nothing but errors");
}

void add_reading_options(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--range", options.range,
                  "stored values of black and white: auto (16-bit pixels up to 4095 are "
                  "12-bit), full, or LO,HI")
      ->capture_default_str()
      ->type_name("RANGE");
  CLI::Option* upright = command.add_flag(
      "--upright", options.upright,
      "rotate images by their EXIF orientation; coordinates are those of the rotated image");
  command
      .add_flag_callback(
          "--as-stored", [&options] { options.upright = false; },
          "use pixels as they are stored, whatever EXIF says; the default")
      ->excludes(upright);
  command.add_option("--max-pixels", options.max_pixels, "refuse images that declare more pixels")
      ->capture_default_str()
      ->type_name("N")
      ->check([](const std::string& given) {
        return given.empty() || given[0] == '-'
                   ? std::string("--max-pixels takes a positive number")
                   : std::string();
      });
}

namespace {

PixelRange range_of(const std::string& given) {
  if (given == "auto") return {PixelRange::Kind::automatic};
  if (given == "full") return {PixelRange::Kind::full};
  PixelRange range{PixelRange::Kind::given};
  const char *begin = given.data(), *end = begin + given.size();
  const auto low = std::from_chars(begin, end, range.low);
  if (low.ec == std::errc() && low.ptr != end && *low.ptr == ',') {
    const auto high = std::from_chars(low.ptr + 1, end, range.high);
    if (high.ec == std::errc() && high.ptr == end) {
      range.validate();
      return range;
    }
  }
  throw UsageError("--range takes auto, full or two numbers LO,HI, not " + given);
}

}  // namespace

ReadOptions CommonOptions::reading() const {
  return {.max_pixels = max_pixels, .upright = upright, .range = usage_checked([&] {
                                                          return range_of(range);
                                                        })};
}

ReadOptions CommonOptions::reading_masks() const {
  return {.max_pixels = max_pixels, .upright = upright};
}

void note_reading(const CommonOptions& options, const std::string& file, const GrayImage& image) {
  if (options.quiet || !image.range || options.range != "auto") return;
  print_error(file +
              ": note: no 16-bit value exceeds 4095, so it is taken as 12-bit (times 16); "
              "--range full takes it as stored, --range LO,HI sets another range");
}

void add_reading(Json& json, const CommonOptions& options,
                 const std::vector<const GrayImage*>& images) {
  json["orientation"] = options.upright ? "upright" : "as-stored";
  Json exif = Json::array(), range = Json::array();
  bool any_exif = false, any_range = false;
  for (const GrayImage* image : images) {
    exif.push_back(image->orientation ? Json(image->orientation) : Json(nullptr));
    range.push_back(image->range ? Json({image->range->at(0), image->range->at(1)})
                                 : Json(nullptr));
    any_exif |= image->orientation != 0;
    any_range |= image->range.has_value();
  }
  if (any_exif) json["exif_orientation"] = images.size() == 1 ? exif[0] : exif;
  if (any_range) json["range"] = images.size() == 1 ? range[0] : range;
}

void add_max_size_option(CLI::App& command, int& max_size) {
  command
      .add_option("--max-size", max_size,
                  "longest side for feature extraction, pixels; a larger image is reduced to "
                  "it, and coordinates refer to the full image; 0: any size")
      ->capture_default_str()
      ->check([](const std::string& given) {
        try {
          core::check_max_size(std::stoi(given));
          return std::string();
        } catch (const std::exception&) {
          return std::string("--max-size takes 0 (any size) or at least 16 pixels");
        }
      })
      ->type_name("N");
}

bool is_pfm(const std::filesystem::path& file) { return extension_in_lower_case(file) == ".pfm"; }

void print_error(const std::string& sentence) {
  std::string line = with_flags(sentence);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  std::cerr << "cornea: " << line << std::endl;
}

std::string no_folder(const std::string& name) {
  return is_standard(name) ? "takes a folder, but - is a stream; name a folder (one of this name "
                             "is ./-)"
                           : std::string();
}

void make_folder(const fs::path& folder) {
  std::error_code failed, ignored;
  fs::create_directories(folder, failed);
  if (!fs::is_directory(folder, ignored)) {
    fail(ErrorCode::io, folder.string(), ": is not a folder and cannot be created (",
         failed ? failed.message() : "a file has that name", "); choose another");
  }
}

namespace {

// Whether a result would be written where SQLite keeps auxiliary files of a database in use.
bool is_beside_database(const fs::path& output, const std::string& database) {
  for (const char* ending : {"-wal", "-shm", "-journal"}) {
    if (same_name(output) == same_name(same_name(database).string() + ending)) return true;
  }
  return false;
}

}  // namespace

void check_outputs(const std::vector<NamedInput>& inputs, const std::vector<fs::path>& outputs) {
  const auto from_standard_input = [](const NamedInput& input) { return is_standard(input.file); };
  if (std::count_if(inputs.begin(), inputs.end(), from_standard_input) > 1) {
    throw UsageError("standard input (-) can be read only once; name a file for one of the inputs");
  }
  if (std::count_if(outputs.begin(), outputs.end(), is_standard) > 1) {
    throw UsageError("two results would go to standard output (-); name a file for one of them");
  }
  std::set<fs::path> names;
  for (const fs::path& output : outputs) {
    if (is_standard(output)) continue;
    const fs::path name = same_name(output);
    if (!names.insert(name).second) {
      throw UsageError(
          output.string() +
          ": two results would be written there; give them different names or run them one by one");
    }
    for (const NamedInput& input : inputs) {
      if (input.file.empty() || is_standard(input.file)) continue;
      std::error_code ignored;
      if (name == same_name(input.file) || fs::equivalent(output, input.file, ignored)) {
        throw UsageError(output.string() + ": is " + input.what +
                         " and would be overwritten; choose another name");
      }
      if (std::string_view(input.what) == kTheDatabase && is_beside_database(output, input.file)) {
        throw UsageError(output.string() + ": is where SQLite keeps a part of the database " +
                         input.file + "; choose another name");
      }
    }
  }
}

std::vector<fs::path> CommonOptions::outputs(const std::vector<std::string>& others) const {
  std::vector<fs::path> files;
  for (const std::string& file : others) {
    if (!file.empty()) files.push_back(file);
  }
  if (!json.empty()) files.push_back(json);
  return files;
}

bool is_inside(const fs::path& folder, const fs::path& path) {
  const fs::path base = same_name(folder), name = same_name(path);
  return std::mismatch(base.begin(), base.end(), name.begin(), name.end()).first == base.end();
}

void check_outputs_in(const std::vector<std::string>& folders,
                      const std::vector<fs::path>& outputs) {
  for (const fs::path& output : outputs) {
    std::error_code ignored;
    if (is_standard(output) || !fs::exists(output, ignored)) continue;
    if (output.extension() == ".json" && output.filename() != "cameras.json") continue;
    for (const std::string& folder : folders) {
      if (folder.empty() || !is_inside(folder, output)) continue;
      throw UsageError(output.string() + ": is a file in " + folder +
                       " and would be overwritten; choose another name");
    }
  }
}

}  // namespace cornea::cli
