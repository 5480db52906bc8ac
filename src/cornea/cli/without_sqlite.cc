#include "cornea/cli/missing.h"

namespace cornea::cli {

Run add_extract(CLI::App& app) { return add_missing(app, "extract", "SQLite", "libsqlite3-dev"); }
Run add_match_all(CLI::App& app) {
  return add_missing(app, "match-all", "SQLite", "libsqlite3-dev");
}
Run add_verify(CLI::App& app) { return add_missing(app, "verify", "SQLite", "libsqlite3-dev"); }

}  // namespace cornea::cli
