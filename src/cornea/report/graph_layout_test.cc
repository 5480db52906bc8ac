// SPDX-License-Identifier: Apache-2.0
#include "cornea/report/graph_layout.h"

#include <cmath>

#include <gtest/gtest.h>

namespace cornea::report {
namespace {

double apart(const GraphLayout& layout, std::size_t a, std::size_t b) {
  return std::hypot(layout.places[a][0] - layout.places[b][0],
                    layout.places[a][1] - layout.places[b][1]);
}

// Each node is joined with the next two.
std::vector<GraphEdge> chain(int count) {
  std::vector<GraphEdge> edges;
  for (int i = 0; i < count; ++i) {
    if (i + 1 < count) edges.push_back({i, i + 1, 400});
    if (i + 2 < count) edges.push_back({i, i + 2, 100});
  }
  return edges;
}

TEST(GraphLayout, KeepsNodesApartAndWithinItsSize) {
  const std::vector<int> components(300, 0);
  const GraphLayout layout = graph_layout(components, chain(300));
  double nearest = 1e9;
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_GE(layout.places[i][0], 0);
    EXPECT_LE(layout.places[i][0], layout.width);
    EXPECT_GE(layout.places[i][1], 0);
    EXPECT_LE(layout.places[i][1], layout.height);
    for (std::size_t j = 0; j < i; ++j) nearest = std::min(nearest, apart(layout, i, j));
  }
  EXPECT_GT(nearest, 0.25);
}

TEST(GraphLayout, PlacesNeighboursNearerThanTheEndsOfAChain) {
  const std::vector<int> components(60, 0);
  const GraphLayout layout = graph_layout(components, chain(60));
  double neighbours = 0;
  for (std::size_t i = 0; i + 1 < 60; ++i) neighbours += apart(layout, i, i + 1) / 59;
  EXPECT_GT(apart(layout, 0, 59), 4 * neighbours);
}

TEST(GraphLayout, SeparatesComponents) {
  std::vector<int> components;
  for (int i = 0; i < 20; ++i) components.push_back(i < 10 ? 0 : 1);
  for (int i = 0; i < 5; ++i) components.push_back(2 + i);
  std::vector<GraphEdge> edges;
  for (int part : {0, 10}) {
    for (int i = 0; i < 10; ++i) {
      for (int j = i + 1; j < 10; ++j) edges.push_back({part + i, part + j, 50 + i});
    }
  }
  const GraphLayout layout = graph_layout(components, edges);
  for (std::size_t a = 0; a < components.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (components[a] != components[b]) {
        EXPECT_GE(apart(layout, a, b), 1) << a << " " << b;
      }
    }
  }
}

// Where the page leaves pairs out, those that remain need not connect a component.
TEST(GraphLayout, PlacesNodesWithoutEdges) {
  const std::vector<int> components = {0, 0, 0, 0, 1, 1, 1};
  const std::vector<GraphEdge> edges = {{0, 1, 100}, {1, 2, 90}};
  const GraphLayout layout = graph_layout(components, edges);
  for (std::size_t i = 0; i < components.size(); ++i) {
    for (const std::size_t axis : {0u, 1u}) {
      EXPECT_TRUE(std::isfinite(layout.places[i][axis])) << i;
      EXPECT_LE(layout.places[i][axis], axis == 0 ? layout.width : layout.height) << i;
    }
    for (std::size_t j = 0; j < i; ++j) EXPECT_GT(apart(layout, i, j), 0.2) << i << " " << j;
  }
}

TEST(GraphLayout, IsReproducible) {
  const std::vector<int> components(100, 0);
  EXPECT_EQ(graph_layout(components, chain(100)).places,
            graph_layout(components, chain(100)).places);
}

TEST(GraphLayout, AcceptsZeroOneAndTwoNodes) {
  EXPECT_TRUE(graph_layout({}, {}).places.empty());
  const std::vector<int> one = {0}, two = {0, 0};
  EXPECT_EQ(graph_layout(one, {}).places.size(), 1u);
  const std::vector<GraphEdge> edge = {{0, 1, 0}};
  EXPECT_GE(apart(graph_layout(two, edge), 0, 1), 1);
}

}  // namespace
}  // namespace cornea::report
