// SPDX-License-Identifier: Apache-2.0
// merge_shards() of shards.h: merges the databases of all items into one, and into one per
// component.
#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "cornea/core/digits.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/io/whole_file.h"
#include "cornea/pipeline/folder/view_graph.h"
#include "cornea/pipeline/shards/steps.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;
using namespace shards;
using colmap::Attached;
using colmap::copy_from;
using colmap::Database;
using colmap::Id;

// The two files of a block of pairs.
struct BlockFiles {
  ItemFile matches, geometries;
};

class Merging {
 public:
  Merging(const fs::path& work, const ShardOptions& options, const MergeOptions& merge,
          const FolderEvents& events)
      : work_(work),
        plan_(read_shard_plan(work)),
        options_(options),
        merge_(merge),
        events_(events),
        local_(options.local) {}

  MergeReport run(const fs::path& given) {
    const core::Stopwatch watch;
    const fs::path database = io::link_target(given);  // so that the checks are those of the target
    if (merge_.whole) require_folder_of(database);
    require_other_folder(database);
    if (merge_.whole) require_replaceable(database);
    find_files();
    if (merge_.whole) require_no_item(database);
    for (const ItemFile& file : shards_) take_failures(file);
    take_failures(choice_);
    read_graph();
    events_.begin(int(shards_.size() + blocks_.size()) * int(merge_.whole) +
                  int(merge_.by_component.empty() ? 0 : components_.size()));
    if (!merge_.by_component.empty()) make_folder(merge_.by_component);
    if (merge_.whole) write_whole(database);
    if (!merge_.by_component.empty() && !report_.stopped) write_components();
    report_.milliseconds = watch.milliseconds();
    return std::move(report_);
  }

