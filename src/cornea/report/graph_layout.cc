// SPDX-License-Identifier: Apache-2.0
#include "cornea/report/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <unordered_map>

namespace cornea::report {
namespace {

using Place = std::array<double, 2>;

struct Neighbour {
  int node = 0;
  double length = 1;
};
using Graph = std::vector<std::vector<Neighbour>>;  // of one component, with its nodes renumbered

constexpr double kLongest = 4;  // longest edge, in units of that of the strongest pair
constexpr int kRounds = 60;
constexpr double kReach = 1.6;  // distance within which nodes repel each other

std::vector<double> path_lengths(const Graph& graph, int from) {
  std::vector<double> lengths(graph.size(), std::numeric_limits<double>::infinity());
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting;
  lengths[std::size_t(from)] = 0;
  waiting.push({0, from});
  while (!waiting.empty()) {
    const auto [length, node] = waiting.top();
    waiting.pop();
    if (length > lengths[std::size_t(node)]) continue;
    for (const Neighbour& n : graph[std::size_t(node)]) {
      const double next = length + n.length;
      if (next >= lengths[std::size_t(n.node)]) continue;
      lengths[std::size_t(n.node)] = next;
      waiting.push({next, n.node});
    }
  }
  // The page may have left out pairs that connect the component: nodes without a path are placed
  // beyond all others.
  double farthest = 0;
  for (const double v : lengths) {
    if (std::isfinite(v)) farthest = std::max(farthest, v);
  }
  for (double& v : lengths) v = std::min(v, farthest + kLongest);
  return lengths;
}

// For each pivot the squared path lengths to all nodes; the next pivot is the node farthest from
// all previous ones.
std::vector<std::vector<double>> pivot_columns(const Graph& graph, int pivots) {
  std::vector<std::vector<double>> columns;
  std::vector<double> nearest(graph.size(), std::numeric_limits<double>::infinity());
  int pivot = 0;
  for (int k = 0; k < pivots; ++k) {
    std::vector<double> lengths = path_lengths(graph, pivot);
    for (std::size_t i = 0; i < nearest.size(); ++i) nearest[i] = std::min(nearest[i], lengths[i]);
    pivot = int(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
    for (double& v : lengths) v *= v;
    columns.push_back(std::move(lengths));
  }
  return columns;
}

// Double centring: the means of rows and columns become 0.
void centre(std::vector<std::vector<double>>& columns) {
  const std::size_t count = columns[0].size();
  std::vector<double> row_means(count);
  double mean = 0;
  std::vector<double> column_means;
  for (const auto& column : columns) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += column[i];
      row_means[i] += column[i] / double(columns.size());
    }
    column_means.push_back(sum / double(count));
    mean += column_means.back() / double(columns.size());
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    for (std::size_t i = 0; i < count; ++i) {
      columns[k][i] = -0.5 * (columns[k][i] - row_means[i] - column_means[k] + mean);
    }
  }
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The eigenvector of the largest eigenvalue by power iteration, orthogonal to `other`.
std::vector<double> strongest_vector(const std::vector<std::vector<double>>& matrix,
                                     const std::vector<double>& other) {
  const std::size_t n = matrix.size();
  std::vector<double> v(n), next(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = 1 + double(i * 7 % 5) - (other.empty() ? 0 : double(i * 3 % 7));
  for (int round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < n; ++i) next[i] = dot(matrix[i], v);
    if (!other.empty()) {
      const double share = dot(next, other);
      for (std::size_t i = 0; i < n; ++i) next[i] -= share * other[i];
    }
    const double length = std::sqrt(dot(next, next));
    if (!(length > 1e-12)) return std::vector<double>(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = next[i] / length;
  }
  return v;
}

std::vector<Place> pivot_scaling(const Graph& graph) {
  if (graph.empty()) return {};
  constexpr std::size_t kMostPivots = 40;
  auto columns = pivot_columns(graph, int(std::min(kMostPivots, graph.size())));
  centre(columns);
  std::vector<std::vector<double>> products(columns.size(), std::vector<double>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      products[i][j] = products[j][i] = dot(columns[i], columns[j]);
    }
  }
  const std::vector<double> first = strongest_vector(products, {});
  const std::vector<double> second = strongest_vector(products, first);
  std::vector<Place> places(graph.size(), Place{});
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      places[i][0] += columns[k][i] * first[k];
      places[i][1] += columns[k][i] * second[k];
    }
  }
  return places;
}

