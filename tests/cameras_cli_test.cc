// SPDX-License-Identifier: Apache-2.0
// Known cameras: compares `cornea essential`, `cornea homography` and `cornea pair` with exact
// poses.
#include <cmath>
#include <fstream>
#include <numbers>

#include "cli_testing.h"

#include "cornea/core/random.h"
#include "cornea/geometry/two_view/relative_pose.h"
#include "cornea/scene.h"

namespace cornea {
namespace {

using Matrix = std::array<double, 9>;
using Vector = std::array<double, 3>;

Matrix matrix_of(const Json& json) {
  Matrix m{};
  for (int i = 0; i < 9; ++i) m[std::size_t(i)] = json[i / 3][i % 3];
  return m;
}

double degrees(double radians) { return radians * 180 / std::numbers::pi; }

// The angle of the rotation between two rotations, and the angle between two directions.
double rotation_error(const Matrix& a, const Matrix& b) {
  double trace = 0;
  for (std::size_t i = 0; i < 9; ++i) trace += a[i] * b[i];
  return degrees(std::acos(std::clamp((trace - 1) / 2, -1.0, 1.0)));
}
double direction_error(const Vector& a, const Vector& b) {
  const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const double product = std::hypot(a[0], a[1], a[2]) * std::hypot(b[0], b[1], b[2]);
  return degrees(std::acos(std::clamp(dot / product, -1.0, 1.0)));
}

struct Pose {
  Matrix R{};
  Vector t{};
};

// The pose between two views of cameras.json.
Pose pose_between(const Json& a, const Json& b) {
  Pose pose;
  const Matrix Ra = matrix_of(a["R"]), Rb = matrix_of(b["R"]);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) {
        pose.R[std::size_t(3 * i + j)] += Rb[std::size_t(3 * i + k)] * Ra[std::size_t(3 * j + k)];
      }
    }
  }
  for (int i = 0; i < 3; ++i) {
    pose.t[std::size_t(i)] = b["t"][i];
    for (int j = 0; j < 3; ++j) {
      pose.t[std::size_t(i)] -= pose.R[std::size_t(3 * i + j)] * a["t"][j].get<double>();
    }
  }
  return pose;
}

std::string with_exif(const std::vector<std::uint8_t>& jpeg, int focal_35mm) {
  std::string tiff("II*\0\x08\0\0\0", 8);
  auto number = [&](unsigned v, int size) {
    for (int i = 0; i < size; ++i) tiff += char(v >> 8 * i);
  };
  auto field = [&](unsigned tag, unsigned type, unsigned value) {
    number(tag, 2), number(type, 2), number(1, 4), number(value, 4);
  };
  number(1, 2), field(0x8769, 4, 8 + 2 + 12 + 4), number(0, 4);
  number(1, 2), field(0xa405, 3, unsigned(focal_35mm)), number(0, 4);
  const std::string body = std::string("Exif\0\0", 6) + tiff;
  std::string bytes(jpeg.begin(), jpeg.end());
  const std::size_t length = body.size() + 2;
  bytes.insert(2, std::string("\xff\xe1", 2) + char(length >> 8) + char(length) + body);
  return bytes;
}

class CamerasCli : public Cli {
 protected:
  void write(const std::string& name, const std::string& contents) {
    std::ofstream(folder / name, std::ios::binary) << contents;
  }
  Json json_of(const std::string& line) {
    const Outcome o = shell(line + " --device cpu --json -");
    EXPECT_EQ(o.code, 0) << line << "\n" << o.err;
    return o.out.empty() ? Json() : Json::parse(o.out);
  }

