// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/certificate.h"

#include <algorithm>
#include <limits>
#include <span>

#include "cornea/catalog/detectors.h"
#include "cornea/catalog/filters.h"
#include "cornea/core/error.h"
#include "cornea/core/random.h"
#include "cornea/geometry/two_view/essential.h"
#include "cornea/geometry/two_view/homography.h"
#include "cornea/match/match.h"
#include "cornea/retrieve/retrieve.h"

namespace cornea {
namespace {

using namespace core;

// FNV-1a over the bytes of numbers. Both signs of zero give the same hash: -0 and 0 are the same
// result.
class Hash {
 public:
  void add(float v) {
    v += 0.0f;
    add_bytes(&v, sizeof v);
  }
  void add(double v) {
    v += 0.0;
    add_bytes(&v, sizeof v);
  }
  void add(std::int32_t v) { add_bytes(&v, sizeof v); }
  void add_bytes(const void* data, std::size_t count) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3ull;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ull;
};

// A pseudo-random value of 0..255 at a lattice point.
int lattice(int x, int y, int octave) {
  return int(
      philox(5, std::uint64_t(octave), std::uint64_t(std::uint32_t(x)) << 32 | std::uint32_t(y))
          .v[0] >>
      24);
}

// Value noise: several octaves of bilinear interpolation between lattice points. Positions and
// values are in units of 1/256, and all arithmetic is in integers.
int texture(int x256, int y256) {
  int sum = 0, weight = 0;
  for (int octave = 0; octave < 4; ++octave) {
    const int step = (24 >> octave) * 256, share = 8 >> octave;
    const int x0 = x256 / step, y0 = y256 / step;
    const int fx = (x256 % step) * 256 / step, fy = (y256 % step) * 256 / step;
    auto row = [&](int y) {
      return lattice(x0, y, octave) * (256 - fx) + lattice(x0 + 1, y, octave) * fx;
    };
    sum += share * ((row(y0) * (256 - fy) + row(y0 + 1) * fy) >> 16);
    weight += share;
  }
  return std::clamp((sum / weight - 128) * 3 + 128, 0, 255);
}

struct Inputs {
  static constexpr int kWidth = 320, kHeight = 240;
  // a texture, and the same one rotated and scaled
  Image<std::uint8_t> first{kWidth, kHeight}, second{kWidth, kHeight};
  Image<std::uint16_t> board{200, 160};  // slanted squares
  // of a synthetic scene, half of them outliers
  std::vector<Correspondence> correspondences;

  Inputs() {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        first(x, y) = std::uint8_t(texture(x * 256 + 32768, y * 256 + 32768));
        // A rotation by 6.0 degrees with scale 1.05, as the integers (267, 28) / 256.
        second(x, y) = std::uint8_t(texture(x * 267 - y * 28 + 36000, x * 28 + y * 267 + 30000));
      }
    }
    for (int y = 0; y < board.height(); ++y) {
      for (int x = 0; x < board.width(); ++x) {
        const int u = (x * 31 + y * 6 + 9000) / 640, v = (y * 31 - x * 6 + 9000) / 640;
        board(x, y) = std::uint16_t(((u + v) % 2 ? 52000 : 9000) + ((x * 7 + y * 13) % 32) * 50);
      }
    }
    // Points at depths of 4 to 8, seen by a camera that moves and rotates a little. Only quotients
    // of sums and products are used, which every machine rounds alike.
    Random random(11);
    for (int i = 0; i < 600; ++i) {
      const double x = random.integer(-2000, 2000) / 1000.0,
                   y = random.integer(-1500, 1500) / 1000.0;
      const double z = random.integer(4000, 8000) / 1000.0;
      const double turned_x = 0.96 * x + 0.28 * (z - 6),
                   turned_z = 0.96 * (z - 6) - 0.28 * x + 6.25;
      Correspondence c{float(640 + 900 * x / z), float(480 + 900 * y / z),
                       float(640 + 900 * (turned_x + 0.5) / turned_z),
                       float(480 + 900 * (y - 0.125) / turned_z)};
      if (i % 2) {
        c.x2 = float(random.integer(0, 1279));
        c.y2 = float(random.integer(0, 959));
      } else {
        c.x2 += float(random.integer(-400, 400)) / 1000.0f;
        c.y2 += float(random.integer(-400, 400)) / 1000.0f;
      }
      correspondences.push_back(c);
    }
  }
};

struct Answer {
  std::uint64_t hash = 0;
  std::string what = {};
};

Answer corners(const Context& context, const char* detector, const Settings& settings,
               AnyView image) {
  Hash hash;
  const auto found = find_detector(detector).make(context, settings)->detect(image);
  for (const Corner& c : found) hash.add(c.x), hash.add(c.y), hash.add(c.response);
  return {hash.value(), text(found.size(), " corners")};
}

