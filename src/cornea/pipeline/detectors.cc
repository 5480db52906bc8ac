#include "cornea/pipeline/detectors.h"

#include <charconv>
#include <set>

#include "cornea/core/error.h"
#include "cornea/detect/foagdd/foagdd.h"
#include "cornea/detect/harris/harris.h"
#include "cornea/detect/moravec/moravec.h"

namespace cornea {
namespace {

// An enumeration's values in the words of the command line.
template <class E>
struct Choice {
  E value;
  const char* name;
};
using Choices = std::vector<std::string>;

constexpr Choice<CornerMeasure> kMeasures[] = {{CornerMeasure::harris, "harris"},
                                               {CornerMeasure::shi_tomasi, "shi-tomasi"}};
constexpr Choice<WindowShape> kShapes[] = {{WindowShape::box, "box"},
                                           {WindowShape::gaussian, "gaussian"}};
constexpr Choice<Subpixel> kSubpixel[] = {
    {Subpixel::none, "none"}, {Subpixel::quadratic, "quadratic"}, {Subpixel::gradient, "gradient"}};
constexpr Choice<Plateaus> kPlateaus[] = {{Plateaus::first, "first"}, {Plateaus::all, "all"}};

// Each options struct is listed once; a visitor describes it, another reads values into it.
template <class Visitor>
void visit(PeakOptions& o, Visitor& v) {
  v("threshold", o.threshold, "a corner's response is above this (see --relative)");
  v("relative", o.relative, "the threshold is a share of the strongest response, 0 to 1");
  v("nms", o.nms, "side of the square in which a corner is the largest, pixels, odd");
  v("plateaus", o.plateaus, "of equal neighbours keep the first or all", kPlateaus);
  v("subpixel", o.subpixel, "positions between pixels: from the responses or the gradients",
    kSubpixel);
  v("subpixel-radius", o.subpixel_radius, "of the square of gradients, pixels, 1 to 15");
  v("max-points", o.max_points, "keep the strongest N of all; 0: no limit");
  v("cell", o.cell, "side of a grid cell, pixels; 0: no grid");
  v("max-per-cell", o.max_per_cell, "keep the strongest N of each cell; needs --cell");
}

template <class Visitor>
void visit(MoravecOptions& o, Visitor& v) {
  v("window", o.window, "side of the window, pixels, odd, 3 to 15");
  visit(o.peaks, v);
}

template <class Visitor>
void visit(HarrisOptions& o, Visitor& v) {
  v("measure", o.measure, "det - k trace^2, or the smaller eigenvalue", kMeasures);
  v("window", o.window, "side of the window, pixels, odd, 3 to 15");
  v("window-shape", o.shape, "weights of the window", kShapes);
  v("window-sigma", o.sigma, "of a gaussian window, pixels");
  v("k", o.k, "Harris' constant, 0 to 0.25");
  visit(o.peaks, v);
}

template <class Visitor>
void visit(FoagddOptions& o, Visitor& v) {
  v("directions", o.directions, "of the filters, 4 to 16");
  v("scales", o.scales, "of the filters, pixels, 1 to 5 of them with commas between");
  v("rho", o.rho, "anisotropy of the filters, 0.1 to 10");
  v("lattice", o.lattice, "side of the filters, pixels, odd, 3 to 63");
  visit(o.peaks, v);
}

// The shortest text that reads back as the same number.
std::string exact_text(double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, end};
}

class Describe {
 public:
  std::vector<Flag> flags;

  void operator()(const char* name, double value, const char* help) {
    flags.push_back({name, help, Flag::Kind::number, exact_text(value), {}});
  }
  void operator()(const char* name, const std::vector<double>& values, const char* help) {
    std::string list;
    for (double value : values) list += text(list.empty() ? "" : ",", exact_text(value));
    flags.push_back({name, help, Flag::Kind::numbers, list, {}});
  }
  void operator()(const char* name, int value, const char* help) {
    flags.push_back({name, help, Flag::Kind::integer, text(value), {}});
  }
  void operator()(const char* name, bool value, const char* help) {
    flags.push_back({name, help, Flag::Kind::on_off, value ? "yes" : "no", {}});
  }
  template <class E, std::size_t n>
  void operator()(const char* name, E value, const char* help, const Choice<E> (&choices)[n]) {
    Flag flag{name, help, Flag::Kind::choice, "", {}};
    for (const Choice<E>& choice : choices) {
      flag.choices.push_back(choice.name);
      if (choice.value == value) flag.default_text = choice.name;
    }
    flags.push_back(std::move(flag));
  }
};

class Read {
 public:
  explicit Read(const Settings& settings) : settings_(settings) {}

