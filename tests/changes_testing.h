// SPDX-License-Identifier: Apache-2.0
// For tests of a folder that no longer fits its database: all steps, and what must hold of the
// database afterwards.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "colmap_testing.h"

namespace cornea::testing {

class Changes : public Colmap {
 protected:
  void run_all(const std::vector<std::string>& more = {}) {
    ASSERT_EQ(run(extract(more)).code, 0);
    ASSERT_EQ(run(on_database("match-all")).code, 0);
    ASSERT_EQ(run(on_database("verify")).code, 0);
  }
  // The database must equal one made from scratch from the folder as it is now.
  void expect_as_if_new(const std::vector<std::string>& more = {}) {
    const fs::path found = folder / "found.db";
    fs::rename(database, found);
    run_all(more);
    expect_same_database(found, database);
  }
  // As extract(), for a folder other than `images`.
  std::vector<std::string> extract_from(const fs::path& place,
                                        std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = extract(std::move(more));
    arguments[1] = place;
    return arguments;
  }
  void touch(const fs::path& file) {
    fs::last_write_time(file, fs::last_write_time(file) + std::chrono::hours(1));
  }
  // The command must end with 1, say these words and write nothing.
  void expect_stop(const std::vector<std::string>& arguments,
                   const std::vector<std::string>& words) {
    const auto before = dump(database);
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 1) << o.err;
    for (const std::string& word : words) {
      EXPECT_NE(o.err.find(word), std::string::npos) << word << ": " << o.err;
    }
    EXPECT_TRUE(dump(database) == before);
  }
  Json json_of(const std::vector<std::string>& arguments, int code = 0) {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    last_error = o.err;
    return Json::parse(o.out);
  }
  bool has_log() const {
    return fs::exists(database.string() + "-wal") || fs::exists(database.string() + "-shm");
  }

  std::string last_error;
};

}  // namespace cornea::testing
