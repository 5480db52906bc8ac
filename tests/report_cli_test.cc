// SPDX-License-Identifier: Apache-2.0
// Tests of the page of a database, from outside.
#include "colmap_testing.h"

namespace cornea {
namespace {

using namespace testing;

class ReportCli : public Colmap {
 protected:
  void make_verified(int count) {
    make_windows(count);
    ASSERT_EQ(run(extract()).code, 0);
    ASSERT_EQ(run(on_database("match-all")).code, 0);
    ASSERT_EQ(run(on_database("verify")).code, 0);
  }
  std::vector<std::string> report(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"report",        "--db",          database,
                                    "--images",      images.string(), "-o",
                                    folder / "page", "--device",      "cpu"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(ReportCli, WritesAPageAndSaysWhatItShows) {
  make_verified(3);
  const Outcome o = run(report());
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("3 images in 1 group, 0 unconnected; 3 of 3 pairs with a geometry"),
            std::string::npos)
      << o.out;
  EXPECT_NE(o.out.find("page: " + (folder / "page/report.html").string()), std::string::npos);
  const std::string html = read_text(folder / "page/report.html");
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_NE(html.find("corneaPart(\"thumbnails\""), std::string::npos);
  // The command can be repeated and gives the same page.
  ASSERT_EQ(run(report()).code, 0);
  EXPECT_EQ(html, read_text(folder / "page/report.html"));
}

TEST_F(ReportCli, GivesJson) {
  make_verified(3);
  const Outcome o = run(report({"--json", "-", "--quiet"}));
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["images"], 3);
  EXPECT_EQ(json["pairs"], 3);
  EXPECT_EQ(json["verified"], 3);
  EXPECT_EQ(json["components"], Json::parse("[3]"));
  EXPECT_EQ(json["unconnected"].size(), 0u);
  EXPECT_EQ(json["unseen"], 0);
  EXPECT_EQ(json["files"].size(), 1u);
  EXPECT_GT(json["milliseconds"], 0);
}

TEST_F(ReportCli, DeletesPartsOfAnEarlierPage) {
  make_verified(2);
  const fs::path parts = folder / "page/report_parts";
  fs::create_directories(parts);
  write_bytes(parts / "lines-007.js", "old");
  write_bytes(parts / "mine.txt", "kept");
  ASSERT_EQ(run(report()).code, 0);
  EXPECT_FALSE(fs::exists(parts / "lines-007.js"));
  EXPECT_TRUE(fs::exists(parts / "mine.txt"));
}

TEST_F(ReportCli, RefusesMissingFiles) {
  make_verified(2);
  const Outcome folderless = run({"report", "--db", database, "--images", folder / "none", "-o",
                                  folder / "page", "--device", "cpu"});
  EXPECT_EQ(folderless.code, 1);
  EXPECT_NE(folderless.err.find("is not a folder; name the folder of photographs"),
            std::string::npos)
      << folderless.err;
  const Outcome no_database = run({"report", "--db", folder / "none.db", "--images",
                                   images.string(), "-o", folder / "page", "--device", "cpu"});
  EXPECT_EQ(no_database.code, 1);
  EXPECT_EQ(run({"report", "--db", database, "-o", folder / "page"}).code, 2);
  EXPECT_EQ(run(report({"--thumbnail-side", "3"})).code, 2);
  const std::string photograph = fs::directory_iterator(images)->path();
  const Outcome overwriting = run(report({"--json", photograph}));
  EXPECT_EQ(overwriting.code, 2);
  EXPECT_NE(overwriting.err.find("would be overwritten"), std::string::npos) << overwriting.err;
  EXPECT_FALSE(fs::exists(folder / "page"));
}

}  // namespace
}  // namespace cornea
