// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/image_order.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "cornea/pipeline/folder/view_graph.h"

namespace cornea::folder {
namespace {

using colmap::Id;
using colmap::ImagePair;

// The view graph: images by their index in a sorted list, with adjacency lists.
class Graph {
 public:
  explicit Graph(const std::vector<ImagePair>& pairs) {
    for (const ImagePair& pair : pairs) images_.insert(images_.end(), {pair.first, pair.second});
    std::sort(images_.begin(), images_.end());
    images_.erase(std::unique(images_.begin(), images_.end()), images_.end());
    first_.assign(images_.size() + 1, 0);
    for (const ImagePair& pair : pairs)
      ++first_[place(pair.first) + 1], ++first_[place(pair.second) + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    others_.resize(2 * pairs.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const ImagePair& pair : pairs) {
      const std::size_t a = place(pair.first), b = place(pair.second);
      others_[next[a]++] = b;
      others_[next[b]++] = a;
    }
  }
  const std::vector<Id>& images() const { return images_; }
  std::size_t place(Id image) const {
    return std::size_t(std::lower_bound(images_.begin(), images_.end(), image) - images_.begin());
  }
  template <class F>
  void for_each_other(std::size_t image, F&& f) const {
    for (std::size_t i = first_[image]; i < first_[image + 1]; ++i) f(others_[i]);
  }

 private:
  std::vector<Id> images_;
  std::vector<std::size_t> first_, others_;
};

// A priority queue of images by the number of pairs they have with some others: most pairs first,
// ties by the lowest index. Counts only grow, so an entry with less than the current count is
// stale.
class Frontier {
 public:
  explicit Frontier(std::size_t images) : counts_(images) {}
  void add(std::size_t image) { heap_.emplace(++counts_[image], ~image); }
  void forget(const std::vector<std::size_t>& images) {
    for (const std::size_t image : images) counts_[image] = 0;
    heap_ = {};
  }
  // The best image that is not taken yet, or `none`.
  std::size_t next(const std::vector<char>& taken, std::size_t none) {
    while (!heap_.empty()) {
      const auto [count, inverse] = heap_.top();
      const std::size_t image = ~inverse;
      if (!taken[image] && counts_[image] == count) return image;
      heap_.pop();
    }
    return none;
  }

 private:
  std::vector<std::int32_t> counts_;
  std::priority_queue<std::pair<std::int32_t, std::size_t>> heap_;
};

class Ordering {
 public:
  Ordering(const Graph& graph, int cluster_images)
      : graph_(graph),
        cluster_images_(std::size_t(std::max(cluster_images, 1))),
        taken_(graph.images().size()),
        of_cluster_(graph.images().size()),
        of_all_(graph.images().size()) {}

  void add_component(const std::vector<Id>& images) {
    take(graph_.place(images.front()));
    for (std::size_t i = 1; i < images.size(); ++i) {
      if (order_.size() % cluster_images_ == 0) {
        of_cluster_.forget(touched_);
        touched_.clear();
      }
      const std::size_t none = taken_.size();
      std::size_t next = of_cluster_.next(taken_, none);
      if (next == none) next = of_all_.next(taken_, none);
      take(next);
    }
  }
  std::vector<Id> order() const {
    std::vector<Id> ids;
    ids.reserve(order_.size());
    for (const std::size_t image : order_) ids.push_back(graph_.images()[image]);
    return ids;
  }

 private:
  void take(std::size_t image) {
    taken_[image] = 1;
    order_.push_back(image);
    graph_.for_each_other(image, [&](std::size_t other) {
      if (taken_[other]) return;
      of_cluster_.add(other);
      of_all_.add(other);
      touched_.push_back(other);
    });
  }

  const Graph& graph_;
  const std::size_t cluster_images_;
  std::vector<char> taken_;
  Frontier of_cluster_, of_all_;
  std::vector<std::size_t> touched_;  // images with a nonzero count in of_cluster_
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<Id> order_of(const std::vector<ImagePair>& pairs, int cluster_images) {
  const Graph graph(pairs);
  std::vector<Edge> edges;
  edges.reserve(pairs.size());
  for (const ImagePair& pair : pairs) edges.push_back({pair, 1});
  Ordering ordering(graph, cluster_images);
  for (const std::vector<Id>& component : components_of(graph.images(), edges)) {
    ordering.add_component(component);
  }
  return ordering.order();
}

std::vector<std::vector<Id>> blocks_of(const std::vector<ImagePair>& pairs,
                                       const std::vector<Id>& order, int block_images,
                                       int block_pairs) {
  const int cluster = std::max(block_images / 2, 1);
  std::unordered_map<Id, int> places;
  for (std::size_t i = 0; i < order.size(); ++i) places[order[i]] = int(i);
  std::vector<std::pair<int, int>> placed;
  placed.reserve(pairs.size());
  for (const ImagePair& pair : pairs) {
    placed.push_back(std::minmax(places.at(pair.first), places.at(pair.second)));
  }
  std::sort(placed.begin(), placed.end(), [&](const auto& p, const auto& q) {
    return std::tuple(p.first / cluster, p.second / cluster, p) <
           std::tuple(q.first / cluster, q.second / cluster, q);
  });
  placed.erase(std::unique(placed.begin(), placed.end()), placed.end());
  std::vector<std::vector<Id>> blocks;
  // The last block that had the image, counted from 1.
  std::vector<std::size_t> last(order.size(), 0);
  int images = 0;
  for (const auto& [a, b] : placed) {
    auto fresh = [&](int place) {
      return blocks.empty() || last[std::size_t(place)] != blocks.size();
    };
    if (blocks.empty() || images + fresh(a) + fresh(b) > std::max(block_images, 2) ||
        int(blocks.back().size()) >= block_pairs) {
      blocks.emplace_back();
      images = 0;
    }
    images += fresh(a) + fresh(b);
    last[std::size_t(a)] = last[std::size_t(b)] = blocks.size();
    blocks.back().push_back(colmap::pair_id({order[std::size_t(a)], order[std::size_t(b)]}));
  }
  return blocks;
}

std::vector<Id> images_of(const std::vector<Id>& pairs) {
  std::vector<Id> images;
  images.reserve(2 * pairs.size());
  for (const Id pair : pairs) {
    const auto [first, second] = colmap::pair_of(pair);
    images.insert(images.end(), {first, second});
  }
  std::sort(images.begin(), images.end());
  images.erase(std::unique(images.begin(), images.end()), images.end());
  return images;
}

}  // namespace cornea::folder
