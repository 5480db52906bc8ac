// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cornea/cli/browser.h"
#include "cornea/cli/folder.h"
#include "cornea/cli/folder_page_files.h"
#include "cornea/cli/shell_words.h"
#include "cornea/core/build.h"
#include "cornea/core/stopwatch.h"
#include "cornea/pipeline/folder/overview.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

struct ReportCommand {
  CommonOptions common;
  std::string database, images, out;
  bool open = false;
  OverviewOptions options;
  std::string words;  // the command line, for a shell
};

void check_report_paths(const ReportCommand& c) {
  std::error_code ignored;
  if (!fs::is_directory(c.images, ignored)) {
    fail(ErrorCode::io, c.images,
         ": is not a folder; name the folder of photographs that the database was made from");
  }
  std::vector<NamedInput> inputs = {{c.database, kTheDatabase}};
  std::vector<std::string> refused;  // images with impossible ids
  for (const colmap::ImageRow& row : colmap::Database(c.database).images(&refused)) {
    inputs.push_back({(fs::path(c.images) / row.name).string()});
  }
  check_outputs(inputs, c.common.outputs({(fs::path(c.out) / "report.html").string()}));
}

int run_report(const ReportCommand& c) {
  const Context context = c.common.context();
  usage_checked([&] { c.options.validate(); });
  check_report_paths(c);
  FolderProgress progress("report", c.common.quiet);
  int failures = 0;
  const auto tell = progress.events.report;
  progress.events.report = [&](const std::string& sentence) {
    ++failures;
    tell(sentence);
  };
  core::Stopwatch watch;
  FolderPage page;
  {
    const colmap::Database database(c.database);
    page = folder_overview(context, database, c.images, c.options, progress.events);
  }
  progress.clear();
  if (progress.events.stop()) {
    print_error("interrupted; no page was written; the same command creates it");
    return Interrupt::exit_code();
  }
  const double read = watch.milliseconds();
  page.command = c.words;
  page.facts = {{"Database", c.database},
                {"Photographs", c.images},
                {"Version", text("Cornea ", kVersion)},
                {"In the folder", fs::current_path().string()}};
  watch.start();
  const std::vector<fs::path> written = write_folder_page(c.out, page);
  const double milliseconds = read + watch.milliseconds();
  if (c.common.talks()) {
    std::cout << folder_page_words(page) << "\n"
              << seconds_text(milliseconds) << " on " << context.description()
              << "\npage: " << written[0].string();
    if (written.size() > 1) {
      std::cout << ", with " << counted(std::int64_t(written.size() - 1), "file") << " in "
                << written[1].parent_path().string();
    }
    std::cout << std::endl;
  }
  Json json = folder_page_json(page);
  Json files = Json::array();
  for (const fs::path& file : written) files.push_back(file.string());
  json["failed"] = failures;
  json["files"] = std::move(files);
  json["milliseconds"] = milliseconds;
  json["database"] = c.database;
  c.common.write_json(json);
  if (c.open) open_in_browser(written[0]);
  return failures > 0 ? 1 : 0;
}

}  // namespace

Run add_report(CLI::App& app, const std::vector<std::string>& words) {
  auto c = std::make_shared<ReportCommand>();
  c->words = shell_line(words);
  CLI::App* command = app.add_subcommand(
      "report",
      "write a page that shows the contents of a COLMAP database of a folder of photographs");
  add_database_option(*command, c->database,
                      "COLMAP database with features, matches and geometries; its contents are not "
                      "changed");
  command
      ->add_option("--images", c->images,
                   "folder of the photographs, for thumbnails; those that are missing are shown as "
                   "such")
      ->required()
      ->type_name("DIR")
      ->check(&no_folder);
  command
      ->add_option("-o,--out", c->out,
                   "folder for report.html and, beyond 400 images, the files that it reads in "
                   "report_parts")
      ->required()
      ->type_name("DIR")
      ->check(&no_folder);
  command->add_flag("--open", c->open, "open the page in the browser");
  command
      ->add_option("--thumbnail-side", c->options.thumbnail_side,
                   "longest side of a thumbnail, pixels; 0: 800 to 160 by the number of images")
      ->capture_default_str()
      ->type_name("N");
  command
      ->add_option("--most-pairs", c->options.most_pairs,
                   "most pairs to list, those with the most inliers first")
      ->capture_default_str()
      ->type_name("N");
  add_common_options(*command, c->common);
  return [c] { return run_report(*c); };
}

}  // namespace cornea::cli