  // Points in front of two cameras, seen through `lens` in both; a fifth of the matches is wrong.
  const Intrinsics straight = {900, 905, 639.5, 479.5};
  Pose truth;
  void write_matches(const std::string& name, const Intrinsics& lens, bool flat = false) {
    const double turn = 0.2;
    truth = {{std::cos(turn), 0, std::sin(turn), 0, 1, 0, -std::sin(turn), 0, std::cos(turn)},
             {-0.95, 0.05, 0.3}};
    core::Random random(11);
    std::string csv = "x1,y1,x2,y2\n";
    for (int i = 0; i < 250; ++i) {
      const double x = random.uniform(-2, 2), y = random.uniform(-1.5, 1.5);
      const double z = flat ? 6 + 0.3 * x : random.uniform(4, 9);
      const Matrix& R = truth.R;
      const Vector q = {R[0] * x + R[1] * y + R[2] * z + truth.t[0],
                        R[3] * x + R[4] * y + R[5] * z + truth.t[1],
                        R[6] * x + R[7] * y + R[8] * z + truth.t[2]};
      const auto a = lens.pixel(x / z, y / z), b = lens.pixel(q[0] / q[2], q[1] / q[2]);
      const auto noise = [&] { return random.uniform(-0.3, 0.3); };
      const bool wrong = i % 5 == 4;
      const double u = wrong ? random.uniform(0, 1280) : b[0] + noise();
      const double v = wrong ? random.uniform(0, 960) : b[1] + noise();
      csv += text(a[0] + noise(), ",", a[1] + noise(), ",", u, ",", v, "\n");
    }
    write(name, csv);
  }
  void expect_pose(const Json& json, double most_degrees) {
    ASSERT_TRUE(json["R"].is_array()) << json.dump();
    const Vector t = json["t"].get<Vector>();
    EXPECT_LT(rotation_error(matrix_of(json["R"]), truth.R), most_degrees);
    EXPECT_LT(direction_error(t, truth.t), most_degrees);
    EXPECT_NEAR(std::hypot(t[0], t[1], t[2]), 1, 1e-9);
    // E = [t]x R up to scale.
    const Matrix R = matrix_of(json["R"]);
    Matrix product{}, E = matrix_of(json["E"]);
    for (std::size_t j = 0; j < 3; ++j) {
      product[j] = t[1] * R[6 + j] - t[2] * R[3 + j];
      product[3 + j] = t[2] * R[j] - t[0] * R[6 + j];
      product[6 + j] = t[0] * R[3 + j] - t[1] * R[j];
    }
    double same = 0;
    for (std::size_t i = 0; i < 9; ++i) same += E[i] * product[i] / std::sqrt(2.0);
    EXPECT_NEAR(std::abs(same), 1, 1e-6);
  }
};

