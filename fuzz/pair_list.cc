// SPDX-License-Identifier: Apache-2.0
// Lists of image pairs. The database has names with spaces, so that lines can be split in more than
// one way.
#include "cornea/pipeline/folder/match_all.h"
#include "fuzz/colmap.h"

namespace {

using namespace cornea;

constexpr const char* kNames[] = {"a",          "b",    "a b", "b a", "folder/view 1.png",
                                  "view 1.png", "1.png"};

colmap::Database make_database() {
  static const fuzz::MemoryDatabase kMemory;  // must outlive the database
  colmap::Database database(fuzz::MemoryDatabase::kName, colmap::Database::Open::create);
  const colmap::Id camera = database.add_camera({});
  for (const char* name : kNames) database.add_image(name, camera);
  return database;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const colmap::Database kDatabase = make_database();
  static fuzz::MemoryFile file;
  file.replace({data, size});
  PairList list;
  if (!fuzz::succeeds([&] { list = read_pair_list(file.path(), kDatabase); })) return 0;
  constexpr auto kImages = colmap::Id(std::size(kNames));
  for (const auto& [first, second] : list.pairs) {
    fuzz::must(first != second, "a pair is of two images");
    fuzz::must(first >= 1 && first <= kImages && second >= 1 && second <= kImages,
               "a pair is of images that there are");
  }
  return 0;
}
