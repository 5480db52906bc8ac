// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/extract.h"

#include <iostream>

#include "cornea/catalog/detectors.h"
#include "cornea/cli/camera_sharing.h"
#include "cornea/cli/folder.h"
#include "cornea/cli/folder_steps.h"
#include "cornea/cli/shard.h"
#include "cornea/core/build.h"

namespace cornea::cli {
namespace {

struct ExtractCommand : ExtractFlags {
  std::string database;
  ItemFlags item;
};

// SIFT with the defaults of this command.
DetectorEntry sift_entry() {
  DetectorEntry entry = find_detector("sift");
  entry.flags = sift_flags(folder_sift_options());
  return entry;
}

// What was done, the totals of the database, and the folder's ignored files.
struct ExtractSummary {
  ExtractReport report;
  std::int64_t features = 0, images = 0, cameras = 0;  // in the database
  std::vector<std::string> ignored;
};

void print_notes(const ExtractCommand& c, const ExtractSummary& summary) {
  const ExtractReport& report = summary.report;
  if (!c.masks.empty()) std::cout << "\n" << counted(report.masked, "image") << " with a mask";
  if (report.ignored > 0) {
    std::cout << "\n"
              << counted(report.ignored, "file")
              << " ignored, of an unsupported format: " << first_of(summary.ignored);
  }
  if (report.unrecorded > 0) {
    std::cout << "\n"
              << grouped(report.unrecorded)
              << " of the images already there have no record of how their features were "
                 "extracted, and were not compared";
  }
  if (report.removed > 0) {
    std::cout << "\n"
              << counted(report.removed, "image")
              << " no longer in the folder removed, with features, matches and geometries";
  }
  const int kept = report.changed + report.vanished + report.elsewhere;
  if (kept > 0 && c.options.changed == Changed::keep) {
    std::cout << "\n"
              << counted(kept, "image")
              << " that changed, vanished or had other options left unchanged";
  }
}

void print_report(const ExtractCommand& c, const Context& context, const ExtractSummary& summary) {
  const ExtractReport& report = summary.report;
  const double seconds = report.milliseconds / 1000;
  std::cout << counted(report.images, "image") << ": " << grouped(report.extracted - report.redone)
            << " new, ";
  if (report.redone > 0) std::cout << grouped(report.redone) << " done again, ";
  std::cout << grouped(report.skipped) << " already there, " << grouped(report.failed)
            << " failed; the database holds " << counted(summary.features, "feature");
  if (summary.images != report.images) {
    std::cout << " of " << counted(summary.images, "image");
  }
  if (summary.cameras != summary.images) {
    std::cout << " by " << counted(summary.cameras, "camera");
  }
  print_notes(c, summary);
  std::cout << "\n" << seconds_text(report.milliseconds);
  if (report.extracted > 0) {
    char rate[64];
    std::snprintf(rate, sizeof rate, " (%.1f images/s, %.0f%% of the work was decoding)",
                  report.extracted / seconds, 100 * report.decode_share());
    std::cout << rate;
  }
  std::cout << " on " << context.description() << "\ndatabase: " << c.database << std::endl;
}

// If no mask belongs to an image, their names are wrong.
void check_masks(const std::filesystem::path& masks, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::filesystem::exists(mask_of(masks, name))) return;
  }
  if (names.empty()) return;
  fail(ErrorCode::io, masks.string(), ": holds no mask for any of the images; that of ",
       names.front(), " would be ", mask_of(masks, names.front()).string());
}

}  // namespace

ExtractOptions extract_options(const ExtractFlags& c) {
  ExtractOptions options = c.options;
  options.masks = c.masks;
  options.reading = c.common.reading();
  if (options.reading.upright) {
    throw UsageError(
        "extract uses pixels as they are stored, as COLMAP does when it reads the photographs "
        "again; rotate the files themselves instead of using --upright");
  }
  usage_checked([&] {
    options.sift = sift_options(c.flags.given(), options.sift);
    options.validate();
  });
  return options;
}

FolderListing listed_photographs(const ExtractFlags& c, const ExtractOptions& options) {
  FolderListing listing = list_images(c.folder, options.masks);
  if (listing.names.empty() && listing.unreadable.empty()) {
    const std::string others =
        listing.ignored.empty()
            ? ""
            : text("; ", listing.ignored.size(), " of other formats: ", first_of(listing.ignored));
    fail(ErrorCode::io, c.folder,
         kHasWebp ? ": holds no .jpg, .jpeg, .png, .tif, .tiff or .webp file"
                  : ": holds no .jpg, .jpeg, .png, .tif or .tiff file",
         " (hidden folders are not entered, and links to folders not followed)", others);
  }
  if (!c.masks.empty()) check_masks(options.masks, listing.names);
  return listing;
}

std::vector<NamedInput> inputs_of(const ExtractFlags& c, const FolderListing& listing) {
  std::vector<NamedInput> inputs;
  for (const std::string& name : listing.names) {
    inputs.push_back({(std::filesystem::path(c.folder) / name).string()});
    if (!c.masks.empty()) inputs.push_back({mask_of(c.masks, name).string(), "a mask"});
  }
  return inputs;
}

void note_twelve_bit(const CommonOptions& common, const ExtractReport& report) {
  if (report.twelve_bit == 0 || common.quiet) return;
  print_error("note: " + counted(report.twelve_bit, "image") +
              " of 16 bits without a value above 4095 taken as 12-bit (times 16); --range full "
              "takes them as stored");
}

