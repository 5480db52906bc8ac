// SPDX-License-Identifier: Apache-2.0
// Tests of matches and the geometry that the program finds in them: what it reads, counts, prints
// and writes.
#include <set>

#include "cli_testing.h"
#include "matches_testing.h"

#include "cornea/core/build.h"
#include "cornea/core/random.h"

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

  const std::vector<Correspondence> matches = synthetic_matches(120);

  // The lines of a CSV, one for each match by `line`.
  template <class Line>
  std::string lines(const Line& line) const {
    std::ostringstream out;
    for (std::size_t i = 0; i < matches.size(); ++i) out << line(i, matches[i]) << "\n";
    return out.str();
  }
};

TEST_F(MatchesCli, FundamentalFindsColumnsByName) {
  write("plain.csv", csv_of(matches));
  write("pandas.csv", ",x1,y1,x2,y2\n" + lines([](std::size_t i, const Correspondence& m) {
                        return text(i, ",", csv_line(m));
                      }));
  write("score.csv", "score;Y2;X2;\"y1\";x1\n" + lines([](std::size_t i, const Correspondence& m) {
                       return text(1.0 / double(i + 1), ";", m.y2, ";", m.x2, ";", m.y1, ";", m.x1);
                     }));
  const Json plain = fundamental("plain.csv");
  EXPECT_GT(plain["inlier_count"], 60);
  EXPECT_EQ(fundamental("pandas.csv")["F"], plain["F"]);
  EXPECT_EQ(fundamental("score.csv")["F"], plain["F"]);
}

TEST_F(MatchesCli, FundamentalNamesAmbiguousColumns) {
  auto numbered =
      lines([](std::size_t i, const Correspondence& m) { return text(i, ",", csv_line(m)); });
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
          return text("00", i, ",", csv_line(m), ",9,\"a, b\"");
        }));
  const Json json = fundamental("m.csv --csv out.csv");
  std::istringstream out(read_text(folder / "out.csv"));
  std::string line;
  std::getline(out, line);
  EXPECT_EQ(line, "name,x1,y1,x2,y2,note,epipolar_distance,inlier");
  for (std::size_t i = 0; i < matches.size(); ++i) {
    std::getline(out, line);
    const Correspondence& m = matches[i];
    const std::string front = text("00", i, ",", csv_line(m), ",\"a, b\",");
    EXPECT_EQ(line.substr(0, front.size()), front);
    EXPECT_EQ(line.substr(line.size() - 2), json["inliers"][i] == 1 ? ",1" : ",0");
  }
  // The program can read its own output.
  EXPECT_EQ(fundamental("out.csv --csv again.csv")["F"], json["F"]);
  EXPECT_EQ(read_text(folder / "again.csv"), read_text(folder / "out.csv"));
}

