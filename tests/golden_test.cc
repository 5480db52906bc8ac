// Results that plain definitions in double precision give: of generated images, in the folder
// golden of this project, and of photographs, which lie elsewhere; and synthetic scenes, on which
// both devices must agree.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cornea/core/testing.h"
#include "cornea/cornea.h"
#include "cornea/scene.h"

namespace cornea {
namespace {

using Json = nlohmann::json;
using PixelSet = std::set<std::pair<int, int>>;

PixelSet pixels(const std::vector<Corner>& corners) {
  PixelSet set;
  for (const Corner& c : corners) set.emplace(int(c.x), int(c.y));
  return set;
}

// The first two numbers of each entry.
PixelSet pixels(const Json& list) {
  PixelSet set;
  for (const Json& entry : list) set.emplace(entry[0].get<int>(), entry[1].get<int>());
  return set;
}

// Points that lie so close to a limit that either answer is right.
PixelSet free_pixels(const Json& golden) {
  PixelSet free = pixels(golden["near_threshold"]);
  free.merge(pixels(golden["near_tie"]));
  return free;
}

// Holds all corners but the free ones against the expected ones; returns how many there were.
std::size_t expect_pixels(const Json& golden, const std::vector<Corner>& corners) {
  PixelSet expected = pixels(golden["points"]), found = pixels(corners);
  for (const auto& pixel : free_pixels(golden)) {
    expected.erase(pixel);
    found.erase(pixel);
  }
  EXPECT_EQ(found, expected);
  return expected.size();
}

// Calls compare(response, expected response) for every corner that is among the expected ones.
template <class Compare>
void compare_responses(const Json& golden, const std::vector<Corner>& corners, Compare compare) {
  std::map<std::pair<int, int>, double> expected;
  for (const Json& p : golden["points"]) expected[{p[0], p[1]}] = p[2];
  for (const Corner& c : corners) {
    const auto known = expected.find({int(c.x), int(c.y)});
    if (known != expected.end()) compare(c.response, known->second);
  }
}

class GoldenFoagdd : public testing::OnEveryDevice {};

TEST_P(GoldenFoagdd, CornersAndMeasuresAreThePublishedOnes) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(folder, "golden/foagdd");
  Foagdd foagdd(context);
  int files = 0;
  std::size_t points = 0, samples = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const Json golden = Json::parse(std::ifstream(file.path()));
    const auto path = folder / "../.." / golden["image"].get<std::string>();
    if (!std::filesystem::exists(path)) {
      EXPECT_FALSE(testing::data_is_required()) << path << " is not here";
      continue;
    }
    SCOPED_TRACE(file.path().filename().string());
    ++files;
    const auto image = read_gray(path.string());
    const auto corners = foagdd.detect(image.view());
    points += expect_pixels(golden, corners);
    compare_responses(golden, corners, [](double found, double expected) {
      EXPECT_NEAR(found / expected, 1, 1e-3);
    });
    // In flat regions the reference's own rounding is all there is: below 1e-6, 14 orders under the
    // threshold, only smallness is asked for.
    const auto map = foagdd.response(image.view());
    for (const Json& sample : golden["map_sample"]) {
      const double value = sample[2];
      const float mine = map(sample[0].get<int>(), sample[1].get<int>());
      EXPECT_NEAR(mine, value, 1e-3 * std::abs(value) + 1e-6);
      ++samples;
    }
  }
  EXPECT_GT(files, 0);
  RecordProperty("points", static_cast<int>(points));
  RecordProperty("samples", static_cast<int>(samples));
}