namespace {

int run_extract(const ExtractCommand& c) {
  const Context context = c.common.context();
  const ExtractOptions options = extract_options(c);
  usage_checked([&] { options.validate_masks(); });
  const FolderListing listing = listed_photographs(c, options);
  std::vector<NamedInput> inputs = inputs_of(c, listing);
  inputs.push_back({c.database, kTheDatabase});
  check_outputs(inputs, c.common.outputs({}));
  FolderProgress progress("extract", c.common.quiet);
  ExtractSummary summary{.report = {}, .ignored = listing.ignored};
  {
    // Closed before anything is printed, so that no auxiliary file is left beside it even if
    // printing fails.
    colmap::Database database(c.database, colmap::Database::Open::create, c.schema);
    summary.report = extract_folder(context, c.folder, database, options, progress.events);
    summary.features = database.total("keypoints");
    summary.images = database.count("keypoints");
    summary.cameras = database.count("cameras");
  }
  progress.clear();
  const ExtractReport& report = summary.report;
  note_twelve_bit(c.common, report);
  if (c.common.talks()) print_report(c, context, summary);
  c.common.write_json({{"images", report.images},
                       {"extracted", report.extracted},
                       {"redone", report.redone},
                       {"skipped", report.skipped},
                       {"failed", report.failed},
                       {"masked", report.masked},
                       {"changed", report.changed},
                       {"vanished", report.vanished},
                       {"removed", report.removed},
                       {"elsewhere", report.elsewhere},
                       {"other_cameras", report.other_cameras},
                       {"pose_priors", report.pose_priors},
                       {"unrecorded", report.unrecorded},
                       {"ignored", report.ignored},
                       {"stopped", report.stopped},
                       {"twelve_bit", report.twelve_bit},
                       {"orientation", "as-stored"},
                       {"features", report.features},
                       {"features_in_database", summary.features},
                       {"cameras_in_database", summary.cameras},
                       {"milliseconds", report.milliseconds},
                       {"decode_milliseconds", report.decode_milliseconds},
                       {"compute_milliseconds", report.compute_milliseconds},
                       {"write_milliseconds", report.write_milliseconds},
                       {"waiting_milliseconds", report.waiting_milliseconds},
                       {"decode_share", report.decode_share()},
                       {"database", c.database},
                       {"device", context.name()}});
  if (report.stopped) {
    const bool redoes = c.options.redo || c.options.changed == Changed::redo;
    const int wanted = report.images - report.skipped + (redoes ? report.elsewhere : 0);
    return interrupted(
        c.database, report.extracted, wanted, "images are extracted",
        c.options.redo ? "with --redo the same command starts from the beginning" : kGoesOn);
  }
  return report.failed ? 1 : 0;
}

}  // namespace

CLI::Option* add_photographs_argument(CLI::App* command, ExtractFlags* c) {
  return command
      ->add_option("folder", c->folder,
                   "folder with JPEG, PNG, TIFF and WebP files, including subfolders; pixels are "
                   "used as stored")
      ->required()
      ->type_name("DIR");
}

void add_extract_options(CLI::App* command, ExtractFlags* c) {
  command
      ->add_option("--max-features,--max-points", c->options.sift.max_points,
                   "most points per image, chosen by --keep; 0: no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  add_max_size_option(*command, c->options.max_size);
  command
      ->add_option(
          "--mask", c->masks,
          "folder with a mask MASKS/NAME.png for image NAME; no features where it is black")
      ->type_name("MASKS");
  add_sharing_options(*command, c->options);
  add_schema_option(*command, c->schema);
  command
      ->add_option("--decoders", c->options.decoders,
                   "threads that decode images ahead; 0: one on the CPU, up to 8 with CUDA")
      ->capture_default_str()
      ->type_name("N");
}

void add_sift_options(CLI::App* command, ExtractFlags* c) {
  c->flags.add(*command, "SIFT", without_flag(std::vector{sift_entry()}, "max-points"));
  add_common_options(*command, c->common);
  add_reading_options(*command, c->common);
  command->get_option("--upright")->group("");  // refused with the reason, so not offered
}

Run add_extract(CLI::App& app) {
  auto c = std::make_shared<ExtractCommand>();
  CLI::App* command = app.add_subcommand(
      "extract", "extract SIFT features of a folder of images into a COLMAP database");
  CLI::Option* photographs = add_photographs_argument(command, c.get());
  CLI::Option* database =
      add_database_option(*command, c->database,
                          "COLMAP database; one that exists is continued: images with features are "
                          "skipped");
  add_item_options(command, &c->item, {photographs, database});
  add_extract_options(command, c.get());
  add_changed_options(*command, c->options.changed, c->options.redo,
                      "extract all images of the folder again; deletes their matches, and images "
                      "that no longer exist");
  add_sift_options(command, c.get());
  return [c, command] {
    if (c->item.is_asked(*command, {"folder", "--db"}, {"folder", "--decoders", "--redo"})) {
      c->item.redo = c->options.redo;
      c->item.decoders = c->options.decoders;
      return run_item(c->common, c->item, ShardStep::extract, c->folder);
    }
    return run_extract(*c);
  };
}

}  // namespace cornea::cli
