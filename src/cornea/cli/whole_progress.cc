// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/whole_progress.h"

#include "cornea/cli/common.h"

namespace cornea::cli {
namespace {

const char* stage_words(FolderStage stage) {
  switch (stage) {
    case FolderStage::extract:
      return "1/4 extract";
    case FolderStage::choose:
      return "2/4 choose pairs";
    case FolderStage::match:
      return "3/4 match";
    case FolderStage::verify:
      return "4/4 verify";
    case FolderStage::match_further:
      return "3/4 match further";
    case FolderStage::verify_further:
      return "4/4 verify further";
  }
  return "";
}

}  // namespace

WholeProgress::WholeProgress(bool quiet) : quiet_(quiet) {
  events.stage = [this](FolderStage stage, const FolderAhead& ahead) { begin_stage(stage, ahead); };
  events.steps = events_of("");
  events.steps.begin = [this](int total) {
    const Work work = stage_ == FolderStage::extract ? image
                      : stage_ == FolderStage::match || stage_ == FolderStage::match_further
                          ? match
                          : geometry;
    const bool measured = stage_ != FolderStage::choose;  // its steps are not images or pairs
    bar_ = std::make_unique<Progress>(
        stage_words(stage_), total, quiet_, [this, work, measured](double seconds) {
          return measured ? later(work, seconds) : later(image, seconds_[image]);
        });
  };
}

FolderEvents WholeProgress::events_of(const std::string& what) {
  FolderEvents steps;
  steps.begin = [this, what](int total) {
    bar_.reset();
    bar_ = std::make_unique<Progress>(what, total, quiet_);
  };
  steps.advance = [this](int count) {
    for (int i = 0; bar_ && i < count; ++i) bar_->advance();
  };
  steps.report = steps.note = [this](const std::string& sentence) {
    if (bar_) bar_->clear();
    print_error(sentence);
  };
  steps.stop = &Interrupt::raised;
  return steps;
}

void WholeProgress::begin_stage(FolderStage stage, const FolderAhead& ahead) {
  bar_.reset();  // before anything that it reads changes
  stage_ = stage;
  ahead_ = ahead;
}

double WholeProgress::seconds_per(Work work) const {
  if (seconds_[work] > 0) return seconds_[work];
  // Typical seconds per image, pair and geometry for photographs with some thousands of features on
  // a CPU. Only used until the stage has begun.
  constexpr double kUsual[kWorks] = {1, 0.25, 0.1};
  for (const Work known : {match, image, geometry}) {
    if (seconds_[known] > 0) return seconds_[known] * kUsual[work] / kUsual[known];
  }
  return 0;
}

double WholeProgress::later(Work work, double seconds_per_step) {
  seconds_[work] = seconds_per_step;
  return double(ahead_.matches) * seconds_per(match) +
         double(ahead_.geometries) * seconds_per(geometry);
}

}  // namespace cornea::cli
