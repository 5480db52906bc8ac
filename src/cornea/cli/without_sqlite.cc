// In builds without SQLite the commands for COLMAP databases say so.
#include "cornea/cli/common.h"

namespace cornea::cli {
namespace {

Run add_missing(CLI::App& app, const char* name) {
  app.add_subcommand(name, "COLMAP databases: not in this build, which has no SQLite")
      ->allow_extras();
  return []() -> int {
    fail(ErrorCode::unsupported,
         "this build has no SQLite, which COLMAP databases need; install libsqlite3-dev and build "
         "Cornea again");
  };
}

}  // namespace

Run add_extract(CLI::App& app) { return add_missing(app, "extract"); }
Run add_match_all(CLI::App& app) { return add_missing(app, "match-all"); }
Run add_verify(CLI::App& app) { return add_missing(app, "verify"); }

}  // namespace cornea::cli