TEST_F(CamerasCli, EssentialFindsThePose) {
  write_matches("m.csv", straight);
  const Json json = json_of("cornea essential m.csv --camera 900,905,639.5,479.5 --csv out.csv");
  expect_pose(json, 1);
  EXPECT_EQ(json["kind"], "general");
  EXPECT_GE(json["inlier_count"], 190);
  EXPECT_LE(json["inlier_count"], 215);
  EXPECT_EQ(json["inliers"].size(), 250u);
  EXPECT_EQ(json["places"], 250);
  EXPECT_EQ(json["pure_rotation"], false);
  EXPECT_GT(json["median_angle_degrees"], 3);
  EXPECT_LT(json["median_angle_degrees"], 15);
  EXPECT_GT(json["threshold"], 0);
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_TRUE(json["warning"].is_null());
  for (const char* key : {"hypotheses", "rounds", "converged", "milliseconds", "stopped_by"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  const std::string csv = read_text(folder / "out.csv");
  EXPECT_EQ(csv.rfind("x1,y1,x2,y2,epipolar_distance,inlier\n", 0), 0u);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 251);
  const std::string screen =
      shell("cornea essential m.csv --camera 900,905,639.5,479.5 --device cpu").out;
  EXPECT_NE(screen.find("stands to the right"), std::string::npos) << screen;
  EXPECT_NE(screen.find("enough for depth"), std::string::npos) << screen;
  EXPECT_NE(screen.find("degrees about"), std::string::npos) << screen;
}

TEST_F(CamerasCli, BothSpellingsOfACameraAreTheSame) {
  write_matches("m.csv", straight);
  const std::string both = "cornea essential m.csv --camera ";
  const Json plain = json_of(both + "900,905,639.5,479.5");
  // In COLMAP the centre of the first pixel is 0.5.
  EXPECT_EQ(json_of(both + "PINHOLE:900,905,640,480")["E"], plain["E"]);
  EXPECT_EQ(json_of(both + "OPENCV:900,905,640,480,0,0,0,0")["E"], plain["E"]);
  EXPECT_EQ(json_of("cornea essential m.csv --camera1 900,905,639.5,479.5 --camera2 "
                    "PINHOLE:900,905,640,480")["E"],
            plain["E"]);
  const Json one = json_of(both + "SIMPLE_PINHOLE:902,640,480")["cameras"]["first"];
  EXPECT_EQ(one["fx"], 902);
  EXPECT_EQ(one["fy"], 902);
  EXPECT_EQ(one["cx"], 639.5);
  EXPECT_EQ(one["cy"], 479.5);
  const Json radial = json_of(both + "SIMPLE_RADIAL:902,640,480,-0.01")["cameras"]["second"];
  EXPECT_EQ(radial["k1"], -0.01);
  EXPECT_EQ(json_of(both + "RADIAL:902,640,480,-0.01,0.02")["cameras"]["second"]["k2"], 0.02);
}

TEST_F(CamerasCli, EssentialRemovesLensDistortion) {
  Intrinsics bent = straight;
  bent.k1 = -0.25;
  bent.k2 = 0.05;
  bent.p1 = 0.002;
  write_matches("m.csv", bent);
  const Json right =
      json_of("cornea essential m.csv --camera 900,905,639.5,479.5,-0.25,0.05,0.002 --threshold 2");
  expect_pose(right, 1);
  EXPECT_GE(right["inlier_count"], 185);
  EXPECT_EQ(json_of("cornea essential m.csv --camera "
                    "OPENCV:900,905,640,480,-0.25,0.05,0.002,0 --threshold 2")["E"],
            right["E"]);
  const Json wrong = json_of("cornea essential m.csv --camera 900,905,639.5,479.5 --threshold 2");
  EXPECT_LT(wrong["inlier_count"], right["inlier_count"]);
}

TEST_F(CamerasCli, WrongCamerasAreRefused) {
  write_matches("m.csv", straight);
  expect_refused("cornea essential m.csv", 2, "needs the cameras");
  expect_refused("cornea essential m.csv --camera1 900,900,640,480", 2, "--camera2 is missing");
  expect_refused("cornea essential m.csv --camera2 900,900,640,480", 2, "--camera1 is missing");
  expect_refused("cornea essential m.csv --camera 900,900,640", 2, "fx,fy,cx,cy");
  expect_refused("cornea essential m.csv --camera 900,900,640,480,0,0,0,0,0", 2, "fx,fy,cx,cy");
  expect_refused("cornea essential m.csv --camera 900,x,640,480", 2, "'x' is not a number");
  expect_refused("cornea essential m.csv --camera 900,,640,480", 2, "is not a number");
  expect_refused("cornea essential m.csv --camera -900,900,640,480", 2, "--camera");
  expect_refused("cornea essential m.csv --camera 900,900,nan,480", 2, "--camera");
  expect_refused("cornea essential m.csv --camera FISHEYE:1,2,3", 2, "SIMPLE_RADIAL");
  expect_refused("cornea essential m.csv --camera RADIAL:1,2,3", 2, "f,cx,cy,k1,k2");
  expect_refused("cornea essential m.csv --camera 9,9,9,9 --camera1 9,9,9,9", 2,
                 "--camera applies");
  expect_refused("cornea essential m.csv --camera 9,9,9,9 --csv m.csv", 2, "m.csv");
  write("few.csv", "1,2,3,4\n5,6,7,8\n9,1,3,2\n");
  expect_refused("cornea essential few.csv --camera 900,900,640,480 --device cpu -q", 1,
                 "too few points");
  expect_refused("cornea homography few.csv --device cpu -q", 1, "too few points");
  write("five.csv", "1,2,3,4\n5,6,7,8\n9,1,3,2\n4,4,8,1\n2,7,5,5\n");
  expect_refused(
      "cornea essential five.csv --camera 900,900,640,480 --shared-focal --device cpu -q", 1,
      "needs 6");
}

TEST_F(CamerasCli, HomographyOfAPlane) {
  write_matches("m.csv", straight, true);
  const Json json = json_of("cornea homography m.csv --csv out.csv");
  EXPECT_EQ(json["kind"], "planar");
  EXPECT_GE(json["inlier_count"], 185);
  EXPECT_LE(json["inlier_count"], 210);
  const Matrix H = matrix_of(json["H"]);
  EXPECT_GT(std::abs(H[8]), 1e-9);
  const std::string csv = read_text(folder / "out.csv");
  EXPECT_EQ(csv.rfind("x1,y1,x2,y2,transfer_distance,inlier\n", 0), 0u);
  const std::string screen = shell("cornea homography m.csv --device cpu").out;
  EXPECT_NE(screen.find("\nH\n"), std::string::npos) << screen;
}

TEST_F(CamerasCli, PairWithCamerasHasThePose) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 640 --height 480").code, 0);
  const Json views = Json::parse(read_text(folder / "s/cameras.json"))["views"];
  truth = pose_between(views[0], views[1]);
  const Matrix K = matrix_of(views[0]["K"]);
  const std::string pair = "cornea pair s/view_000.png s/view_001.png -o o ";
  const Json plain = json_of(pair);
  EXPECT_TRUE(plain["E"].is_null() && plain["R"].is_null() && plain["cameras"].is_null());
  EXPECT_EQ(plain["model"], "F");

  const std::string camera = text("--camera ", K[0], ",", K[4], ",", K[2], ",", K[5]);
  const Json json = json_of(pair + camera);
  expect_pose(json, 1);
  EXPECT_EQ(json["model"], "E");
  EXPECT_EQ(json["kind"], "general");
  EXPECT_EQ(json["cameras"]["source"], "camera");
  EXPECT_NEAR(json["cameras"]["second"]["fx"], K[0], 1e-2);
  EXPECT_NE(json["choice"].get<std::string>().find("E, since"), std::string::npos);
  EXPECT_TRUE(json["configuration"].is_string());
  EXPECT_GT(json["median_angle_degrees"], 1);
  EXPECT_GT(json["inliers"], 0.8 * plain["inliers"].get<double>());
  // F is computed from E, and its epipoles are where each camera sees the other.
  const Intrinsics pinhole = {K[0], K[4], K[2], K[5]};
  const Matrix F = fundamental_of(matrix_of(json["E"]), {pinhole, pinhole});
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(json["F"][i / 3][i % 3].get<double>(), F[i], 1e-6);
  }
  const Vector t = json["t"].get<Vector>();
  EXPECT_NEAR(json["epipoles"][1][0].get<double>(), K[0] * t[0] / t[2] + K[2],
              1e-4 * std::abs(K[0] * t[0] / t[2]));
  EXPECT_EQ(Json::parse(read_text(folder / "o/summary.json"))["E"], json["E"]);

  const std::string focal = text(K[0]);
  const Json by_focal = json_of(pair + "--focal " + focal);
  EXPECT_EQ(by_focal["cameras"]["source"], "focal");
  EXPECT_EQ(by_focal["cameras"]["first"]["cx"], 319.5);
  expect_pose(by_focal, 1);

  EXPECT_EQ(by_focal["cameras"]["focal_factor"], 1);
  // A focal length is a guess, which is corrected if it is wrong.
  const Json corrected = json_of(pair + "--focal 250");
  EXPECT_EQ(corrected["model"], "E");
  EXPECT_NEAR(corrected["cameras"]["first"]["fx"], K[0], 0.1 * K[0]);
  EXPECT_NEAR(corrected["cameras"]["focal_factor"].get<double>() * 250,
              corrected["cameras"]["first"]["fx"].get<double>(), 1e-6);
  expect_pose(corrected, 8);
  EXPECT_NE(corrected["choice"].get<std::string>().find("corrected"), std::string::npos);

  // A camera is not corrected. One that is far off is recognised by its few inliers, and F is
  // chosen.
  const Json wrong = json_of(text(pair, "--camera 150,150,", K[2], ",", K[5]));
  EXPECT_EQ(wrong["model"], "F");
  EXPECT_TRUE(wrong["E"].is_null());
  EXPECT_NE(wrong["choice"].get<std::string>().find("do not fit"), std::string::npos);
  EXPECT_EQ(wrong["F"], plain["F"]);
  for (const Json& of : {json, corrected, wrong}) {
    const std::string chosen = of["model"].get<std::string>() + ", since";
    EXPECT_EQ(of["choice"].get<std::string>().find(chosen), 0u) << of["choice"];
    EXPECT_EQ(of["undistorted"], false);
  }

  // With distortion, F and the epipoles are those of undistorted pixels.
  const std::string bent = text("--camera SIMPLE_RADIAL:", K[0], ",", K[2], ",", K[5], ",0.001");
  EXPECT_EQ(json_of(pair + bent)["undistorted"], true);
  EXPECT_NE(shell(pair + bent + " --device cpu").out.find("undistorted pixels"), std::string::npos);

  const std::string screen = shell(pair + camera + " --device cpu").out;
  for (const char* words : {"Seen from the first camera", "median angle", "rotation", "epipoles",
                            "E, since", "E (x2^T E x1 = 0"}) {
    EXPECT_NE(screen.find(words), std::string::npos) << words << "\n" << screen;
  }
  expect_refused(pair + camera + " --focal 500", 2, "only one of these");
  for (const char* focal : {"0", "-1", "nan", "1e20"}) {
    expect_refused(pair + "--focal " + focal, 2, "positive number of pixels");
  }
  expect_refused(pair + "--focal 500 --no-cameras", 2, "only one of these");
  expect_refused(pair + "--focal -3", 2, "--focal");
  expect_refused(pair + "--camera1 9,9,9,9", 2, "--camera2 is missing");
}