TEST_P(GoldenFoagdd, FiftyScenesGiveTheCpusCornersToTheBit) {
  Foagdd on_cpu(Context::cpu(1)), tested(context);
  for (int i = 0; i < 50; ++i) {
    SceneOptions options;
    options.kind = i % 2 ? SceneKind::boxes : SceneKind::plane;
    options.views = 1;
    options.width = 120 + 7 * (i % 13);
    options.height = 90 + 5 * (i % 11);
    options.samples = 2;
    options.seed = 100 + i;
    const Image<float> view = std::move(make_views(Context::cpu(), options).front().image);
    Image<std::uint8_t> bytes(view.width(), view.height());
    for (int y = 0; y < view.height(); ++y) {
      for (int x = 0; x < view.width(); ++x) {
        bytes(x, y) = std::uint8_t(std::clamp(view(x, y), 0.0f, 1.0f) * 255 + 0.5f);
      }
    }
    const auto expected = on_cpu.detect(bytes);
    EXPECT_GT(expected.size(), 2u) << "scene " << i;
    EXPECT_TRUE(tested.detect(bytes) == expected) << "scene " << i;
    EXPECT_TRUE(tested.detect(view) == on_cpu.detect(view)) << "scene " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, GoldenFoagdd, testing::every_device(), testing::device_name);

class GoldenTrilateral : public testing::OnEveryDevice {};

TEST_P(GoldenTrilateral, EveryPixelIsTheDefinitions) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(folder, "golden/trilateral");
  int files = 0;
  double largest = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    // NAME_sigmaX.pfm is what NAME.png becomes with that sigma.
    const std::string stem = file.path().stem().string();
    const std::size_t split = stem.find("_sigma");
    if (file.path().extension() != ".pfm" || split == std::string::npos) continue;
    SCOPED_TRACE(file.path().filename().string());
    ++files;
    const double sigma = std::stod(stem.substr(split + 6));
    const auto image = read_gray(folder / (stem.substr(0, split) + ".png"));
    const auto golden = read_image<float>(file.path());
    for (Grouping grouping : {Grouping::fastest, Grouping::none, Grouping::sorted}) {
      TrilateralFilter filter(context, {sigma, grouping});
      Image<float> out(image.width(), image.height());
      filter.apply(image.view(), out);
      for (int y = 0; y < out.height(); ++y) {
        for (int x = 0; x < out.width(); ++x) {
          const double difference = std::abs(double(out(x, y)) - golden(x, y));
          largest = std::max(largest, difference);
          ASSERT_LE(difference, 1e-3) << x << ", " << y;
        }
      }
    }
  }
  EXPECT_GE(files, 1);
  RecordProperty("files", files);
  RecordProperty("largest_difference", std::to_string(largest));
}
INSTANTIATE_TEST_SUITE_P(, GoldenTrilateral, testing::every_device(), testing::device_name);

// The folder golden of this project, which every clone has; golden/README.md says where these
// tolerances come from.
constexpr double kMeasure = 1e-4;            // FOAGDD's at a corner, as a share of it
constexpr double kAnyMeasure = 1e-3;         // ... and anywhere else
constexpr double kNoMeasure = 1e-2;          // ... where both are as good as none
constexpr double kResponse = 1e-6;           // Harris and Shi-Tomasi, as a share of the strongest
constexpr double kGrayLevels = 1e-4;         // a filtered pixel
constexpr double kPlace = 1e-3;              // SIFT: a position, pixels, and a scale, as a share
constexpr double kAngle = 1e-3;              // SIFT: radians
constexpr double kContrast = 1e-4;           // SIFT: |D|, as a share of it
constexpr int kByte = 1;                     // SIFT: a number of a descriptor
constexpr double kFloat = 1e-6;              // SVD: values as a share of the largest, and errors;
constexpr double kDouble = 1e-14;            // five times that above 32 x 32
constexpr double kFundamental = 1e-12;       // F of norm 1, in units of 400 pixels
constexpr double kEpipolarDistance = 1e-10;  // pixels

class Golden : public testing::OnEveryDevice {
 protected:
  static std::filesystem::path path(const std::string& name) {
    return std::filesystem::path(CORNEA_SOURCE_DIR) / "golden" / name;
  }
  static Json results(const std::string& name) {
    return Json::parse(std::ifstream(path(name + ".json")));
  }
  static GrayImage image(const Json& result) {
    return read_gray(path(result["image"].get<std::string>() + ".pgm"));
  }

  // Keeps the largest difference of each kind, and expects it within the tolerance.
  void expect_within(const std::string& kind, double difference, double tolerance) {
    EXPECT_LE(difference, tolerance) << kind;
    double& largest = largest_[kind];
    largest = std::max(largest, difference);
  }
  void TearDown() override {
    for (const auto& [kind, difference] : largest_) {
      RecordProperty("largest_difference_of_" + kind, text(difference));
    }
  }

 private:
  std::map<std::string, double> largest_;
};

