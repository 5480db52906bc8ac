// SPDX-License-Identifier: Apache-2.0
// Tests of what verify reports about cameras and configurations.
#include <numeric>

#include "colmap_testing.h"

namespace cornea {
namespace {

using namespace testing;

class VerifyCli : public Colmap {
 protected:
  // Three matched images; the focal lengths of the first two cameras are known, the third has an
  // unsupported model.
  void make_database() {
    make_windows(3);
    ASSERT_EQ(run(extract()).code, 0);
    ASSERT_EQ(run(on_database("match-all")).code, 0);
    change("UPDATE cameras SET prior_focal_length = 1");
    change("UPDATE cameras SET model = 5, params = zeroblob(64) WHERE camera_id = 3");
  }
  static std::int64_t sum(const Json& configurations) {
    std::int64_t all = 0;
    for (const auto& [name, count] : configurations.items()) all += std::int64_t(count);
    return all;
  }
};

TEST_F(VerifyCli, CountsConfigurationsAndCameras) {
  make_database();
  const Outcome o = run(on_database("verify"));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("1 camera has the model OPENCV_FISHEYE, which is not supported"),
            std::string::npos)
      << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["with_cameras"], 1);
  EXPECT_EQ(json["unread_cameras"], 2);
  EXPECT_EQ(json["guessed_cameras"], 0);
  EXPECT_EQ(json["bad_cameras"], 0);
  ASSERT_EQ(json["configurations"].size(), 7u);
  EXPECT_EQ(sum(json["configurations"]), 3);
  EXPECT_EQ(json["configurations"]["watermark"], 0);
  EXPECT_TRUE(json["configurations"].contains("planar_or_panoramic"));
  EXPECT_EQ(json["threshold"], 0);
  EXPECT_EQ(int(json["general"]) + int(json["planar"]) + int(json["degenerate"]), 3);
  const Outcome again = run({"verify", "--db", database, "--device", "cpu", "--redo"});
  EXPECT_NE(again.out.find("cameras: 1 pair with both, 2 without because a camera is missing or "
                           "damaged, or its model is not supported"),
            std::string::npos)
      << again.out;
}

TEST_F(VerifyCli, IgnoresCamerasIfAsked) {
  make_database();
  const Outcome o = run(on_database("verify", {"--no-cameras"}));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["with_cameras"], 0);
  EXPECT_EQ(json["unread_cameras"], 0);
  EXPECT_EQ(json["configurations"]["calibrated"], 0);
  EXPECT_EQ(json["configurations"]["planar"], 0);
  EXPECT_EQ(json["configurations"]["panoramic"], 0);
  // Options other than those of the existing rows.
  const Outcome other = run(on_database("verify"));
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.err.find("cameras no then and yes now"), std::string::npos) << other.err;
}

TEST_F(VerifyCli, NamesAnInvalidCamera) {
  make_database();
  change("UPDATE cameras SET params = zeroblob(32) WHERE camera_id = 1");
  const Outcome o = run(on_database("verify"));
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("camera 1 has a focal length of 0 pixels; its images are verified without"),
            std::string::npos)
      << o.err;
  EXPECT_EQ(Json::parse(o.out)["bad_cameras"], 1);
  EXPECT_EQ(sum(Json::parse(o.out)["configurations"]), 3);
}

}  // namespace
}  // namespace cornea