// E holds for points on a plane too, unlike F.
TEST_F(CamerasCli, PairSaysThatTheSceneOfAPoseIsAPlane) {
  ASSERT_EQ(shell("cornea scene -o s --kind plane --views 2 --width 640 --height 480").code, 0);
  const Json view = Json::parse(read_text(folder / "s/cameras.json"))["views"][0];
  const Matrix K = matrix_of(view["K"]);
  const std::string pair =
      text("cornea pair s/view_000.png s/view_001.png -o o --ratio 0.6 --camera ", K[0], ",", K[4],
           ",", K[2], ",", K[5]);
  const Json json = json_of(pair);
  ASSERT_EQ(json["model"], "E");
  ASSERT_EQ(json["configuration"], "planar");
  const std::string screen = shell(pair + " --device cpu").out;
  EXPECT_NE(screen.find("lie on one plane, which "), std::string::npos) << screen;
  // A scene that is nothing but a plane may allow a second pose.
  EXPECT_EQ(screen.find("which allows two poses") == std::string::npos,
            screen.find("another pose explains as well") == std::string::npos &&
                screen.find("the wrong one of two poses") == std::string::npos)
      << screen;
}

TEST_F(CamerasCli, EssentialFindsASharedFocalLength) {
  write_matches("m.csv", straight);
  const std::string guess = "cornea essential m.csv --camera 1300,1307.2,639.5,479.5";
  const Json json = json_of(guess + " --shared-focal");
  EXPECT_NEAR(json["focal_factor"], 900 / 1300.0, 0.03);
  EXPECT_NEAR(json["cameras"]["first"]["fx"], 1300 * json["focal_factor"].get<double>(), 1e-9);
  expect_pose(json, 3);
  const Json held = json_of(guess);
  EXPECT_EQ(held["focal_factor"], 1);
  EXPECT_LT(held["inlier_count"], json["inlier_count"]);
  EXPECT_NE(shell(guess + " --shared-focal").out.find("of the guess"), std::string::npos);
  expect_refused("cornea essential m.csv --shared-focal --camera 1300,1300,639.5,479.5,-0.1", 1,
                 "--shared-focal needs cameras without distortion");
}

