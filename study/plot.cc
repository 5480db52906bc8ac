// SPDX-License-Identifier: Apache-2.0
#include "study/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "study/table.h"

#include "cornea/core/error.h"
#include "cornea/report/html.h"

namespace cornea::study {
namespace {

using report::html_escaped;

constexpr double kWidth = 760, kHeight = 440;  // units of the drawing, about pixels
constexpr double kLeft = 76, kRight = 24;      // beside the plotting area
constexpr double kLetter = 6.6;                // mean width of a character of 12 units
constexpr double kLine = 17;                   // height of a line of text
constexpr int kColours = 7;

// Colours that most people can distinguish (Okabe and Ito), with a lighter set for dark screens.
// Selectors begin with .plot, because several plots may be in one page.
constexpr char kStyle[] = R"(
.plot { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --ground: #ffffff; --ink: #1d1d20; --muted: #5c5c63; --line: #e3e3df;
  --c0: #0072b2; --c1: #c44e00; --c2: #00805d; --c3: #a8487f; --c4: #b27700; --c5: #4a55b5; --c6: #1d1d20; }
@media screen and (prefers-color-scheme: dark) { .plot {
  --ground: #1b1b1e; --ink: #ebebee; --muted: #a4a4ad; --line: #36363c;
  --c0: #5db3f0; --c1: #ff9850; --c2: #3fcfa0; --c3: #ef9fcb; --c4: #efc24a; --c5: #a9b1ff; --c6: #ebebee; } }
.plot .ground { fill: var(--ground); }
.plot .grid { stroke: var(--line); stroke-width: 1; }
.plot .axis { stroke: var(--muted); stroke-width: 1; }
.plot text { fill: var(--muted); }
.plot .title { fill: var(--ink); font-size: 15px; font-weight: 600; }
.plot .name { fill: var(--ink); }
.plot .curve { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.plot .mark { stroke-width: 1.6; }
)";

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", std::round(value * 100) / 100);
  return buffer;
}

std::string words(double x, double y, const char* anchor, const std::string& text,
                  const std::string& more = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\"" +
         more + ">" + html_escaped(text) + "</text>\n";
}

std::string straight(double x1, double y1, double x2, double y2, const char* kind) {
  return "<path class=\"" + std::string(kind) + "\" d=\"M" + number(x1) + " " + number(y1) + "L" +
         number(x2) + " " + number(y2) + "\"/>\n";
}

std::string colour(std::size_t series) {
  return "var(--c" + std::to_string(series % kColours) + ")";
}

// Six shapes, alternately filled and open.
std::string marker(std::size_t series, double x, double y) {
  const double r = 4;
  auto at = [&](double dx, double dy) { return number(x + dx * r) + " " + number(y + dy * r); };
  std::string path;
  switch (series % 6) {
    case 0:
      return "<circle class=\"mark\" cx=\"" + number(x) + "\" cy=\"" + number(y) +
             "\" r=\"3.8\" style=\"fill:" + colour(series) + ";stroke:" + colour(series) + "\"/>";
    case 1:
      path = "M" + at(-.9, -.9) + "L" + at(.9, -.9) + "L" + at(.9, .9) + "L" + at(-.9, .9) + "Z";
      break;
    case 2:
      path = "M" + at(0, -1.2) + "L" + at(1.1, .9) + "L" + at(-1.1, .9) + "Z";
      break;
    case 3:
      path = "M" + at(0, -1.3) + "L" + at(1.3, 0) + "L" + at(0, 1.3) + "L" + at(-1.3, 0) + "Z";
      break;
    case 4:
      path = "M" + at(-1, -1) + "L" + at(1, 1) + "M" + at(1, -1) + "L" + at(-1, 1);
      break;
    default:
      path = "M" + at(0, 1.2) + "L" + at(1.1, -.9) + "L" + at(-1.1, -.9) + "Z";
  }
  const bool open = series % 2 == 1;
  return "<path class=\"mark\" d=\"" + path +
         "\" style=\"fill:" + (open ? "var(--ground)" : colour(series)) +
         ";stroke:" + colour(series) + "\"/>";
}

// Bars are full, hatched, or open with horizontal lines, so that three of them differ in gray too.
std::string bar(std::size_t series, double x, double y, double width, double height) {
  const bool open = series % 3 == 2;
  std::string lines;
  if (series % 3 == 1) {
    for (double d = 5; d < width + height; d += 5) {
      const double x1 = std::max(0.0, d - height), x2 = std::min(d, width);
      lines += "M" + number(x + x1) + " " + number(y + d - x1) + "L" + number(x + x2) + " " +
               number(y + d - x2);
    }
  } else if (open) {
    for (double d = 4; d < height; d += 4) {
      lines += "M" + number(x) + " " + number(y + height - d) + "h" + number(width);
    }
  }
  std::string out = "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
                    number(width) + "\" height=\"" + number(height) +
                    "\" style=\"fill:" + (open ? "var(--ground)" : colour(series)) +
                    ";stroke:" + colour(series) + "\"/>\n";
  if (lines.empty()) return out;
  return out + "<path d=\"" + lines +
         "\" style=\"stroke:" + (open ? colour(series) : "var(--ground)") +
         ";stroke-width:1.4\"/>\n";
}

struct Range {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<double> ticks = {};

  double share(double value) const {
    if (logarithmic) return std::log(value / low) / std::log(high / low);
    return (value - low) / (high - low);
  }
};

double step_of(double span, int most) {
  const double base = std::pow(10.0, std::floor(std::log10(span / most)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (span / (base * factor) <= most) return base * factor;
  }
  return 10 * base;
}

Range range_of(const Axis& axis, double low, double high, bool reaches_out) {
  Range range;
  if (axis.scale == AxisScale::logarithmic) {
    range.logarithmic = true;
    if (low == high) low /= 2, high *= 2;
    const double decades = std::log10(high / low);
    // Limits are 1, 2 or 5 times a power of ten; on an x axis they are the first and last value.
    std::vector<double> all;
    for (int e = int(std::floor(std::log10(low))) - 1; e <= int(std::ceil(std::log10(high))); ++e) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (decades < 3 || factor == 1) all.push_back(factor * std::pow(10.0, e));
      }
    }
    range.low = low, range.high = high;
    if (reaches_out) {
      for (const double tick : all) {
        if (tick <= low * (1 + 1e-9)) range.low = tick;
      }
      for (auto tick = all.rbegin(); tick != all.rend(); ++tick) {
        if (*tick >= high * (1 - 1e-9)) range.high = *tick;
      }
    }
    for (const double tick : all) {
      if (tick >= range.low * (1 - 1e-9) && tick <= range.high * (1 + 1e-9)) {
        range.ticks.push_back(tick);
      }
    }
    if (range.ticks.size() < 2) range.ticks = {low, high};
    return range;
  }
  if (axis.from_zero && low > 0) low = 0;
  if (axis.from_zero && high < 0) high = 0;
  if (low == high) high = low + 1;
  const double step = step_of(high - low, 6);
  range.low = reaches_out ? std::floor(low / step + 1e-9) * step : low;
  range.high = reaches_out ? std::ceil(high / step - 1e-9) * step : high;
  const double first = std::ceil(range.low / step - 1e-9);
  for (int i = 0; (first + i) * step <= range.high + 1e-9 * step; ++i) {
    range.ticks.push_back((first + i) * step);
  }
  return range;
}

std::string tick_text(double tick) {
  if (tick == 0) return "0";
  const double size = std::abs(tick);
  if (size >= 1e7 || size < 1e-4) return number_text(tick, kScientific);
  std::string text = number_text(tick, size >= 100 ? 0 : 5);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

bool shows(const Axis& axis, double value) {
  return std::isfinite(value) && (axis.scale == AxisScale::linear || value > 0);
}

// The smallest and largest of the values shown.
std::optional<std::pair<double, double>> limits(const Plot& plot, bool of_x) {
  std::optional<std::pair<double, double>> found;
  for (const Series& series : plot.series) {
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (!shows(plot.y, series.y[i])) continue;
      if (of_x && !shows(plot.x, series.x[i])) continue;
      const double value = of_x ? series.x[i] : series.y[i];
      if (!found) found = {value, value};
      found->first = std::min(found->first, value);
      found->second = std::max(found->second, value);
    }
  }
  return found;
}

// Splits text into lines of this width.
std::vector<std::string> lines_of(const std::string& text, double width) {
  return wrapped(text, std::size_t(width / (kLetter * 0.93)));
}

struct Field {
  double left, top, width, height;
  Range x, y;
  double bottom() const { return top + height; }
  double at_x(double value) const { return left + width * x.share(value); }
  double at_y(double value) const { return top + height * (1 - y.share(value)); }
};

std::string curves(const Plot& plot, const Field& field) {
  std::string out;
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    const Series& series = plot.series[s];
    std::string path, marks;
    bool open = false;
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      const bool there = shows(plot.y, series.y[i]) && shows(plot.x, series.x[i]);
      if (there) {
        const double x = field.at_x(series.x[i]), y = field.at_y(series.y[i]);
        path += (open ? "L" : "M") + number(x) + " " + number(y);
        marks += marker(s, x, y) + "\n";
      }
      open = there;
    }
    if (path.empty()) continue;
    // A single point has only its marker.
    if (path.find('L') != std::string::npos) {
      const std::string dash = s % 2 == 1 ? ";stroke-dasharray:7 4" : "";
      out +=
          "<path class=\"curve\" d=\"" + path + "\" style=\"stroke:" + colour(s) + dash + "\"/>\n";
    }
    out += marks;
  }
  return out;
}

std::string bars(const Plot& plot, const Field& field) {
  std::string out;
  const double room = field.width / double(plot.groups.size());
  const double width = std::min(46.0, room * 0.78 / double(plot.series.size()));
  const double base = plot.y.scale == AxisScale::linear
                          ? field.at_y(std::clamp(0.0, field.y.low, field.y.high))
                          : field.bottom();
  for (std::size_t g = 0; g < plot.groups.size(); ++g) {
    const double middle = field.left + room * (double(g) + 0.5);
    double x = middle - width * double(plot.series.size()) / 2;
    for (std::size_t s = 0; s < plot.series.size(); ++s, x += width) {
      const double value = plot.series[s].y[g];
      if (!shows(plot.y, value)) continue;
      const double y = field.at_y(value);
      out += bar(s, x + 1, std::min(y, base), std::max(1.0, width - 2), std::abs(base - y));
    }
    // Names that would overlap alternate between two lines.
    const bool narrow = double(plot.groups[g].size()) * kLetter > room - 4;
    out +=
        words(middle, field.bottom() + 18 + (narrow && g % 2 ? 14 : 0), "middle", plot.groups[g]);
  }
  return out;
}

std::string legend(const Plot& plot, double& y) {
  if (plot.series.size() < 2) return "";
  std::string out;
  double x = kLeft;
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    const double width = 26 + double(plot.series[s].name.size()) * kLetter + 22;
    if (x > kLeft && x + width > kWidth - kRight) x = kLeft, y += kLine + 1;
    if (plot.has_bars()) {
      out += bar(s, x, y - 10, 16, 11);
    } else {
      const std::string dash = s % 2 == 1 ? ";stroke-dasharray:7 4" : "";
      out += "<path class=\"curve\" d=\"M" + number(x - 2) + " " + number(y - 4) +
             "h20\" style=\"stroke:" + colour(s) + dash + "\"/>" + marker(s, x + 8, y - 4) + "\n";
    }
    out += words(x + 24, y, "start", plot.series[s].name, " class=\"name\"");
    x += width;
  }
  y += kLine;
  return out;
}

