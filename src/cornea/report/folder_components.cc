// SPDX-License-Identifier: Apache-2.0
// Connected components of a folder, and warnings for the user.
#include <algorithm>
#include <numeric>
#include <string_view>

#include "cornea/core/error.h"
#include "cornea/report/folder_page.h"

namespace cornea {
namespace {

// A disjoint-set forest with path halving (R. Tarjan, J. van Leeuwen, 1984). The root of a set is
// its lowest index, whatever the order of the pairs.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int root(int i) {
    while (parent_[std::size_t(i)] != i) {
      i = parent_[std::size_t(i)] = parent_[std::size_t(parent_[std::size_t(i)])];
    }
    return i;
  }
  void join(int a, int b) {
    const int first = root(a), second = root(b);
    parent_[std::size_t(std::max(first, second))] = std::min(first, second);
  }

 private:
  std::vector<int> parent_;
};

// "62,081"
std::string grouped(std::int64_t number) {
  const std::string digits = std::to_string(number);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string counted(std::int64_t number, std::string_view one, std::string_view many) {
  return text(grouped(number), " ", number == 1 ? one : many);
}

// "a, b and c", "a, b and 4 more".
std::string list_of(const std::vector<std::string>& words) {
  constexpr std::size_t kMost = 4;
  const std::size_t shown = words.size() > kMost ? kMost - 1 : words.size();
  std::string all;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) all += i + 1 == words.size() ? " and " : ", ";
    all += words[i];
  }
  if (shown < words.size())
    all += text(" and ", grouped(std::int64_t(words.size() - shown)), " more");
  return all;
}

std::string names_of(const FolderPage& page, const std::vector<int>& images) {
  std::vector<std::string> names;
  names.reserve(images.size());
  for (const int i : images) names.push_back(page.images[std::size_t(i)].name);
  return list_of(names);
}

void warn_of_components(const FolderPage& page, std::vector<FolderPageWarning>& all) {
  std::vector<int> alone;
  std::vector<std::string> sizes;
  for (const FolderPageComponent& component : page.components) {
    if (component.images > 1) sizes.push_back(grouped(component.images));
  }
  for (std::size_t i = 0; i < page.images.size(); ++i) {
    const int component = page.images[i].component;
    if (component >= 0 && page.components[std::size_t(component)].images == 1) {
      alone.push_back(int(i));
    }
  }
  if (sizes.empty()) {
    all.push_back({"No two images share a geometry.", {}, true});
    return;
  }
  if (!alone.empty()) {
    all.push_back({text(counted(std::int64_t(alone.size()), "image shares", "images share"),
                        " no geometry with the rest: ", names_of(page, alone), "."),
                   alone, true});
  }
  if (const std::size_t groups = sizes.size(); groups > 1) {
    // The largest are named, "of 12, 5 and 3 images"; list_of() would count the others as images.
    const std::size_t listed = std::min<std::size_t>(sizes.size(), 4);
    const bool all_listed = listed == sizes.size();
    sizes.resize(listed);
    all.push_back(
        {text("The images fall into ", groups, " groups that share no geometry with one another; ",
              all_listed ? "they have " : "the largest have ", list_of(sizes),
              " images. Each group is reconstructed separately."),
         {},
         true});
  }
}

// Few features: a tenth of the folder's median, but never more than this.
constexpr int kFewFeatures = 500;

void warn_of_features(const FolderPage& page, std::vector<FolderPageWarning>& all) {
  if (page.images.empty()) return;
  std::vector<int> counts;
  for (const FolderPageImage& image : page.images) counts.push_back(image.features);
  const auto middle = counts.begin() + std::ptrdiff_t(counts.size() / 2);
  std::nth_element(counts.begin(), middle, counts.end());
  const int few = std::min(kFewFeatures, *middle / 10);
  std::vector<int> none, some;
  for (std::size_t i = 0; i < page.images.size(); ++i) {
    const int features = page.images[i].features;
    if (features == 0) none.push_back(int(i));
    if (features > 0 && features < few) some.push_back(int(i));
  }
  if (!none.empty()) {
    all.push_back({text(counted(std::int64_t(none.size()), "image has", "images have"),
                        " no features: ", names_of(page, none), "."),
                   none, true});
  }
  if (!some.empty()) {
    all.push_back({text(counted(std::int64_t(some.size()), "image has", "images have"),
                        " few features, fewer than a tenth of the usual ", grouped(*middle), ": ",
                        names_of(page, some),
                        some.size() == 1 ? ". It may be blurred, dark or nearly empty."
                                         : ". They may be blurred, dark or nearly empty."),
                   some, false});
  }
}

