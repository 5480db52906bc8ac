// SPDX-License-Identifier: Apache-2.0
// Tests of the writer of tables, plots and pages that `cornea study`, `evaluate` and `bench` share.
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "study/plot.h"
#include "study/study_page.h"
#include "study/table.h"
#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"

namespace cornea::study {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Table example() {
  Table table{.title = "Times",
              .caption = "Medians of 20.",
              .columns = {{"size"}, {"median", "ms", 2}, {"points", "", 0}}};
  table.add({"640 | 480", 1234.5678, 12});
  table.add({"<small>", Cell(), std::optional<int>()});
  return table;
}

// Checks that tags open and close in order, attributes are quoted, and text has no bare & or <.
void expect_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while (at < xml.size()) {
    const std::size_t tag = xml.find('<', at);
    const std::string text = xml.substr(at, std::min(tag, xml.size()) - at);
    for (std::size_t i = text.find('&'); i != std::string::npos; i = text.find('&', i + 1)) {
      EXPECT_NE(text.find(';', i), std::string::npos) << text;
    }
    if (tag == std::string::npos) break;
    bool quoted = false;
    std::size_t end = tag + 1;
    for (; end < xml.size() && (quoted || xml[end] != '>'); ++end) {
      if (xml[end] == '"') quoted = !quoted;
      ASSERT_NE(xml[end], '<') << xml.substr(tag, 80);
    }
    ASSERT_LT(end, xml.size()) << "a tag does not end: " << xml.substr(tag, 80);
    const std::string inside = xml.substr(tag + 1, end - tag - 1);
    const std::string name = inside.substr(
        inside[0] == '/' ? 1 : 0, inside.find_first_of(" /\n", 1) - (inside[0] == '/' ? 1 : 0));
    if (inside[0] == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), inside.substr(1));
      open.pop_back();
    } else if (inside.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
  }
  EXPECT_TRUE(open.empty()) << "not closed: " << open.back();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++n;
  return n;
}

Plot lines() {
  Plot plot{.name = "times",
            .title = "Time & <size>",
            .caption = "Medians of 20.",
            .x = {"pixels", AxisScale::logarithmic},
            .y = {"time (ms)", AxisScale::logarithmic}};
  plot.series = {{"CPU", {1, 10, kNone, 1000}, {1e3, 1e4, 1e5, 1e6}},
                 {"CUDA", {0.1, 0.2, 0.3, 0}, {1e3, 1e4, 1e5, 1e6}}};
  return plot;
}

Plot bars() {
  Plot plot{.name = "counts", .title = "Counts", .y = {"points"}};
  plot.groups = {"noise", "JPEG"};
  plot.series = {{"Gaussian", {100, 90}}, {"trilateral", {kNone, 40}}};
  return plot;
}

TEST(ResultTable, NumbersHaveTheDigitsOfTheirColumn) {
  EXPECT_EQ(number_text(1234567.891, 1), "1,234,567.9");
  EXPECT_EQ(number_text(-1234, 0), "-1,234");
  EXPECT_EQ(number_text(999, 0), "999");
  EXPECT_EQ(number_text(0.12345, kThreeDigits), "0.123");
  EXPECT_EQ(number_text(9.996, kThreeDigits), "10.0");
  EXPECT_EQ(number_text(1234.5, kThreeDigits), "1,234");
  EXPECT_EQ(number_text(0.0123, kThreeDigits), "0.012");
  EXPECT_EQ(number_text(0.9996, kThreeDigits), "1.00");
  EXPECT_EQ(number_text(0.00001234, kThreeDigits), "<0.001");
  EXPECT_EQ(number_text(1.26e-7, kScientific), "1.3e-07");
  EXPECT_EQ(number_text(0, kThreeDigits), "0");
  EXPECT_EQ(key_of({"per matrix", "us"}), "per_matrix_us");
  EXPECT_EQ(key_of({"|A - USV'|"}), "a_usv");
}

TEST(ResultTable, IsWrittenAsMarkdownTextHtmlAndJson) {
  const Table table = example();
  EXPECT_EQ(markdown(table),
            "**Times**\n\n| size | median (ms) | points |\n|---|---:|---:|\n"
            "| 640 \\| 480 | 1,234.57 | 12 |\n| <small> | – | – |\n\nMedians of 20.\n");
  EXPECT_EQ(terminal_text(table),
            "Times\nsize       median (ms)  points\n640 | 480     1,234.57      12\n"
            "<small>              -       -\nMedians of 20.\n");
  EXPECT_NE(html(table).find("&lt;small&gt;</td>"), std::string::npos);
  expect_well_formed(html(table));
  const Json json = json_of(table);
  EXPECT_EQ(json["columns"][1]["unit"], "ms");
  EXPECT_EQ(json["rows"][0]["median_ms"], 1234.5678);
  EXPECT_TRUE(json["rows"][1]["points"].is_null());
}

