// SPDX-License-Identifier: Apache-2.0
// The plan of shards.h and its file.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "cornea/core/error.h"
#include "cornea/io/content_hash.h"
#include "cornea/io/text_lines.h"
#include "cornea/io/whole_file.h"
#include "cornea/pipeline/folder/changes.h"
#include "cornea/pipeline/folder/extract_listed.h"
#include "cornea/pipeline/shards/item_file.h"
#include "cornea/pipeline/shards/shards.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;

constexpr char kFirstLine[] = "cornea shards 1";
constexpr char kFile[] = "plan.txt";

// Escapes a name of arbitrary bytes so that it fits on one line.
std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && c != '%') {
      out += c;
    } else {
      char digits[4];
      std::snprintf(digits, sizeof digits, "%%%02X", unsigned(byte));
      out += digits;
    }
  }
  return out;
}

std::optional<std::string> unescaped(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '%') {
      out += line[i];
      continue;
    }
    unsigned byte = 0;
    const char* from = line.data() + i + 1;
    if (i + 2 >= line.size() || std::from_chars(from, from + 2, byte, 16).ptr != from + 2) {
      return std::nullopt;
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

// "BYTES NAME"
std::optional<ShardImage> image_of(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  ShardImage image;
  const char* end = line.data() + space;
  const auto read = std::from_chars(line.data(), end, image.bytes);
  const auto name = unescaped(line.substr(space + 1));
  if (read.ec != std::errc() || read.ptr != end || image.bytes < 0 || !name || name->empty()) {
    return std::nullopt;
  }
  image.name = *name;
  return image;
}

std::string text_of(const ShardPlan& plan) {
  std::string all =
      text(kFirstLine, "\nphotographs=", escaped(plan.photographs), "\nsize=", plan.size, "\n");
  for (const std::string& word : plan.words) all += text("word=", escaped(word), "\n");
  all += text("images=", plan.images.size(), "\n");
  for (const ShardImage& image : plan.images) {
    all += std::to_string(image.bytes);
    all += ' ';
    all += escaped(image.name);
    all += '\n';
  }
  return all;
}

void sort_images(ShardPlan& plan) {
  std::sort(plan.images.begin(), plan.images.end(),
            [](const ShardImage& a, const ShardImage& b) { return a.name < b.name; });
}

[[noreturn]] void fail_damaged(const fs::path& file, const std::string& what) {
  fail(ErrorCode::io, file.string(), ": is not a plan of shards, or it is damaged (", what,
       "); make a new plan in another folder");
}

std::vector<std::string_view> lines_of(std::string_view all) {
  std::vector<std::string_view> lines;
  while (!all.empty()) {
    const std::size_t end = std::min(all.find('\n'), all.size());
    lines.push_back(all.substr(0, end));
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return lines;
}

ShardPlan parse(const fs::path& file, const std::string& all) {
  // The last line is the hash of all lines before it.
  const std::size_t last = all.rfind("hash=");
  if (last == std::string::npos || last == 0 || all[last - 1] != '\n' ||
      all.substr(last) !=
          text(
              "hash=", shards::hexadecimal(io::hash_of_text(std::string_view(all).substr(0, last))),
              "\n")) {
    fail_damaged(file, "wrong hash");
  }
  const std::vector<std::string_view> lines = lines_of(std::string_view(all).substr(0, last));
  ShardPlan plan;
  if (lines.empty() || lines[0] != kFirstLine) fail_damaged(file, "unknown first line");
  std::size_t i = 1;
  for (; i < lines.size() && !lines[i].starts_with("images="); ++i) {
    const std::size_t equals = std::min(lines[i].find('='), lines[i].size() - 1);
    const std::string_view key = lines[i].substr(0, equals);
    const auto value = unescaped(lines[i].substr(equals + 1));
    if (!value) fail_damaged(file, text("line ", i + 1));
    if (key == "photographs") plan.photographs = *value;
    if (key == "size") plan.size = std::atoi(value->c_str());
    if (key == "word") plan.words.push_back(*value);
  }
  for (++i; i < lines.size(); ++i) {
    const auto image = image_of(lines[i]);
    if (!image) fail_damaged(file, text("line ", i + 1));
    plan.images.push_back(*image);
  }
  plan.validate();
  return plan;
}

std::optional<std::string> contents_of(const fs::path& file) {
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!in || fs::is_directory(file, ignored)) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

int ShardPlan::shards() const { return int((std::int64_t(images.size()) + size - 1) / size); }

std::uint64_t ShardPlan::key() const { return io::hash_of_text(text_of(*this)); }

void ShardPlan::validate() const {
  require(size >= 1 && size <= 1000000, "a shard has 1 to 1,000,000 images, not ", size);
  require(!images.empty(), photographs, ": holds no images");
  require(std::int64_t(images.size()) <= colmap::kMostImages - 1, "a database has room for ",
          colmap::kMostImages - 1, " images, not ", images.size());
  for (std::size_t i = 1; i < images.size(); ++i) {
    require(images[i - 1].name < images[i].name, photographs, ": the image ", images[i].name,
            " is listed twice, or out of order");
  }
}

ShardPlan plan_shards(const fs::path& photographs, const fs::path& masks, int size,
                      std::vector<std::string>* unreadable) {
  FolderListing listing = list_images(photographs, masks);
  ShardPlan plan{.photographs = folder::canonical_name(photographs), .size = size};
  plan.images.reserve(listing.names.size());
  for (std::string& name : listing.names) {
    std::error_code failed;  // a file that cannot be reached is reported when it is read
    const auto bytes = std::int64_t(fs::file_size(photographs / name, failed));
    plan.images.push_back({std::move(name), failed ? 0 : bytes});
  }
  if (unreadable) *unreadable = std::move(listing.unreadable);
  plan.validate();
  return plan;
}

ShardPlan plan_listed_shards(const std::string& photographs, const fs::path& list, int size) {
  const auto all = contents_of(list);
  if (!all) {
    fail(ErrorCode::io, list.string(), ": cannot be read; name a file with one line per image");
  }
  // Items run in other folders.
  const bool is_url = photographs.find("://") != std::string::npos;
  ShardPlan plan{.photographs = is_url ? photographs : folder::canonical_name(photographs),
                 .size = size};
  int number = 0;
  for (std::string_view line : lines_of(*all)) {
    ++number;
    if (number == 1) line = io::without_byte_order_mark(line);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    auto image = image_of(line);
    if (!image) {
      fail(ErrorCode::io, list.string(), ", line ", number,
           ": is not a file size in bytes, a space and the file name");
    }
    while (image->name.starts_with("./")) image->name.erase(0, 2);  // as `find` writes names
    const fs::path name = image->name;
    if (name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end()) {
      fail(ErrorCode::io, list.string(), ", line ", number, ": ", image->name,
           " is not relative to the folder of the photographs (find -printf '%s %P\\n' writes "
           "such names)");
    }
    if (!is_url) image->name = name.lexically_normal().string();  // b//c and b/./c are b/c
    if (folder::kind_of_name(image->name) == folder::NameKind::image) {
      plan.images.push_back(std::move(*image));
    }
  }
  sort_images(plan);
  plan.validate();
  return plan;
}

void write_shard_plan(const fs::path& work, const ShardPlan& plan) {
  plan.validate();
  const std::string all = text_of(plan);
  const std::string whole = text(all, "hash=", shards::hexadecimal(io::hash_of_text(all)), "\n");
  const fs::path file = work / kFile;
  if (const auto there = contents_of(file)) {
    if (*there == whole) return;
    const ShardPlan other = parse(file, *there);
    const char* what = other.words != plan.words               ? "other options"
                       : other.size != plan.size               ? "shards of another size"
                       : other.photographs != plan.photographs ? "another folder"
                                                               : "other photographs";
    fail(ErrorCode::io, work.string(), ": already has a plan with ", what,
         "; make the plan in a new folder, or use the same arguments again");
  }
  std::error_code failed;
  fs::create_directories(work, failed);
  if (failed) {
    fail(ErrorCode::io, work.string(), ": cannot be created (", failed.message(),
         "); check the path and its permissions");
  }
  io::write_whole_file(file, {reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size()});
}

ShardPlan read_shard_plan(const fs::path& work) {
  const fs::path file = work / kFile;
  const auto all = contents_of(file);
  if (!all) {
    fail(ErrorCode::io, file.string(), ": cannot be read; plan the shards of a folder there first");
  }
  return parse(file, *all);
}

}  // namespace cornea
