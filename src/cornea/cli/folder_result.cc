// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/folder_result.h"

#include <algorithm>
#include <iostream>
#include <map>

#include "cornea/cli/folder.h"

namespace cornea::cli {
namespace {

// A name as a CSV cell, in quotes if it contains a separator.
std::string csv_cell(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string cell = "\"";
  for (const char c : name) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

std::string with_underscores(std::string_view words) {
  std::string all(words);
  std::replace(all.begin(), all.end(), ' ', '_');
  return all;
}

// "2 components of 9 and 2 images", "all 11 images are connected".
std::string components_text(const FolderReport& report) {
  if (report.components.empty()) return "no image is connected with another";
  if (report.components.size() == 1 && report.unconnected.empty()) {
    return text("all ", grouped(report.images), " images are connected");
  }
  constexpr std::size_t kMost = 5;
  std::string sizes;
  for (std::size_t i = 0; i < std::min(report.components.size(), kMost); ++i) {
    sizes += (i == 0 ? "" : ", ") + grouped(report.components[i]);
  }
  if (report.components.size() > kMost) sizes += ", ...";
  return text(counted(std::int64_t(report.components.size()), "component"), " (of ", sizes,
              " images)");
}

std::string done_text(const FolderReport& report) {
  if (!report.did_something()) return "nothing was left to do; ";
  std::string all;
  if (report.deleted > 0) {
    all += text("matches and geometries of ", counted(report.deleted, "pair"), " deleted, ");
  }
  const std::int64_t pairs = report.match.matched + report.match_further.matched;
  const std::int64_t geometries = report.verify.done() + report.verify_further.done();
  all += text(counted(report.extract.extracted, "image"), " extracted, ", counted(pairs, "pair"),
              " matched, geometry of ", grouped(geometries), " estimated in this run; ");
  return all;
}

std::string pairs_text(const FolderReport& report) {
  const std::string_view choice = name(report.chosen.choice);
  std::string all = text("pairs: ", choice, ", ", grouped(report.chosen.count), " chosen");
  if (report.further() > 0) {
    all += text(" and ", grouped(report.further()), " more among neighbours of neighbours");
  }
  return all;
}

}  // namespace

std::string pairs_csv(const colmap::Database& database, const FolderPage& page) {
  std::map<std::pair<std::string, std::string>, const FolderPagePair*> listed;
  for (const FolderPagePair& pair : page.pairs) {
    listed[{page.images[std::size_t(pair.first)].name,
            page.images[std::size_t(pair.second)].name}] = &pair;
  }
  const auto known = [](float value) { return value < 0 ? std::string() : text(value); };
  std::map<colmap::Id, std::string> names;
  std::vector<std::string> refused;  // rows already reported by the steps
  for (const auto& row : database.images(&refused)) names[row.id] = row.name;
  std::string all = "image1,image2,matches,inliers,kind,median_distance,angle_degrees\n";
  for (const auto& pair : database.pair_summaries()) {
    const auto [first, second] = colmap::pair_of(pair.pair);
    if (first >= second || !names.contains(first) || !names.contains(second)) continue;
    all += text(csv_cell(names[first]), ",", csv_cell(names[second]), ",", pair.matches, ",",
                pair.inliers, ",", with_underscores(name(pair.configuration)));
    const auto on_page = listed.find({names[first], names[second]});
    const bool has = on_page != listed.end();
    all += text(",", has ? known(on_page->second->median_distance) : "", ",",
                has ? known(on_page->second->angle_degrees) : "", "\n");
  }
  return all;
}

std::vector<StageTime> stages_of(const FolderReport& report) {
  std::vector<StageTime> stages;
  const double times[] = {report.extract.milliseconds,       report.chosen.milliseconds,
                          report.match.milliseconds,         report.verify.milliseconds,
                          report.match_further.milliseconds, report.verify_further.milliseconds};
  for (int stage = 0; stage <= int(FolderStage::verify_further); ++stage) {
    stages.push_back({std::string(name(FolderStage(stage))), times[stage]});
  }
  return stages;
}

Json folder_json(const FolderOutcome& outcome) {
  const FolderReport& r = outcome.report;
  const FolderCommand& c = outcome.command;
  Json milliseconds = Json::object();
  for (const StageTime& stage : stages_of(r)) milliseconds[stage.stage] = stage.milliseconds;
  if (outcome.map) milliseconds["map"] = outcome.map->milliseconds;
  Json json = {{"images", r.images},
               {"photographs", r.extract.images},
               {"extracted", r.extract.extracted},
               {"redone", r.extract.redone},
               {"removed", r.extract.removed},
               {"failed", r.extract.failed},
               {"deleted_pairs", r.deleted},
               {"ignored", r.extract.ignored},
               {"features", r.features},
               {"choice", name(r.chosen.choice)},
               {"chosen", r.chosen.count},
               {"further", r.further()},
               {"refused", r.chosen.refused.size()},
               {"without_position", r.chosen.without_position},
               {"matched", r.match.matched + r.match_further.matched},
               {"done", r.verify.done() + r.verify_further.done()},
               {"tried", r.tried},
               {"verified", r.verified},
               {"matches", r.matches},
               {"inliers", r.inliers},
               {"components", r.components},
               {"unconnected", r.unconnected},
               {"failures", r.failures()},
               {"stopped", r.stopped},
               {"nothing_to_do", !r.stopped && !r.did_something()},
               {"milliseconds", milliseconds},
               {"database", c.in_folder("database.db").string()},
               {"pairs", c.in_folder("pairs.csv").string()},
               {"page", c.in_folder("report.html").string()},
               {"next", c.mapper().shell()},
               {"device", outcome.context.name()}};
  if (outcome.map) json["models"] = outcome.map->models;
  return json;
}

void print_folder(const FolderOutcome& outcome) {
  const FolderReport& r = outcome.report;
  const FolderCommand& c = outcome.command;
  std::cout << done_text(r) << counted(r.images, "image") << ", " << counted(r.tried, "pair")
            << " tried, " << grouped(r.verified) << " verified; " << components_text(r) << "\n";
  if (!r.unconnected.empty()) {
    std::cout << counted(std::int64_t(r.unconnected.size()), "unconnected image") << ": "
              << first_of(r.unconnected) << "\n";
  }
  if (r.extract.ignored > 0) {
    std::cout << counted(r.extract.ignored, "file")
              << " ignored, of an unsupported format: " << first_of(outcome.ignored) << "\n";
  }
  std::cout << pairs_text(r) << "\n"
            << seconds_text(r.milliseconds) << " on " << outcome.context.description()
            << "\ndatabase: " << c.in_folder("database.db").string()
            << "\npairs: " << c.in_folder("pairs.csv").string()
            << "\npage: " << c.in_folder("report.html").string() << "\n";
  if (outcome.map) {
    std::cout << "colmap mapper: " << grouped(outcome.map->models.front()) << " of "
              << counted(r.images, "image") << " in "
              << (outcome.map->models.size() > 1 ? "the largest model of " : "one model, ");
    if (outcome.map->models.size() > 1) std::cout << outcome.map->models.size() << ", ";
    std::cout << seconds_text(outcome.map->milliseconds) << "; " << c.in_folder("sparse").string()
              << std::endl;
  } else {
    std::cout << "next: " << c.mapper().shell() << std::endl;
  }
}

std::string kept_of(const FolderReport& r) {
  const auto of = [](std::int64_t done, std::int64_t all, const char* what) {
    return text(grouped(done), " of ", grouped(all), " ", what);
  };
  switch (r.reached) {
    case FolderStage::extract:
      return of(r.extract.extracted + r.extract.skipped, r.extract.images, "images are extracted");
    case FolderStage::choose:
      return "all images are extracted";
    case FolderStage::match:
      return of(r.match.matched + r.match.skipped, r.match.pairs, "pairs are matched");
    case FolderStage::match_further:
      return of(r.match_further.matched + r.match_further.skipped, r.match_further.pairs,
                "further pairs are matched");
    case FolderStage::verify:
      return of(r.verify.done() + r.verify.skipped, r.verify.pairs, "pairs are verified");
    case FolderStage::verify_further:
      return of(r.verify_further.done() + r.verify_further.skipped, r.verify_further.pairs,
                "pairs are verified");
  }
  return "";
}

}  // namespace cornea::cli
