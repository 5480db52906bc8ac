// SPDX-License-Identifier: Apache-2.0
// Points as CSV text and tables as NPY, as other programs write them: any bytes are either read or
// rejected. What was read must be finite, no more than the file can hold, and read back equal.
#include "cornea/io/points_csv.h"

#include <cmath>
#include <sstream>

#include "cornea/io/csv.h"
#include "cornea/io/npy.h"
#include "fuzz/harness.h"

namespace {

using namespace cornea;
using fuzz::must;

void read_points(const std::string& contents) {
  io::PointTable table;
  const bool read = fuzz::succeeds([&] {
    std::istringstream in(contents);
    table = io::read_points_csv(in, "points.csv");
  });
  if (!read) return;
  must(table.points.size() <= contents.size(), "a point takes more than a byte");
  io::CsvWriter csv("x,y,scale,angle,response");
  for (const Keypoint& p : table.points) {
    for (const float v : {p.x, p.y, p.scale, p.angle, p.response}) {
      must(std::isfinite(v), "numbers are finite");
    }
    csv.row({p.x, p.y, p.scale, p.angle, p.response});
  }
  std::istringstream again(csv.contents());
  must(io::read_points_csv(again, "points.csv").points == table.points, "points are read back");
}

void read_table(fuzz::Bytes bytes) {
  io::NpyTable table;
  if (!fuzz::succeeds([&] { table = io::decode_npy(bytes, "table.npy"); })) return;
  const std::size_t values = table.is_bytes ? table.bytes.size() : table.floats.size();
  must(values == table.rows * table.columns, "a table has all its values");
  for (const float v : table.floats) must(std::isfinite(v), "numbers are finite");
  if (!table.is_bytes) return;
  const std::string file = io::encode_npy(table.rows, table.columns, table.bytes);
  must(io::decode_npy(fuzz::as_bytes(file), "table.npy").bytes == table.bytes, "it is read back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_points(std::string(reinterpret_cast<const char*>(data), size));
  read_table({data, size});
  return 0;
}
