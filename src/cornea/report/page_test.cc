// SPDX-License-Identifier: Apache-2.0
#include "cornea/report/page.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cornea/core/error.h"
#include "cornea/io/image_file.h"
#include "cornea/report/html.h"
#include "cornea/report/preview.h"

namespace cornea {
namespace {

using namespace report;

using Colour = Rgb<std::uint8_t>;
using Json = nlohmann::json;

// A smooth image with uniform noise of this many gray levels per channel.
Image<Colour> picture(int width, int height, int noise) {
  Image<Colour> image(width, height);
  std::uint32_t state = 1;
  auto shaken = [&](double v) {
    state = state * 1664525u + 1013904223u;
    const int add = noise ? int(state >> 16) % (2 * noise + 1) - noise : 0;
    return std::uint8_t(std::clamp(int(v) + add, 0, 255));
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double v = 128 + 60 * std::sin(0.011 * x) * std::cos(0.017 * y);
      image(x, y) = {shaken(v), shaken(0.8 * v), shaken(220 - v)};
    }
  }
  return image;
}

// A page with `count` matches on one image; every fourth is an outlier.
struct Example {
  Image<Colour> image;
  std::vector<Keypoint> points;
  std::vector<Match> matches;
  std::vector<float> distances;
  FundamentalResult geometry;

  Example(int width, int height, int noise, int count) : image(picture(width, height, noise)) {
    geometry.kind = TwoView::general;
    geometry.F = {0, 0, 0, 0, 0, -0.7071, 0, 0.7071, 0};
    for (int i = 0; i < count; ++i) {
      points.push_back({float(i * 37 % width), float(i * 53 % height), 2, 0, 1, 0});
      matches.push_back({i, i, 10, 0.5f});
      distances.push_back(i % 4 ? 0.3f : 40.0f);
      geometry.inliers.push_back(i % 4 ? 1 : 0);
      geometry.inlier_count += i % 4 != 0;
    }
  }
  PairPage page() const {
    PairPage page;
    page.first = {"a.jpg", image.host(), points};
    page.second = {"b.jpg", image.host(), points};
    page.matches = matches;
    page.geometry = &geometry;
    page.distances = distances;
    page.threshold = 1.5;
    page.sentence = "All is well.";
    page.stages = {{"features", 12.5}, {"matching", 3}};
    page.facts = {{"Ran on", "CPU"}};
    page.command = "cornea pair a.jpg b.jpg -o out";
    page.files = {"matches.csv", "summary.json"};
    return page;
  }
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++count;
  }
  return count;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const std::size_t at = from + begin.size();
  return text.substr(at, text.find(end, at) - at);
}

// The text of the script element that holds the data, and the result of parsing it.
std::string data_text(const std::string& html) {
  return between(html, "id=\"data\">", "</script>");
}
Json data_of(const std::string& html) { return Json::parse(data_text(html)); }

std::vector<std::uint8_t> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (char c : text) {
    if (c == '=') break;
    bits = bits << 6 | std::uint32_t(digits.find(c));
    held += 6;
    if (held >= 8) bytes.push_back(std::uint8_t(bits >> (held -= 8)));
  }
  return bytes;
}

