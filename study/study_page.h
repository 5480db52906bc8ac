// SPDX-License-Identifier: Apache-2.0
// The output of a study or an evaluation: results.md, results.json, one SVG file per plot, and
// index.html, which shows everything and needs no other file.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "study/plot.h"
#include "study/table.h"

namespace cornea::study {

struct Section {
  std::string heading;
  std::vector<std::string> words = {};  // paragraphs; `code` in backquotes
  std::vector<Table> tables = {};
  std::vector<Plot> plots = {};
};

struct Report {
  std::string kind = "study";  // shown beside the program's name
  std::string title;
  std::string command = {};  // that was run
  // Device, processor, build, commit: the facts that make a number meaningful.
  std::vector<std::pair<std::string, std::string>> facts = {};
  std::vector<Section> sections = {};
};

// Facts about this program and machine: version, build, processor, devices and the labels that the
// user gave (commit, load).
std::vector<std::pair<std::string, std::string>> machine_facts(
    const std::vector<std::string>& devices,
    const std::vector<std::pair<std::string, std::string>>& labels);

std::string markdown(const Report& report);
std::string terminal_text(const Report& report);
std::string html(const Report& report);
Json json_of(const Report& report);

// Creates the folder. Plots without values are left out.
void write_results(const std::filesystem::path& folder, const Report& report);

}  // namespace cornea::study