TEST_F(MatchesCli, RepeatedLinesCountOnce) {
  const std::string once = csv_of(matches);
  write("once.csv", once);
  write("thrice.csv", once + once + once);
  const Json one = fundamental("once.csv"), three = fundamental("thrice.csv --csv out.csv");
  EXPECT_EQ(three["F"], one["F"]);
  EXPECT_EQ(three["inlier_count"], one["inlier_count"]);
  EXPECT_EQ(three["places"], 120);
  EXPECT_EQ(three["inliers"].size(), 360u);
  EXPECT_EQ(three["inliers"][250], one["inliers"][10]);
  const std::string screen = shell("cornea fundamental thrice.csv").out;
  EXPECT_NE(screen.find("360 correspondences at 120 different positions"), std::string::npos)
      << screen;
  // Eight wrong matches, each repeated a hundred times.
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

TEST_F(MatchesCli, MatchesBetweenTheSamePositionsCountOnce) {
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
    write("m.csv", csv_of(all));
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

TEST_F(MatchesCli, ADashIsStandardInputOrOutput) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 320 --height 240").code, 0);
  ASSERT_EQ(shell("cornea match s/view_000.png s/view_001.png -q --csv m.csv").code, 0);
  const std::string csv = read_text(folder / "m.csv");
  const Outcome match = shell("cornea match s/view_000.png - --csv - < s/view_001.png");
  EXPECT_EQ(match.out, csv) << match.err;
  // In a pipe, with nothing but the CSV in it.
  ASSERT_EQ(shell("cornea fundamental m.csv -q --csv f.csv").code, 0);
  const Outcome pipe =
      shell("cornea match s/view_000.png s/view_001.png --csv - | cornea fundamental - --csv -");
  EXPECT_EQ(pipe.out, read_text(folder / "f.csv")) << pipe.err;
  EXPECT_EQ(shell("cat m.csv | cornea fundamental -").out.rfind("standard input  ", 0), 0u);
  const Outcome both = shell("cornea fundamental - --csv f2.csv --json - < m.csv");
  EXPECT_EQ(Json::parse(both.out)["kind"], "general");
  EXPECT_EQ(read_text(folder / "f2.csv"), read_text(folder / "f.csv"));
  // Points, images, maps and descriptors.
  const std::string detect = "cornea detect s/view_000.png -q --detector ";
  for (const std::string what : {"harris --csv ", "harris --draw ", "sift --descriptors "}) {
    const std::string file = what.find("draw") == std::string::npos ? "out" : "out.png";
    ASSERT_EQ(shell(detect + what + file).code, 0);
    EXPECT_EQ(shell(detect + what + "-").out, read_text(folder / file)) << what;
    EXPECT_EQ(shell("cornea detect - --detector " + what + "- < s/view_000.png").out,
              read_text(folder / file))
        << what;
  }
  ASSERT_EQ(shell(detect + "harris --response r.pfm").code, 0);
  EXPECT_EQ(shell(detect + "harris --response -").out, read_text(folder / "r.pfm"));
  ASSERT_EQ(shell("cornea filter s/view_000.png -q -o g.png --filter gaussian").code, 0);
  EXPECT_EQ(shell("cornea filter - -o - --filter gaussian < s/view_000.png").out,
            read_text(folder / "g.png"));
  const Outcome pair = shell("cornea pair s/view_000.png - -o o --json - < s/view_001.png");
  EXPECT_EQ(Json::parse(pair.out)["kind"], "general") << pair.err;
  EXPECT_TRUE(fs::exists(folder / "o/report.html"));
  EXPECT_FALSE(fs::exists(folder / "-"));
}

TEST_F(MatchesCli, ADashIsOneInputAndOneOutput) {
  expect_refused("cornea detect small.png --csv - --json -", 2, "standard output");
  expect_refused("cornea match small.png small.png --csv - --draw -", 2, "standard output");
  expect_refused("cornea filter small.png -o - --json -", 2, "two results");
  expect_refused("cornea match - -", 2, "standard input");
  expect_refused("cornea detect small.png small.png --csv -", 2, "one image");
  if (kHasSqlite) expect_refused("cornea verify --db -", 2, "a database is a file");
  expect_refused("cornea detect - < /dev/null", 1, "standard input");
  expect_refused("echo no picture | cornea detect -", 1, "standard input: its first bytes");
  expect_refused("echo 1,2,3 | cornea fundamental -", 1, "standard input: line 1");
  expect_refused("cat /dev/zero | cornea fundamental -", 1, "standard input: line 1");
  expect_refused("cornea fundamental - < /dev/null", 1, "standard input: too few points");
}

TEST_F(MatchesCli, TheThresholdHasTwoSpellings) {
  write("m.csv", csv_of(matches));
  const Json sum = fundamental("m.csv --threshold 1.25");
  const Json per_line = fundamental("m.csv --threshold-per-line 0.625");
  EXPECT_EQ(per_line["threshold"], 1.25);
  EXPECT_EQ(per_line["F"], sum["F"]);
  EXPECT_EQ(per_line["inliers"], sum["inliers"]);
  expect_refused("cornea fundamental m.csv --threshold 1 --threshold-per-line 1", 2,
                 "--threshold-per-line");
  expect_refused("cornea fundamental m.csv --threshold-per-line=-1", 2,
                 "--threshold-per-line is -1");
  expect_refused("cornea pair a b -o o --threshold 1 --threshold-per-line 1", 2,
                 "--threshold-per-line");
  std::vector<std::string> commands = {"fundamental", "pair"};
  if (kHasSqlite) {
    commands.push_back("verify");
    expect_refused("cornea verify --db x --threshold 1 --threshold-per-line 1", 2,
                   "--threshold-per-line");
  }
  for (const std::string& command : commands) {
    const std::string help = shell(text("cornea ", command, " --help | tr -s ' \\n' ' '")).out;
    EXPECT_NE(help.find("the sum of its distances to both epipolar lines"), std::string::npos)
        << help;
    EXPECT_NE(help.find("--threshold-per-line"), std::string::npos) << help;
  }
}

TEST_F(MatchesCli, MatchOutputCarriesIndicesAndArraysOfNumbersAreOneLine) {
  ASSERT_EQ(shell("cornea scene -o s --views 2 --width 320 --height 240").code, 0);
  const std::string images = "s/view_000.png s/view_001.png";
  ASSERT_EQ(shell("cornea detect --detector sift -q --csv p " + images).code, 0);
  const Outcome o = shell("cornea match " + images + " --csv m.csv --json -");
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  ASSERT_EQ(json["indices"].size(), json["matches"].size());
  auto points = [&](const std::string& file) {
    std::istringstream in(read_text(folder / "p" / file));
    std::vector<std::pair<float, float>> all;
    std::string line;
    for (std::getline(in, line); std::getline(in, line);) {
      const std::size_t comma = line.find(',');
      all.emplace_back(std::stof(line), std::stof(line.substr(comma + 1)));
    }
    return all;
  };
  const auto first = points("view_000_sift.csv"), second = points("view_001_sift.csv");
  std::istringstream csv(read_text(folder / "m.csv"));
  std::string line;
  std::getline(csv, line);
  for (std::size_t i = 0; i < json["matches"].size(); ++i) {
    const Json &m = json["matches"][i], &k = json["indices"][i];
    EXPECT_EQ(first.at(k[0]), std::pair(m[0].get<float>(), m[1].get<float>()));
    EXPECT_EQ(second.at(k[1]), std::pair(m[2].get<float>(), m[3].get<float>()));
    std::getline(csv, line);
    EXPECT_TRUE(line.ends_with(text(",", k[0], ",", k[1]))) << line;
  }
  // A match takes one line, and so does the list of inliers.
  std::istringstream lines_of(o.out);
  std::size_t rows = 0;
  while (std::getline(lines_of, line)) {
    rows += line.rfind("    [", 0) == 0;
    EXPECT_EQ(std::count(line.begin(), line.end(), '['), std::count(line.begin(), line.end(), ']') +
                                                             (line.ends_with("[") ? 1 : 0) -
                                                             (line.rfind("  ]", 0) == 0 ? 1 : 0))
        << line;
  }
  EXPECT_EQ(rows, 2 * json["matches"].size());
  const std::string f = shell("cornea fundamental m.csv --json -").out;
  const std::size_t at = f.find("\"inliers\": [");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(
      std::count(f.begin() + std::ptrdiff_t(at), f.begin() + std::ptrdiff_t(f.find('\n', at)), ','),
      std::ptrdiff_t(json["matches"].size()));
}

}  // namespace
}  // namespace cornea
