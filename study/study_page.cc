// SPDX-License-Identifier: Apache-2.0
#include "study/study_page.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <span>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/io/whole_file.h"
#include "cornea/report/html.h"
#include "cornea/report/page_files.h"
#include "cornea/report/page_text.h"

namespace cornea::study {
namespace {

using report::html_escaped;

// Styles that the page of a pair does not have.
constexpr char kStyle[] = R"(
.top { padding-top: 20px; }
main { max-width: 1240px; margin: 0 auto; }
.top { max-width: 1240px; margin: 0 auto; }
.made { border-top: 1px solid var(--line); margin: 20px 0 8px; padding-top: 16px; }
.facts { margin: 0 0 12px; }
section { margin-top: 40px; }
section > h2 { font-size: 20px; letter-spacing: -0.01em; margin: 0 0 8px; }
section > p { max-width: 88ch; margin: 0 0 12px; text-wrap: pretty; }
h3 { font-size: 15px; font-weight: 600; margin: 0 0 10px; }
figure { margin: 20px 0 0; }
.table-figure, .plot-figure { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px; }
.plot-figure { padding: 6px; max-width: 860px; }
.plot-figure svg { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; }
.numbers { border-collapse: collapse; font-size: 14px; min-width: 50%; }
.numbers th, .numbers td { text-align: right; padding: 5px 0 5px 22px; white-space: nowrap; vertical-align: bottom; }
.numbers th:first-child, .numbers td:first-child { padding-left: 0; }
.numbers .left { text-align: left; }
.numbers th { color: var(--muted); font-weight: 500; border-bottom: 1px solid var(--line); white-space: normal; }
.numbers th small { font-size: 12px; font-weight: 400; }
.numbers tbody tr + tr td { border-top: 1px solid var(--line); }
.table-figure figcaption { padding-top: 12px; max-width: 100ch; }
code { font: 0.92em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media print { figure { break-inside: avoid; } section > h2 { break-after: avoid; } }
)";

// Formats words in backquotes as code.
std::string with_code(const std::string& words) {
  std::string out;
  bool code = false;
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find('`', begin), words.size());
    out += html_escaped(words.substr(begin, end - begin));
    if (end < words.size()) out += (code = !code) ? "<code>" : "</code>";
    begin = end + 1;
  }
  return code ? out + "</code>" : out;
}

void write(const std::filesystem::path& file, const std::string& contents) {
  io::write_whole_file(file,
                       {reinterpret_cast<const std::uint8_t*>(contents.data()), contents.size()});
}

// The processor's name on Linux; empty if it is not known.
std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, part;
  while (std::getline(info, line)) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("model name")) return line.substr(colon + 2);
    if (line.starts_with("CPU part")) part = line.substr(colon + 2);
  }
  // Arm cores report only a number.
  constexpr std::pair<const char*, const char*> kArm[] = {{"0xd0c", "Arm Neoverse N1"},
                                                          {"0xd40", "Arm Neoverse V1"},
                                                          {"0xd49", "Arm Neoverse N2"},
                                                          {"0xd4f", "Arm Neoverse V2"}};
  for (const auto& [number, name] : kArm) {
    if (part == number) return name;
  }
  return part.empty() ? "" : "Arm core " + part;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> machine_facts(
    const std::vector<std::string>& devices,
    const std::vector<std::pair<std::string, std::string>>& labels) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    facts.emplace_back(devices.size() > 1 ? text("device ", i + 1) : "device", devices[i]);
  }
  if (const std::string name = processor(); !name.empty()) facts.emplace_back("processor", name);
  facts.emplace_back("version", kVersion);
  facts.emplace_back("compiler", kCompiler);
  facts.emplace_back("build", kBuildType);
  if (kHasCuda) facts.emplace_back("cuda", kCudaVersion);
  facts.insert(facts.end(), labels.begin(), labels.end());
  return facts;
}

