// SPDX-License-Identifier: Apache-2.0
// Internal to report: the layout of the view graph of a folder.
//
// Within a component: pivot MDS (U. Brandes, C. Pich, "Eigensolver methods for progressive
// multidimensional scaling of large data", GD 2006) of shortest-path lengths, in which a pair with
// few inliers is long; then some iterations in which each image moves towards the mean of its
// neighbours and away from nodes that are too close. Components fill rows, the largest first.
//
// The same graph gives the same layout: no random numbers are used, and no function of the
// mathematical library but square root and floor, which are rounded alike everywhere.
// O(pivots (images + pairs) log images + rounds (images + pairs)).
#pragma once

#include <array>
#include <span>
#include <vector>

namespace cornea::report {

struct GraphEdge {
  int first = 0, second = 0;
  int weight = 1;  // inliers
};

struct GraphLayout {
  std::vector<std::array<float, 2>> places = {};  // positions of the nodes, about one unit apart
  // of the whole layout, which contains all positions
  float width = 1, height = 1;
};

// `components` holds the component of each node, numbered from 0; edges join nodes of one
// component, and need not connect all of them.
GraphLayout graph_layout(std::span<const int> components, std::span<const GraphEdge> edges);

}  // namespace cornea::report
