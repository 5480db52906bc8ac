#include "cornea/match/match.h"

#include <iostream>

#include "cornea/catalog/detectors.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/cli/two_view.h"
#include "cornea/core/error.h"
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
  OptionFlags flags;  // of every detector
};

Settings settings_of(const MatchCommand& c) {
  Settings settings = c.flags.given();
  settings["max-points"] = std::to_string(c.max_features);
  return settings;
}

// x1, y1, x2, y2, ratio, distance.
std::vector<float> numbers_of(const Match& m, const Features& a, const Features& b) {
  const Keypoint &from = a.keypoints[m.a], &to = b.keypoints[m.b];
  return {from.x, from.y, to.x, to.y, m.ratio, m.distance};
}

std::string csv_text(const std::vector<Match>& matches, const Features& a, const Features& b) {
  io::CsvWriter csv("x1,y1,x2,y2,ratio,distance");
  for (const Match& m : matches) csv.row(numbers_of(m, a, b));
  return csv.contents();
}

Json json_matches(const std::vector<Match>& matches, const Features& a, const Features& b) {
  Json list = Json::array();
  for (const Match& m : matches) {
    Json numbers = Json::array();
    for (float v : numbers_of(m, a, b)) numbers.push_back(io::shortest(v));
    numbers.erase(5);  // the distance is in the CSV
    list.push_back(std::move(numbers));
  }
  return list;
}

// An error of a file names it.
double extract(FeatureExtractor& extractor, const std::string& image, const GrayImage& pixels,
               Features& out) {
  try {
    extractor.extract(pixels.view(), out);
  } catch (const Error& error) {
    const std::string sentence = error.what();
    throw Error(error.code(), sentence.starts_with(image) ? sentence : image + ": " + sentence);
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
  const GrayImage first_image = read_gray(c.first, c.common.reading());
  const GrayImage second_image = read_gray(c.second, c.common.reading());
  note_reading(c.common, c.first, first_image);
  note_reading(c.common, c.second, second_image);
  double ms =
      extract(extractor, c.first, first_image, a) + extract(extractor, c.second, second_image, b);
  const std::vector<Match> matches = matcher.match(a, b);
  ms += matcher.report().milliseconds;

  if (!c.csv.empty()) write_text(c.csv, csv_text(matches, a, b));
  if (!c.draw.empty()) {
    const auto first = read_image<Rgb<std::uint8_t>>(c.first, c.common.reading());
    const auto second = read_image<Rgb<std::uint8_t>>(c.second, c.common.reading());
    write_image(c.draw, draw_matches(context, first.host(), second.host(), a.keypoints, b.keypoints,
                                     matches));
  }
  if (c.common.talks()) {
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
               {"milliseconds", ms}};
  add_reading(json, c.common, {&first_image, &second_image});
  c.common.write_json(json);
  return 0;
}

}  // namespace

Run add_match(CLI::App& app) {
  auto c = std::make_shared<MatchCommand>();
  CLI::App* command = app.add_subcommand("match", "find features in two images and match them");
  command->add_option("first", c->first, "image file")->required()->type_name("A");
  command->add_option("second", c->second, "image file")->required()->type_name("B");
  add_described_detector_option(*command, c->detector);
  command
      ->add_option("--max-features,--max-points", c->max_features,
                   "the strongest N of an image; 0: no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  add_max_size_option(*command, c->max_size);
  add_match_options(*command, c->options);
  command
      ->add_option("--draw", c->draw,
                   "both pictures, side by side, with at most 200 of the matches as lines")
      ->type_name("OUT.png");
  command->add_option("--csv", c->csv, "x1,y1,x2,y2,ratio,distance, a line a match")
      ->type_name("OUT.csv");
  c->flags.add(*command, "Detector", without_flag(detector_table(), "max-points"));
  add_common_options(*command, c->common);
  add_reading_options(*command, c->common);
  return [c] { return run_match(*c); };
}

}  // namespace cornea::cli
