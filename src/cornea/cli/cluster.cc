// SPDX-License-Identifier: Apache-2.0
// `cornea cluster`: distributes the items of a plan over the nodes of a Ray cluster. The Python
// package does the work (python -m cornea.cluster); the options are declared here for the help.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include <unistd.h>

#include "cornea/cli/common.h"

namespace cornea::cli {
namespace {

struct ClusterCommand {
  std::string photographs, work, address, database, components, local;
  double gpus = 1, cpus = 1;
  int workers = 0, retries = 3, size = 1000;
  bool quiet = false;
  std::vector<std::string> words;
};

int run_cluster(const ClusterCommand& c) {
  const char* given = std::getenv("CORNEA_PYTHON");
  const std::string python = given ? given : "python3";
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) ::setenv("CORNEA_PROGRAM", self.c_str(), 0);
  std::vector<std::string> words = {python, "-m", "cornea.cluster"};
  words.insert(words.end(), c.words.begin(), c.words.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(python.c_str(), arguments.data());
  fail(ErrorCode::unsupported, python, ": cannot be started (", std::strerror(errno),
       "); this command needs Python with the package cornea[ray]");
}

}  // namespace

Run add_cluster(CLI::App& app, const std::vector<std::string>& words) {
  auto c = std::make_shared<ClusterCommand>();
  if (words.size() > 2) c->words.assign(words.begin() + 2, words.end());
  CLI::App* command = app.add_subcommand(
      "cluster", "run all steps of a collection on a Ray cluster (pip install 'cornea[ray]')");
  command->allow_extras();
  const auto add = [&](const char* flag, auto& value, const char* help, const char* type) {
    return command->add_option(flag, value, help)->type_name(type);
  };
  add("photographs", c->photographs, "folder, or URL that fsspec opens (s3://bucket/photos)", "DIR")
      ->required();
  add("-o,--out", c->work, "folder that all nodes see, for the plan and all items", "WORK")
      ->required();
  add("--address", c->address,
      "address of a Ray cluster, auto for the one here; default: a local one is "
      "started",
      "ADDRESS");
  add("--gpus-per-worker", c->gpus, "GPUs, or a fraction of one; 0: the CPU", "X")
      ->capture_default_str();
  add("--cpus-per-worker", c->cpus, "CPU cores (and threads) per worker", "X")
      ->capture_default_str();
  add("--workers", c->workers, "most workers at a time; 0: as many as the cluster allows", "N")
      ->capture_default_str();
  add("--retries", c->retries,
      "how often a failed item is tried again, on another node if there is "
      "one",
      "N")
      ->capture_default_str();
  add("--size", c->size, "images per shard", "N")->capture_default_str();
  add("--db", c->database, "merge everything into this COLMAP database at the end", "FILE");
  add("--by-component", c->components, "also write one database per connected component", "DIR");
  add("--local", c->local, "folder on each node's own disk for files in progress", "DIR");
  command->add_flag("-q,--quiet", c->quiet, "no progress; the summary at the end stays");
  command->footer("Options of shard plan are accepted too.");
  return [c] { return run_cluster(*c); };
}

}  // namespace cornea::cli