std::string markdown(const Report& report) {
  std::string out = "# " + report.title + "\n\n";
  if (!report.command.empty()) out += "`" + report.command + "`\n\n";
  for (const auto& [name, value] : report.facts) out += "- " + name + ": " + value + "\n";
  for (const Section& section : report.sections) {
    out += "\n## " + section.heading + "\n";
    for (const std::string& paragraph : section.words) out += "\n" + paragraph + "\n";
    for (const Table& table : section.tables) out += "\n" + markdown(table);
    for (const Plot& plot : section.plots) {
      if (!plot.empty()) out += "\n![" + plot.title + "](" + plot.name + ".svg)\n";
    }
  }
  return out;
}

std::string terminal_text(const Report& report) {
  std::string out = report.title + "\n";
  for (const auto& [name, value] : report.facts) out += "  " + name + ": " + value + "\n";
  for (const Section& section : report.sections) {
    out += "\n" + section.heading + "\n" + std::string(section.heading.size(), '-') + "\n";
    for (const std::string& paragraph : section.words) {
      for (const std::string& line : wrapped(paragraph, kTerminalColumns)) out += line + "\n";
    }
    for (const Table& table : section.tables) out += "\n" + terminal_text(table);
  }
  return out;
}

std::string html(const Report& report) {
  const std::string title = html_escaped(report.title), kind = html_escaped(report.kind);
  const std::string css = std::string(report::page_files::page_css) + kStyle;
  std::string out =
      report::filled(report::page_files::head_html,
                     {{"policy", ""}, {"title", title}, {"css", css}, {"kind", kind}}) +
      "<p class=\"files\"><span class=\"muted\">Files" +
      "<span class=\"beside\"> beside this page</span>:</span> <a "
      "href=\"results.md\">results.md</a>"
      " <a href=\"results.json\">results.json</a></p></header>\n<main>\n<h1>" +
      title + "</h1>\n<div class=\"made\"><dl class=\"facts\">";
  for (const auto& [name, value] : report.facts) {
    out += "<dt>" + html_escaped(name) + "</dt><dd>" + html_escaped(value) + "</dd>\n";
  }
  out += "</dl>";
  if (!report.command.empty()) {
    out += "<div class=\"command\"><pre>" + html_escaped(report.command) + "</pre></div>";
  }
  out += "</div>\n";
  for (const Section& section : report.sections) {
    out += "<section>\n<h2>" + html_escaped(section.heading) + "</h2>\n";
    for (const std::string& paragraph : section.words) {
      out += "<p>" + with_code(paragraph) + "</p>\n";
    }
    for (const Table& table : section.tables) out += html(table);
    for (const Plot& plot : section.plots) {
      if (!plot.empty()) out += "<figure class=\"plot-figure\">\n" + svg(plot) + "</figure>\n";
    }
    out += "</section>\n";
  }
  return out + "</main>\n</body>\n</html>\n";
}

Json json_of(const Report& report) {
  Json facts = Json::object(), sections = Json::array();
  for (const auto& [name, value] : report.facts) facts[name] = value;
  for (const Section& section : report.sections) {
    Json tables = Json::array(), plots = Json::array();
    for (const Table& table : section.tables) tables.push_back(json_of(table));
    for (const Plot& plot : section.plots) {
      if (!plot.empty()) plots.push_back(plot.name + ".svg");
    }
    sections.push_back({{"heading", section.heading},
                        {"words", section.words},
                        {"tables", std::move(tables)},
                        {"plots", std::move(plots)}});
  }
  return {{"title", report.title},
          {"command", report.command},
          {"facts", std::move(facts)},
          {"sections", std::move(sections)}};
}

void write_results(const std::filesystem::path& folder, const Report& report) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed || !std::filesystem::is_directory(folder)) {
    fail(ErrorCode::io, folder.string(), ": is not a folder and cannot be created (",
         failed ? failed.message() : "a file has that name", "); choose another");
  }
  for (const Section& section : report.sections) {
    for (const Plot& plot : section.plots) {
      if (!plot.empty()) write(folder / (plot.name + ".svg"), svg(plot));
    }
  }
  write(folder / "results.md", markdown(report));
  write(folder / "results.json", json_of(report).dump(1) + "\n");
  write(folder / "index.html", html(report));
}

}  // namespace cornea::study
