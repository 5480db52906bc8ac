// SPDX-License-Identifier: Apache-2.0
// A collection split into shards: the options of a plan, and its items for extract, match-all and
// verify.
#pragma once

#include <string>
#include <vector>

#include "cornea/cli/common.h"
#include "cornea/pipeline/shards/shards.h"

namespace cornea::cli {

// --work, --shard and related flags.
struct ItemFlags {
  std::string work, shard, local;
  bool further = false, redo = false;
  int decoders = 0;

  // Whether an item is requested instead of the command on a database. Wrong usage if it is both or
  // neither (`otherwise` is then needed), or if a flag is given that the plan fixes (flags in
  // `allowed` and those common to all commands may be given).
  bool is_asked(const CLI::App& command, const std::vector<std::string>& otherwise,
                const std::vector<std::string>& allowed) const;
};
// The options `otherwise` are no longer required.
void add_item_options(CLI::App* command, ItemFlags* flags,
                      const std::vector<CLI::Option*>& otherwise);
void add_further_option(CLI::App* command, ItemFlags* flags);
void add_local_option(CLI::App* command, std::string& local);

// The options that were given when the plan was made.
ShardOptions options_of(const ShardPlan& plan, const std::string& local);

int run_item(const CommonOptions& common, const ItemFlags& flags, ShardStep step,
             const std::string& photographs = "");
// The same for a step with one item.
int run_step(const CommonOptions& common, const ItemFlags& flags, ShardStep step);

// "1.3 GB"
std::string bytes_text(std::int64_t bytes);

}  // namespace cornea::cli
