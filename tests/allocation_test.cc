// SPDX-License-Identifier: Apache-2.0
// Refuses one memory allocation after another: a call must end with an Error that says what the
// memory was for, release what it allocated, and the next call, also with the same object, must
// give the correct result.
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/colmap.h"
#include "cornea/core/context_state.h"
#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/cornea.h"
#include "cornea/scene.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;
using colmap::Database;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
std::string bytes_of(const Features& features) {
  return bytes_of(features.keypoints) + bytes_of(features.descriptors);
}
std::string bytes_of(const FundamentalResult& result) {
  return bytes_of(std::vector(result.F.begin(), result.F.end())) + bytes_of(result.inliers);
}
std::string bytes_of(const Image<float>& image) {
  std::string bytes;
  for (int y = 0; y < image.height(); ++y) {
    bytes.append(reinterpret_cast<const char*>(image.host().row(y)), sizeof(float) * image.width());
  }
  return bytes;
}

const std::vector<View>& views() {
  static const std::vector<View> made = make_views(
      Context::cpu(), {.views = 3, .width = 200, .height = 150, .step_degrees = 8, .samples = 2});
  return made;
}
enum class Size { small, large };

// The whole view, or its upper left quarter.
Image<float> picture(int view, Size size) {
  const Image<float>& whole = views()[view].image;
  const int share = size == Size::large ? 1 : 2;
  Image<float> part(whole.width() / share, whole.height() / share);
  for (int y = 0; y < part.height(); ++y) {
    for (int x = 0; x < part.width(); ++x) part(x, y) = whole(x, y);
  }
  return part;
}

// The result of one call, as bytes; the object it is bound to keeps its memory from call to call.
using Call = std::function<std::string(Size)>;
struct Algorithm {
  const char* name;
  bool takes_blocks_on_cpu;
  std::function<Call(const Context&)> make;
};

template <class Detector>
Call detecting(const Context& context) {
  auto detector = std::make_shared<Detector>(context);
  return [=](Size size) { return bytes_of(detector->detect(picture(0, size))); };
}

template <class Filter>
Call filtering(const Context& context) {
  auto filter = std::make_shared<Filter>(context);
  return [=](Size size) { return bytes_of(filter->apply(picture(0, size))); };
}

Call matching(const Context& context) {
  auto matcher = std::make_shared<Matcher>(context);
  static const Features a = Sift(Context::cpu()).detect(views()[0].image);
  static const Features b = Sift(Context::cpu()).detect(views()[1].image);
  return [=](Size size) {
    const int share = size == Size::large ? 1 : 4;
    return bytes_of(matcher->match({a.descriptors.data(), int(a.size()) / share},
                                   {b.descriptors.data(), int(b.size()) / share}));
  };
}

Call retrieving(const Context& context) {
  static const std::vector<Features> features = [] {
    std::vector<Features> all;
    for (const View& view : views()) all.push_back(Sift(Context::cpu()).detect(view.image));
    return all;
  }();
  return [=](Size size) {
    const int share = size == Size::large ? 1 : 4;
    RetrieveInput input;
    for (std::size_t i = 0; i < features.size(); ++i) {
      input.images.push_back({i, int(features[i].size()) / share});
    }
    input.read = [&](int image, std::vector<std::uint8_t>& out) {
      const std::uint8_t* from = features[image].descriptors.data();
      out.insert(out.end(), from, from + input.images[image].descriptors * Features::kLength);
    };
    std::string bytes;
    for (const RetrievedPair& pair : retrieve_pairs(context, input, {.words = 16})) {
      bytes += text(pair.first, " ", pair.second, " ", pair.score, " of the collection's pairs; ");
    }
    return bytes;
  };
}

Call estimating(const Context& context) {
  auto estimator = std::make_shared<FundamentalEstimator>(context);
  static const std::vector<Correspondence> points = [] {
    const Features a = Sift(Context::cpu()).detect(views()[0].image);
    const Features b = Sift(Context::cpu()).detect(views()[1].image);
    std::vector<Correspondence> all;
    for (const Match& m : Matcher(Context::cpu()).match(a, b)) {
      const Keypoint &p = a.keypoints[m.a], &q = b.keypoints[m.b];
      all.push_back({p.x, p.y, q.x, q.y});
    }
    return all;
  }();
  return [=](Size size) {
    const std::size_t share = size == Size::large ? 1 : 2;
    return bytes_of(estimator->estimate(std::span(points).first(points.size() / share)));
  };
}