void warn_of_pairs(const FolderPage& page, std::vector<FolderPageWarning>& all) {
  std::int64_t watermarks = 0, unverified = 0, connecting = 0, flat = 0;
  std::vector<int> degrees(page.images.size());
  for (const FolderPagePair& pair : page.pairs) {
    watermarks += pair.kind == Configuration::watermark;
    unverified += pair.kind == Configuration::undefined && pair.matches > 0;
    if (!pair.connects()) continue;
    ++connecting;
    flat += pair.kind == Configuration::planar || pair.kind == Configuration::panoramic ||
            pair.kind == Configuration::planar_or_panoramic;
    ++degrees[std::size_t(pair.first)], ++degrees[std::size_t(pair.second)];
  }
  if (unverified > 0) {
    all.push_back({text(counted(unverified, "pair has", "pairs have"),
                        " matches but no geometry yet; run verify."),
                   {},
                   true});
  }
  std::vector<int> hanging;
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    if (degrees[i] == 1) hanging.push_back(int(i));
  }
  if (page.images.size() > 3 && !hanging.empty()) {
    all.push_back({text(counted(std::int64_t(hanging.size()), "image is", "images are"),
                        " connected by a single pair only: ", names_of(page, hanging), "."),
                   hanging, false});
  }
  if (watermarks > 0) {
    all.push_back({text(counted(watermarks, "pair looks", "pairs look"),
                        " like a watermark or a time stamp: matches that do not move between the "
                        "photographs. Such pairs do not count as connections here."),
                   {},
                   false});
  }
  if (connecting > 0 && 2 * flat > connecting) {
    all.push_back(
        {text(
             grouped(flat), " of ", counted(connecting, "pair is", "pairs are"),
             " explained by a homography: the scene is planar, or the camera only rotated, so that "
             "these pairs determine little or no depth."),
         {},
         false});
  }
}

void warn_of_photographs(const FolderPage& page, std::vector<FolderPageWarning>& all) {
  std::vector<int> images;
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < page.images.size(); ++i) {
    const FolderPageImage& image = page.images[i];
    if (image.problem.empty()) continue;
    images.push_back(int(i));
    reasons.push_back(text(image.name, " ", image.problem));
  }
  if (images.empty()) return;
  all.push_back({text(counted(std::int64_t(images.size()), "photograph", "photographs"),
                      " cannot be shown: ", list_of(reasons), "."),
                 images, false});
}

}  // namespace

void find_components(FolderPage& page) {
  const std::size_t count = page.images.size();
  Sets sets(count);
  for (const FolderPagePair& pair : page.pairs) {
    if (pair.connects()) sets.join(pair.first, pair.second);
  }
  std::vector<FolderPageComponent> found(count);  // indexed by the roots
  for (std::size_t i = 0; i < count; ++i) ++found[std::size_t(sets.root(int(i)))].images;
  for (const FolderPagePair& pair : page.pairs) {
    if (pair.connects()) ++found[std::size_t(sets.root(pair.first))].pairs;
  }
  std::vector<int> roots;
  for (std::size_t i = 0; i < count; ++i) {
    if (found[i].images > 0) roots.push_back(int(i));
  }
  std::stable_sort(roots.begin(), roots.end(), [&](int a, int b) {
    return found[std::size_t(a)].images > found[std::size_t(b)].images;
  });
  std::vector<int> place(count);
  page.components.clear();
  for (const int root : roots) {
    place[std::size_t(root)] = int(page.components.size());
    page.components.push_back(found[std::size_t(root)]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    page.images[i].component = place[std::size_t(sets.root(int(i)))];
  }
}

std::vector<FolderPageWarning> folder_warnings(const FolderPage& page) {
  std::vector<FolderPageWarning> all;
  if (page.images.empty()) return {{"There are no images.", {}, true}};
  warn_of_components(page, all);
  warn_of_features(page, all);
  warn_of_pairs(page, all);
  warn_of_photographs(page, all);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.serious && !b.serious; });
  return all;
}

}  // namespace cornea
