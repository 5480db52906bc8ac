// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/positions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace cornea::folder {
namespace {

struct Place {
  double x = 0, y = 0, z = 0;  // metres from the centre of the Earth
  int image = 0;
};

Place place_of(const GpsPosition& position, int image) {
  constexpr double kRadius = 6378137, kFlattening = 1 / 298.257223563;  // WGS 84
  constexpr double kEccentricity2 = kFlattening * (2 - kFlattening);
  const double latitude = position.latitude * std::numbers::pi / 180;
  const double longitude = position.longitude * std::numbers::pi / 180;
  const double sine = std::sin(latitude), cosine = std::cos(latitude);
  const double n = kRadius / std::sqrt(1 - kEccentricity2 * sine * sine);
  return {n * cosine * std::cos(longitude), n * cosine * std::sin(longitude),
          n * (1 - kEccentricity2) * sine, image};
}

double squared_distance(const Place& a, const Place& b) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z);
}

}  // namespace

std::vector<Neighbours> neighbours_by_position(
    const std::vector<std::optional<GpsPosition>>& positions, int nearest, double max_metres) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i]) places.push_back(place_of(*positions[i], int(i)));
  }
  // Sort along one axis: only images that are near along it can be near in space.
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.z, a.image) < std::pair(b.z, b.image);
  });
  std::vector<Neighbours> all;
  std::vector<std::pair<double, int>> near;
  std::size_t first = 0;
  for (const Place& place : places) {
    while (places[first].z < place.z - max_metres) ++first;
    near.clear();
    for (std::size_t i = first; i < places.size() && places[i].z <= place.z + max_metres; ++i) {
      const double distance = squared_distance(place, places[i]);
      if (places[i].image == place.image || distance > max_metres * max_metres) continue;
      near.emplace_back(distance, places[i].image);
    }
    const std::size_t kept = std::min(near.size(), std::size_t(nearest));
    std::partial_sort(near.begin(), near.begin() + std::ptrdiff_t(kept), near.end());
    for (std::size_t i = 0; i < kept; ++i) {
      all.push_back({std::min(place.image, near[i].second), std::max(place.image, near[i].second)});
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace cornea::folder