TEST_P(Golden, FoagddCornersAndMeasures) {
  Foagdd foagdd(context);
  std::size_t points = 0;
  for (const Json& golden : results("foagdd")) {
    SCOPED_TRACE(golden["image"]);
    const auto corners = foagdd.detect(image(golden).view());
    points += expect_pixels(golden, corners);
    compare_responses(golden, corners, [&](double found, double expected) {
      expect_within("measure", std::abs(found / expected - 1), kMeasure);
    });
    const auto map = foagdd.response(image(golden).view());
    for (const Json& sample : golden["map_sample"]) {
      const double expected = sample[2], found = map(sample[0].get<int>(), sample[1].get<int>());
      expect_within("map", std::abs(found - expected) / (expected + kNoMeasure / kAnyMeasure),
                    kAnyMeasure);
    }
  }
  EXPECT_GE(points, 50u);
}

TEST_P(Golden, HarrisShiTomasiAndMoravecCornersAndResponses) {
  std::size_t points = 0;
  for (const Json& golden : results("harris")) {
    const std::string measure = golden["measure"];
    SCOPED_TRACE(golden["image"].get<std::string>() + ", " + measure);
    const HarrisOptions options = {.measure = measure == "harris" ? CornerMeasure::harris
                                                                  : CornerMeasure::shi_tomasi};
    CornerDetector detector = measure == "moravec" ? CornerDetector(Moravec(context))
                                                   : CornerDetector(Harris(context, options));
    // Moravec's are whole numbers.
    const double tolerance = measure == "moravec" ? 0 : kResponse;
    const double strongest = golden["strongest"];
    const auto corners = detector.detect(image(golden).view());
    points += expect_pixels(golden, corners);
    compare_responses(golden, corners, [&](double found, double expected) {
      expect_within(measure, std::abs(found - expected) / strongest, tolerance);
    });
    const auto map = detector.response(image(golden).view());
    for (const Json& sample : golden["map_sample"]) {
      const double expected = sample[2], found = map(sample[0].get<int>(), sample[1].get<int>());
      expect_within(measure + "_map", std::abs(found - expected) / strongest, tolerance);
    }
  }
  EXPECT_GE(points, 500u);
}

TEST_P(Golden, BilateralAndTrilateralPixels) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(path(""))) {
    // IMAGE_FILTER_sigmaX.pfm is what IMAGE.pgm becomes.
    if (file.path().extension() != ".pfm") continue;
    const std::string stem = file.path().stem().string();
    SCOPED_TRACE(stem);
    ++files;
    const double sigma = std::stod(stem.substr(stem.find("_sigma") + 6));
    const auto before = read_gray(path(stem.substr(0, stem.find('_')) + ".pgm"));
    const auto expected = read_image<float>(file.path());
    auto expect_filtered = [&](const std::string& kind, ImageFilter& filter) {
      Image<float> out(before.width(), before.height());
      filter.apply(before.view(), out);
      double largest = 0;
      for (int y = 0; y < out.height(); ++y) {
        for (int x = 0; x < out.width(); ++x) {
          largest = std::max(largest, std::abs(double(out(x, y)) - expected(x, y)));
        }
      }
      expect_within(kind, largest, kGrayLevels);
    };
    if (stem.find("bilateral_") == stem.find('_') + 1) {
      BilateralFilter filter(context, {.sigma = sigma, .sigma_range = 20});
      expect_filtered("bilateral", filter);
    } else {
      for (Grouping grouping : {Grouping::none, Grouping::sorted}) {
        TrilateralFilter filter(context, {sigma, grouping});
        expect_filtered("trilateral", filter);
      }
    }
  }
  EXPECT_EQ(files, 5);
}