  void operator()(const char* name, double& value, const char*) { number(name, value); }
  void operator()(const char* name, int& value, const char*) { number(name, value); }
  void operator()(const char* name, std::vector<double>& values, const char*) {
    const std::string* given = find(name);
    if (!given) return;
    values.clear();
    for (std::size_t begin = 0; begin <= given->size();) {
      const std::size_t end = std::min(given->find(',', begin), given->size());
      values.push_back(parse<double>(name, given->substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  void operator()(const char* name, bool& value, const char*) {
    const std::string* given = find(name);
    if (!given) return;
    require(*given == "yes" || *given == "no", "--", name, " is yes or no, not '", *given, "'");
    value = *given == "yes";
  }
  template <class E, std::size_t n>
  void operator()(const char* name, E& value, const char*, const Choice<E> (&choices)[n]) {
    const std::string* given = find(name);
    if (!given) return;
    std::string known;
    for (const Choice<E>& choice : choices) {
      if (*given == choice.name) {
        value = choice.value;
        return;
      }
      known += text(known.empty() ? "" : ", ", choice.name);
    }
    fail(ErrorCode::invalid_argument, "--", name, " is one of ", known, ", not '", *given, "'");
  }

  // After the visit: what was given and belongs to no option is an error.
  void check_all_used(const std::string& detector) const {
    for (const auto& [name, value] : settings_) {
      require(used_.count(name) > 0, "the detector ", detector, " has no option --", name);
    }
  }

 private:
  const std::string* find(const char* name) {
    used_.insert(name);
    const auto it = settings_.find(name);
    return it == settings_.end() ? nullptr : &it->second;
  }
  template <class N>
  void number(const char* name, N& value) {
    const std::string* given = find(name);
    if (given) value = parse<N>(name, *given);
  }
  template <class N>
  static N parse(const char* name, const std::string& given) {
    N value{};
    const char* end = given.data() + given.size();
    const auto [stop, error] = std::from_chars(given.data(), end, value);
    require(error == std::errc() && stop == end, "--", name, " takes ",
            std::is_integral_v<N> ? "a whole number" : "a number", ", not '", given, "'");
    return value;
  }

  const Settings& settings_;
  std::set<std::string> used_;
};

template <class Detector, class Options>
DetectorEntry entry(const char* name, const char* summary, const char* source) {
  Options defaults;
  Describe describe;
  visit(defaults, describe);
  auto make = [name](const Context& context,
                     const Settings& settings) -> std::unique_ptr<CornerDetector> {
    Options options;
    Read read(settings);
    visit(options, read);
    read.check_all_used(name);
    return std::make_unique<Detector>(context, options);
  };
  return {name, summary, source, std::move(describe.flags), make};
}

}  // namespace

const std::vector<DetectorEntry>& detector_table() {
  static const std::vector<DetectorEntry> table = {
      entry<Foagdd, FoagddOptions>("foagdd", "FOAGDD corners: many directions, several scales",
                                   "Zhang & Sun 2020"),
      entry<Harris, HarrisOptions>("harris", "Harris or Shi-Tomasi corners",
                                   "Harris & Stephens 1988, Shi & Tomasi 1994"),
      entry<Moravec, MoravecOptions>("moravec", "Moravec corners, in integers", "Moravec 1980"),
  };
  return table;
}

const DetectorEntry& find_detector(const std::string& name) {
  std::string known;
  for (const DetectorEntry& entry : detector_table()) {
    if (entry.name == name) return entry;
    known += text(known.empty() ? "" : ", ", entry.name);
  }
  fail(ErrorCode::invalid_argument, "no detector is called '", name, "'; there are ", known);
}

}  // namespace cornea
