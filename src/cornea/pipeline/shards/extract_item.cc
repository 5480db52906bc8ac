// SPDX-License-Identifier: Apache-2.0
// The extract item: the features of one shard.
#include <system_error>

#include "cornea/core/error.h"
#include "cornea/io/content_hash.h"
#include "cornea/pipeline/folder/collection.h"
#include "cornea/pipeline/folder/extract_listed.h"
#include "cornea/pipeline/shards/steps.h"

namespace cornea::shards {
namespace {

namespace fs = std::filesystem;
using colmap::Database;
using colmap::Id;

folder::ListedImages listed(const ShardPlan& plan, int number) {
  std::vector<folder::ListedImages::Image> images;
  Id id = Id(number - 1) * plan.size;
  for (ShardImage& image : images_of_shard(plan, number)) {
    images.push_back({std::move(image.name), image.bytes, ++id});
  }
  return {std::move(images), plan.photographs};
}

// A digest of everything that later steps depend on; features are represented by the file and
// options they were computed from.
std::string digest_of(const Database& database) {
  std::string all;
  database.visit_records([&](const colmap::ImageRecord& record) {
    all += text(record.image, " ", record.features, " ", folder::source_of(record), " ",
                record.name, "\n");
  });
  return hexadecimal(io::hash_of_text(all));
}

}  // namespace

void extract_item(const Task& task, int number, const fs::path& file, ShardItemReport& report) {
  // Without this a folder that is not mounted here would give a finished shard without images.
  std::error_code ignored;
  if (!fs::is_directory(task.photographs, ignored)) {
    fail(ErrorCode::io, task.photographs.string(),
         ": is not a folder on this machine; mount it, or say where the photographs are");
  }
  const folder::ListedImages images = listed(task.plan, number);
  Database database(file, Database::Open::scratch, task.options.schema);
  FolderEvents events = task.events;
  events.report = [&](const std::string& sentence) {
    report.failed.push_back(sentence);
    task.events.report(sentence);
  };
  const ExtractReport done = folder::extract_listed(task.context, task.photographs, database,
                                                    task.options.folder.extract, events, images);
  report.images = done.extracted;
  report.features = std::int64_t(done.features);
  for (const auto& image : images.images()) report.bytes_read += image.bytes;
  if ((report.stopped = done.stopped)) return;
  const std::vector<colmap::ImageRow> rows = database.images();
  Database::Transaction transaction(database);
  for (const colmap::ImageRow& row : rows) {
    colmap::write_taken(database, row.id, folder::taken_of(task.photographs / row.name));
  }
  for (const std::string& sentence : report.failed) {
    colmap::write_note(database, "failed", sentence);
  }
  colmap::write_note(database, "digest", digest_of(database));
  colmap::write_note(database, "made_of", words_of_shard(task.plan, task.options, number));
  transaction.commit();
}

}  // namespace cornea::shards
