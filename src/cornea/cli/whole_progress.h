// SPDX-License-Identifier: Apache-2.0
// The progress of a whole folder, stage after stage, with the time left for all of them.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "cornea/cli/interrupt.h"
#include "cornea/cli/progress.h"
#include "cornea/pipeline/folder/run_folder.h"

namespace cornea::cli {

class WholeProgress {
 public:
  explicit WholeProgress(bool quiet);
  WholeProgress(const WholeProgress&) = delete;
  WholeProgress& operator=(const WholeProgress&) = delete;

  FolderRunEvents events;
  // For work after the stages: a bar of its own.
  FolderEvents events_of(const std::string& what);
  void clear() { bar_.reset(); }

 private:
  enum Work { image, match, geometry, kWorks };
  void begin_stage(FolderStage stage, const FolderAhead& ahead);
  // Estimated seconds of the later stages.
  double later(Work work, double seconds_per_step);
  double seconds_per(Work work) const;

  const bool quiet_;
  const Interrupt interrupt_;
  FolderStage stage_ = FolderStage::extract;
  FolderAhead ahead_;
  // Measured seconds per step, or 0. Changed only while the bar exists, under its lock, and read by
  // it.
  std::array<double, kWorks> seconds_{};
  std::unique_ptr<Progress> bar_;
};

}  // namespace cornea::cli
