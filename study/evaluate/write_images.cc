// SPDX-License-Identifier: Apache-2.0
// Writes the images of an evaluation as files, for programs that detect points in them.
#include "study/evaluate/evaluate.h"
#include "study/evaluate/transforms.h"

#include "cornea/cli/common.h"
#include "cornea/cli/progress.h"

namespace cornea::evaluate {

namespace fs = std::filesystem;

int write_images(const Evaluation& evaluation, const Found& found, const fs::path& folder) {
  const std::vector<Transform> changes = transforms(evaluation.fine);
  const std::vector<Picture> changed = pictures_to_change(found);
  std::vector<Picture> all = found.pictures;
  for (const Sequence& s : found.sequences)
    all.insert(all.end(), s.pictures.begin(), s.pictures.end());
  for (const Views& v : found.views) all.insert(all.end(), v.pictures.begin(), v.pictures.end());
  const int count = int(all.size() + changed.size() * changes.size());
  cli::Progress progress("writing images", count, evaluation.quiet);
  auto write = [&](const std::string& name, const Image<std::uint8_t>& image) {
    const fs::path file = folder / (name + ".png");
    cli::make_folder(file.parent_path());
    write_image(file, image);
    progress.advance();
  };
  for (const Picture& p : all) write(p.name, *p.pixels(evaluation.reading));
  for (const Picture& p : changed) {
    const Pixels pixels = p.pixels(evaluation.reading);
    for (const Transform& t : changes) {
      write(p.name + t.ending(), transformed(evaluation.context, pixels->host(), t).image);
    }
  }
  progress.finish();
  return count;
}

}  // namespace cornea::evaluate