std::vector<std::uint8_t> bytes_of(const std::string& hexadecimal) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < hexadecimal.size(); i += 2) {
    bytes.push_back(std::uint8_t(std::stoi(hexadecimal.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Whether a feature lies where the definition leaves open what is there: entries of x, y, radius.
bool is_free(const Json& golden, double x, double y) {
  for (const char* reason : {"near_threshold", "near_tie"}) {
    for (const Json& p : golden[reason]) {
      if (std::hypot(x - p[0].get<double>(), y - p[1].get<double>()) < p[2]) return true;
    }
  }
  return false;
}

TEST_P(Golden, SiftPointsAnglesAndDescriptors) {
  std::size_t compared = 0, free = 0;
  for (const Json& golden : results("sift")) {
    const Json& o = golden["options"];
    SCOPED_TRACE(golden["image"].get<std::string>() + ", " + o.dump());
    Sift sift(context, {.doubled = o["doubled"],
                        .intervals = o["intervals"],
                        .sigma = o["sigma"],
                        .blur = o["blur"],
                        .contrast = o["contrast"],
                        .edge_ratio = o["edge_ratio"],
                        .root = o["root"]});
    const Features found = sift.detect(image(golden).view());
    std::vector<std::size_t> of_found;  // indices, without the free ones
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Keypoint& k = found.keypoints[i];
      is_free(golden, k.x, k.y) ? void(++free) : of_found.push_back(i);
    }
    std::vector<Json> expected;
    for (const Json& f : golden["features"]) {
      if (!is_free(golden, f["x"], f["y"])) expected.push_back(f);
    }
    ASSERT_EQ(of_found.size(), expected.size());
    // Both are in one order.
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Json& e = expected[i];
      const Keypoint& k = found.keypoints[of_found[i]];
      SCOPED_TRACE("feature " + std::to_string(i));
      ASSERT_EQ(k.octave, e["octave"].get<int>());
      expect_within("place", std::hypot(k.x - e["x"].get<double>(), k.y - e["y"].get<double>()),
                    kPlace);
      expect_within("scale", std::abs(k.scale / e["scale"].get<double>() - 1), kPlace);
      const double turned = k.angle - e["angle"].get<double>();
      expect_within("angle", std::abs(std::remainder(turned, 2 * std::numbers::pi)), kAngle);
      expect_within("response", std::abs(k.response / e["response"].get<double>() - 1), kContrast);
      const std::vector<std::uint8_t> bytes = bytes_of(e["descriptor"]);
      ASSERT_EQ(int(bytes.size()), Features::kLength);
      int largest = 0;
      for (int b = 0; b < Features::kLength; ++b) {
        largest = std::max(largest, std::abs(bytes[b] - found.descriptor(of_found[i])[b]));
      }
      expect_within("descriptor", largest, kByte);
      ++compared;
    }
  }
  EXPECT_GE(compared, 200u);
  EXPECT_LE(free, compared / 50);
}

std::vector<std::uint8_t> descriptors_of(const Json& list) {
  std::vector<std::uint8_t> all;
  for (const Json& one : list) {
    const std::vector<std::uint8_t> bytes = bytes_of(one);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

TEST_P(Golden, MatchesAndNeighboursExactly) {
  const Json golden = results("matching");
  const std::vector<std::uint8_t> bytes_a = descriptors_of(golden["a"]);
  const std::vector<std::uint8_t> bytes_b = descriptors_of(golden["b"]);
  const DescriptorView a(bytes_a.data(), int(golden["a"].size()));
  const DescriptorView b(bytes_b.data(), int(golden["b"].size()));
  std::vector<Nearest> nearest;
  for (const Json& n : golden["nearest"]) nearest.push_back({n[0], n[1], n[2], n[3]});
  EXPECT_TRUE(Matcher(context).nearest(a, b) == nearest);
  for (const Json& c : golden["cases"]) {
    SCOPED_TRACE("ratio " + c["ratio"].dump() + ", mutual " + c["mutual"].dump() +
                 ", max_distance " + c["max_distance"].dump());
    std::vector<Match> expected;
    for (const Json& m : c["matches"]) {
      const float distance = std::sqrt(m[2].get<float>()), second = std::sqrt(m[3].get<float>());
      expected.push_back({m[0], m[1], distance, second == 0 ? 1 : distance / second});
    }
    Matcher matcher(context, {c["ratio"], c["mutual"], c["max_distance"]});
    const std::vector<Match> found = matcher.match(a, b);
    EXPECT_EQ(found.size(), expected.size());
    EXPECT_TRUE(found == expected);
  }
}

// |A - U S V'| / |A| and the larger of |U'U - I| and |V'V - I| over sqrt(k), Frobenius norms.
struct SvdErrors {
  double reconstruction = 0, orthogonality = 0;
};
template <class T>
SvdErrors svd_errors(const SvdShape& shape, const std::vector<T>& a, const std::vector<T>& u,
                     const std::vector<T>& s, const std::vector<T>& v) {
  const int k = shape.rank();
  double difference = 0, norm = 0;
  for (int i = 0; i < shape.rows; ++i) {
    for (int j = 0; j < shape.cols; ++j) {
      double sum = a[i * shape.cols + j];
      norm += sum * sum;
      for (int l = 0; l < k; ++l) sum -= double(u[i * k + l]) * s[l] * v[j * k + l];
      difference += sum * sum;
    }
  }
  auto departure = [&](const std::vector<T>& m, int rows) {
    double squares = 0;
    for (int p = 0; p < k; ++p) {
      for (int q = 0; q < k; ++q) {
        double product = p == q ? -1 : 0;
        for (int i = 0; i < rows; ++i) product += double(m[i * k + p]) * m[i * k + q];
        squares += product * product;
      }
    }
    return std::sqrt(squares / k);
  };
  return {std::sqrt(difference / norm),
          std::max(departure(u, shape.rows), departure(v, shape.cols))};
}

class GoldenSvd : public Golden {
 protected:
  template <class T>
  void compare(const std::string& type, double tolerance) {
    Svd svd(context);
    for (const Json& golden : results("svd")) {
      const SvdShape shape{golden["rows"], golden["cols"], 1};
      const int k = shape.rank();
      SCOPED_TRACE(text(shape.rows, " x ", shape.cols, ", ", golden["kind"], ", ", type));
      const std::vector<T> a = golden["matrix"];
      std::vector<T> u(shape.rows * k), s(k), v(shape.cols * k);
      svd.compute<T>(shape, a, u, s, v);
      const double allowed = k > 32 ? 5 * tolerance : tolerance;
      const double largest = golden["values"][0];
      for (int i = 0; i < k; ++i) {
        expect_within(type + "_values",
                      std::abs(s[i] - golden["values"][i].get<double>()) / largest, allowed);
      }
      const SvdErrors errors = svd_errors(shape, a, u, s, v);
      expect_within(type + "_reconstruction", errors.reconstruction, allowed);
      expect_within(type + "_orthogonality", errors.orthogonality, allowed);
    }
  }
};

TEST_P(GoldenSvd, ValuesAndReconstruction) {
  compare<float>("float", kFloat);
  compare<double>("double", kDouble);
}

std::vector<Correspondence> correspondences(const Json& list) {
  std::vector<Correspondence> all;
  for (const Json& m : list) all.push_back({m[0], m[1], m[2], m[3]});
  return all;
}

// Of norm 1 with coordinates in units of 400 pixels, in which all entries count alike.
std::array<double, 9> scaled(const std::array<double, 9>& f) {
  std::array<double, 9> out;
  double squares = 0;
  for (int i = 0; i < 9; ++i) {
    out[i] = f[i] * (i / 3 < 2 ? 400 : 1) * (i % 3 < 2 ? 400 : 1);
    squares += out[i] * out[i];
  }
  for (double& v : out) v /= std::sqrt(squares);
  return out;
}

TEST_P(Golden, FundamentalMatricesAndDistances) {
  for (const Json& golden : results("fundamental")) {
    SCOPED_TRACE(golden["name"]);
    const auto matches = correspondences(golden["matches"]);
    const std::array<double, 9> expected = golden["F"];
    for (std::size_t i = 0; i < matches.size(); ++i) {
      const double difference =
          epipolar_distance(expected, matches[i]) - golden["distances"][i].get<double>();
      expect_within("distance", std::abs(difference), kEpipolarDistance);
    }
    if (!golden.contains("inliers")) {
      const std::array<double, 9> f = scaled(eight_point(matches)), e = scaled(expected);
      for (int i = 0; i < 9; ++i) expect_within("F", std::abs(f[i] - e[i]), kFundamental);
      continue;
    }
    // Wrong matches among them: they are told apart as the definition's F does.
    const FundamentalResult result = FundamentalEstimator(context).estimate(matches);
    EXPECT_EQ(result.kind, TwoView::general);
    for (std::size_t i = 0; i < matches.size(); ++i) {
      EXPECT_EQ(result.inliers[i], golden["inliers"][i] ? 1 : 0) << "match " << i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, Golden, testing::every_device(), testing::device_name);
INSTANTIATE_TEST_SUITE_P(, GoldenSvd, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