TEST(ResultTable, BreaksLongWordsIntoLines) {
  EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("one", 1), (std::vector<std::string>{"one"}));
  EXPECT_TRUE(wrapped("", 10).empty());
}

TEST(ResultTable, RefusesARowOfAnotherLength) {
  Table table = example();
  EXPECT_THROW(table.add({"640x480", 1.0}), Error);
}

TEST(ResultPlot, LinesAreWellFormedAndOmitMissingValues) {
  const std::string drawn = svg(lines());
  expect_well_formed(drawn);
  EXPECT_NE(drawn.find("Time &amp; &lt;size&gt;"), std::string::npos);
  // Three values of each series can be shown, and each series has one more marker in the legend.
  EXPECT_EQ(count(drawn, "class=\"mark\""), 8u);
  EXPECT_NE(drawn.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_EQ(drawn.find("nan"), std::string::npos);
  EXPECT_EQ(drawn.find("inf"), std::string::npos);
  EXPECT_EQ(drawn.find("http", drawn.find("xmlns") + 10 + 26), std::string::npos);
}

TEST(ResultPlot, BarsAreWellFormedAndOmitMissingValues) {
  const std::string drawn = svg(bars());
  expect_well_formed(drawn);
  EXPECT_EQ(count(drawn, "<rect"), 1 + 2 + 3u);  // the background, the legend and three values
  EXPECT_EQ(drawn.find("nan"), std::string::npos);
}

TEST(ResultPlot, RefusesSeriesThatDoNotFit) {
  Plot plot = bars();
  plot.series[0].y.pop_back();
  EXPECT_THROW(svg(plot), Error);
  plot = lines();
  plot.series[0].x.pop_back();
  EXPECT_THROW(svg(plot), Error);
}

TEST(ResultPlot, ANarrowAxisStillShowsItsNumbers) {
  Plot plot = lines();
  plot.series = {{"CPU", {5, 6}, {0.0164, 0.0192}}};
  const std::string drawn = svg(plot);
  EXPECT_NE(drawn.find(">0.0164<"), std::string::npos);
  EXPECT_NE(drawn.find(">0.0192<"), std::string::npos);
}

TEST(ResultPlot, OneValueOrNoneIsDrawnToo) {
  Plot plot = lines();
  plot.series = {{"CPU", {5}, {10}}};
  EXPECT_EQ(svg(plot).find("nan"), std::string::npos);
  plot.series[0].y[0] = kNone;
  EXPECT_TRUE(plot.empty());
  expect_well_formed(svg(plot));
}

TEST(ResultPage, WritesAllFilesOfAReport) {
  const testing::TemporaryFolder folder;
  Report report{.title = "A <study>", .command = "cornea study"};
  report.facts = machine_facts({"CPU, 2 threads"}, {{"commit", "abc"}});
  Plot none = bars();
  none.name = "none";
  for (Series& series : none.series) series.y = {kNone, kNone};
  report.sections.push_back({"First", {"By `cornea & co`."}, {example()}, {lines(), bars(), none}});
  write_results(folder.path() / "new" / "results", report);
  auto contents = [&](const char* name) {
    std::stringstream out;
    out << std::ifstream(folder.path() / "new" / "results" / name).rdbuf();
    return out.str();
  };
  EXPECT_EQ(contents("times.svg"), svg(lines()));
  EXPECT_EQ(contents("counts.svg"), svg(bars()));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "new" / "results" / "none.svg"));
  EXPECT_NE(contents("results.md").find("![Counts](counts.svg)"), std::string::npos);
  const Json json = Json::parse(contents("results.json"));
  EXPECT_EQ(json["facts"]["device"], "CPU, 2 threads");
  EXPECT_EQ(json["facts"]["commit"], "abc");
  EXPECT_EQ(json["sections"][0]["tables"][0]["rows"].size(), 2u);
  const std::string page = contents("index.html");
  EXPECT_NE(page.find("<code>cornea &amp; co</code>"), std::string::npos);
  EXPECT_NE(page.find("A &lt;study&gt;"), std::string::npos);
  EXPECT_EQ(count(page, "<svg"), 2u);
  EXPECT_EQ(page.find("<script"), std::string::npos);
}

TEST(ResultPage, SaysThatAFileIsNotAFolder) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_THROW(write_results(folder.path() / "file", {.title = "x"}), Error);
}

}  // namespace
}  // namespace cornea::study
