// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/streams.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "cornea/core/error.h"
#include "cornea/io/whole_file.h"

namespace cornea::cli {
namespace {

constexpr char kInput[] = "standard input";

// All of standard input, read at the first call.
const std::vector<std::uint8_t>& standard_input() {
  static const std::vector<std::uint8_t> bytes = [] {
    constexpr std::size_t kMostBytes = std::size_t{1} << 30, kPiece = std::size_t{1} << 20;
    std::vector<std::uint8_t> all;
    std::size_t read = 0;
    do {
      if (all.size() > kMostBytes) {
        fail(ErrorCode::io, kInput, ": has more than 1 GiB; name an image file instead");
      }
      const std::size_t before = all.size();
      all.resize(before + kPiece);
      read = std::fread(all.data() + before, 1, kPiece, stdin);
      all.resize(before + read);
    } while (read > 0);
    if (std::ferror(stdin)) {
      fail(ErrorCode::io, kInput, ": cannot be read (", std::strerror(errno), ")");
    }
    return all;
  }();
  return bytes;
}

void write_to_standard_output(std::span<const std::uint8_t> bytes) {
  std::cout.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  std::cout.flush();
  if (!std::cout) fail(ErrorCode::io, "standard output cannot be written");
}

}  // namespace

std::string input_name(const std::string& file) { return is_standard(file) ? kInput : file; }

GrayImage gray_from(const std::string& file, const ReadOptions& options) {
  return is_standard(file) ? decode_gray(standard_input(), kInput, options)
                           : read_gray(file, options);
}

Photograph photograph_from(const std::string& file, const ReadOptions& options) {
  if (!is_standard(file)) return read_photograph(file, options);
  Photograph photograph;
  photograph.image = decode_gray(standard_input(), kInput, options);
  photograph.exif = decode_exif(standard_input());
  return photograph;
}

Image<Rgb<std::uint8_t>> colours_from(const std::string& file, const ReadOptions& options) {
  return is_standard(file) ? decode_image<Rgb<std::uint8_t>>(standard_input(), kInput, options)
                           : read_image<Rgb<std::uint8_t>>(file, options);
}

MatchTable matches_from(const std::string& file, std::span<const std::string> left_out) {
  return is_standard(file) ? read_match_table(std::cin, kInput, left_out)
                           : read_match_table(file, left_out);
}

void write_text(const std::filesystem::path& file, const std::string& contents) {
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(contents.data()), contents.size());
  is_standard(file) ? write_to_standard_output(bytes) : io::write_whole_file(file, bytes);
}

void write_picture(const std::filesystem::path& file, const AnyView& image, const char* ending) {
  if (!is_standard(file)) return write_image(file, image);
  write_to_standard_output(encode_image(std::string("standard output") + ending, image));
}

}  // namespace cornea::cli