template <class T>
Answer filtered(const Context& context, const char* filter, const Settings& settings,
                const Image<T>& image) {
  Image<float> in(image.width(), image.height());
  for (int y = 0; y < in.height(); ++y) {
    for (int x = 0; x < in.width(); ++x) {
      in(x, y) = float(image(x, y)) / float(std::numeric_limits<T>::max());
    }
  }
  const Image<float> out = find_filter(filter).make(context, settings)->apply(in);
  Hash hash;
  for (int y = 0; y < out.height(); ++y) {
    for (int x = 0; x < out.width(); ++x) hash.add(out(x, y));
  }
  return {hash.value(), text(out.width(), " x ", out.height(), " pixels")};
}

Features features(const Context& context, const Settings& settings, AnyView image) {
  return find_detector("sift").make_sift(context, settings)->detect(image);
}

Answer features_answer(const Context& context, const Settings& settings, AnyView image) {
  const Features found = features(context, settings, image);
  Hash hash;
  for (const Keypoint& k : found.keypoints) {
    for (float v : {k.x, k.y, k.scale, k.angle, k.response}) hash.add(v);
    hash.add(k.octave);
  }
  hash.add_bytes(found.descriptors.data(), found.descriptors.size());
  return {hash.value(), text(found.size(), " features")};
}

std::vector<Correspondence> add_matches(const Context& context, const Inputs& in, Hash& hash) {
  const Features a = features(context, {}, in.first), b = features(context, {}, in.second);
  std::vector<Correspondence> pairs;
  for (const Match& m : Matcher(context).match(a, b)) {
    hash.add(m.a), hash.add(m.b), hash.add(m.distance), hash.add(m.ratio);
    const Keypoint &p = a.keypoints[m.a], &q = b.keypoints[m.b];
    pairs.push_back({p.x, p.y, q.x, q.y});
  }
  return pairs;
}

// Twelve locations with four views each. A view holds the descriptors of its location, slightly
// perturbed.
Answer retrieved(const Context& context) {
  constexpr int kPlaces = 12, kViews = 4, kDescriptors = 150;
  RetrieveInput input;
  for (int i = 0; i < kPlaces * kViews; ++i) {
    input.images.push_back({philox(21, 0, i).v[0], kDescriptors - i % kViews});
  }
  input.read = [&](int image, std::vector<std::uint8_t>& out) {
    Random place(22, image / kViews), view(23, image);
    for (int i = 0; i < input.images[image].descriptors * Features::kLength; ++i) {
      const int base = place.integer(0, 255), noise = view.integer(-20, 20);
      out.push_back(std::uint8_t(std::clamp(base * base / 255 + noise, 0, 255)));
    }
  };
  Hash hash;
  const auto pairs = retrieve_pairs(context, input, {.neighbours = 5, .words = 200});
  for (const RetrievedPair& pair : pairs) {
    hash.add(pair.first), hash.add(pair.second), hash.add(std::int32_t(pair.score));
  }
  return {hash.value(), text(pairs.size(), " pairs")};
}

Answer inliers_answer(Hash& hash, const std::vector<std::uint8_t>& marks) {
  int inliers = 0;
  for (const auto inlier : marks) hash.add(std::int32_t(inlier)), inliers += inlier != 0;
  return {hash.value(), text(inliers, " inliers of ", marks.size())};
}

Answer fundamental(const Context& context, std::span<const Correspondence> pairs) {
  const FundamentalResult result = FundamentalEstimator(context).estimate(pairs);
  Hash hash;
  for (double v : result.F) hash.add(v);
  return inliers_answer(hash, result.inliers);
}

// E with its pose, and the triangulated points in front of both cameras.
Answer essential(const Context& context, std::span<const Correspondence> pairs,
                 const Intrinsics& camera) {
  const EssentialResult result = EssentialEstimator(context).estimate(pairs, {camera, camera});
  Hash hash;
  for (double v : result.E) hash.add(v);
  for (double v : result.R) hash.add(v);
  for (double v : result.t) hash.add(v);
  for (const auto& point : result.points) {
    for (float v : point) hash.add(v);
  }
  return inliers_answer(hash, result.inliers);
}

Answer homography(const Context& context, std::span<const Correspondence> pairs) {
  const HomographyResult result = HomographyEstimator(context).estimate(pairs);
  Hash hash;
  for (double v : result.H) hash.add(v);
  return inliers_answer(hash, result.inliers);
}

struct Question {
  const char* name;
  std::uint64_t recorded;
  Answer (*ask)(const Context&, const Inputs&);
};