// Centres the positions at 0 and scales them to this root mean square distance.
void scale_to(std::vector<Place>& places, double wanted) {
  Place mean{};
  for (const Place& p : places) {
    for (int axis : {0, 1}) mean[std::size_t(axis)] += p[std::size_t(axis)] / double(places.size());
  }
  double square = 0;
  for (Place& p : places) {
    for (std::size_t axis : {0u, 1u}) {
      p[axis] -= mean[axis];
      square += p[axis] * p[axis] / double(places.size());
    }
  }
  const double scale = square > 1e-18 ? wanted / std::sqrt(square) : 0;
  for (Place& p : places) p = {p[0] * scale, p[1] * scale};
}

// Nodes by the grid cell of side kReach that they lie in.
class Squares {
 public:
  explicit Squares(const std::vector<Place>& places) : places_(places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      nodes_[key(column(places[i][0]), column(places[i][1]))].push_back(int(i));
    }
  }
  template <class F>
  void visit_near(const Place& p, F&& f) const {
    for (std::int64_t y = column(p[1]) - 1; y <= column(p[1]) + 1; ++y) {
      for (std::int64_t x = column(p[0]) - 1; x <= column(p[0]) + 1; ++x) {
        const auto found = nodes_.find(key(x, y));
        if (found == nodes_.end()) continue;
        for (const int node : found->second) f(node, places_[std::size_t(node)]);
      }
    }
  }

 private:
  static std::int64_t column(double v) { return std::int64_t(std::floor(v / kReach)); }
  static std::int64_t key(std::int64_t x, std::int64_t y) { return y * 1000003 + x; }
  const std::vector<Place>& places_;
  std::unordered_map<std::int64_t, std::vector<int>> nodes_;
};

// The displacement away from all nodes nearer than kReach. Nodes at the same position are separated
// by their indices.
Place push(const Squares& squares, const std::vector<Place>& places, std::size_t i) {
  Place away{};
  squares.visit_near(places[i], [&](int other, const Place& q) {
    if (other == int(i)) return;
    double x = places[i][0] - q[0], y = places[i][1] - q[1];
    double length = std::sqrt(x * x + y * y);
    if (length >= kReach) return;
    if (length < 1e-9) {
      x = int(i) < other ? -1e-3 : 1e-3,
      y = double((int(i) ^ other) % 3 - 1) * (int(i) < other ? -1e-3 : 1e-3);
      length = std::sqrt(x * x + y * y);
    }
    const double force = (kReach - length) / kReach / length;
    away[0] += x * force, away[1] += y * force;
  });
  return away;
}

void relax(const Graph& graph, std::vector<Place>& places, double radius) {
  for (int round = 0; round < kRounds; ++round) {
    // In the last rounds only overlapping nodes move.
    const double pull = round < kRounds * 2 / 3 ? 0.25 : 0;
    const std::vector<Place> before = places;
    const Squares squares(before);
    for (std::size_t i = 0; i < places.size(); ++i) {
      Place mean{};
      double weights = 0;
      for (const Neighbour& n : graph[i]) {
        const double w = 1 / (n.length * n.length);
        mean[0] += w * before[std::size_t(n.node)][0],
            mean[1] += w * before[std::size_t(n.node)][1];
        weights += w;
      }
      const Place away = push(squares, before, i);
      for (std::size_t axis : {0u, 1u}) {
        const double to_mean = weights > 0 ? mean[axis] / weights - before[i][axis] : 0;
        const double step = pull * to_mean + 0.35 * away[axis];
        places[i][axis] += std::clamp(step, -0.8, 0.8);
      }
    }
    if (pull > 0) scale_to(places, radius);
  }
}

