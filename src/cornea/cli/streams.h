// SPDX-License-Identifier: Apache-2.0
// Files that a command reads and writes; the name - stands for standard input or output.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cornea/core/image.h"
#include "cornea/io/image_file.h"
#include "cornea/io/matches_csv.h"

namespace cornea::cli {

inline bool is_standard(const std::filesystem::path& file) { return file == "-"; }

// The name in error sentences: "standard input" for -.
std::string input_name(const std::string& file);

// An image may be requested several times: standard input is read once and kept.
GrayImage gray_from(const std::string& file, const ReadOptions& options);
// The same with EXIF.
Photograph photograph_from(const std::string& file, const ReadOptions& options);
Image<Rgb<std::uint8_t>> colours_from(const std::string& file, const ReadOptions& options);
MatchTable matches_from(const std::string& file, std::span<const std::string> left_out = {});

// A file is written completely or not at all; an error names it.
void write_text(const std::filesystem::path& file, const std::string& contents);
// In the format of the file name; on standard output in that of `ending`.
void write_picture(const std::filesystem::path& file, const AnyView& image,
                   const char* ending = ".png");

}  // namespace cornea::cli