void check(const Plot& plot) {
  for (const Series& series : plot.series) {
    const std::size_t wanted = plot.has_bars() ? plot.groups.size() : series.x.size();
    if (series.y.size() != wanted) {
      fail(ErrorCode::internal, "the plot '", plot.title, "' has ", wanted, " places and ",
           series.y.size(), " values of ", series.name);
    }
  }
}

}  // namespace

bool Plot::empty() const {
  for (const Series& s : series) {
    for (const double value : s.y) {
      if (shows(y, value)) return false;
    }
  }
  return true;
}

std::string svg(const Plot& plot) {
  check(plot);
  double top = 26;
  const std::vector<std::string> title = lines_of(plot.title, (kWidth - 40) * 0.78);
  std::string head;
  for (const std::string& line : title) {
    head += words(20, top, "start", line, " class=\"title\"");
    top += 20;
  }
  top += 4;
  head += legend(plot, top);
  const std::vector<std::string> caption = lines_of(plot.caption, kWidth - 40);
  bool two_lines = false;
  if (plot.has_bars()) {
    for (const std::string& group : plot.groups) {
      two_lines |= double(group.size()) * kLetter >
                   (kWidth - kLeft - kRight) / double(plot.groups.size()) - 4;
    }
  }
  const double below = 30 + (two_lines ? 14 : 0) + (plot.x.label.empty() ? 0 : 20) +
                       (caption.empty() ? 0 : 10 + kLine * double(caption.size()));
  Field field{kLeft, top + 6, kWidth - kLeft - kRight, 0, {}, {}};
  field.height = std::max(180.0, kHeight - field.top - below);
  const double height = field.bottom() + below;
  const auto y_limits = limits(plot, false);
  const double low = y_limits ? y_limits->first : 1, high = y_limits ? y_limits->second : 1;
  field.y = range_of(plot.y, low, high, true);
  std::string body;
  for (const double tick : field.y.ticks) {
    const double y = field.at_y(tick);
    body += straight(field.left, y, field.left + field.width, y, "grid");
    body += words(field.left - 8, y + 4, "end", tick_text(tick));
  }
  if (plot.has_bars()) {
    body += bars(plot, field);
  } else {
    const auto x_limits = limits(plot, true);
    field.x = range_of(plot.x, x_limits ? x_limits->first : 1, x_limits ? x_limits->second : 1,
                       plot.x.scale == AxisScale::linear);
    for (const double tick : field.x.ticks) {
      const double x = field.at_x(tick);
      body += straight(x, field.bottom(), x, field.bottom() + 4, "axis");
      body += words(x, field.bottom() + 18, "middle", tick_text(tick));
    }
    body += curves(plot, field);
  }
  body += straight(field.left, field.bottom(), field.left + field.width, field.bottom(), "axis");
  body += words(
      0, 0, "middle", plot.y.label,
      " transform=\"translate(18 " + number(field.top + field.height / 2) + ") rotate(-90)\"");
  double y = field.bottom() + 18 + (two_lines ? 14 : 0);
  if (!plot.x.label.empty()) {
    y += 20;
    body += words(field.left + field.width / 2, y, "middle", plot.x.label);
  }
  y += 10;
  for (const std::string& line : caption) {
    y += kLine;
    body += words(20, y, "start", line);
  }
  const std::string size = number(kWidth) + " " + number(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 " + size +
         "\" width=\"" + number(kWidth) + "\" height=\"" + number(height) +
         "\" role=\"img\" aria-label=\"" + html_escaped(plot.title) + "\">\n<style>" + kStyle +
         "</style>\n<rect class=\"ground\" width=\"" + number(kWidth) + "\" height=\"" +
         number(height) + "\" rx=\"10\"/>\n" + head + body + "</svg>\n";
}

}  // namespace cornea::study