// The positions within a component, in any range; graph_layout() moves them.
std::vector<Place> place_component(const Graph& graph) {
  if (graph.size() == 1) return {Place{}};
  if (graph.size() == 2) return {Place{0, 0}, Place{1.2, 0}};
  std::vector<Place> places = pivot_scaling(graph);
  const double radius = 0.62 * std::sqrt(double(graph.size()));
  scale_to(places, radius);
  relax(graph, places, radius);
  return places;
}

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left + 1; }  // with half a node's size on each side
  double height() const { return bottom - top + 1; }
};

Box box_of(const std::vector<Place>& places) {
  Box box{places[0][0], places[0][1], places[0][0], places[0][1]};
  for (const Place& p : places) {
    box.left = std::min(box.left, p[0]), box.right = std::max(box.right, p[0]);
    box.top = std::min(box.top, p[1]), box.bottom = std::max(box.bottom, p[1]);
  }
  return box;
}

}  // namespace

GraphLayout graph_layout(std::span<const int> components, std::span<const GraphEdge> edges) {
  GraphLayout layout;
  layout.places.resize(components.size());
  int count = 0;
  for (const int c : components) count = std::max(count, c + 1);
  std::vector<std::vector<int>> members(static_cast<std::size_t>(count));
  std::vector<int> index(components.size());
  for (std::size_t i = 0; i < components.size(); ++i) {
    auto& of = members[std::size_t(components[i])];
    index[i] = int(of.size());
    of.push_back(int(i));
  }
  std::vector<Graph> graphs;
  graphs.reserve(members.size());
  for (const auto& of : members) graphs.emplace_back(of.size());
  std::vector<int> strongest(static_cast<std::size_t>(count), 1);
  for (const GraphEdge& e : edges) {
    int& most = strongest[std::size_t(components[std::size_t(e.first)])];
    most = std::max(most, e.weight);
  }
  for (const GraphEdge& e : edges) {
    const auto c = std::size_t(components[std::size_t(e.first)]);
    const double length =
        std::min(kLongest, std::sqrt(double(strongest[c]) / double(std::max(1, e.weight))));
    const int a = index[std::size_t(e.first)], b = index[std::size_t(e.second)];
    graphs[c][std::size_t(a)].push_back({b, length});
    graphs[c][std::size_t(b)].push_back({a, length});
  }

  std::vector<std::vector<Place>> placed;
  double area = 0, widest = 1;
  for (const Graph& graph : graphs) {
    placed.push_back(place_component(graph));
    const Box box = box_of(placed.back());
    area += (box.width() + 0.5) * (box.height() + 0.5);
    widest = std::max(widest, box.width());
  }
  const double row_width = std::max(widest, std::sqrt(1.3 * area));
  double x = 0, y = 0, row_height = 0, right = 1;
  for (std::size_t c = 0; c < placed.size(); ++c) {
    const Box box = box_of(placed[c]);
    if (x > 0 && x + box.width() > row_width + 1e-9) x = 0, y += row_height + 0.5, row_height = 0;
    for (std::size_t k = 0; k < placed[c].size(); ++k) {
      layout.places[std::size_t(members[c][k])] = {float(x + 0.5 + placed[c][k][0] - box.left),
                                                   float(y + 0.5 + placed[c][k][1] - box.top)};
    }
    right = std::max(right, x + box.width());
    row_height = std::max(row_height, box.height());
    x += box.width() + 0.5;
  }
  layout.width = float(right);
  layout.height = float(std::max(1.0, y + row_height));
  return layout;
}

}  // namespace cornea::report