TEST_F(CamerasCli, DoubtfulPosesHaveAWarning) {
  const auto warning = [&](const std::string& line) {
    const Json json = json_of("cornea essential " + line);
    return json["warning"].is_string() ? json["warning"].get<std::string>() : std::string();
  };
  write_matches("m.csv", straight);
  EXPECT_NE(warning("m.csv --camera 4500,4525,639.5,479.5 --shared-focal").find("end of what"),
            std::string::npos);
  std::string few = "x1,y1,x2,y2\n";
  std::ifstream all(folder / "m.csv");
  std::string line;
  std::getline(all, line);
  for (int row = 0; row < 17 && std::getline(all, line); ++row) {
    if (row % 5 != 4) few += line + "\n";  // the other ones are wrong
  }
  write("few.csv", few);
  EXPECT_NE(warning("few.csv --camera 900,905,639.5,479.5").find("inliers are few"),
            std::string::npos);
  // A plane without outliers, seen so that two poses are possible.
  write_matches("flat.csv", straight, true);
  const std::string two = warning("flat.csv --camera 900,905,639.5,479.5");
  EXPECT_TRUE(two.find("another pose explains as well") != std::string::npos ||
              two.find("wrong one of two poses") != std::string::npos)
      << two;
  write("seven.csv",
        "1,2,3,4\n100,2,103,4\n1,200,3,202\n100,200,103,203\n50,70,52,73\n90,20,95,21\n10,120,13,"
        "127\n");
  for (const char* command : {"homography", "fundamental --sample 7"}) {
    EXPECT_NE(json_of(text("cornea ", command, " seven.csv"))["warning"].get<std::string>().find(
                  "only 7"),
              std::string::npos);
  }
}

