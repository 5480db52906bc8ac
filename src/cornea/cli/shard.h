// A collection cut into shards: the options of a plan, and the items that extract, match-all and
// verify do of it.
#pragma once

#include <string>
#include <vector>

#include "cornea/cli/common.h"
#include "cornea/pipeline/shards/shards.h"

namespace cornea::cli {

// --work, --shard and what goes with them.
struct ItemFlags {
  std::string work, shard, local;
  bool further = false, redo = false;
  int decoders = 0;

  // Whether an item is asked for and not the command of a database; wrong usage where it is both,
  // neither (`otherwise` is then needed), or where a flag is given that the plan has fixed (those
  // in `allowed` and of all commands are not).
  bool is_asked(const CLI::App& command, const std::vector<std::string>& otherwise,
                const std::vector<std::string>& allowed) const;
};
// `otherwise` are not required any more.
void add_item_options(CLI::App* command, ItemFlags* flags,
                      const std::vector<CLI::Option*>& otherwise);
void add_further_option(CLI::App* command, ItemFlags* flags);
void add_local_option(CLI::App* command, std::string& local);

// As the plan was asked for.
ShardOptions options_of(const ShardPlan& plan, const std::string& local);

int run_item(const CommonOptions& common, const ItemFlags& flags, ShardStep step,
             const std::string& photographs = "");
// The same of a step of one item.
int run_step(const CommonOptions& common, const ItemFlags& flags, ShardStep step);

// "1.3 GB"
std::string bytes_text(std::int64_t bytes);

}  // namespace cornea::cli
