// SPDX-License-Identifier: Apache-2.0
#include "cornea/catalog/filters.h"

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"

namespace cornea {
namespace {

bool same(const Image<std::uint8_t>& a, const Image<std::uint8_t>& b) {
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      if (a(x, y) != b(x, y)) return false;
    }
  }
  return true;
}

TEST(FilterTable, EveryFilterCanBeMadeFromItsOwnDefaultsAndTakesSettings) {
  const auto image = testing::random_image<std::uint8_t>(70, 50, 1);
  const Context context = Context::cpu();
  for (const FilterEntry& entry : filter_table()) {
    Settings defaults;
    for (const Flag& flag : entry.flags) defaults[flag.name] = flag.default_text;
    const auto plain = entry.make(context, {})->apply(image);
    EXPECT_FALSE(same(plain, image)) << entry.name;
    EXPECT_TRUE(same(plain, entry.make(context, defaults)->apply(image))) << entry.name;
    // On noise the trilateral filter uses only its narrowest windows, whatever sigma is.
    if (entry.name == "trilateral") continue;
    EXPECT_FALSE(same(plain, entry.make(context, {{"sigma", "0.7"}})->apply(image))) << entry.name;
  }
}

TEST(FilterTable, InvalidSettingsAreNamed) {
  const Context context = Context::cpu();
  auto complaint = [&](const char* filter, const Settings& settings) -> std::string {
    try {
      find_filter(filter).make(context, settings);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(complaint("gaussian", {{"sigma", "abc"}}).find("sigma"), std::string::npos);
  EXPECT_NE(complaint("gaussian", {{"radius", "3"}}).find("filter gaussian has no option radius"),
            std::string::npos);
  EXPECT_NE(complaint("trilateral", {{"grouping", "tiles"}}).find("sorted"), std::string::npos);
  EXPECT_NE(complaint("median", {}).find("bilateral"), std::string::npos);
}

}  // namespace
}  // namespace cornea