TEST_F(CamerasCli, PairUsesTheFocalLengthOfExif) {
  // A 35 mm equivalent of 35 mm is a focal length of the longer side, here 640 pixels.
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 640 --height 480 --focal 640").code, 0);
  for (const int k : {0, 1}) {
    const auto view = read_image<std::uint8_t>(folder / "s" / text("view_00", k, ".png"));
    write(text("v", k, ".jpg"), with_exif(encode_jpeg(view, 97), 35));
    write(text("plain", k, ".jpg"), [&] {
      const auto bytes = encode_jpeg(view, 97);
      return std::string(bytes.begin(), bytes.end());
    }());
  }
  const Json views = Json::parse(read_text(folder / "s/cameras.json"))["views"];
  truth = pose_between(views[0], views[1]);
  const Json json = json_of("cornea pair v0.jpg v1.jpg -o o");
  EXPECT_EQ(json["cameras"]["source"], "exif");
  EXPECT_EQ(json["cameras"]["first"]["fx"], 640);
  EXPECT_EQ(json["cameras"]["focal_factor"], 1);
  EXPECT_EQ(json["cameras"]["first"]["cy"], 239.5);
  EXPECT_EQ(json["model"], "E");
  expect_pose(json, 1);
  const Json none = json_of("cornea pair v0.jpg v1.jpg -o o --no-cameras");
  EXPECT_TRUE(none["cameras"].is_null());
  EXPECT_EQ(none["F"], json_of("cornea pair plain0.jpg plain1.jpg -o p")["F"]);
  // EXIF of one of the two is not enough.
  EXPECT_TRUE(json_of("cornea pair v0.jpg plain1.jpg -o q")["cameras"].is_null());
  // Given cameras take precedence over EXIF.
  const std::string by_camera = "cornea pair v0.jpg v1.jpg -o o --camera 700,700,319.5,239.5";
  EXPECT_EQ(json_of(by_camera)["cameras"]["first"]["fx"], 700);
}

}  // namespace
}  // namespace cornea
