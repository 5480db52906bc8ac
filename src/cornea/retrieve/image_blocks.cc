// SPDX-License-Identifier: Apache-2.0
#include "cornea/retrieve/image_blocks.h"

#include <algorithm>
#include <numeric>

#include "cornea/core/error.h"
#include "cornea/retrieve/retrieve_math.h"

namespace cornea::retrieve {
namespace {

constexpr int kMostDescriptors = 1 << 24;  // per image
constexpr std::size_t kMostImages = 1 << 24;

}  // namespace

Collection::Collection(const RetrieveInput& input, const RetrieveEvents& events)
    : input(input), events(events) {
  const std::vector<RetrieveImage>& images = input.images;
  require(images.size() <= kMostImages, "a collection has at most ", kMostImages, " images, not ",
          images.size());
  std::vector<int> all(images.size());
  std::iota(all.begin(), all.end(), 0);
  std::sort(all.begin(), all.end(), [&](int a, int b) { return images[a].key < images[b].key; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RetrieveImage& image = images[all[i]];
    require(i == 0 || images[all[i - 1]].key != image.key, "images ",
            std::min(all[i - (i > 0)], all[i]), " and ", std::max(all[i - (i > 0)], all[i]),
            " have the same key, ", image.key, "; give each image a key of its own");
    require(image.descriptors >= 0 && image.descriptors <= kMostDescriptors, "image ", all[i],
            " has ", image.descriptors, " descriptors and must have 0 to ", kMostDescriptors);
    if (image.descriptors == 0) continue;
    order.push_back(all[i]);
    descriptors += image.descriptors;
  }
  require(order.empty() || input.read, "images have descriptors and `read` is not set");
}

void Collection::read(const char* stage, const std::function<void(const Block&)>& use) const {
  Block block;
  for (int place = 0; place < size(); ++place) {
    const std::size_t before = block.descriptors.size();
    const std::size_t wanted = std::size_t(image(place).descriptors) * kLength;
    input.read(order[place], block.descriptors);
    require(block.descriptors.size() == before + wanted, "image ", order[place],
            " was said to have ", image(place).descriptors, " descriptors, ", wanted,
            " bytes, and `read` appended ",
            static_cast<std::int64_t>(block.descriptors.size() - before));
    block.rows.push_back(block.descriptors.size() / kLength);
    ++block.count;
    const bool last = place + 1 == size();
    if (!last && block.rows.back() + image(place + 1).descriptors <= kBlockRows) continue;
    stop_if_asked(events);
    use(block);
    events.progress(stage, place + 1, size());
    block.first = place + 1;
    block.count = 0;
    block.rows = {0};
    block.descriptors.clear();
  }
}

}  // namespace cornea::retrieve
