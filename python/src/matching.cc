// SPDX-License-Identifier: Apache-2.0
#include "binding.h"
#include "tables.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "cornea/core/error.h"

namespace cornea::python {
namespace {

using namespace nb::literals;

class MatcherObject {
 public:
  MatcherObject(const Context& context, const Settings& settings)
      : context_(context), matcher_(context, options_from<MatchOptions>(settings, "the matcher")) {}

  // Each pair is two sets of descriptors.
  nb::list match(const nb::list& given_pairs) {
    std::vector<GivenDescriptors> kept;
    std::vector<MatchPair> pairs;
    for (nb::handle pair : given_pairs) {
      kept.push_back(descriptors_of(context_, pair[0], "the first descriptors"));
      kept.push_back(descriptors_of(context_, pair[1], "the second descriptors"));
      pairs.push_back({kept[kept.size() - 2].view, kept.back().view});
    }
    std::vector<std::vector<Match>> found;
    compute(mutex_, [&] { found = matcher_.match_batch(pairs); });
    nb::list results;
    for (const std::vector<Match>& matches : found) results.append(columns_of(matches));
    return results;
  }

  // n x 4 int32: nearest, its squared distance, second nearest, its squared distance.
  nb::object nearest(nb::handle first, nb::handle second) {
    const GivenDescriptors a = descriptors_of(context_, first, "the first descriptors");
    const GivenDescriptors b = descriptors_of(context_, second, "the second descriptors");
    std::vector<Nearest> found;
    compute(mutex_, [&] { found = matcher_.nearest(a.view, b.view); });
    std::vector<std::int32_t> numbers;
    for (const Nearest& n : found) {
      numbers.insert(numbers.end(), {n.index, n.d2, n.second, n.second_d2});
    }
    return array_from(std::move(numbers), {found.size(), std::size_t(4)});
  }

  const Context& context() const { return context_; }
  std::string kernel() {
    std::string name;
    compute(mutex_, [&] { name = matcher_.report().kernel; });
    return name;
  }

 private:
  Context context_;
  Matcher matcher_;
  std::mutex mutex_;
};

// Removes duplicate matches between the same two positions; see one_per_place().
nb::tuple places_once(nb::handle matches, nb::handle columns1, nb::handle octave1,
                      nb::handle columns2, nb::handle octave2) {
  const Features a = features_from(columns1, octave1, nb::none());
  const Features b = features_from(columns2, octave2, nb::none());
  return columns_of(
      one_per_place(matches_from(matches, a.size(), b.size()), a.keypoints, b.keypoints));
}

}  // namespace

void bind_matching(nb::module_& m) {
  nb::class_<MatcherObject>(m, "Matcher")
      .def(nb::init<const Context&, const Settings&>(), "context"_a, "settings"_a)
      .def("match", &MatcherObject::match, "pairs"_a)
      .def("nearest", &MatcherObject::nearest, "a"_a.none(), "b"_a.none())
      .def_prop_ro("context", &MatcherObject::context)
      .def_prop_ro("kernel", &MatcherObject::kernel);
  m.def("one_per_place", &places_once, "matches"_a.none(), "columns1"_a.none(), "octave1"_a.none(),
        "columns2"_a.none(), "octave2"_a.none());
}

}  // namespace cornea::python
