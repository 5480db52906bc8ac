// Inside of report: where the images of a folder stand in the picture of their graph.
//
// Within a component: pivot MDS (U. Brandes, C. Pich, "Eigensolver methods for progressive
// multidimensional scaling of large data", GD 2006) of the lengths of the shortest paths, in which
// a pair with few inliers is long; then some rounds in which each image moves towards the mean of
// its neighbours and away from what stands too near. Components, the largest first, fill rows.
//
// The same graph gives the same places: no random numbers, and nothing of the mathematical library
// but square roots. O((pivots + rounds) (images + pairs)).
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
  std::vector<std::array<float, 2>> places = {};  // of the nodes, about one apart
  float width = 1, height = 1;                    // of the whole; places lie within
};

// `components` has the component of each node, numbered from 0; edges join nodes of one component.
GraphLayout graph_layout(std::span<const int> components, std::span<const GraphEdge> edges);

}  // namespace cornea::report