Call pipeline(const Context& context) {
  auto pair = std::make_shared<PairPipeline>(context, PairOptions{.max_features = 300});
  return [=](Size size) {
    const PairResult result = pair->run(picture(0, size), picture(1, size));
    return bytes_of(result.matches) + bytes_of(result.geometry);
  };
}

const Algorithm kAlgorithms[] = {{"Moravec", true, detecting<Moravec>},
                                 {"Harris", true, detecting<Harris>},
                                 {"Foagdd", true, detecting<Foagdd>},
                                 {"Sift", true, detecting<Sift>},
                                 {"GaussianFilter", true, filtering<GaussianFilter>},
                                 {"BilateralFilter", true, filtering<BilateralFilter>},
                                 {"TrilateralFilter", true, filtering<TrilateralFilter>},
                                 {"Matcher", true, matching},
                                 {"retrieve_pairs", true, retrieving},
                                 {"FundamentalEstimator", false, estimating},
                                 {"PairPipeline", true, pipeline}};

class Allocation : public testing::OnEveryDevice {
 protected:
  // Whether f hit the refusal of its nth allocation. If so, the error must say so; if not, it made
  // fewer.
  template <class F>
  bool refused(std::uint64_t nth, const F& f) {
    const std::uint64_t before = context.memory().allocations;
    core::refuse_allocation(context, nth);
    bool failed = false;
    try {
      f();
    } catch (const Error& error) {
      failed = true;
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      EXPECT_NE(std::string(error.what()).find("no room for "), std::string::npos) << error.what();
    }
    core::refuse_allocation(context, 0);
    const std::uint64_t taken = context.memory().allocations - before;
    if (!failed) {
      EXPECT_LT(taken, nth) << "the refusal was not reported";
    }
    return failed;
  }
};
INSTANTIATE_TEST_SUITE_P(, Allocation, testing::every_device(), testing::device_name);

TEST_P(Allocation, TheNthBlockIsRefusedOnce) {
  const Place place = context.is_cuda() ? Place::device : Place::host;
  core::refuse_allocation(context, 2);
  const Memory first = context.allocate(place, 100, "test");
  EXPECT_THROW(context.allocate(place, 100, "test"), Error);
  EXPECT_EQ(context.memory().bytes, 100u);
  EXPECT_NE(context.allocate(place, 100, "test").data(), nullptr);
  EXPECT_EQ(context.memory().allocations, 2u);
}

TEST_P(Allocation, AFirstCallThatFailsCanBeRepeated) {
  for (const Algorithm& algorithm : kAlgorithms) {
    SCOPED_TRACE(algorithm.name);
    const std::string expected = algorithm.make(context)(Size::large);
    EXPECT_GT(expected.size(), 100u);
    const std::size_t held = context.memory().bytes;
    std::uint64_t nth = 1;
    for (bool again = true; again; ++nth) {
      {
        Call call;
        again = refused(nth, [&] {
          call = algorithm.make(context);
          EXPECT_TRUE(call(Size::large) == expected);
        });
        if (call) {
          EXPECT_TRUE(call(Size::large) == expected) << "after block " << nth;
        }
      }
      EXPECT_EQ(context.memory().bytes, held) << "after block " << nth;
      ASSERT_LT(nth, 200u);
    }
    EXPECT_EQ(nth > 2, algorithm.takes_blocks_on_cpu || context.is_cuda());
  }
}

TEST_P(Allocation, ALargerCallThatFailsLeavesTheSmallerOnesWorking) {
  for (const Algorithm& algorithm : kAlgorithms) {
    SCOPED_TRACE(algorithm.name);
    const Call fresh = algorithm.make(context);
    const std::string small = fresh(Size::small), large = fresh(Size::large);
    EXPECT_TRUE(small != large);
    const std::size_t held = context.memory().bytes;
    std::uint64_t nth = 1;
    for (bool again = true; again; ++nth) {
      {
        const Call call = algorithm.make(context);
        EXPECT_TRUE(call(Size::small) == small);
        again = refused(nth, [&] { EXPECT_TRUE(call(Size::large) == large); });
        EXPECT_TRUE(call(Size::small) == small) << "after block " << nth;
        EXPECT_TRUE(call(Size::large) == large) << "after block " << nth;
      }
      EXPECT_EQ(context.memory().bytes, held) << "after block " << nth;
      ASSERT_LT(nth, 200u);
    }
    EXPECT_EQ(nth > 2, algorithm.takes_blocks_on_cpu || context.is_cuda());
  }
}

