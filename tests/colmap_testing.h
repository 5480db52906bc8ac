// SPDX-License-Identifier: Apache-2.0
// For tests of a folder and a COLMAP database from outside: photographs, the program, and the
// contents of the file afterwards.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cornea/colmap.h"
#include "cornea/core/testing.h"
#include "cornea/cornea.h"
#include "cornea/export/colmap/sqlite_testing.h"

namespace cornea::testing {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

inline std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// An image with features: a window on an endless texture.
inline Image<std::uint8_t> window(int width, int height, double left, double top) {
  static const std::vector<std::array<double, 4>> waves = [] {
    std::vector<std::array<double, 4>> all;
    core::Random random(7);
    for (int i = 0; i < 60; ++i) {
      const double angle = 2 * M_PI * random.uniform(), k = 0.08 + 0.7 * random.uniform();
      all.push_back({k * std::cos(angle), k * std::sin(angle), 2 * M_PI * random.uniform(),
                     1 / std::sqrt(0.1 + k)});
    }
    return all;
  }();
  Image<std::uint8_t> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (const auto& w : waves)
        sum += w[3] * std::sin(w[0] * (left + x) + w[1] * (top + y) + w[2]);
      image(x, y) = std::uint8_t(std::clamp(128 + 16 * sum, 0.0, 255.0));
    }
  }
  return image;
}

// An image without features.
inline Image<std::uint8_t> black(int width, int height) {
  Image<std::uint8_t> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) image(x, y) = 0;
  }
  return image;
}

// Every row of every table, sorted, read with plain SQL instead of our own code.
inline std::map<std::string, std::vector<std::string>> dump(const fs::path& file) {
  std::map<std::string, std::vector<std::string>> tables;
  for (const std::string& row :
       rows_of(file, "SELECT name FROM sqlite_master WHERE type = 'table'")) {
    const std::string table = row.substr(row.find(':', row.find(':') + 1) + 1);
    tables[table] = rows_of(file, "SELECT * FROM " + table);
    std::sort(tables[table].begin(), tables[table].end());
  }
  // Without the number of the page where a table is stored.
  tables["sqlite_master"] =
      rows_of(file, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name");
  return tables;
}

inline void expect_same_database(const fs::path& a, const fs::path& b) {
  const auto first = dump(a), second = dump(b);
  ASSERT_EQ(first.size(), second.size()) << "tables";
  for (const auto& [table, rows] : first) {
    ASSERT_TRUE(second.contains(table)) << table;
    ASSERT_EQ(rows.size(), second.at(table).size()) << table;
    EXPECT_TRUE(rows == second.at(table)) << table;
  }
}

// The rows of a table in a copy of the database, so that the file of a killed run is not changed.
inline std::int64_t rows_in(const fs::path& file, const std::string& table) {
  const fs::path copy = file.string() + ".copy";
  for (const char* ending : {"", "-wal"}) {
    fs::remove(copy.string() + ending);
    if (fs::exists(file.string() + ending)) {
      fs::copy_file(file.string() + ending, copy.string() + ending);
    }
  }
  if (!fs::exists(copy)) return 0;
  sqlite3* handle = nullptr;
  sqlite3_open(copy.c_str(), &handle);
  sqlite3_stmt* row = nullptr;
  std::int64_t count = 0;
  if (sqlite3_prepare_v2(handle, ("SELECT COUNT(*) FROM " + table).c_str(), -1, &row, nullptr) ==
          SQLITE_OK &&
      sqlite3_step(row) == SQLITE_ROW) {
    count = sqlite3_column_int64(row, 0);
  }
  sqlite3_finalize(row);
  sqlite3_close(handle);
  for (const char* ending : {"", "-wal", "-shm"}) fs::remove(copy.string() + ending);
  return count;
}

struct Outcome {
  int code = -1;
  bool killed = false;
  double milliseconds = 0;
  std::string out, err;
};

class Colmap : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(images); }

  // Runs the program, and sends it a signal after this many milliseconds unless negative.
  Outcome run(std::vector<std::string> arguments, double kill_after = -1, int signal = SIGKILL) {
    arguments.insert(arguments.begin(), CORNEA_PROGRAM);
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    const fs::path out = folder / ".out", err = folder / ".err";
    const auto begin = Clock::now();
    const pid_t child = fork();
    if (child == 0) {
      const int flags = O_WRONLY | O_CREAT | O_TRUNC;
      dup2(open(out.c_str(), flags, 0600), STDOUT_FILENO);
      dup2(open(err.c_str(), flags, 0600), STDERR_FILENO);
      execv(CORNEA_PROGRAM, argv.data());
      _exit(127);
    }
    if (kill_after >= 0) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(kill_after));
      kill(child, signal);
    }
    int status = 0;
    waitpid(child, &status, 0);
    Outcome outcome;
    outcome.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    outcome.killed = WIFSIGNALED(status);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    outcome.out = read_text(out);
    outcome.err = read_text(err);
    return outcome;
  }

  std::vector<std::string> extract(std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"extract", images, "--db",   database, "--device",
                                    "cpu",     "-q",   "--json", "-"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<std::string> on_database(const std::string& command,
                                       std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {command, "--db", database, "--device",
                                    "cpu",   "-q",   "--json", "-"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  void make_windows(int count, int width = 160, int height = 120) {
    for (int i = 0; i < count; ++i) {
      write_image(images / text("w", 100 + i, i % 2 ? ".png" : ".jpg"),
                  window(width, height, 9.0 * i, 5.0 * (i % 4)));
    }
  }
  // Changes the database with plain SQL instead of our own code.
  void change(const std::string& sql) const { change_file(database, sql); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& row : colmap::Database(database).images()) all.push_back(row.name);
    return all;
  }

  const testing::TemporaryFolder folder;
  const fs::path images = folder / "images", database = folder / "c.db";
};

}  // namespace cornea::testing