 private:
  static void require_folder_of(const fs::path& database) {
    const fs::path folder = database.has_parent_path() ? database.parent_path() : ".";
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) return;
    fail(ErrorCode::io, folder.string(), ": is not a folder; create it first");
  }

  void require_other_folder(const fs::path& database) const {
    const fs::path& folder = merge_.by_component;
    std::error_code ignored;
    if (folder.empty() || !merge_.whole) return;
    const fs::path name = fs::weakly_canonical(fs::absolute(database, ignored), ignored);
    const fs::path parts = fs::weakly_canonical(fs::absolute(folder, ignored), ignored);
    require(name != parts, folder.string(),
            ": is named for the database and for the folder of its components");
    require(name.parent_path() != parts || !name.filename().string().starts_with("component_"),
            database.string(), ": has the name of a component; choose another name");
  }

  // Only a database is replaced, or an empty file.
  static void require_replaceable(const fs::path& database) {
    std::error_code failed;
    if (fs::is_regular_file(database, failed) && fs::file_size(database, failed) == 0) return;
    // If the run that created it was killed early, its tables are in its log alone.
    if (fs::exists(database.string() + "-wal", failed) && colmap::is_empty_database(database)) {
      return;
    }
    if (fs::exists(database, failed)) Database(database, Database::Open::finished);
  }

  void require_no_item(const fs::path& database) const {
    std::vector<fs::path> items = {choice_.path, further_.path};
    for (const ItemFile& file : shards_) items.push_back(file.path);
    for (const BlockFiles& block : blocks_) {
      items.push_back(block.matches.path);
      items.push_back(block.geometries.path);
    }
    for (const fs::path& item : items) {
      std::error_code ignored;
      if (!fs::equivalent(item, database, ignored)) continue;
      fail(ErrorCode::invalid_argument, database.string(),
           ": is an item of the plan and would be replaced; choose another name");
    }
  }

  static void make_folder(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (!failed && fs::is_directory(folder, failed)) return;
    fail(ErrorCode::io, folder.string(), ": the folder cannot be created",
         failed ? text(" (", failed.message(), ")") : std::string());
  }

  // Finds all files and checks their hashes, so that no damaged file is merged.
  void find_files() {
    choice_ = require_choice(work_, plan_, options_);
    const Database choice(choice_.path, Database::Open::finished);
    const std::vector<std::string> digests = colmap::notes(choice, "shard");
    const std::multimap<int, ItemFile> files = files_of(work_, ShardStep::extract);
    for (int k = 1; k <= plan_.shards(); ++k) {
      shards_.push_back(
          require_shard(files, plan_, options_, k, digests.at(std::size_t(k - 1)), true));
    }
    const std::string digest = colmap::note(choice, "digest");
    find_blocks(ShardStep::match, ShardStep::verify, digest, colmap::count_blocks(choice));
    further_ = require_further(work_, options_, digest);
    const Database further(further_.path, Database::Open::finished);
    find_blocks(ShardStep::match_further, ShardStep::verify_further,
                colmap::note(further, "digest"), colmap::count_blocks(further));
  }

  void find_blocks(ShardStep match, ShardStep verify, const std::string& digest, int count) {
    const std::multimap<int, ItemFile> matches = files_of(work_, match);
    const std::multimap<int, ItemFile> geometries = files_of(work_, verify);
    for (int k = 1; k <= count; ++k) {
      blocks_.push_back(
          {require_item(matches, {match, k}, made_of(words_of_matches(digest, options_, k)), true),
           require_item(geometries, {verify, k}, made_of(words_of_geometries(digest, options_, k)),
                        true)});
      take_failures(blocks_.back().matches);
      take_failures(blocks_.back().geometries);
    }
  }

  void take_failures(const ItemFile& file) {
    const Database database(file.path, Database::Open::finished);
    for (std::string& sentence : colmap::notes(database, "failed")) {
      events_.report(sentence);
      report_.failed.push_back(std::move(sentence));
    }
  }

  void read_graph() {
    const Database choice(choice_.path, Database::Open::finished);
    std::vector<Id> images;
    for (const colmap::ImageRow& row : choice.images()) {
      images.push_back(row.id);
      report_.features += colmap::read_count(choice, row.id);
    }
    report_.images = std::int64_t(images.size());
    report_.cameras = choice.count("cameras");
    std::vector<folder::Edge> edges;
    for (const BlockFiles& block : blocks_) {
      const Database database(block.geometries.path, Database::Open::finished);
      report_.pairs += database.count("two_view_geometries");
      const std::vector<folder::Edge> more = folder::edges_of(database);
      edges.insert(edges.end(), more.begin(), more.end());
    }
    report_.verified = std::int64_t(edges.size());
    for (std::vector<Id>& component : folder::components_of(images, edges)) {
      if (component.size() == 1) {
        ++report_.unconnected;
      } else {
        report_.components.push_back(int(component.size()));
        components_.push_back(std::move(component));
      }
    }
  }

  // Copies these images with their cameras and features. `steps`: reports progress for each shard.
  void copy_images(Database& out, const std::vector<Id>& images, bool steps) {
    copy_from(out, choice_.path, [&](Attached& from) {
      for (const Id image : images) from.copy_image(image);
    });
    std::size_t begin = 0;
    for (int shard = 1; shard <= int(shards_.size()) && !is_stopped(); ++shard) {
      if (steps) events_.advance(1);
      std::size_t end = begin;
      while (end < images.size() && shard_of(plan_, images[end]) == shard) ++end;
      if (begin == end) continue;
      copy_from(out, shards_[std::size_t(shard - 1)].path, [&](Attached& from) {
        for (std::size_t i = begin; i < end; ++i) {
          from.copy_keypoints(images[i]);
          if (merge_.descriptors) from.copy_descriptors(images[i]);
          from.copy_pose_prior(images[i]);
          from.copy_record(images[i]);
        }
      });
      begin = end;
    }
  }

  void write_whole(const fs::path& database) {
    const fs::path file = local_ / "whole.db";
    {
      Database out(file, Database::Open::scratch, options_.schema);
      const Database choice(choice_.path, Database::Open::finished);
      std::vector<Id> images;
      for (const colmap::ImageRow& row : choice.images()) images.push_back(row.id);
      copy_images(out, images, true);
      for (const BlockFiles& block : blocks_) {
        if (is_stopped()) return;
        copy_from(out, block.matches.path, [](Attached& from) { from.copy_matches(); });
        copy_from(out, block.geometries.path, [](Attached& from) { from.copy_two_views(); });
        events_.advance(1);
      }
      // Records the choice, so that `run_folder` on this database does not choose again.
      const std::vector<std::string> from = colmap::notes(choice, "chosen_from");
      if (!from.empty()) {
        Database::Transaction transaction(out);
        out.write_chosen_pairs(from.front(), choice.chosen_pairs(from.front()).value());
        transaction.commit();
      }
    }
    if (!is_stopped()) place(file, database);
  }

  bool is_stopped() { return report_.stopped = report_.stopped || events_.stop(); }

  void place(const fs::path& file, const fs::path& target) {
    report_.bytes += std::int64_t(fs::file_size(file));
    replace(file, io::link_target(target));  // a link stays a link
  }

  static void replace(const fs::path& file, const fs::path& target) {
    // On the target's disk first: what follows cannot fail for want of space.
    io::remove_leftovers_beside(target);
    const fs::path beside = io::part_beside(target);
    move_whole(file, beside);
    // SQLite would replay a log left by the replaced database into the new one.
    std::error_code ignored;
    for (const char* ending : {"-wal", "-shm", "-journal"}) {
      fs::remove(target.string() + ending, ignored);
    }
    try {
      move_whole(beside, target);
    } catch (...) {
      fs::remove(beside, ignored);
      throw;
    }
  }

  // Components of an earlier merge that there are no more. Some of them may be missing already.
  void remove_components_from(std::size_t c) {
    constexpr std::string_view kFront = "component_";
    std::vector<fs::path> old;
    std::error_code failed;
    auto it = fs::directory_iterator(merge_.by_component, failed);
    for (; !failed && it != fs::directory_iterator(); it.increment(failed)) {
      const std::string name = it->path().filename().string();
      if (!name.starts_with(kFront)) continue;
      std::size_t number = 0;
      std::from_chars(name.data() + kFront.size(), name.data() + name.size(), number);
      if (number > c && name == name_of_component(number - 1)) old.push_back(it->path());
    }
    if (failed) {
      fail(ErrorCode::io, merge_.by_component.string(), ": cannot be listed (", failed.message(),
           "); components of an earlier merge may remain");
    }
    for (const fs::path& file : old) {
      fs::remove(file, failed);
      if (failed) {
        fail(ErrorCode::io, file.string(), ": is of an earlier merge and cannot be removed (",
             failed.message(), "); remove it");
      }
    }
  }
  static std::string name_of_component(std::size_t c) {
    return text("component_", core::zero_padded(c + 1, 4), ".db");
  }

  // Writes the pairs of each block to the database of their component. A pair that joins two
  // components has no geometry, so it is left out.
  void write_components() {
    std::unordered_map<Id, std::size_t> component_of;
    for (std::size_t c = 0; c < components_.size(); ++c) {
      for (const Id image : components_[c]) component_of[image] = c;
    }
    std::vector<std::vector<std::pair<std::size_t, std::vector<Id>>>> pairs(components_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Database database(blocks_[b].geometries.path, Database::Open::finished);
      for (const auto& pair : database.pair_summaries()) {
        const auto [first, second] = colmap::pair_of(pair.pair);
        const auto x = component_of.find(first), y = component_of.find(second);
        if (x == component_of.end() || y == component_of.end() || x->second != y->second) continue;
        auto& own = pairs[x->second];
        if (own.empty() || own.back().first != b) own.push_back({b, {}});
        own.back().second.push_back(pair.pair);
      }
    }
    for (std::size_t c = 0; c < components_.size(); ++c) {
      if (is_stopped()) return;
      const std::string name = name_of_component(c);
      const fs::path file = local_ / name;
      {
        Database out(file, Database::Open::scratch, options_.schema);
        copy_images(out, components_[c], false);
        for (const auto& [b, ids] : pairs[c]) {
          const std::vector<Id>& wanted = ids;
          copy_from(out, blocks_[b].matches.path,
                    [&](Attached& from) { from.copy_matches(wanted); });
          copy_from(out, blocks_[b].geometries.path,
                    [&](Attached& from) { from.copy_two_views(wanted); });
        }
      }
      if (is_stopped()) return;
      place(file, merge_.by_component / name);
      events_.advance(1);
    }
    remove_components_from(components_.size());
  }

  const fs::path& work_;
  const ShardPlan plan_;
  const ShardOptions& options_;
  const MergeOptions& merge_;
  const FolderEvents& events_;
  const LocalFolder local_;
  MergeReport report_;
  ItemFile choice_, further_;
  std::vector<ItemFile> shards_;
  std::vector<BlockFiles> blocks_;
  std::vector<std::vector<Id>> components_;
};

}  // namespace

MergeReport merge_shards(const fs::path& work, const fs::path& database,
                         const ShardOptions& options, const MergeOptions& merge,
                         const FolderEvents& events) {
  options.validate();
  require(!merge.whole || !database.empty(), "the merged database needs a file name");
  require(merge.whole || !merge.by_component.empty(),
          "whole is off and by_component is empty, so there is nothing to write; give one of them");
  return Merging(work, options, merge, events).run(database);
}

}  // namespace cornea
