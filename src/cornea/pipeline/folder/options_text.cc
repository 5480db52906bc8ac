// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/options_text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include "cornea/catalog/detectors.h"
#include "cornea/catalog/estimators.h"
#include "cornea/catalog/options_table.h"
#include "cornea/io/csv.h"

namespace cornea::folder {
namespace {

// Options that are off by default and were added after databases had been written: they are part of
// the text only if they are on, so that older databases stay valid.
constexpr const char* kOnlyIfOn[] = {"affine-shape", "domain-size-pooling", "upright",
                                     "essential-shared-focal"};
bool is_only_if_on(const std::string& name) {
  return std::find(std::begin(kOnlyIfOn), std::end(kOnlyIfOn), name) != std::end(kOnlyIfOn);
}

std::string text_of(const std::vector<Flag>& flags) {
  std::string all;
  for (const Flag& flag : flags) {
    if (is_only_if_on(flag.name) && flag.default_text == "no") continue;
    all += text(all.empty() ? "" : " ", flag.name, "=", flag.default_text);
  }
  return all;
}

std::map<std::string, std::string> values_of(const std::string& options) {
  std::map<std::string, std::string> values;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    const std::size_t end = std::min(word.find('='), word.size());
    values[word.substr(0, end)] = word.substr(std::min(end + 1, word.size()));
  }
  return values;
}

std::string value_in(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto it = values.find(name);
  return it != values.end() ? it->second : is_only_if_on(name) ? "no" : "unknown";
}

}  // namespace

std::string options_text(const ExtractOptions& options) {
  const PixelRange& range = options.reading.range;
  return text(text_of(sift_flags(options.sift)), options.reading.upright ? " upright=yes" : "",
              " max-size=", options.max_size, " range=",
              range.kind == PixelRange::Kind::automatic ? "auto"
              : range.kind == PixelRange::Kind::full
                  ? "full"
                  : text(catalog::exact_text(range.low), ",", catalog::exact_text(range.high)));
}

std::string options_text(const MatchOptions& options) {
  return text("ratio=", io::shortest_text(options.ratio), " mutual=", options.mutual ? "yes" : "no",
              " max-distance=", io::shortest_text(options.max_distance));
}

std::string options_text(const VerifyOptions& options) {
  const TwoViewOptions& two_view = options.two_view;
  // The options that E and H share; unlike F they have no sample size and no target.
  auto text_of_model = [](const std::string& model, const auto& o) {
    return text(" ", model, "-threshold=", catalog::exact_text(o.threshold), " ", model,
                "-confidence=", catalog::exact_text(o.confidence), " ", model,
                "-max-hypotheses=", o.max_hypotheses, " ", model, "-round=", o.round, " ", model,
                "-seed=", o.seed, " ", model, "-optimise=", o.optimise ? "yes" : "no", " ", model,
                "-refine=", o.refine ? "yes" : "no");
  };
  return text(text_of(fundamental_flags(two_view.fundamental)),
              text_of_model("essential", two_view.essential),
              two_view.essential.shared_focal ? " essential-shared-focal=yes" : "",
              text_of_model("homography", two_view.homography),
              " essential-share=", catalog::exact_text(two_view.essential_share),
              " homography-share=", catalog::exact_text(two_view.homography_share),
              " configuration-threshold=", catalog::exact_text(two_view.configuration_threshold),
              " min-inliers=", options.min_inliers, " cameras=", options.use_cameras ? "yes" : "no",
              " watermark=", options.detect_watermark ? "yes" : "no");
}

std::string retrieve_options_text(const ChoosePairsOptions& options) {
  const RetrieveOptions& r = options.retrieve;
  return text("neighbours=", r.neighbours, " words=", r.words, " training=", r.training,
              " iterations=", r.iterations, " power=", catalog::exact_text(r.power),
              " threshold=", catalog::exact_text(r.threshold), " seed=", r.seed,
              " features=", options.retrieve_features);
}

std::string options_difference(const std::string& then, const std::string& now) {
  const auto before = values_of(then), after = values_of(now);
  auto names = before;
  names.insert(after.begin(), after.end());
  std::string all;
  for (const auto& [name, value] : names) {
    const std::string old_value = value_in(before, name), new_value = value_in(after, name);
    if (old_value == new_value) continue;
    all += text(all.empty() ? "" : ", ", catalog::option_name(name), " ", old_value, " then and ",
                new_value, " now");
  }
  return all;
}

}  // namespace cornea::folder
