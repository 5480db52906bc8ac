// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/pose_words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cornea/core/error.h"

namespace cornea::cli {
namespace {

constexpr double kLeastAngle =
    1;  // degrees; below it an error of a pixel moves a point far along its ray

std::string formatted(const char* format, double value) {
  char words[48];
  std::snprintf(words, sizeof words, format, value);
  return words;
}

// "to the right and behind": the significant components of a direction, largest first.
std::string direction_words(const std::array<double, 3>& v) {
  constexpr double kSeen = 0.35;  // of the length: about 20 degrees off the plane across the axis
  const char* words[3][2] = {
      {"to the right", "to the left"}, {"below", "above"}, {"ahead", "behind"}};
  std::array<int, 3> order = {0, 1, 2};
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(v[a]) > std::abs(v[b]); });
  std::string all;
  for (const int k : order) {
    if (!all.empty() && std::abs(v[k]) < kSeen) break;
    all += text(all.empty() ? "" : " and ", words[k][v[k] < 0]);
  }
  return all;
}

}  // namespace

std::string vector_text(const std::array<double, 3>& v) {
  std::string words = "(";
  for (int k = 0; k < 3; ++k) words += (k ? ", " : "") + formatted("%.3f", v[k] + 0.0);
  return words + ")";
}

std::string focal_sentence(const IntrinsicsPair& guess, double factor) {
  const double first = guess.first.mean_focal() * factor;
  const double second = guess.second.mean_focal() * factor;
  const std::string share = formatted("%.3f", factor) + " of the guess.";
  if (first == second) {
    return text("The focal length found is ", formatted("%.1f", first), " pixels, ", share);
  }
  return text("The focal lengths found are ", formatted("%.1f", first), " and ",
              formatted("%.1f", second), " pixels, ", share);
}

std::string angle_sentence(double degrees) {
  const std::string angle = formatted(degrees < 0.1 ? "%.3f"
                                      : degrees < 1 ? "%.2f"
                                                    : "%.1f",
                                      degrees);
  return text("The rays of a point meet at a median angle of ", angle, " degrees, ",
              degrees < kLeastAngle ? "below 1 degree: depth is uncertain." : "enough for depth.");
}

std::string baseline_sentence(const std::array<double, 9>& R, const std::array<double, 3>& t,
                              double median_angle_degrees) {
  // The second camera's centre, -R^T t.
  std::array<double, 3> centre{};
  for (int k = 0; k < 3; ++k) centre[k] = -(R[k] * t[0] + R[3 + k] * t[1] + R[6 + k] * t[2]);
  return text("Seen from the first camera, the second stands ", direction_words(centre),
              ", in direction ", vector_text(centre), ". ", angle_sentence(median_angle_degrees));
}

std::string rotation_text(const std::array<double, 9>& R) {
  const Rotation rotation = rotation_of(R);
  return text(formatted("%.3f", rotation.degrees), " degrees about ", vector_text(rotation.axis));
}

std::string epipoles_text(const Epipoles& epipoles) {
  const auto place = [](const std::optional<std::array<double, 2>>& p) {
    if (!p) return std::string("at infinity");
    return "(" + formatted("%.1f", (*p)[0]) + ", " + formatted("%.1f", (*p)[1]) + ")";
  };
  return text(place(epipoles.first), " and ", place(epipoles.second));
}

Json epipoles_json(const Epipoles& epipoles) {
  const auto place = [](const std::optional<std::array<double, 2>>& p) {
    return p ? Json({(*p)[0], (*p)[1]}) : Json();
  };
  return Json::array({place(epipoles.first), place(epipoles.second)});
}

}  // namespace cornea::cli
