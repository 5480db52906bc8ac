// Matches and the geometry that the program finds in them: what it reads, counts, says and writes.
#include "cli_testing.h"

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

}  // namespace
}  // namespace cornea
