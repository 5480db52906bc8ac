// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>

#include "cornea/catalog/filters.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/cli/progress.h"
#include "cornea/core/error.h"
#include "cornea/core/naming.h"
#include "cornea/filter/trilateral/trilateral.h"

namespace cornea::cli {
namespace {

struct FilterCommand {
  CommonOptions common;
  std::string image, out, filter = "trilateral", levels;
  OptionFlags flags;
};

// An image of the levels, bright for wide windows; as .pfm the levels themselves.
void write_levels(const std::string& file, const Image<std::uint8_t>& levels) {
  const bool exact = is_pfm(file);
  int most = 1;
  for (int y = 0; y < levels.height(); ++y) {
    for (int x = 0; x < levels.width(); ++x) most = std::max<int>(most, levels(x, y));
  }
  Image<float> picture(levels.width(), levels.height());
  for (int y = 0; y < levels.height(); ++y) {
    for (int x = 0; x < levels.width(); ++x) {
      picture(x, y) = exact ? float(levels(x, y)) : float(levels(x, y)) / float(most);
    }
  }
  write_picture(file, picture);
}

// Filters an image into a file.
template <class Out, class In>
void filter_into(const std::string& out, ImageFilter& filter, const Image<In>& image,
                 const std::string& name) {
  Image<Out> result(image.width(), image.height());
  try {
    filter.apply(image, result);
  } catch (const Error& error) {
    throw Error(error.code(), core::naming(input_name(name), error.what()));
  }
  write_picture(out, result);
}

int run_filter(const FilterCommand& c) {
  const Context context = c.common.context();
  const auto filter =
      usage_checked([&] { return find_filter(c.filter).make(context, c.flags.given()); });
  auto* trilateral = dynamic_cast<TrilateralFilter*>(filter.get());
  if (!c.levels.empty() && !trilateral) {
    throw UsageError("--levels belongs to the trilateral filter; the filter " + c.filter +
                     " has no levels");
  }
  check_outputs({{c.image}}, c.common.outputs({c.out, c.levels}));
  const GrayImage image = gray_from(c.image, c.common.reading());
  note_reading(c.common, input_name(c.image), image);
  filter->time_stages(true);
  Progress progress("filtering", 1, c.common.quiet);
  std::visit(
      [&]<class T>(const Image<T>& pixels) {
        const bool exact = is_pfm(c.out);
        exact ? filter_into<float>(c.out, *filter, pixels, c.image)
              : filter_into<T>(c.out, *filter, pixels, c.image);
      },
      image.pixels);
  const FilterReport report = filter->report();
  progress.finish();
  if (!c.levels.empty()) write_levels(c.levels, trilateral->level_map(image.view()));
  Json stages = Json::object();
  std::string by_stage;
  for (const StageTime& stage : report.stages) {
    stages[stage.stage] = stage.milliseconds;
    by_stage +=
        text(by_stage.empty() ? "" : ", ", stage.stage, " ", milliseconds_text(stage.milliseconds));
  }
  if (c.common.talks({c.out, c.levels})) {
    std::cout << c.image << "  " << image.width() << " x " << image.height() << "  "
              << milliseconds_text(report.milliseconds) << " (" << by_stage << ")\n"
              << c.filter << " on " << context.description() << "\nfiltered image: " << c.out
              << std::endl;
    if (!c.levels.empty()) std::cout << "levels: " << c.levels << std::endl;
  }
  Json json = {{"image", c.image},         {"width", image.width()},
               {"height", image.height()}, {"filter", c.filter},
               {"device", context.name()}, {"milliseconds", report.milliseconds},
               {"stages", stages}};
  add_reading(json, c.common, {&image});
  c.common.write_json(json);
  return 0;
}

}  // namespace

Run add_filter(CLI::App& app) {
  auto c = std::make_shared<FilterCommand>();
  CLI::App* command = app.add_subcommand("filter", "smooth an image");
  command->add_option("image", c->image, "image file, - for standard input; colour becomes gray")
      ->required()
      ->type_name("IMAGE");
  command
      ->add_option("-o,--out", c->out,
                   "the filtered image; - for standard output, as PNG; otherwise .png, .jpg, .pgm, "
                   ".tif, or .pfm for exact floats (gray "
                   "levels 0..255 of an 8-bit or 16-bit image, else the image's own units)")
      ->required()
      ->type_name("OUT");
  std::string names;
  for (const FilterEntry& entry : filter_table()) {
    names += text(names.empty() ? "" : ", ", entry.name, " (", entry.summary, ")");
  }
  command->add_option("--filter", c->filter, names)->capture_default_str()->type_name("NAME");
  command
      ->add_option("--levels", c->levels,
                   "trilateral: an image of the level of each pixel, or the levels as .pfm")
      ->type_name("OUT");
  c->flags.add(*command, "Filter", filter_table());
  add_common_options(*command, c->common);
  add_reading_options(*command, c->common);
  return [c] { return run_filter(*c); };
}

}  // namespace cornea::cli
