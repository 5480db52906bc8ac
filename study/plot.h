// Plots as SVG: lines over a number, or bars by group. They read on paper and on dark and light
// screens (the colours follow prefers-color-scheme); series differ by colour and by marker or
// hatching; nothing is loaded from elsewhere.
#pragma once

#include <string>
#include <vector>

namespace cornea::study {

enum class AxisScale { linear, logarithmic };

struct Axis {
  std::string label = {};  // with its unit: "time (ms)"
  AxisScale scale = AxisScale::linear;
  bool from_zero = true;  // on a linear axis
};

struct Series {
  std::string name;
  std::vector<double> y;       // NaN: no value; on a logarithmic axis neither 0 nor less
  std::vector<double> x = {};  // of lines; as many as y
};

struct Plot {
  std::string name;  // of the file, without .svg
  std::string title;
  std::string caption = {};  // sizes of samples, devices; stands under the plot
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  // With groups it is a plot of bars, one of every series in each group; without, one of lines.
  std::vector<std::string> groups = {};

  bool has_bars() const { return !groups.empty(); }
  bool empty() const;  // no value at all
};

// A whole SVG document. An error where the series do not fit together.
std::string svg(const Plot& plot);

}  // namespace cornea::study
