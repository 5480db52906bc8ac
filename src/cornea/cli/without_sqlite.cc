// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/missing.h"

namespace cornea::cli {

Run add_folder(CLI::App& app, const std::vector<std::string>&) {
  return add_missing(app, "folder", "SQLite", "libsqlite3-dev");
}
Run add_extract(CLI::App& app) { return add_missing(app, "extract", "SQLite", "libsqlite3-dev"); }
Run add_import(CLI::App& app) { return add_missing(app, "import", "SQLite", "libsqlite3-dev"); }
Run add_match_all(CLI::App& app) {
  return add_missing(app, "match-all", "SQLite", "libsqlite3-dev");
}
Run add_verify(CLI::App& app) { return add_missing(app, "verify", "SQLite", "libsqlite3-dev"); }
Run add_shard(CLI::App& app) { return add_missing(app, "shard", "SQLite", "libsqlite3-dev"); }
Run add_merge(CLI::App& app) { return add_missing(app, "merge", "SQLite", "libsqlite3-dev"); }
Run add_cluster(CLI::App& app, const std::vector<std::string>&) {
  return add_missing(app, "cluster", "SQLite", "libsqlite3-dev");
}
Run add_report(CLI::App& app, const std::vector<std::string>&) {
  return add_missing(app, "report", "SQLite", "libsqlite3-dev");
}

}  // namespace cornea::cli
