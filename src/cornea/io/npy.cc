#include "cornea/io/npy.h"

#include "cornea/core/error.h"

namespace cornea::io {

std::string encode_npy(std::size_t rows, std::size_t columns,
                       std::span<const std::uint8_t> values) {
  require(values.size() == rows * columns, "a table of ", rows, " x ", columns, " has not ",
          values.size(), " values");
  std::string header =
      text("{'descr': '|u1', 'fortran_order': False, 'shape': (", rows, ", ", columns, "), }");
  // Magic, version, and the header's length in two bytes: the numbers begin at a multiple of 64.
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

}  // namespace cornea::io
