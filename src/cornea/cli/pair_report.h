// SPDX-License-Identifier: Apache-2.0
// What `cornea pair` writes and prints.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cornea/cli/camera.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/pipeline/pair.h"

namespace cornea::cli {

struct PairCommand {
  CommonOptions common;
  std::string first, second, out;
  std::string mask1, mask2;  // empty: none
  bool open = false;         // open the page in the browser
  PairOptions options;
  CameraOptions camera;
  OptionFlags flags, estimator;  // options of all detectors, and of F
  std::string words;             // the command line, for a shell

  std::filesystem::path in_folder(const char* name) const {
    return std::filesystem::path(out) / name;
  }
  bool has_masks() const { return !mask1.empty() || !mask2.empty(); }
};

// All inputs and results.
struct PairOutcome {
  const PairCommand& command;  // with all options as they were used
  const Context& context;
  const std::optional<KnownCameras>& cameras;
  const PairResult& result;
  const GrayImage &first, &second;
};

std::string csv_text(const PairResult& result);
Json summary_json(const PairOutcome& outcome);
std::string page_text(const PairOutcome& outcome, const std::vector<StageTime>& stages);
void print_result(const PairOutcome& outcome, const std::vector<StageTime>& stages);

}  // namespace cornea::cli
