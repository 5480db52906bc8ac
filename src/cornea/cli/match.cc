// SPDX-License-Identifier: Apache-2.0
#include "cornea/match/match.h"

#include <iostream>

#include "cornea/catalog/detectors.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/cli/progress.h"
#include "cornea/cli/two_view.h"
#include "cornea/core/error.h"
#include "cornea/core/naming.h"
#include "cornea/io/csv.h"
#include "cornea/pipeline/features.h"
#include "cornea/report/draw.h"

namespace cornea::cli {
namespace {

struct MatchCommand {
  CommonOptions common;
  std::string first, second, detector = "sift";
  std::string draw, csv;
  int max_features = 0, max_size = 0;
  MatchOptions options;
  OptionFlags flags;  // options of all detectors
};

Settings settings_of(const MatchCommand& c) {
  Settings settings = c.flags.given();
  settings["max-points"] = std::to_string(c.max_features);
  return settings;
}

std::string matches_csv(const std::vector<Match>& matches, const Features& a, const Features& b) {
  io::CsvWriter csv("x1,y1,x2,y2,ratio,descriptor_distance,index1,index2", io::CsvNumbers::plain);
  for (const Match& m : matches) {
    const Keypoint &from = a.keypoints[m.a], &to = b.keypoints[m.b];
    csv.row({from.x, from.y, to.x, to.y, m.ratio, m.distance, float(m.a), float(m.b)});
  }
  return csv.contents();
}

Json json_matches(const std::vector<Match>& matches, const Features& a, const Features& b) {
  Json list = Json::array();
  for (const Match& m : matches) {
    const Keypoint &from = a.keypoints[m.a], &to = b.keypoints[m.b];
    Json numbers = Json::array();
    for (float v : {from.x, from.y, to.x, to.y, m.ratio}) numbers.push_back(io::shortest(v));
    list.push_back(std::move(numbers));
  }
  return list;
}

// For each match the indices of its two keypoints.
Json json_indices(const std::vector<Match>& matches) {
  Json list = Json::array();
  for (const Match& m : matches) list.push_back({m.a, m.b});
  return list;
}

// Errors name the file.
double extract(FeatureExtractor& extractor, const std::string& image, const GrayImage& pixels,
               Features& out) {
  try {
    extractor.extract(pixels.view(), out);
  } catch (const Error& error) {
    throw Error(error.code(), core::naming(input_name(image), error.what()));
  }
  return extractor.milliseconds();
}

int run_match(const MatchCommand& c) {
  const Context context = c.common.context();
  auto [extractor, matcher] = usage_checked([&] {
    return std::pair(FeatureExtractor(context, c.detector, settings_of(c), c.max_size),
                     Matcher(context, c.options));
  });
  check_outputs({{c.first}, {c.second}}, c.common.outputs({c.draw, c.csv}));
  Features a, b;
  const GrayImage first_image = gray_from(c.first, c.common.reading());
  const GrayImage second_image = gray_from(c.second, c.common.reading());
  note_reading(c.common, input_name(c.first), first_image);
  note_reading(c.common, input_name(c.second), second_image);
  Progress progress("features and matches", 1, c.common.quiet);
  double ms =
      extract(extractor, c.first, first_image, a) + extract(extractor, c.second, second_image, b);
  const std::vector<Match> matches = one_per_place(matcher.match(a, b), a.keypoints, b.keypoints);
  progress.finish();
  ms += matcher.report().milliseconds;

  if (!c.csv.empty()) write_text(c.csv, matches_csv(matches, a, b));
  if (!c.draw.empty()) {
    const auto first = colours_from(c.first, c.common.reading());
    const auto second = colours_from(c.second, c.common.reading());
    write_picture(c.draw, draw_matches(context, first.host(), second.host(), a.keypoints,
                                       b.keypoints, matches));
  }
  if (c.common.talks({c.draw, c.csv})) {
    std::cout << a.size() << " and " << b.size() << " features, " << matches.size()
              << (matches.size() == 1 ? " match" : " matches") << ", " << milliseconds_text(ms)
              << " (matching " << milliseconds_text(matcher.report().milliseconds) << ", "
              << matcher.report().kernel << ")\n"
              << c.detector << " on " << context.description() << std::endl;
    if (!c.draw.empty()) std::cout << "picture: " << c.draw << std::endl;
  }
  Json json = {{"images", {c.first, c.second}},
               {"detector", c.detector},
               {"device", context.name()},
               {"keypoints", {a.size(), b.size()}},
               {"matches", json_matches(matches, a, b)},
               {"indices", json_indices(matches)},
               {"milliseconds", ms}};
  add_reading(json, c.common, {&first_image, &second_image});
  c.common.write_json(json);
  return 0;
}

}  // namespace

Run add_match(CLI::App& app) {
  auto c = std::make_shared<MatchCommand>();
  CLI::App* command = app.add_subcommand("match", "find features in two images and match them");
  command->add_option("first", c->first, "image file; - for standard input")
      ->required()
      ->type_name("A");
  command->add_option("second", c->second, "image file")->required()->type_name("B");
  add_described_detector_option(*command, c->detector);
  command
      ->add_option("--max-features,--max-points", c->max_features,
                   "most points per image, the strongest (SIFT: by --keep); 0: no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  add_max_size_option(*command, c->max_size);
  add_match_options(*command, c->options);
  command
      ->add_option("--draw", c->draw,
                   "both images side by side, with at most 200 of the matches as lines; - for "
                   "standard output, as PNG")
      ->type_name("OUT.png");
  command
      ->add_option("--csv", c->csv,
                   "x1,y1,x2,y2,ratio,descriptor_distance,index1,index2, one line per match; - for "
                   "standard output")
      ->type_name("OUT.csv");
  c->flags.add(*command, "Detector", without_flag(detector_table(), "max-points"));
  add_common_options(*command, c->common);
  add_reading_options(*command, c->common);
  return [c] { return run_match(*c); };
}

}  // namespace cornea::cli
