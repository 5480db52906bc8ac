// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/positions.h"

#include <gtest/gtest.h>

namespace cornea::folder {
namespace {

using Pairs = std::vector<Neighbours>;

// One minute of arc along a meridian is a nautical mile: 1,843 m at the equator, 1,862 m at the
// poles.
std::optional<GpsPosition> at(double latitude, double longitude) {
  return GpsPosition{latitude, longitude};
}

TEST(Positions, CountMetresOnTheEllipsoid) {
  const double minute = 1.0 / 60;
  EXPECT_TRUE(neighbours_by_position({at(0, 0), at(minute, 0)}, 5, 1842).empty());
  EXPECT_EQ(neighbours_by_position({at(0, 0), at(minute, 0)}, 5, 1844), (Pairs{{0, 1}}));
  EXPECT_TRUE(neighbours_by_position({at(90, 0), at(90 - minute, 0)}, 5, 1861).empty());
  EXPECT_EQ(neighbours_by_position({at(90, 0), at(90 - minute, 0)}, 5, 1863), (Pairs{{0, 1}}));
  // Across the antimeridian; 111.32 m per thousandth of a degree at the equator.
  EXPECT_EQ(neighbours_by_position({at(0, 179.9995), at(0, -179.9995)}, 5, 112), (Pairs{{0, 1}}));
  EXPECT_TRUE(neighbours_by_position({at(0, 179.9995), at(0, -179.9995)}, 5, 111).empty());
}

TEST(Positions, OnlyTheNearestAndOnlyImagesWithAPosition) {
  // Positions along a meridian, 0, 1, 3 and 6 units from the first; one image has no position.
  const double unit = 1e-4;
  const std::vector<std::optional<GpsPosition>> line = {at(50, 8), at(50 + unit, 8), std::nullopt,
                                                        at(50 + 3 * unit, 8), at(50 + 6 * unit, 8)};
  EXPECT_EQ(neighbours_by_position(line, 1, 1000), (Pairs{{0, 1}, {1, 3}, {3, 4}}));
  EXPECT_EQ(neighbours_by_position(line, 2, 1000), (Pairs{{0, 1}, {0, 3}, {1, 3}, {1, 4}, {3, 4}}));
  EXPECT_EQ(neighbours_by_position(line, 9, 12), (Pairs{{0, 1}}));
}

}  // namespace
}  // namespace cornea::folder
