// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>

#include "cornea/catalog/detectors.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/cli/mask.h"
#include "cornea/cli/progress.h"
#include "cornea/core/error.h"
#include "cornea/core/naming.h"
#include "cornea/core/reduce.h"
#include "cornea/io/csv.h"
#include "cornea/io/npy.h"
#include "cornea/report/draw.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

struct DetectCommand {
  CommonOptions common;
  std::vector<std::string> images;
  std::string detector = "harris";
  std::string mask, draw, csv, response, descriptors;
  int max_size = 0;
  OptionFlags flags;  // options of all detectors

  bool fits_between_pixels() const { return flags.given().contains("subpixel"); }
  std::vector<std::string> results() const { return {draw, csv, response, descriptors}; }
};

// Where a picture or list of this image is written: the name itself for one image, a file in the
// folder of that name for several.
fs::path output_for(const std::string& detector, const std::string& out, const std::string& image,
                    bool several, const std::string& ending) {
  if (!several) return out;
  const char* what = detector == "sift" ? "_sift" : "_corners";
  return fs::path(out) / (fs::path(image).stem().string() + what + ending);
}

void check_results(const DetectCommand& c) {
  const bool several = c.images.size() > 1;
  for (const std::string& out : c.results()) {
    if (several && is_standard(out)) {
      throw UsageError(
          "standard output (-) takes the result of one image; name a folder for several");
    }
  }
  if (!several && !c.response.empty() && !is_pfm(c.response) && !is_standard(c.response)) {
    throw UsageError(c.response +
                     ": a response map is written as exact floats, to a file named .pfm");
  }
  std::vector<NamedInput> inputs;
  for (const std::string& image : c.images) inputs.push_back({image});
  if (!c.mask.empty()) inputs.push_back({c.mask, "the mask"});
  std::vector<fs::path> outputs;
  if (!c.common.json.empty()) outputs.push_back(c.common.json);
  for (const std::string& image : c.images) {
    for (const auto& [out, ending] :
         {std::pair(c.draw, ".png"), std::pair(c.csv, ".csv"), std::pair(c.response, ".pfm"),
          std::pair(c.descriptors, ".npy")}) {
      if (!out.empty()) outputs.push_back(output_for(c.detector, out, image, several, ending));
    }
  }
  check_outputs(inputs, outputs);
}

// Which values a point has.
enum class Columns { corners, features, affine };

// A detector of either kind. Corners are points without scale, angle and descriptor.
class Detector {
 public:
  Detector(const DetectCommand& c, const Context& context) {
    usage_checked([&] {
      const DetectorEntry& entry = find_detector(c.detector);
      if (entry.make) corners_ = entry.make(context, c.flags.given());
      if (entry.make_sift) sift_ = entry.make_sift(context, c.flags.given());
    });
    if (sift_ && !c.response.empty()) {
      throw UsageError(c.detector + " has no response map; --response is for corner detectors");
    }
    if (corners_ && !c.descriptors.empty()) {
      throw UsageError(c.detector + " does not describe its points; use --detector sift");
    }
  }

  bool describes() const { return sift_ != nullptr; }
  Columns columns() const {
    if (!sift_) return Columns::corners;
    return sift_->options().affine_shape ? Columns::affine : Columns::features;
  }
  const DetectReport& report() const { return sift_ ? sift_->report() : corners_->report(); }
  Image<float> response(AnyView image) { return corners_->response(image); }

  void detect(AnyView image, AnyView mask, Features& out) {
    if (sift_) return sift_->detect(image, out, mask);
    out.keypoints = keypoints_of(corners_->detect(image, mask), 0);
  }

  // Device memory for an image of this size; 0 if it is not known beforehand.
  std::size_t memory_needed(int width, int height) const {
    return sift_ ? sift_->memory_needed(width, height) : 0;
  }

 private:
  std::unique_ptr<CornerDetector> corners_;
  std::unique_ptr<Sift> sift_;
};

std::vector<float> numbers_of(const Keypoint& k, Columns columns) {
  std::vector<float> numbers = {k.x, k.y, k.response};
  if (columns == Columns::corners) return numbers;
  numbers.insert(numbers.end(), {k.scale, k.angle});
  if (columns == Columns::features) return numbers;
  const AffineFrame a = affine_frame(k);
  numbers.insert(numbers.end(), {float(a.a11), float(a.a12), float(a.a21), float(a.a22)});
  return numbers;
}

std::string points_csv(const std::vector<Keypoint>& points, Columns columns) {
  io::CsvWriter csv(columns == Columns::corners    ? "x,y,response"
                    : columns == Columns::features ? "x,y,response,scale,angle"
                                                   : "x,y,response,scale,angle,a11,a12,a21,a22");
  for (const Keypoint& k : points) csv.row(numbers_of(k, columns));
  return csv.contents();
}

Json json_points(const std::vector<Keypoint>& points, Columns columns) {
  Json list = Json::array();
  for (const Keypoint& k : points) {
    Json numbers = Json::array();
    for (float v : numbers_of(k, columns)) numbers.push_back(io::shortest(v));
    list.push_back(std::move(numbers));
  }
  return list;
}