// The previews in the page.
std::vector<Image<Colour>> previews_of(const std::string& html) {
  const std::string mark = "data:image/jpeg;base64,";
  std::vector<Image<Colour>> previews;
  for (std::size_t at = 0; (at = html.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    previews.push_back(
        decode_image<Colour>(from_base64(html.substr(at, html.find('"', at) - at)), "preview"));
  }
  return previews;
}

TEST(HtmlEscaped, EscapesAllMarkup) {
  EXPECT_EQ(html_escaped("<a href='x' id=\"y\">&amp;"),
            "&lt;a href=&#39;x&#39; id=&quot;y&quot;&gt;&amp;amp;");
  EXPECT_EQ(html_escaped("plain \xC3\xA4"), "plain \xC3\xA4");
}

TEST(HtmlEscaped, ReplacesInvalidUtf8) {
  EXPECT_EQ(html_escaped("caf\xe9 <caf\u00e9>"), "caf\xEF\xBF\xBD &lt;caf\u00e9&gt;");
}

TEST(IsPrintable, AcceptsUtf8WithoutControlCharacters) {
  for (const char* text : {"", "a b", "caf\u00e9", "\u5199\u771f"})
    EXPECT_TRUE(is_printable(text)) << text;
  for (const char* text : {"caf\xe9", "a\nb", "\x1b[2J", "\x7f"}) EXPECT_FALSE(is_printable(text));
}

TEST(PairPage, IsOneFileThatNeedsNothingElse) {
  const Example example(320, 240, 0, 40);
  const std::string html = pair_page(Context::cpu(), example.page());
  EXPECT_EQ(html.rfind("<!doctype html>", 0), 0u);
  EXPECT_EQ(count_of(html, "<script"), 2u);
  EXPECT_EQ(count_of(html, "</script>"), 2u);
  EXPECT_EQ(count_of(html, "<style>"), 1u);
  EXPECT_EQ(count_of(html, "{{"), 0u);
  EXPECT_EQ(count_of(html, "</html>"), 1u);
  // The name of the SVG namespace is the only address in it, and is not fetched.
  EXPECT_EQ(count_of(html, "http://") + count_of(html, "https://"),
            count_of(html, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(count_of(html, "<link"), 0u);
  EXPECT_EQ(count_of(html, "@import"), 0u);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(PairPage, HoldsTheNumbers) {
  const Example example(320, 240, 0, 40);
  const Json data = data_of(pair_page(Context::cpu(), example.page()));
  EXPECT_EQ(data.at("matchCount"), 40);
  EXPECT_EQ(data.at("inlierCount"), 30);
  EXPECT_EQ(data.at("kind"), "general");
  EXPECT_EQ(data.at("F"), Json({{0, 0, 0}, {0, 0, -0.7071}, {0, 0.7071, 0}}));
  EXPECT_EQ(data.at("H"), nullptr);
  EXPECT_EQ(data.at("threshold"), 1.5);
  EXPECT_EQ(data.at("notice"), false);
  EXPECT_EQ(data.at("files"), Json({"matches.csv", "summary.json"}));
  EXPECT_EQ(data.at("stages"),
            Json::array({Json::array({"features", 12.5}), Json::array({"matching", 3})}));
  EXPECT_EQ(data.at("facts"), Json::array({Json::array({"Ran on", "CPU"})}));
  const Json& second = data.at("photographs")[1];
  EXPECT_EQ(
      second,
      Json({{"name", "b.jpg"}, {"width", 320}, {"height", 240}, {"points", 40}, {"others", ""}}));
  const auto bytes = from_base64(data.at("matches"));
  ASSERT_EQ(bytes.size(), 40u * 8 * 4);
  // The second match: x1 is 37, its distance is 0.3, and it is an inlier.
  auto number = [&](int k) {
    float v;
    std::copy_n(bytes.data() + 4 * k, 4, reinterpret_cast<std::uint8_t*>(&v));
    return v;
  };
  EXPECT_EQ(number(8), 37);
  EXPECT_EQ(number(9), 53);
  EXPECT_EQ(number(13), 0.3f);
  EXPECT_EQ(number(14), 1);
  EXPECT_EQ(number(15), 1);
}

TEST(PairPage, APointIsMatchedIfOneOfItsOrientationsIs) {
  Example example(320, 240, 0, 3);
  const Keypoint twice = example.points[2], other = {100, 90, 2, 0, 1, 0};
  example.points.insert(example.points.begin() + 2, twice);  // only the second is matched
  example.matches[2].a = example.matches[2].b = 3;
  example.points.push_back(other);
  const Json data = data_of(pair_page(Context::cpu(), example.page()));
  const auto bytes = from_base64(data.at("photographs")[0].at("others"));
  ASSERT_EQ(bytes.size(), 8u);
  float x = 0;
  std::copy_n(bytes.data(), 4, reinterpret_cast<std::uint8_t*>(&x));
  EXPECT_EQ(x, other.x);
}

TEST(PairPage, HoldsThePose) {
  const Example example(64, 48, 0, 12);
  PairPage page = example.page();
  EXPECT_TRUE(data_of(pair_page(Context::cpu(1), page))["pose"].is_null());
  std::vector<std::array<float, 3>> points(12);
  for (std::size_t i = 0; i < 12; ++i) points[i] = {float(i), 0.5f, 2 * float(i)};
  PagePose pose;
  pose.R = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  pose.t = {-1, 0, 0};
  pose.E = {0, 0, 0, 0, 0, 0.5, 0, -0.5, 0};
  pose.cameras = {{500, 510, 31.5, 23.5}, {520, 530, 31.5, 23.5, -0.1}};
  pose.points = points;
  pose.of_undistorted = true;
  pose.sentence = "To the right </script>.";
  pose.facts = {{"Rotation", "none"}};
  page.pose = pose;
  // If fewer matches are kept, they keep their own points.
  const std::string html = pair_page(Context::cpu(1), page, {.most_matches = 4});
  EXPECT_EQ(count_of(html, "</script>"), 2u);
  const Json data = data_of(html)["pose"];
  EXPECT_EQ(data["t"], Json({-1, 0, 0}));
  EXPECT_EQ(data["E"][1], Json({0, 0, 0.5}));
  EXPECT_EQ(data["cameras"][0], Json({500, 510, 31.5, 23.5, 0, 0, 0, 0}));
  EXPECT_EQ(data["cameras"][1][4], -0.1);
  EXPECT_EQ(data["ofUndistorted"], true);
  EXPECT_EQ(data["sentence"], pose.sentence);
  EXPECT_EQ(data["facts"][0][1], "none");
  const std::vector<std::uint8_t> bytes = from_base64(data["points"]);
  ASSERT_EQ(bytes.size(), 4u * 3 * 4);
  std::vector<float> numbers(12);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  EXPECT_EQ(numbers, (std::vector<float>{0, 0.5, 0, 3, 0.5, 6, 6, 0.5, 12, 9, 0.5, 18}));
  page.pose->points = std::span(points).first(5);
  EXPECT_THROW(pair_page(Context::cpu(1), page), Error);
}

TEST(PairPage, CountsInliersPerCellOfTheFrame) {
  Example example(320, 240, 0, 40);
  // Cells are 40 x 30 pixels; the first reaches from -0.5 to 39.5.
  for (Keypoint& p : example.points) p = {100, 100, 2, 0, 1, 0};
  example.points[1] = {39.4f, 29.4f, 2, 0, 1, 0};
  example.points[2] = {39.6f, 29.4f, 2, 0, 1, 0};
  example.points[3] = {319.4f, 239.4f, 2, 0, 1, 0};
  example.points[4] = {200, 10, 2, 0, 1, 0};  // of an outlier
  const Json data = data_of(pair_page(Context::cpu(), example.page()));
  ASSERT_EQ(data.at("coverage").size(), 2u);
  for (const Json& cells : data.at("coverage")) {
    ASSERT_EQ(cells.size(), 64u);
    EXPECT_EQ(cells[0], 1);
    EXPECT_EQ(cells[1], 1);
    EXPECT_EQ(cells[63], 1);
    EXPECT_EQ(cells[5], 0);
    EXPECT_EQ(cells[3 * 8 + 2], 27);
  }
}

TEST(PairPage, HomographiesAreShownWithAUnitCorner) {
  Example example(64, 48, 0, 8);
  example.geometry.kind = TwoView::planar;
  example.geometry.H = {0.5, 0, 0.25, 0, 0.5, 0.125, 0, 0, 0.25};
  const Json unit = data_of(pair_page(Context::cpu(), example.page()));
  EXPECT_EQ(unit.at("H"), Json({{2, 0, 1}, {0, 2, 0.5}, {0, 0, 1}}));
  example.geometry.H[8] = 1e-9;  // the corner of the image is mapped to infinity
  const Json as_it_is = data_of(pair_page(Context::cpu(), example.page()));
  EXPECT_EQ(as_it_is.at("H"), Json({{0.5, 0, 0.25}, {0, 0.5, 0.125}, {0, 0, 1e-9}}));
}

TEST(PairPage, NamesAndSentencesAreEscaped) {
  const Example example(64, 48, 0, 8);
  PairPage page = example.page();
  const std::string hostile = "\"'></title></script><script>stolen=1</script><!--{{data}}\xFF";
  page.first.name = page.second.name = page.sentence = page.command = hostile;
  page.facts = {{hostile, hostile}};
  page.files = {hostile};
  page.stages = {{hostile, 1}};
  const std::string html = pair_page(Context::cpu(), page);
  EXPECT_EQ(count_of(html, "<script"), 2u);
  EXPECT_EQ(count_of(html, "</script>"), 2u);
  EXPECT_EQ(count_of(html, "</title>"), 1u);
  EXPECT_EQ(count_of(html, "<!--"), 0u);
  EXPECT_EQ(count_of(html, "stolen=1&lt;"), 4u);  // two names, each in the title and in the heading
  EXPECT_EQ(count_of(data_text(html), "<"), 0u);
  const std::string shown = hostile.substr(0, hostile.size() - 1) + "\uFFFD";
  const Json data = data_of(html);
  EXPECT_EQ(data.at("photographs")[0].at("name"), shown);
  EXPECT_EQ(data.at("photographs")[1].at("name"), shown);
  EXPECT_EQ(data.at("sentence"), shown);
  EXPECT_EQ(data.at("command"), shown);
  EXPECT_EQ(data.at("facts"), Json::array({Json::array({shown, shown})}));
  EXPECT_EQ(data.at("stages"), Json::array({Json::array({shown, 1})}));
}

// Quotes, control characters, line separators and characters of every length are preserved.
TEST(PairPage, KeepsEveryCharacterOfASentence) {
  const Example example(64, 48, 0, 8);
  PairPage page = example.page();
  page.sentence = "say \"no\" \\ it's & \n\x7f \u00e4 \u20ac \U0001F600 \u2028\u2029";
  page.sentence += '\0';
  const std::string html = pair_page(Context::cpu(), page);
  EXPECT_EQ(data_of(html).at("sentence"), page.sentence);
  const std::string data = data_text(html);
  EXPECT_TRUE(std::all_of(data.begin(), data.end(), [](char c) { return c >= ' ' && c < 0x7F; }));
}

TEST(PairPage, ReplacesInvalidUtf8) {
  const Example example(64, 48, 0, 8);
  const std::pair<std::string, std::string> cases[] = {
      {"a\xFFz", "a\uFFFDz"},
      {"\xC3", "\uFFFD"},                                 // truncated
      {"\xC0\xAF", "\uFFFD\uFFFD"},                       // overlong
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},             // a surrogate
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"}};  // too large
  for (const auto& [name, shown] : cases) {
    PairPage page = example.page();
    page.first.name = name;
    const std::string html = pair_page(Context::cpu(), page);
    EXPECT_EQ(data_of(html).at("photographs")[0].at("name"), shown);
    EXPECT_EQ(between(html, "<h1 id=\"title\">", " and "), shown);
  }
}

// JSON has no infinity.
TEST(PairPage, WritesNumbersThatAreNotFiniteAsNull) {
  Example example(64, 48, 0, 8);
  example.geometry.F[8] = std::nan("");
  PairPage page = example.page();
  page.threshold = std::numeric_limits<float>::infinity();
  const Json data = data_of(pair_page(Context::cpu(), page));
  EXPECT_EQ(data.at("F")[2], Json({0, 0.7071, nullptr}));
  EXPECT_EQ(data.at("threshold"), nullptr);
}

TEST(PairPage, WithoutAGeometryIsAPageToo) {
  const Example example(64, 48, 0, 0);
  PairPage page = example.page();
  FundamentalResult none;
  none.kind = TwoView::too_few_points;
  page.geometry = &none;
  page.stages.clear();
  page.facts.clear();
  const Json data = data_of(pair_page(Context::cpu(), page));
  EXPECT_EQ(data.at("kind"), "too few points");
  for (const char* matrix : {"F", "H"}) EXPECT_EQ(data.at(matrix), nullptr);
  for (const char* list : {"stages", "facts"}) EXPECT_EQ(data.at(list), Json::array());
  EXPECT_EQ(data.at("matches"), "");
}

// Two photographs of 12 megapixels: smooth, noisy, and pure noise, with as many points as a page
// can have.
TEST(PairPage, StaysUnderSixMegabytes) {
  for (int noise : {0, 25, 255}) {
    const Example example(4000, 3000, noise, 60000);
    const std::string html = pair_page(Context::cpu(), example.page());
    EXPECT_LT(html.size(), 6000000u) << "noise " << noise;
    const auto previews = previews_of(html);
    ASSERT_EQ(previews.size(), 2u);
    EXPECT_LE(previews[0].width(), 2000);
    EXPECT_GE(previews[0].width(), noise == 255 ? 1000 : 2000) << "noise " << noise;
    EXPECT_NEAR(previews[0].width() * 3.0 / 4, previews[0].height(), 1);
    const Colour shown = previews[1](previews[1].width() / 2, previews[1].height() / 2);
    if (noise == 0) {
      EXPECT_NEAR(shown.r, example.image(2000, 1500).r, 8);
      EXPECT_NEAR(shown.b, example.image(2000, 1500).b, 8);
    }
    const auto matches = from_base64(data_of(html).at("matches"));
    EXPECT_EQ(matches.size(), PageOptions().most_matches * 8 * 4);
  }
}

TEST(PairPage, InconsistentInputIsAnError) {
  const Example example(64, 48, 0, 8);
  PairPage page = example.page();
  page.distances = page.distances.first(3);
  EXPECT_THROW(pair_page(Context::cpu(), page), Error);
  page = example.page();
  page.second.points = page.second.points.first(2);
  EXPECT_THROW(pair_page(Context::cpu(), page), Error);
  page = example.page();
  page.first.pixels = {};
  EXPECT_THROW(pair_page(Context::cpu(), page), Error);
  page = example.page();
  page.geometry = nullptr;
  EXPECT_THROW(pair_page(Context::cpu(), page), Error);
  EXPECT_THROW(pair_page(Context::cpu(), example.page(), {.most_bytes = 1000}), Error);
}

TEST(ScaledDown, EveryPixelIsTheMeanOfTheAreaItCovers) {
  Image<Colour> image(6, 4);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 6; ++x) image(x, y) = {std::uint8_t(10 * x), std::uint8_t(20 * y), 7};
  }
  const Image<Colour> half = scaled_down(Context::cpu(), image.host(), 3);
  ASSERT_EQ(half.width(), 3);
  ASSERT_EQ(half.height(), 2);
  EXPECT_EQ(half(0, 0), (Colour{5, 10, 7}));
  EXPECT_EQ(half(2, 1), (Colour{45, 50, 7}));
  // 1.5 pixels map to one: the first is (0 + 10 / 2) / 1.5.
  EXPECT_EQ(scaled_down(Context::cpu(), image.host(), 4)(0, 0).r, 3);
  const Image<Colour> same = scaled_down(Context::cpu(), image.host(), 2000);
  ASSERT_EQ(same.width(), 6);
  EXPECT_EQ(same(5, 3), image(5, 3));
  const Image<Colour> line(900, 1);
  EXPECT_EQ(scaled_down(Context::cpu(), line.host(), 64).height(), 1);
}

}  // namespace
}  // namespace cornea
