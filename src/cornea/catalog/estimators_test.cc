// SPDX-License-Identifier: Apache-2.0
#include "cornea/catalog/estimators.h"

#include <gtest/gtest.h>

#include "cornea/core/error.h"

namespace cornea {
namespace {

AnyEstimator entry_made(const char* name, const Context& context) {
  return find_estimator(name).make(context, {});
}

TEST(Estimators, ReadTheirOptionsFromText) {
  const Settings settings = {
      {"threshold", "2.5"}, {"seed", "18446744073709551615"}, {"refine", "no"}};
  for (const EstimatorEntry& entry : estimator_table()) {
    const AnyEstimator any = entry.make(Context::cpu(1), settings);
    std::visit(
        [](const auto& estimator) {
          EXPECT_EQ(estimator.options().threshold, 2.5);
          EXPECT_EQ(estimator.options().seed, ~std::uint64_t{0});
          EXPECT_FALSE(estimator.options().refine);
          EXPECT_TRUE(estimator.options().optimise);
        },
        any);
  }
  const Context cpu = Context::cpu(1);
  EXPECT_TRUE(std::holds_alternative<FundamentalEstimator>(entry_made("fundamental", cpu)));
  EXPECT_TRUE(std::holds_alternative<EssentialEstimator>(entry_made("essential", cpu)));
  EXPECT_TRUE(std::holds_alternative<HomographyEstimator>(entry_made("homography", cpu)));
}

TEST(Estimators, TakeTheThresholdPerLineToo) {
  EXPECT_EQ(fundamental_options({{"threshold-per-line", "0.6"}}).threshold, 1.2);
  EXPECT_EQ(fundamental_options({{"threshold", "0.7"}}).threshold, 0.7);
  EXPECT_EQ(fundamental_options({}).threshold, FundamentalOptions().threshold);
  EXPECT_THROW(fundamental_options({{"threshold", "1.2"}, {"threshold-per-line", "0.6"}}), Error);
  EXPECT_EQ(essential_options({{"threshold-per-line", "0.6"}}).threshold, 1.2);
  EXPECT_THROW(essential_options({{"threshold", "1.2"}, {"threshold-per-line", "0.6"}}), Error);
  EXPECT_EQ(homography_options({{"threshold", "3"}}).threshold, 3);
  EXPECT_THROW(homography_options({{"threshold-per-line", "3"}}), Error);
}

TEST(Estimators, NameInvalidSettings) {
  const EstimatorEntry& entry = find_estimator("fundamental");
  EXPECT_THROW(entry.make(Context::cpu(1), {{"no-such", "1"}}), Error);
  EXPECT_THROW(entry.make(Context::cpu(1), {{"sample", "6"}}), Error);
  EXPECT_THROW(entry.make(Context::cpu(1), {{"seed", "-1"}}), Error);
  EXPECT_THROW(find_estimator("essential").make(Context::cpu(1), {{"sample", "5"}}), Error);
  EXPECT_THROW(find_estimator("trifocal"), Error);
}

TEST(Estimators, ShowTheDefaults) {
  for (const Flag& flag : find_estimator("fundamental").flags) {
    EXPECT_FALSE(flag.help.empty()) << flag.name;
    if (flag.name == "threshold") {
      EXPECT_EQ(flag.default_text, "0");
      EXPECT_NE(flag.help.find("0: chosen per pair from the noise"), std::string::npos);
      EXPECT_NE(flag.help.find("OpenCV's USAC and COLMAP"), std::string::npos);
    }
    if (flag.name == "threshold-per-line") {
      EXPECT_EQ(flag.default_text, "0");
    }
  }
}

}  // namespace
}  // namespace cornea
