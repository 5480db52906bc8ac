#include "cornea/catalog/estimators.h"

#include <gtest/gtest.h>

#include "cornea/core/error.h"

namespace cornea {
namespace {

TEST(Estimators, ReadTheirOptionsFromText) {
  const EstimatorEntry& entry = find_estimator("fundamental");
  const auto estimator = entry.make(
      Context::cpu(1), {{"threshold", "2.5"}, {"seed", "18446744073709551615"}, {"refine", "no"}});
  EXPECT_EQ(estimator->options().threshold, 2.5);
  EXPECT_EQ(estimator->options().seed, ~std::uint64_t{0});
  EXPECT_FALSE(estimator->options().refine);
  EXPECT_TRUE(estimator->options().optimise);
}

TEST(Estimators, TakeTheThresholdPerLineToo) {
  EXPECT_EQ(fundamental_options({{"threshold-per-line", "0.6"}}).threshold, 1.2);
  EXPECT_EQ(fundamental_options({{"threshold", "0.7"}}).threshold, 0.7);
  EXPECT_EQ(fundamental_options({}).threshold, FundamentalOptions().threshold);
  EXPECT_THROW(fundamental_options({{"threshold", "1.2"}, {"threshold-per-line", "0.6"}}), Error);
}

TEST(Estimators, NameWhatIsWrong) {
  const EstimatorEntry& entry = find_estimator("fundamental");
  EXPECT_THROW(entry.make(Context::cpu(1), {{"no-such", "1"}}), Error);
  EXPECT_THROW(entry.make(Context::cpu(1), {{"sample", "6"}}), Error);
  EXPECT_THROW(entry.make(Context::cpu(1), {{"seed", "-1"}}), Error);
  EXPECT_THROW(find_estimator("homography"), Error);
}

TEST(Estimators, ShowTheDefaults) {
  for (const Flag& flag : find_estimator("fundamental").flags) {
    EXPECT_FALSE(flag.help.empty()) << flag.name;
    if (flag.name == "threshold") {
      EXPECT_EQ(flag.default_text, "1.5");
      EXPECT_NE(flag.help.find("OpenCV and COLMAP"), std::string::npos);
    }
    if (flag.name == "threshold-per-line") {
      EXPECT_EQ(flag.default_text, "0.75");
    }
  }
}

}  // namespace
}  // namespace cornea