// Every row of a table by image name, because ids depend on the order in which images were added.
std::map<std::string, std::string> rows_by_name(const Database& database) {
  std::map<std::string, std::string> rows;
  std::map<colmap::Id, std::string> names;
  for (const colmap::ImageRow& image : database.images()) {
    names[image.id] = image.name;
    std::vector<std::uint8_t> descriptors;
    database.read_descriptors(image.id, descriptors);
    rows[image.name] = bytes_of(database.points(image.id)) + bytes_of(descriptors);
  }
  EXPECT_EQ(database.cameras().size(), rows.size());
  return rows;
}

// Every row of the tables of pairs.
std::map<colmap::Id, std::string> pair_rows(const Database& database) {
  std::map<colmap::Id, std::string> rows;
  for (const colmap::Id pair : database.matched_pairs(0, INT64_MAX)) {
    rows[pair] = bytes_of(database.matches(pair));
    if (const auto row = database.two_view(pair)) {
      rows[pair] += text("|", int(row->configuration)) + bytes_of(row->inliers);
      if (row->F) rows[pair] += bytes_of(std::vector(row->F->begin(), row->F->end()));
      if (row->H) rows[pair] += bytes_of(std::vector(row->H->begin(), row->H->end()));
    }
  }
  return rows;
}

class FolderAllocation : public Allocation {
 protected:
  void SetUp() override {
    fs::create_directories(images);
    for (const View& view : views()) write_image(images / (view.name + ".png"), view.image);
  }
  Database made(const std::string& name) const {
    return Database(folder / name, Database::Open::create);
  }
  const testing::TemporaryFolder folder;
  const fs::path images = folder / "images";
};
INSTANTIATE_TEST_SUITE_P(, FolderAllocation, testing::every_device(), testing::device_name);

// An image for which there is no memory is reported like one that cannot be read; the others are
// processed, and the next run processes this one.
TEST_P(FolderAllocation, ExtractReportsTheImageAndTheNextRunDoesIt) {
  Database undisturbed = made("undisturbed.db");
  ASSERT_EQ(extract_folder(context, images, undisturbed).extracted, 3);
  const auto expected = rows_by_name(undisturbed);
  int failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 200u);
    Database database = made(text(nth, ".db"));
    std::vector<std::string> sentences;
    FolderEvents events;
    events.report = [&](const std::string& sentence) { sentences.push_back(sentence); };
    core::refuse_allocation(context, nth);
    const ExtractReport report = extract_folder(context, images, database, {}, events);
    core::refuse_allocation(context, 0);
    EXPECT_EQ(report.extracted + report.failed, 3);
    EXPECT_EQ(context.memory().bytes, 0u);
    EXPECT_EQ(database.images().size(), std::size_t(report.extracted));
    ASSERT_EQ(sentences.size(), std::size_t(report.failed));
    for (const std::string& sentence : sentences) {
      ++failures;
      EXPECT_TRUE(sentence.starts_with((images / "view_00").string())) << sentence;
      EXPECT_NE(sentence.find("no room for "), std::string::npos) << sentence;
    }
    EXPECT_EQ(extract_folder(context, images, database).extracted, report.failed);
    EXPECT_TRUE(rows_by_name(database) == expected) << "after block " << nth;
    if (report.failed == 0) break;
  }
  EXPECT_GT(failures, 0);
}

TEST_P(FolderAllocation, MatchAllAndVerifyEndAndTheNextRunContinues) {
  Database undisturbed = made("undisturbed.db");
  extract_folder(context, images, undisturbed);
  match_all(context, undisturbed);
  verify_all(context, undisturbed);
  const auto expected = pair_rows(undisturbed);
  ASSERT_EQ(expected.size(), 3u);
  int failures = 0;
  for (bool again = true; again;) {
    const std::uint64_t nth = ++failures;
    ASSERT_LT(nth, 200u);
    Database database = made(text(nth, ".db"));
    extract_folder(context, images, database);
    again = refused(nth, [&] { match_all(context, database); });
    EXPECT_EQ(context.memory().bytes, 0u);
    match_all(context, database);
    again |= refused(nth, [&] { verify_all(context, database); });
    EXPECT_EQ(context.memory().bytes, 0u);
    verify_all(context, database);
    EXPECT_TRUE(pair_rows(database) == expected) << "after block " << nth;
  }
  EXPECT_GT(failures, 1);
}

}  // namespace
}  // namespace cornea
