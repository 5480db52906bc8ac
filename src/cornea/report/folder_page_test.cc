// SPDX-License-Identifier: Apache-2.0
#include "cornea/report/folder_page.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cornea/core/error.h"

namespace cornea {
namespace {

using FolderJson = nlohmann::json;

// A chain of images, each joined with the next two.
FolderPage folder_page_of(int images, int lines) {
  FolderPage page;
  page.title = "a folder";
  for (int i = 0; i < images; ++i) {
    FolderPageImage image;
    image.name = "photo " + std::to_string(i) + ".jpg";
    image.width = 400, image.height = 300;
    image.features = 1000 + i;
    image.thumbnail = {0xFF, 0xD8, std::uint8_t(i), std::uint8_t(i >> 8)};
    page.images.push_back(image);
  }
  for (int i = 0; i < images; ++i) {
    for (int j = i + 1; j < std::min(images, i + 3); ++j) {
      FolderPagePair pair;
      pair.first = i, pair.second = j;
      pair.matches = 200, pair.inliers = 150;
      pair.kind = Configuration::calibrated;
      pair.median_distance = 0.5f, pair.angle_degrees = 3;
      for (int k = 0; k < lines; ++k) pair.lines.push_back({float(k), 10, float(k), 299.5f});
      page.pairs.push_back(pair);
    }
  }
  page.distances.counts = {5, 3, 0, 1};
  page.stages = {{"pairs", 12}};
  page.facts = {{"Ran on", "CPU"}};
  page.command = "cornea report";
  find_components(page);
  return page;
}

std::string cut_out(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const std::size_t at = from + begin.size();
  return text.substr(at, text.find(end, at) - at);
}

FolderJson folder_data(const std::string& html) {
  return FolderJson::parse(cut_out(html, "id=\"data\">", "</script>"));
}

std::vector<std::uint8_t> decoded(const std::string& base64) {
  std::vector<std::uint8_t> out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    const auto digit =
        std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    bits = bits << 6 | std::uint32_t(digit);
    if ((count += 6) >= 8) out.push_back(std::uint8_t(bits >> (count -= 8)));
  }
  return out;
}

std::vector<std::uint32_t> whole_numbers(const FolderJson& base64, std::size_t size) {
  const std::vector<std::uint8_t> bytes = decoded(base64);
  std::vector<std::uint32_t> all(bytes.size() / size);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    all[i / size] |= std::uint32_t(bytes[i]) << (8 * (i % size));
  }
  return all;
}

// The argument of a call corneaPart("lines", 0, "key", {...});
FolderJson part_of(const std::string& text, const std::string& what) {
  const std::string call = "corneaPart(\"" + what + "\", ";
  const std::size_t key = text.find("\", ", text.find(call) + call.size());
  const std::size_t from = key + 3, to = text.find(");\n", from);
  return FolderJson::parse(text.substr(from, to - from));
}

