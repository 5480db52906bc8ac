// SPDX-License-Identifier: Apache-2.0
// `cornea folder`: from a folder of photographs to a database, a table of pairs and a page.
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "cornea/cli/browser.h"
#include "cornea/cli/folder.h"
#include "cornea/cli/folder_page_files.h"
#include "cornea/cli/folder_result.h"
#include "cornea/cli/shell_words.h"
#include "cornea/cli/two_view.h"
#include "cornea/cli/whole_progress.h"
#include "cornea/core/build.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

// Whether a folder is the other one or a subfolder of it.
bool lies_in(const fs::path& inner, const fs::path& outer) {
  std::error_code failed;
  const fs::path in = fs::weakly_canonical(fs::absolute(inner), failed);
  const fs::path out = fs::weakly_canonical(fs::absolute(outer), failed);
  const fs::path from = in.lexically_relative(out);
  return !from.empty() && *from.begin() != "..";
}

// Checks, before any work, for anything that would make the result wrong or overwrite a file.
FolderListing check_folders(const FolderCommand& c, const FolderOptions& options) {
  FolderListing listing = listed_photographs(c.photographs, options.extract);
  if (lies_in(c.out, c.photographs.folder)) {
    throw UsageError(text(c.out, ": is inside the folder of the photographs, ",
                          c.photographs.folder, "; choose a folder outside of it"));
  }
  if (listing.names.size() == 1 && listing.unreadable.empty() &&
      !fs::exists(c.in_folder("database.db"))) {
    fail(ErrorCode::io, c.photographs.folder, ": holds one photograph, ", listing.names.front(),
         "; a pair needs two");
  }
  std::vector<NamedInput> inputs = inputs_of(c.photographs, listing);
  if (options.pairs.choice == PairChoice::listed) inputs.push_back({c.pairs});
  std::vector<fs::path> outputs = c.common().outputs({});
  check_outputs({{c.in_folder("database.db").string(), kTheDatabase}}, outputs);
  for (const char* name : {"database.db", "pairs.csv", "report.html", "mapper.log"}) {
    outputs.push_back(c.in_folder(name));
  }
  check_outputs(inputs, outputs);
  return listing;
}

// The text of a file; empty if it cannot be read.
std::optional<std::string> text_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

// The table is written last: if it is missing or differs, the page must be written again. So a run
// that was killed before writing its page does not leave an older page that the next run takes for
// its own. The table does not list images without pairs; therefore it is deleted before any image
// is extracted.
FolderRunEvents without_old_table(const FolderRunEvents& events, const fs::path& table) {
  FolderRunEvents all = events;
  auto extracts = std::make_shared<bool>(false);
  all.stage = [stage = events.stage, extracts](FolderStage now, const FolderAhead& ahead) {
    *extracts = now == FolderStage::extract;
    stage(now, ahead);
  };
  all.steps.begin = [begin = events.steps.begin, extracts, table](int total) {
    std::error_code ignored;
    if (*extracts && total > 0) fs::remove(table, ignored);
    begin(total);
  };
  return all;
}

// Pairs that count as failures and that no step has reported.
void print_missing(const FolderCommand& c, const FolderReport& report) {
  if (report.match.missing > 0) {
    print_error(text(input_name(c.pairs), ": ", counted(report.match.missing, "pair"),
                     " not matched because an image has no features"));
  }
  const std::int64_t unverified = std::max(report.verify.missing, report.verify_further.missing);
  if (unverified > 0) {
    print_error(text(c.in_folder("database.db").string(), ": ", counted(unverified, "pair"),
                     " not verified because the id does not name two images of the database, the "
                     "lower id first; their rows are kept unchanged"));
  }
}

// Writes the page and the table of pairs. A run that has nothing to do changes no file.
void write_results(const FolderCommand& c, const Context& context, const FolderReport& report,
                   const colmap::Database& database, const FolderEvents& events) {
  const fs::path table = c.in_folder("pairs.csv");
  const std::optional<std::string> then = text_of_file(table);
  const auto overview = [&](bool thumbnails) {
    return folder_overview(context, database, c.photographs.folder, {.thumbnails = thumbnails},
                           events);
  };
  std::error_code ignored;
  const bool wants_page =
      report.did_something() || !then || !fs::exists(c.in_folder("report.html"), ignored);
  FolderPage page = overview(wants_page);
  if (events.stop()) return;
  const std::string now = pairs_csv(database, page);
  if (!wants_page && then == now) return;
  if (!wants_page) page = overview(true);
  if (events.stop()) return;
  page.stages = stages_of(report);
  page.command = c.words;
  page.next = c.mapper().shell();
  page.facts = {{"Photographs", c.photographs.folder},
                {"Pairs", text(name(report.chosen.choice))},
                {"Device", context.description()},
                {"Version", text("Cornea ", kVersion)},
                {"In the folder", fs::current_path().string()}};
  page.files = {"database.db", "pairs.csv"};
  write_folder_page(c.out, page);
  if (then != now) write_text(table, now);
}

// The exit code of an interrupted run, after saying what is kept.
int interrupted_folder(const FolderCommand& c, const std::string& kept) {
  return interrupted(c.in_folder("database.db").string(), kept,
                     c.options.redo
                         ? "the same command without --redo continues, and with it begins "
                           "anew"
                         : kGoesOn);
}

