// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/view_graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "cornea/export/colmap/layout.h"

namespace cornea::folder {

using colmap::Configuration;
using colmap::Id;
using colmap::ImagePair;

bool joins(Configuration configuration, std::int64_t inliers) {
  return inliers > 0 && configuration != Configuration::undefined &&
         configuration != Configuration::degenerate && configuration != Configuration::watermark;
}

std::vector<Edge> edges_of(const colmap::Database& database) {
  std::vector<Edge> edges;
  for (const auto& pair : database.pair_summaries()) {
    if (!joins(pair.configuration, pair.inliers)) continue;
    const ImagePair images = colmap::pair_of(pair.pair);
    // Damaged ids, which verify_all() reports.
    if (!colmap::is_image_id(images.first) || images.first >= images.second) continue;
    edges.push_back({images, pair.inliers});
  }
  return edges;
}

std::vector<std::vector<Id>> components_of(const std::vector<Id>& images,
                                           const std::vector<Edge>& edges) {
  std::unordered_map<Id, std::size_t> places;
  for (std::size_t i = 0; i < images.size(); ++i) places[images[i]] = i;
  std::vector<std::size_t> parent(images.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const Edge& edge : edges) {
    const auto a = places.find(edge.images.first), b = places.find(edge.images.second);
    if (a != places.end() && b != places.end()) parent[root(a->second)] = root(b->second);
  }
  std::map<std::size_t, std::vector<Id>> by_root;
  for (std::size_t i = 0; i < images.size(); ++i) by_root[root(i)].push_back(images[i]);
  std::vector<std::vector<Id>> all;
  for (auto& [at, members] : by_root) {
    std::sort(members.begin(), members.end());
    all.push_back(std::move(members));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tuple(b.size(), a.front()) < std::tuple(a.size(), b.front());
  });
  return all;
}

namespace {

struct Neighbour {
  Id image = 0;
  std::int64_t inliers = 0;
};
using Adjacency = std::unordered_map<Id, std::vector<Neighbour>>;

// For each image its neighbours with most inliers. The limit keeps an image that looks like
// thousands of others from creating millions of pairs.
Adjacency strongest_neighbours(const std::vector<Edge>& edges) {
  constexpr std::size_t kMost = 50;
  Adjacency all;
  for (const Edge& edge : edges) {
    all[edge.images.first].push_back({edge.images.second, edge.inliers});
    all[edge.images.second].push_back({edge.images.first, edge.inliers});
  }
  for (auto& [image, neighbours] : all) {
    std::sort(neighbours.begin(), neighbours.end(), [](const Neighbour& a, const Neighbour& b) {
      return std::pair(b.inliers, a.image) < std::pair(a.inliers, b.image);
    });
    if (neighbours.size() > kMost) neighbours.resize(kMost);
  }
  return all;
}

}  // namespace

std::vector<ImagePair> neighbours_of_neighbours(const std::vector<Edge>& edges,
                                                const std::vector<Id>& chosen, int per_image) {
  const Adjacency joined = strongest_neighbours(edges);
  Adjacency joins_it;  // indexed by a: all b that have a among their strongest
  for (const auto& [b, neighbours] : joined) {
    for (const Neighbour& a : neighbours) joins_it[a.image].push_back({b, a.inliers});
  }
  std::vector<Id> pairs;
  std::unordered_map<Id, std::int64_t> scores;
  std::vector<Neighbour> candidates;  // with the score in place of the inliers
  for (const auto& [a, middles] : joins_it) {
    scores.clear();
    for (const Neighbour& b : middles) {
      for (const Neighbour& c : joined.at(b.image)) {
        if (c.image != a) scores[c.image] += std::min(b.inliers, c.inliers);
      }
    }
    candidates.clear();
    for (const auto& [c, score] : scores) {
      const Id pair = colmap::pair_id({a, c});
      if (!std::binary_search(chosen.begin(), chosen.end(), pair)) candidates.push_back({c, score});
    }
    const std::size_t kept = std::min(candidates.size(), std::size_t(std::max(per_image, 0)));
    std::partial_sort(candidates.begin(), candidates.begin() + std::ptrdiff_t(kept),
                      candidates.end(), [](const Neighbour& x, const Neighbour& y) {
                        return std::pair(y.inliers, x.image) < std::pair(x.inliers, y.image);
                      });
    for (std::size_t i = 0; i < kept; ++i) {
      pairs.push_back(colmap::pair_id({a, candidates[i].image}));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<ImagePair> all;
  all.reserve(pairs.size());
  for (const Id pair : pairs) all.push_back(colmap::pair_of(pair));
  return all;
}

}  // namespace cornea::folder