void write_results(const DetectCommand& c, const Context& context, Detector& detector,
                   const std::string& image, AnyView sought, const Features& found) {
  const bool several = c.images.size() > 1;
  if (!c.csv.empty()) {
    write_text(output_for(c.detector, c.csv, image, several, ".csv"),
               points_csv(found.keypoints, detector.columns()));
  }
  if (!c.descriptors.empty()) {
    write_text(output_for(c.detector, c.descriptors, image, several, ".npy"),
               io::encode_npy(found.size(), Features::kLength, found.descriptors));
  }
  if (!c.draw.empty()) {
    const auto colour = colours_from(image, c.common.reading());
    if (detector.describes()) {
      write_picture(output_for(c.detector, c.draw, image, several, ".png"),
                    draw_features(context, colour.host(), found.keypoints));
    } else {
      std::vector<Corner> corners;
      for (const Keypoint& k : found.keypoints) corners.push_back({k.x, k.y, k.response});
      write_picture(output_for(c.detector, c.draw, image, several, ".png"),
                    draw_corners(context, colour.host(), corners));
    }
  }
  if (!c.response.empty()) {
    write_picture(output_for(c.detector, c.response, image, several, ".pfm"),
                  detector.response(sought), ".pfm");
  }
}

int run_detect(const DetectCommand& c) {
  const Context context = c.common.context();
  Detector detector(c, context);
  const bool several = c.images.size() > 1;
  check_results(c);
  if (several) {
    for (const std::string& out : c.results()) {
      if (!out.empty()) make_folder(out);
    }
  }
  const ReadOptions reading = c.common.reading();
  Image<std::uint8_t> mask;
  if (!c.mask.empty()) mask = read_mask(c.mask, c.common.reading_masks());

  Json results = Json::array();
  std::vector<std::vector<std::string>> rows;
  int failed = 0;
  Features found;
  Progress progress("detecting", static_cast<int>(c.images.size()), c.common.quiet);
  for (const std::string& image : c.images) {
    try {
      const GrayImage gray = gray_from(image, reading);
      if (gray.range) progress.clear();
      note_reading(c.common, input_name(image), gray);
      const core::Reduced reduced(gray.view(), mask, c.max_size);
      detector.detect(reduced.image(), reduced.mask(), found);
      const std::size_t fitted = detector.report().between_pixels;
      reduced.to_given(found.keypoints);
      const double ms = detector.report().milliseconds;
      write_results(c, context, detector, image, reduced.image(), found);
      rows.push_back({image, text(gray.width(), " x ", gray.height()),
                      text(found.size(), found.size() == 1 ? " point" : " points",
                           c.fits_between_pixels() ? text(", ", fitted, " between pixels") : ""),
                      milliseconds_text(ms)});
      if (!c.common.json.empty()) {
        results.push_back({{"image", image},
                           {"width", gray.width()},
                           {"height", gray.height()},
                           {"detector", c.detector},
                           {"device", context.name()},
                           {"milliseconds", ms},
                           {"points", json_points(found.keypoints, detector.columns())}});
        if (c.fits_between_pixels()) results.back()["between_pixels"] = fitted;
        add_reading(results.back(), c.common, {&gray});
        const int width = reduced.image().width(), height = reduced.image().height();
        if (reduced.is_smaller()) results.back()["reduced_to"] = {width, height};
        if (detector.describes()) {
          results.back()["memory_bytes"] = detector.memory_needed(width, height);
        }
      }
    } catch (const std::exception& error) {
      // One bad image does not stop the others.
      progress.clear();
      print_error(core::naming(input_name(image), error.what()));
      ++failed;
    }
    progress.advance();
  }
  progress.finish();
  if (c.common.talks(c.results()) && !rows.empty()) {
    std::cout << table_text(rows) << c.detector << " on " << context.description() << std::endl;
    if (!c.draw.empty()) {
      std::cout << (several ? "pictures in " : "picture: ") << c.draw << std::endl;
    }
  }
  c.common.write_json(results);
  return failed ? 1 : 0;
}

}  // namespace

Run add_detect(CLI::App& app) {
  auto c = std::make_shared<DetectCommand>();
  CLI::App* command = app.add_subcommand("detect", "find corners or SIFT features in images");
  command->add_option("images", c->images, "image files; - for standard input")
      ->required()
      ->type_name("IMAGE");
  std::string names;
  for (const DetectorEntry& entry : detector_table()) {
    names += text(names.empty() ? "" : ", ", entry.name, " (", entry.summary, ")");
  }
  command->add_option("--detector", c->detector, names)->capture_default_str()->type_name("NAME");
  command
      ->add_option("--draw", c->draw, "image with the points marked; a folder for several images")
      ->type_name("OUT.png");
  command
      ->add_option(
          "--csv", c->csv,
          "x,y,response (sift: also scale, angle; with --affine-shape a11..a22), one line per "
          "point; a folder for several "
          "images")
      ->type_name("OUT.csv");
  command
      ->add_option("--descriptors", c->descriptors,
                   "sift: 128 bytes per point, as .npy; a folder for several images")
      ->type_name("OUT.npy");
  command
      ->add_option("--response", c->response,
                   "the response map as exact floats, at the size of --max-size; a folder for "
                   "several images")
      ->type_name("OUT.pfm");
  command->add_option("--mask", c->mask, "image of the same size; no points where it is black")
      ->type_name("IMAGE");
  add_max_size_option(*command, c->max_size);
  c->flags.add(*command, "Detector", detector_table());
  add_common_options(*command, c->common);
  add_reading_options(*command, c->common);
  return [c] { return run_detect(*c); };
}

}  // namespace cornea::cli