int run_folder_command(const FolderCommand& c) {
  const Context context = c.common().context();
  const FolderOptions options = folder_options(c);
  if (c.map) require_colmap();
  const FolderListing listing = check_folders(c, options);
  make_folder(c.out);
  WholeProgress progress(c.common().quiet);
  FolderReport report;
  FolderOutcome outcome{c, context, report, listing.ignored};
  {
    colmap::Database database(c.in_folder("database.db"), colmap::Database::Open::create,
                              c.photographs.schema);
    report = run_folder(context, c.photographs.folder, database, options,
                        without_old_table(progress.events, c.in_folder("pairs.csv")));
    if (!report.stopped) {
      write_results(c, context, report, database, progress.events_of("report"));
    }
  }
  progress.clear();
  const std::string kept = report.stopped ? kept_of(report) : "all pairs are verified";
  report.stopped |= Interrupt::raised();  // also while the page was written
  note_twelve_bit(c.common(), report.extract);
  if (c.map && !report.stopped) {
    std::string note;
    FolderEvents steps = progress.events_of("colmap mapper");
    steps.begin(1);
    try {
      outcome.map = run_mapper(c.mapper(), c.in_folder("mapper.log"), note);
    } catch (const Error&) {
      progress.clear();
      report.stopped = Interrupt::raised();
      if (!report.stopped) throw;
    }
    progress.clear();
    if (!note.empty()) print_error("note: " + note);
  }
  if (c.common().talks() && !report.stopped) print_folder(outcome);
  c.common().write_json(folder_json(outcome));
  if (report.stopped) return interrupted_folder(c, kept);
  print_missing(c, report);
  if (c.open) open_in_browser(c.in_folder("report.html"));
  return report.failures() > 0 ? 1 : 0;
}

void add_pair_options(CLI::App* command, FolderCommand* c) {
  ChoosePairsOptions& pairs = c->options.pairs;
  command
      ->add_option("--pairs", c->pairs,
                   "which pairs to match: all; sequential, in the order of names; retrieve, those "
                   "that look alike; spatial, by GPS; those of a file with two names per line; "
                   "auto, all for a few images, otherwise those that look alike or follow one "
                   "another")
      ->capture_default_str()
      ->type_name("auto|all|sequential|retrieve|spatial|FILE");
  const auto add = [&](const char* flag, auto& value, const char* help, const char* type) {
    command->add_option(flag, value, help)->capture_default_str()->type_name(type)->group("Pair");
  };
  add("--all-up-to", pairs.all_up_to, "auto: all pairs up to this number of images", "N");
  add("--overlap", pairs.overlap, "sequential, auto: each image with the N after it", "N");
  add("--neighbours", pairs.retrieve.neighbours,
      "retrieve, auto: each image with the N most similar ones", "N");
  add("--retrieve-features", pairs.retrieve_features,
      "retrieve, auto: use the N largest features per image; 0: all", "N");
  add("--nearest", pairs.nearest, "spatial: each image with the N nearest ones", "N");
  add("--max-metres", pairs.max_metres, "spatial: largest distance of a pair, metres", "X");
  add("--further", pairs.further,
      "retrieve, spatial, auto: most pairs that each image adds among neighbours of "
      "neighbours; 0: none",
      "N");
}

}  // namespace

FolderOptions folder_options(const FolderCommand& c, bool files_must_exist) {
  FolderOptions options = c.options;
  options.extract = extract_options(c.photographs);
  options.pairs.choice = PairChoice::listed;
  for (const PairChoice choice : {PairChoice::automatic, PairChoice::all, PairChoice::sequential,
                                  PairChoice::retrieve, PairChoice::spatial}) {
    if (c.pairs == name(choice)) options.pairs.choice = choice;
  }
  if (options.pairs.choice == PairChoice::listed) {
    options.pairs.list = is_standard(c.pairs) ? "/dev/stdin" : c.pairs;
    std::error_code ignored;
    if (files_must_exist && !is_standard(c.pairs) && !fs::exists(c.pairs, ignored)) {
      throw UsageError(text(
          "--pairs takes auto, all, sequential, retrieve, spatial or a file with two image names "
          "per line, and there is no file ",
          c.pairs));
    }
  }
  usage_checked([&] {
    options.validate();
    if (files_must_exist) options.extract.validate_masks();
  });
  return options;
}

void add_step_options(CLI::App* command, FolderCommand* c) {
  add_pair_options(command, c);
  add_extract_options(command, &c->photographs);
  add_match_options(*command, c->options.match);
  add_verify_options(command, &c->options.verify);
}

Run add_folder(CLI::App& app, const std::vector<std::string>& words) {
  auto c = std::make_shared<FolderCommand>();
  c->words = shell_line(words);
  CLI::App* command = app.add_subcommand(
      "folder",
      "turn a folder of photographs into a COLMAP database with verified pairs, and a page");
  add_photographs_argument(command, &c->photographs);
  command
      ->add_option("-o,--out", c->out,
                   "folder for database.db, pairs.csv and report.html; one that exists is "
                   "continued: finished work is kept")
      ->required()
      ->type_name("OUT")
      ->check(&no_folder);
  command->add_flag("--open", c->open, "open the page in the browser");
  command->add_flag("--map", c->map,
                    "run colmap mapper at the end, with its models in OUT/sparse; COLMAP must be "
                    "installed");
  add_step_options(command, c.get());
  add_changed_options(*command, c->options.changed, c->options.redo,
                      "do all steps again; deletes all matches, and images that no longer exist");
  add_sift_options(command, &c->photographs);
  return [c] { return run_folder_command(*c); };
}

}  // namespace cornea::cli