TEST(FolderPage, IsOneFileForFewImages) {
  const std::vector<FolderPageFile> files = folder_page(folder_page_of(5, 3));
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "report.html");
  const std::string& html = files[0].bytes;
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_EQ(html.find("{{"), std::string::npos);
  for (const char* outside : {"http://", "https://", "<link", "@import", "fetch("}) {
    const std::size_t at = html.find(outside);
    // The only address is the name of the SVG namespace.
    EXPECT_TRUE(at == std::string::npos ||
                html.substr(at).starts_with("http://www.w3.org/2000/svg"))
        << outside;
  }
  const FolderJson data = folder_data(html);
  EXPECT_EQ(data["images"]["names"][3], "photo 3.jpg");
  EXPECT_EQ(whole_numbers(data["images"]["features"], 4),
            (std::vector<std::uint32_t>{1000, 1001, 1002, 1003, 1004}));
  EXPECT_EQ(whole_numbers(data["pairs"]["first"], 4),
            (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3}));
  EXPECT_EQ(whole_numbers(data["pairs"]["second"], 4),
            (std::vector<std::uint32_t>{1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(whole_numbers(data["pairs"]["kind"], 1), std::vector<std::uint32_t>(7, 2));
  EXPECT_EQ(data["pairs"]["kinds"][2], "calibrated");
  EXPECT_EQ(data["components"], FolderJson::parse("[[5, 7]]"));
  EXPECT_EQ(data["distances"]["counts"][1], 3);
  EXPECT_EQ(data["facts"][0][0], "Ran on");
}

TEST(FolderPage, HoldsThumbnailsAndLines) {
  const std::string html = folder_page(folder_page_of(5, 3))[0].bytes;
  const FolderJson thumbnails = part_of(html, "thumbnails"), lines = part_of(html, "lines");
  ASSERT_EQ(thumbnails.size(), 5u);
  EXPECT_EQ(decoded(thumbnails[3]), (std::vector<std::uint8_t>{0xFF, 0xD8, 3, 0}));
  EXPECT_EQ(whole_numbers(lines["ends"], 4), (std::vector<std::uint32_t>{3, 6, 9, 12, 15, 18, 21}));
  const std::vector<std::uint32_t> places = whole_numbers(lines["places"], 2);
  ASSERT_EQ(places.size(), 7u * 3 * 4);
  // The left edge of the first pixel is at -0.5, the lower edge of the last row at 299.5.
  EXPECT_EQ(places[4 + 0], std::uint32_t(std::lround(1.5 / 400 * 65535)));
  EXPECT_EQ(places[4 + 1], std::uint32_t(std::lround(10.5 / 300 * 65535)));
  EXPECT_EQ(places[4 + 3], 65535u);
}

TEST(FolderPage, IsSeveralFilesForManyImages) {
  FolderPageOptions options;
  options.most_images_in_one_file = 50;
  options.most_part_bytes = 10000;
  const FolderPage page = folder_page_of(60, 40);
  const std::vector<FolderPageFile> files = folder_page(page, options);
  const FolderJson data = folder_data(files[0].bytes);
  ASSERT_GT(files.size(), 3u);
  EXPECT_EQ(files[1].name, "report_parts/thumbnails-000.js");
  EXPECT_EQ(files[2].name, "report_parts/lines-000.js");
  EXPECT_EQ(files.size(), 1 + data["parts"]["thumbnails"].size() + data["parts"]["lines"].size());
  std::size_t lines = 0, pairs = 0;
  for (std::size_t k = 1; k < files.size(); ++k) {
    EXPECT_TRUE(files[k].bytes.starts_with("corneaPart(\"")) << files[k].name;
    EXPECT_NE(files[k].bytes.find("\"" + std::string(data["key"]) + "\""), std::string::npos);
    EXPECT_LT(files[k].bytes.size(), 14000u);
    if (files[k].name.find("/lines") == std::string::npos) continue;
    const std::size_t number = k - 1 - data["parts"]["thumbnails"].size();
    EXPECT_EQ(data["parts"]["lines"][number], pairs);
    const std::vector<std::uint32_t> ends =
        whole_numbers(part_of(files[k].bytes, "lines")["ends"], 4);
    pairs += ends.size(), lines += ends.back();
  }
  EXPECT_EQ(pairs, page.pairs.size());
  EXPECT_EQ(lines, 40 * page.pairs.size());
  EXPECT_EQ(files[0].bytes.find("corneaPart(\"lines\""), std::string::npos);
}

TEST(FolderPage, HasFewerLinesPerPairIfThereAreTooMany) {
  FolderPageOptions options;
  options.most_line_bytes = 7 * 20 * 11;
  FolderPage page = folder_page_of(5, 100);
  page.pairs[2].lines.resize(2);
  const FolderJson lines = part_of(folder_page(page, options)[0].bytes, "lines");
  const std::vector<std::uint32_t> ends = whole_numbers(lines["ends"], 4);
  EXPECT_EQ(ends[0], 23u);  // (140 - 2) / 6
  EXPECT_EQ(ends[2] - ends[1], 2u);
  EXPECT_LE(ends.back(), 140u);
  // The lines are an even sample: the last is near the end.
  EXPECT_EQ(whole_numbers(lines["places"], 2)[4 * 22],
            std::uint32_t(std::lround(95.5 / 400 * 65535)));
}

TEST(FolderPage, NamesAreNeverMarkup) {
  FolderPage page = folder_page_of(4, 1);
  const std::string hostile = "</script><script>stolen=1</script><!--{{data}}\"'&.jpg";
  page.images[1].name = hostile;
  page.images[2].name = "\xff\xfe not UTF-8.jpg";
  page.images[3].problem = "<b>is not there</b>";
  page.title = hostile;
  page.warnings = {{hostile, {1}, true}};
  page.facts = {{hostile, hostile}};
  page.command = hostile;
  page.files = {hostile};
  const std::string html = folder_page(page)[0].bytes;
  EXPECT_EQ(html.find("<script>stolen"), std::string::npos);
  EXPECT_EQ(html.find("<!--"), std::string::npos);
  EXPECT_EQ(html.find("<b>is not"), std::string::npos);
  EXPECT_NE(html.find("&lt;/script&gt;&lt;script&gt;stolen=1"), std::string::npos);
  const FolderJson data = folder_data(html);
  EXPECT_EQ(data["images"]["names"][1], hostile);
  EXPECT_EQ(data["images"]["names"][2], "\xEF\xBF\xBD\xEF\xBF\xBD not UTF-8.jpg");
  EXPECT_EQ(data["warnings"][0]["sentence"], hostile);
}

TEST(FolderPage, GivesTheSameBytesAgainAndAnotherKeyForOtherContents) {
  const FolderPage page = folder_page_of(30, 20);
  const std::string html = folder_page(page)[0].bytes;
  EXPECT_EQ(html, folder_page(page)[0].bytes);
  FolderPage other = page;
  other.images[7].thumbnail.push_back(1);
  EXPECT_NE(folder_data(html)["key"], folder_data(folder_page(other)[0].bytes)["key"]);
}

TEST(FolderPage, AcceptsAFolderWithoutImagesAndPairs) {
  FolderPage page;
  EXPECT_EQ(folder_page(page).size(), 1u);
  page = folder_page_of(1, 0);
  EXPECT_EQ(folder_page(page).size(), 1u);
}

TEST(FolderPage, RefusesInvalidInput) {
  FolderPage page = folder_page_of(4, 1);
  std::swap(page.pairs[0], page.pairs[1]);
  EXPECT_THROW(folder_page(page), Error);
  page = folder_page_of(4, 1);
  page.pairs[0].second = 9;
  EXPECT_THROW(folder_page(page), Error);
  page = folder_page_of(4, 1);
  page.components.clear();
  EXPECT_THROW(folder_page(page), Error);
  FolderPageOptions options;
  for (const char* name : {"", "..", "a/b", "x\"y"}) {
    options.parts_folder = name;
    EXPECT_THROW(options.validate(), Error) << name;
  }
}

}  // namespace
}  // namespace cornea
