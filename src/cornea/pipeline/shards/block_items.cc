// SPDX-License-Identifier: Apache-2.0
// The match and verify items: one block of pairs each. An item copies its images and features into
// a database on the local disk, runs the folder's step on it, and writes the result into a database
// of its own.
#include "cornea/core/error.h"
#include "cornea/pipeline/folder/image_order.h"
#include "cornea/pipeline/folder/match_all.h"
#include "cornea/pipeline/folder/verify.h"
#include "cornea/pipeline/shards/steps.h"

namespace cornea::shards {
namespace {

namespace fs = std::filesystem;
using colmap::Attached;
using colmap::copy_from;
using colmap::Database;
using colmap::Id;

class Block {
 public:
  Block(const Task& task, const ShardItem& item, const LocalFolder& local, ShardItemReport& report)
      : task_(task), work_(local / "work.db"), report_(report) {
    choice_ = require_choice(task.work, task.plan, task.options);
    const Database choice(choice_.path, Database::Open::finished);
    shard_digests_ = colmap::notes(choice, "shard");
    digest_ = colmap::note(choice, "digest");
    if (is_further(item.step)) {
      const ItemFile further = require_further(task.work, task.options, digest_);
      const Database blocks(further.path, Database::Open::finished);
      digest_ = colmap::note(blocks, "digest");
      block_ = colmap::read_block(blocks, item.number);
    } else {
      block_ = colmap::read_block(choice, item.number);
    }
  }

  const std::string& digest() const { return digest_; }
  const std::vector<Id>& pairs() const { return block_.pairs; }
  const fs::path& file() const { return work_; }

  // The images of the block with their cameras and features.
  Database read(bool with_descriptors) {
    Database database(work_, Database::Open::scratch, task_.options.schema);
    const std::vector<Id> images = folder::images_of(block_.pairs);
    copy_from(database, choice_.path, [&](Attached& from) {
      for (const Id image : images) from.copy_image(image);
    });
    const std::multimap<int, ItemFile> files = files_of(task_.work, ShardStep::extract);
    for (std::size_t begin = 0; begin < images.size();) {
      const int shard = shard_of(task_.plan, images[begin]);
      std::size_t end = begin;
      while (end < images.size() && shard_of(task_.plan, images[end]) == shard) ++end;
      const ItemFile file = require_shard(files, task_.plan, task_.options, shard,
                                          shard_digests_.at(std::size_t(shard - 1)), false);
      copy_from(database, file.path, [&](Attached& from) {
        for (std::size_t i = begin; i < end; ++i) {
          from.copy_keypoints(images[i]);
          if (with_descriptors) from.copy_descriptors(images[i]);
        }
      });
      begin = end;
    }
    constexpr int kKeypointBytes = 24;
    report_.images = block_.images;
    report_.features = block_.features;
    report_.bytes_read +=
        block_.features * (kKeypointBytes + (with_descriptors ? int(Features::kLength) : 0));
    return database;
  }

  // Writes the result of the step as the item's file.
  template <class F>
  void write(const fs::path& file, const std::string& words, F&& f) const {
    Database out(file, Database::Open::scratch, task_.options.schema);
    copy_from(out, work_, f);
    Database::Transaction transaction(out);
    for (const std::string& sentence : report_.failed) {
      colmap::write_note(out, "failed", sentence);
    }
    colmap::write_note(out, "made_of", words);
    transaction.commit();
  }

  FolderEvents events() const {
    FolderEvents events = task_.events;
    events.report = [this](const std::string& sentence) {
      report_.failed.push_back(sentence);
      task_.events.report(sentence);
    };
    return events;
  }

 private:
  const Task& task_;
  const fs::path work_;
  ShardItemReport& report_;
  ItemFile choice_;
  std::vector<std::string> shard_digests_;
  std::string digest_;
  colmap::PairBlock block_;
};

}  // namespace

void match_item(const Task& task, const ShardItem& item, const LocalFolder& local,
                const fs::path& file, ShardItemReport& report) {
  Block block(task, item, local, report);
  {
    Database database = block.read(true);
    MatchAllOptions options{.match = task.options.folder.match};
    options.listed = true;
    options.pairs.reserve(block.pairs().size());
    for (const Id pair : block.pairs()) options.pairs.push_back(colmap::pair_of(pair));
    const MatchAllReport done = match_all(task.context, database, options, block.events());
    report.pairs = done.matched;
    if ((report.stopped = done.stopped)) return;
  }
  block.write(file, words_of_matches(block.digest(), task.options, item.number),
              [](Attached& from) { from.copy_matches(); });
}

void verify_item(const Task& task, const ShardItem& item, const LocalFolder& local,
                 const fs::path& file, ShardItemReport& report) {
  Block block(task, item, local, report);
  {
    Database database = block.read(false);
    const ShardItem matching{is_further(item.step) ? ShardStep::match_further : ShardStep::match,
                             item.number};
    const ItemFile matches =
        require_item(files_of(task.work, matching.step), matching,
                     made_of(words_of_matches(block.digest(), task.options, item.number)), true);
    report.bytes_read += matches.bytes;
    copy_from(database, matches.path, [](Attached& from) { from.copy_matches(); });
    const VerifyReport done =
        verify_all(task.context, database, task.options.folder.verify, block.events());
    report.pairs = done.done();
    if ((report.stopped = done.stopped)) return;
  }
  block.write(file, words_of_geometries(block.digest(), task.options, item.number),
              [](Attached& from) { from.copy_two_views(); });
}

}  // namespace cornea::shards
