// SPDX-License-Identifier: Apache-2.0
// Plots as SVG: lines over a number, or bars by group. They are legible on paper and on dark and
// light screens (the colours follow prefers-color-scheme); series differ by colour and by marker or
// hatching; nothing is loaded from elsewhere.
#pragma once

#include <string>
#include <vector>

namespace cornea::study {

enum class AxisScale { linear, logarithmic };

struct Axis {
  std::string label = {};  // with its unit: "time (ms)"
  AxisScale scale = AxisScale::linear;
  bool from_zero = true;  // for a linear axis
};

struct Series {
  std::string name;
  std::vector<double> y;       // NaN: no value; must be positive on a logarithmic axis
  std::vector<double> x = {};  // for lines; as many as y
};

struct Plot {
  std::string name;  // of the file, without .svg
  std::string title;
  std::string caption = {};  // sample sizes, devices; shown under the plot
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  // With groups this is a bar plot with one bar per series in each group; without groups it is a
  // line plot.
  std::vector<std::string> groups = {};

  bool has_bars() const { return !groups.empty(); }
  bool empty() const;  // no value at all
};

// A complete SVG document. An error if the series have different lengths.
std::string svg(const Plot& plot);

}  // namespace cornea::study
