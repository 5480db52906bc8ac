// Matches and the geometry that the program finds in them: what it reads, counts, says and writes.
#include <set>

#include "cli_testing.h"

#include "cornea/core/random.h"
#include "cornea/scene.h"

namespace cornea {
namespace {

class MatchesCli : public Cli {
 protected:
  void write(const std::string& name, const std::string& contents) {
    std::ofstream(folder / name, std::ios::binary) << contents;
  }
  Json fundamental(const std::string& arguments) {
    const Outcome o = shell("cornea fundamental --device cpu --json - " + arguments);
    EXPECT_EQ(o.err, "") << arguments;
    return o.out.empty() ? Json() : Json::parse(o.out);
  }

  // Of two synthetic views, a third of them wrong.
  const std::vector<Correspondence> matches =
      make_matched_points({.count = 120, .outliers = 0.33, .noise = 0.2, .seed = 3}).matches;

  // The lines of a CSV: what `line` makes of each match.
  template <class Line>
  std::string lines(const Line& line) const {
    std::ostringstream out;
    for (std::size_t i = 0; i < matches.size(); ++i) out << line(i, matches[i]) << "\n";
    return out.str();
  }
};

TEST_F(MatchesCli, FundamentalFindsColumnsByName) {
  write("plain.csv", lines([](std::size_t, const Correspondence& m) {
          return text(m.x1, ",", m.y1, ",", m.x2, ",", m.y2);
        }));
  write("pandas.csv", ",x1,y1,x2,y2\n" + lines([](std::size_t i, const Correspondence& m) {
                        return text(i, ",", m.x1, ",", m.y1, ",", m.x2, ",", m.y2);
                      }));
  write("score.csv", "score;Y2;X2;\"y1\";x1\n" + lines([](std::size_t i, const Correspondence& m) {
                       return text(1.0 / double(i + 1), ";", m.y2, ";", m.x2, ";", m.y1, ";", m.x1);
                     }));
  const Json plain = fundamental("plain.csv");
  EXPECT_GT(plain["inlier_count"], 60);
  EXPECT_EQ(fundamental("pandas.csv")["F"], plain["F"]);
  EXPECT_EQ(fundamental("score.csv")["F"], plain["F"]);
}

TEST_F(MatchesCli, FundamentalNamesColumnsItCannotTell) {
  auto numbered = lines([](std::size_t i, const Correspondence& m) {
    return text(i, ",", m.x1, ",", m.y1, ",", m.x2, ",", m.y2);
  });
  write("index.csv", numbered);
  expect_refused("cornea fundamental index.csv", 1, "index,x1,y1,x2,y2");
  write("named.csv", "n,a,b,c,d\n" + numbered);
  expect_refused("cornea fundamental named.csv", 1, "n, a, b, c, d");
  write("twice.csv", "x1,x1,y1,x2,y2\n" + numbered);
  expect_refused("cornea fundamental twice.csv", 1, "names x1 twice");
  write("short.csv", "x1,y1,x2,y2,label\n1,2,3,4,5\n1,2,3,4\n");
  expect_refused("cornea fundamental short.csv", 1, "line 3");
  expect_refused("cornea fundamental /dev/zero", 1, "longer than");
}

TEST_F(MatchesCli, FurtherColumnsSurviveAndOldResultsAreReplaced) {
  write("m.csv",
        "name,x1,y1,x2,y2,Inlier,note\n" + lines([](std::size_t i, const Correspondence& m) {
          return text("00", i, ",", m.x1, ",", m.y1, ",", m.x2, ",", m.y2, ",9,\"a, b\"");
        }));
  const Json json = fundamental("m.csv --csv out.csv");
  std::istringstream out(read_text(folder / "out.csv"));
  std::string line;
  std::getline(out, line);
  EXPECT_EQ(line, "name,x1,y1,x2,y2,note,epipolar_distance,inlier");
  for (std::size_t i = 0; i < matches.size(); ++i) {
    std::getline(out, line);
    const Correspondence& m = matches[i];
    const std::string front =
        text("00", i, ",", m.x1, ",", m.y1, ",", m.x2, ",", m.y2, ",\"a, b\",");
    EXPECT_EQ(line.substr(0, front.size()), front);
    EXPECT_EQ(line.substr(line.size() - 2), json["inliers"][i] == 1 ? ",1" : ",0");
  }
  // What it wrote it reads.
  EXPECT_EQ(fundamental("out.csv --csv again.csv")["F"], json["F"]);
  EXPECT_EQ(read_text(folder / "again.csv"), read_text(folder / "out.csv"));
}

TEST_F(MatchesCli, RepeatedLinesCountOnce) {
  const std::string once = lines([](std::size_t, const Correspondence& m) {
    return text(m.x1, ",", m.y1, ",", m.x2, ",", m.y2);
  });
  write("once.csv", once);
  write("thrice.csv", once + once + once);
  const Json one = fundamental("once.csv"), three = fundamental("thrice.csv --csv out.csv");
  EXPECT_EQ(three["F"], one["F"]);
  EXPECT_EQ(three["inlier_count"], one["inlier_count"]);
  EXPECT_EQ(three["places"], 120);
  EXPECT_EQ(three["inliers"].size(), 360u);
  EXPECT_EQ(three["inliers"][250], one["inliers"][10]);
  const std::string screen = shell("cornea fundamental thrice.csv").out;
  EXPECT_NE(screen.find("360 correspondences in 120 different places"), std::string::npos)
      << screen;
  // Eight wrong matches, a hundred times each.
  std::string eight, wrong;
  core::Random random(7);
  for (int i = 0; i < 60; ++i) {
    auto v = [&] { return random.uniform(0, 1000); };
    const std::string line = text(v(), ",", v(), ",", v(), ",", v(), "\n");
    wrong += line;
    if (i < 8) eight += line;
  }
  for (int i = 0; i < 100; ++i) wrong += eight;
  write("wrong.csv", wrong);
  const Json none = fundamental("wrong.csv --max-hypotheses 20000");
  EXPECT_EQ(none["kind"], "none");
  EXPECT_EQ(none["inlier_count"], 0);
}

TEST_F(MatchesCli, MatchesOfOnePlaceAreOne) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 480 --height 360").code, 0);
  const Outcome o = shell("cornea match s/view_000.png s/view_001.png --device cpu --json -");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json match = Json::parse(o.out);
  std::set<std::vector<double>> places;
  for (const Json& m : match["matches"]) {
    places.insert(std::vector<double>{m[0], m[1], m[2], m[3]});
  }
  EXPECT_GT(places.size(), 200u);
  EXPECT_EQ(places.size(), match["matches"].size());
  const Outcome p = shell("cornea pair s/view_000.png s/view_001.png -o o --device cpu --json -");
  ASSERT_EQ(p.code, 0) << p.err;
  EXPECT_EQ(Json::parse(p.out)["matches"], places.size());
}

TEST_F(MatchesCli, FewInliersCarryAWarning) {
  auto list = [&](int count, int wrong) {
    core::Random random(5);
    std::vector<Correspondence> all = make_matched_points({.count = count, .seed = 3}).matches;
    for (int i = 0; i < wrong; ++i) {
      auto v = [&] { return float(random.uniform(0, 1000)); };
      all.push_back({v(), v(), v(), v()});
    }
    std::string contents;
    for (const Correspondence& m : all) {
      contents += text(m.x1, ",", m.y1, ",", m.x2, ",", m.y2, "\n");
    }
    write("m.csv", contents);
    return fundamental("m.csv");
  };
  const Json sure = list(60, 20);
  EXPECT_EQ(sure["kind"], "general");
  EXPECT_TRUE(sure["warning"].is_null());
  const Json few = list(12, 4);
  EXPECT_EQ(few["kind"], "general");
  EXPECT_NE(few["warning"].get<std::string>().find("chance"), std::string::npos);
  EXPECT_NE(shell("cornea fundamental m.csv").out.find("chance"), std::string::npos);
  const Json none = list(12, 40);
  EXPECT_EQ(none["kind"], "none");
  EXPECT_EQ(none["inlier_count"], 0);
  EXPECT_NE(none["warning"].get<std::string>().find("none"), std::string::npos);
}

}  // namespace
}  // namespace cornea