const Question kQuestions[] = {
    {"foagdd, texture", 0xa19168bbebf12535,
     [](auto& c, auto& in) { return corners(c, "foagdd", {}, in.first); }},
    {"foagdd, board", 0x2cafa4f94d3fb2f4,
     [](auto& c, auto& in) { return corners(c, "foagdd", {}, in.board); }},
    {"harris, texture", 0x40537fe6a400a074,
     [](auto& c, auto& in) {
       return corners(c, "harris", {{"subpixel", "quadratic"}}, in.first);
     }},
    {"harris, board, gradients", 0xbc843d52723beed3,
     [](auto& c, auto& in) {
       return corners(c, "harris", {{"subpixel", "gradient"}}, in.board);
     }},
    {"moravec, texture", 0x376fdf840168372b,
     [](auto& c, auto& in) { return corners(c, "moravec", {}, in.first); }},
    {"gaussian filter", 0xaa6b25d5cdb58abb,
     [](auto& c, auto& in) {
       return filtered(c, "gaussian", {{"sigma", "2.3"}}, in.first);
     }},
    {"bilateral filter", 0x609b50596d1110b1,
     [](auto& c, auto& in) { return filtered(c, "bilateral", {}, in.first); }},
    {"bilateral filter, wide", 0x48b6a46632b5d054,
     [](auto& c, auto& in) {
       return filtered(c, "bilateral", {{"sigma", "11.5"}, {"sigma-range", "45"}}, in.board);
     }},
    {"trilateral filter", 0x522997b999153739,
     [](auto& c, auto& in) { return filtered(c, "trilateral", {}, in.first); }},
    {"trilateral filter, board", 0xdf08e7c777ad7d01,
     [](auto& c, auto& in) {
       return filtered(c, "trilateral", {{"sigma", "7"}}, in.board);
     }},
    {"sift, texture", 0xcc4b414750f94dc5,
     [](auto& c, auto& in) { return features_answer(c, {}, in.first); }},
    {"sift, turned, 100 points", 0x8da564a8e6af3c9c,
     [](auto& c, auto& in) {
       return features_answer(c, {{"max-points", "100"}}, in.second);
     }},
    {"sift, affine shape", 0xc67610f83fae1617,
     [](auto& c, auto& in) {
       return features_answer(c, {{"affine-shape", "yes"}}, in.second);
     }},
    {"sift, affine shape, pooled", 0xe1b72914c031aff8,
     [](auto& c, auto& in) {
       return features_answer(c, {{"affine-shape", "yes"}, {"domain-size-pooling", "yes"}},
                              in.first);
     }},
    {"sift, strict, plain", 0xa8406c5c43b1e3b9,
     [](auto& c, auto& in) {
       return features_answer(c, {{"settle", "strict"}, {"root", "no"}}, in.first);
     }},
    {"sift, strict, turned", 0x80e0e5580803e3ea,
     [](auto& c, auto& in) {
       return features_answer(c, {{"settle", "strict"}}, in.second);
     }},
    {"sift, strict, bilateral scale space", 0xa742454528769df5,
     [](auto& c, auto& in) {
       return features_answer(
           c, {{"scale-space", "bilateral"}, {"settle", "strict"}, {"root", "no"}}, in.first);
     }},
    {"sift, strict, trilateral scale space", 0xc52575dd5d53f524,
     [](auto& c, auto& in) {
       return features_answer(
           c, {{"scale-space", "trilateral"}, {"settle", "strict"}, {"root", "no"}}, in.first);
     }},
    {"sift, strict, contrast, 100 points", 0xf99499fee37e8026,
     [](auto& c, auto& in) {
       return features_answer(c,
                              {{"settle", "strict"},
                               {"root", "no"},
                               {"keep", "contrast"},
                               {"orientations", "1"},
                               {"max-points", "100"}},
                              in.first);
     }},
    {"sift, strict, contrast, 2 per cell", 0xdf5c9289da2aee40,
     [](auto& c, auto& in) {
       return features_answer(c,
                              {{"settle", "strict"},
                               {"root", "no"},
                               {"keep", "contrast"},
                               {"cell", "40"},
                               {"max-per-cell", "2"}},
                              in.first);
     }},
    {"matches", 0x0961319ee4f964af,
     [](auto& c, auto& in) {
       Hash hash;
       const auto pairs = add_matches(c, in, hash);
       return Answer{hash.value(), text(pairs.size(), " matches")};
     }},
    {"retrieved pairs", 0xcffda0d44f8f8eaa, [](auto& c, auto&) { return retrieved(c); }},
    {"F, matches", 0x4045e4631d24cdb0,
     [](auto& c, auto& in) {
       Hash unused;
       return fundamental(c, add_matches(c, in, unused));
     }},
    {"F, half wrong", 0x036025e21787b967,
     [](auto& c, auto& in) { return fundamental(c, in.correspondences); }},
    {"E, matches", 0xc268f61808d403c7,
     [](auto& c, auto& in) {
       Hash unused;
       return essential(c, add_matches(c, in, unused), {300, 300, 159.5, 119.5});
     }},
    {"E, half wrong", 0x35ccb638bd2279a0,
     [](auto& c, auto& in) {
       return essential(c, in.correspondences, {900, 900, 640, 480});
     }},
    {"H, matches", 0x7bcb46db42ae7344,
     [](auto& c, auto& in) {
       Hash unused;
       return homography(c, add_matches(c, in, unused));
     }},
};

}  // namespace

std::vector<CertificateRow> certify(const Context& context,
                                    const std::function<void(const std::string&)>& progress) {
  const Inputs inputs;
  std::vector<CertificateRow> rows;
  for (const Question& question : kQuestions) {
    if (progress) progress(question.name);
    const Answer answer = question.ask(context, inputs);
    rows.push_back({question.name, question.recorded, answer.hash, answer.what});
  }
  return rows;
}

}  // namespace cornea
