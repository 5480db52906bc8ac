// SPDX-License-Identifier: Apache-2.0
// How `cornea bench` measures a call.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cornea/cli/common.h"
#include "cornea/core/stage_clock.h"
#include "cornea/core/stopwatch.h"

namespace cornea::cli {

struct Timing {
  double median = 0, least = 0, p90 = 0;
};

inline Timing summarise(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times[times.size() * 9 / 10]};
}

// The number of untimed calls before the timed ones.
inline int warm_up(int repeat) { return std::max(3, repeat / 10); }

// Host time of a call.
inline Timing time_calls(int repeat, const std::function<void()>& call) {
  for (int i = 0; i < warm_up(repeat); ++i) call();
  std::vector<double> times(repeat);
  for (double& t : times) {
    const core::Stopwatch watch;
    call();
    t = watch.milliseconds();
  }
  return summarise(std::move(times));
}

// Medians of each stage of one kind of call.
template <class Call>
Json stage_medians(int repeat, const Call& call) {
  std::map<std::string, std::vector<double>> by_stage;
  std::vector<std::string> order;
  for (int i = 0; i < repeat; ++i) {
    for (const StageTime& stage : call()) {
      if (by_stage[stage.stage].empty()) order.push_back(stage.stage);
      by_stage[stage.stage].push_back(stage.milliseconds);
    }
  }
  Json stages = Json::object();
  for (const std::string& stage : order) stages[stage] = summarise(by_stage[stage]).median;
  return stages;
}

inline Json timing_json(const Timing& t) {
  return {{"median", t.median}, {"least", t.least}, {"p90", t.p90}};
}

}  // namespace cornea::cli
