// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/npy.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "cornea/core/error.h"
#include "cornea/io/loaded_file.h"

namespace cornea::io {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicLength = sizeof kMagic - 1;

// The text of a value in the header's dictionary, without the key; empty if the key is missing.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(": "), rest.size()));
  if (rest.starts_with('(')) {
    const std::size_t end = rest.find(')');
    return end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 1);
  }
  return rest.substr(0, rest.find_first_of(",}"));
}

// Reads the two numbers of "(10, 128)"; returns false for any other text.
bool read_shape(std::string_view words, std::size_t& rows, std::size_t& columns) {
  std::size_t* const numbers[] = {&rows, &columns};
  for (int i = 0; i < 2; ++i) {
    words.remove_prefix(std::min(words.find_first_not_of(" ,"), words.size()));
    const auto [end, error] =
        std::from_chars(words.data(), words.data() + words.size(), *numbers[i]);
    if (error != std::errc()) return false;
    words.remove_prefix(std::size_t(end - words.data()));
  }
  return words.find_first_not_of(" ,") == std::string_view::npos;
}

}  // namespace

std::string encode_npy(std::size_t rows, std::size_t columns,
                       std::span<const std::uint8_t> values) {
  require(values.size() == rows * columns, "a table of ", rows, " x ", columns, " cannot have ",
          values.size(), " values");
  std::string header =
      text("{'descr': '|u1', 'fortran_order': False, 'shape': (", rows, ", ", columns, "), }");
  // The magic string, the version and the header's length in two bytes; the data begins at a
  // multiple of 64.
  constexpr std::size_t kBefore = 10;
  header.append(63 - (kBefore + header.size()) % 64, ' ');
  header += '\n';
  std::string contents = "\x93NUMPY\x01";
  contents += '\0';
  contents += static_cast<char>(header.size() % 256);
  contents += static_cast<char>(header.size() / 256);
  contents += header;
  contents.append(reinterpret_cast<const char*>(values.data()), values.size());
  return contents;
}

NpyTable decode_npy(std::span<const std::uint8_t> bytes, const std::string& name) {
  auto refuse = [&](const auto&... words) {
    fail(ErrorCode::io, name, ": ", words...,
         "; it should be a table of uint8, float32 or float64 as numpy.save writes it, one row per "
         "point");
  };
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!file.starts_with(std::string_view(kMagic, kMagicLength)) || file.size() < 10) {
    refuse("is not a .npy file");
  }
  const std::uint8_t version = bytes[kMagicLength];
  if (version < 1 || version > 3) refuse("has version ", int(version), " of the format");
  // The header's length takes two bytes in version 1 and four in later versions.
  const std::size_t before = version == 1 ? 10 : 12;
  std::size_t length = 0;
  for (std::size_t i = 8; i < before && i < bytes.size(); ++i) {
    length |= std::size_t{bytes[i]} << (8 * (i - 8));
  }
  if (file.size() < before || length > file.size() - before) refuse("ends within its header");
  const std::string_view header = file.substr(before, length);
  const std::string_view type = value_of(header, "'descr'");
  NpyTable table;
  table.is_bytes = type == "'|u1'";
  constexpr bool kLittle = std::endian::native == std::endian::little;
  const bool is_float = type == (kLittle ? "'<f4'" : "'>f4'");
  const bool is_double = type == (kLittle ? "'<f8'" : "'>f8'");
  if (!table.is_bytes && !is_float && !is_double) refuse("holds numbers of type ", type);
  if (value_of(header, "'fortran_order'") != "False") refuse("is stored column by column");
  if (!read_shape(value_of(header, "'shape'"), table.rows, table.columns)) {
    refuse("has the shape (", value_of(header, "'shape'"), ")");
  }
  const std::size_t size = table.is_bytes ? 1 : is_float ? sizeof(float) : sizeof(double);
  const std::size_t values = (file.size() - before - length) / size;
  // A division, because the product may overflow.
  const bool fits = table.rows == 0 || table.columns == 0
                        ? values == 0
                        : values % table.columns == 0 && values / table.columns == table.rows;
  if (!fits || (file.size() - before - length) % size != 0) {
    refuse("has a header for ", table.rows, " x ", table.columns, " numbers but holds ", values);
  }
  const std::uint8_t* const data = bytes.data() + before + length;
  if (table.is_bytes) {
    table.bytes.assign(data, data + values);
  } else {
    table.floats.resize(values);
    if (values > 0 && is_float) std::memcpy(table.floats.data(), data, values * sizeof(float));
    for (std::size_t i = 0; i < values && is_double; ++i) {
      double value = 0;
      std::memcpy(&value, data + i * sizeof(double), sizeof(double));
      // Values beyond the largest float become infinite, which is rejected below.
      table.floats[i] = std::isnan(value) || std::abs(value) <= std::numeric_limits<float>::max()
                            ? float(value)
                            : std::numeric_limits<float>::infinity();
    }
    for (std::size_t i = 0; i < values; ++i) {
      if (!std::isfinite(table.floats[i])) {
        refuse("holds ", table.floats[i], " in row ", i / table.columns);
      }
    }
  }
  return table;
}

NpyTable read_npy(const std::filesystem::path& file) {
  return decode_npy(LoadedFile(file).bytes(), file.string());
}

}  // namespace cornea::io
