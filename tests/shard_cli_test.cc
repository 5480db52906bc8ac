// SPDX-License-Identifier: Apache-2.0
// Tests of `cornea shard`, items of `extract`, `match-all` and `verify`, and `cornea merge` from
// outside.
#include "colmap_testing.h"

namespace cornea {
namespace {

using namespace testing;

class ShardCommandTest : public Colmap {
 protected:
  using Words = std::vector<std::string>;
  Outcome call(Words words) {
    for (const char* word : {"--device", "cpu", "-q"}) words.emplace_back(word);
    return run(words);
  }
  void expect_done(const Words& words) {
    const Outcome o = run(words);
    EXPECT_EQ(o.code, 0) << words.front() << ": " << o.err;
  }
  Json status() {
    const Outcome o = run({"shard", "status", work, "-q", "--json", "-"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.code == 0 ? Json::parse(o.out) : Json();
  }
  int items(const std::string& step) {
    const Json now = status();
    for (const Json& one : now["steps"]) {
      if (one["step"] == step) return one["items"];
    }
    return -1;
  }
  void do_items(const Words& command, const std::string& step) {
    const int count = items(step);
    for (int k = 1; k <= count; ++k) {
      Words words = command;
      for (const std::string& word :
           {std::string("--work"), work.string(), std::string("--shard"), text(k, "/", count)}) {
        words.push_back(word);
      }
      const Outcome o = call(words);
      EXPECT_EQ(o.code, 0) << o.err;
    }
  }
  void refused(const Words& words, int code, const std::string& said) {
    const Outcome o = run(words);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find(said), std::string::npos) << o.err;
  }

  // A name with characters that are special in a URI, which SQLite receives.
  const fs::path work = folder / "wo rk?a#b%20c";
  const Words options = {"--pairs", "retrieve", "--neighbours", "1", "--further", "2"};
};

TEST_F(ShardCommandTest, EndsWithTheDatabaseOfOneCommand) {
  make_windows(6);
  Words folder_words = {"folder", images, "-o", folder / "scene", "--device", "cpu", "-q"};
  folder_words.insert(folder_words.end(), options.begin(), options.end());
  expect_done(folder_words);
  Words plan = {"shard", "plan", images, "-o", work, "--size", "4", "--block-pairs", "3"};
  plan.insert(plan.end(), options.begin(), options.end());
  const Outcome planned = run(plan);
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_NE(planned.out.find("6 images in 2 shards"), std::string::npos) << planned.out;
  EXPECT_NE(planned.out.find("verify_further"), std::string::npos) << planned.out;
  do_items({"extract"}, "extract");
  EXPECT_EQ(call({"shard", "pairs", work}).code, 0);
  do_items({"match-all"}, "match");
  do_items({"verify"}, "verify");
  EXPECT_EQ(call({"shard", "further", work}).code, 0);
  EXPECT_GT(items("match_further"), 0);
  do_items({"match-all", "--further"}, "match_further");
  EXPECT_FALSE(status()["done"]);
  do_items({"verify", "--further"}, "verify_further");
  EXPECT_TRUE(status()["done"]);
  expect_done({"merge", work, "--db", folder / "merged.db", "-q"});
  expect_same_database(folder / "merged.db", folder / "scene" / "database.db");
  expect_done({"folder", images, "-o", folder / "scene", "--pairs", "retrieve", "--neighbours", "1",
               "--further", "2", "--device", "cpu", "-q"});
}

TEST_F(ShardCommandTest, RefusesOptionsThatThePlanFixesAndMissingItems) {
  make_windows(3);
  expect_done({"shard", "plan", images, "-o", work, "--size", "2", "--no-root", "-q"});
  const Words item = {"extract", "--work", work, "--shard"};
  const auto with = [&](const Words& more) {
    Words words = item;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  refused(with({"1/2", "--max-features", "10"}), 2, "--max-features is fixed by the plan");
  refused(with({"1/2", "--db", "a.db"}), 2, "--db and --work");
  refused(with({"0/2"}), 2, "K/N");
  refused(with({"3/2"}), 2, "K/N");
  refused(with({"1/2x"}), 2, "K/N");
  refused(with({"1/3"}), 1, "has 2 items, not 3");
  refused({"extract", "--work", work}, 2, "--shard K/N");
  refused({"extract", images, "--shard", "1/2"}, 2, "--shard belongs to --work");
  refused({"extract", images}, 2, "--db is required");
  refused({"extract", "--db", "a.db"}, 2, "folder is required");
  refused({"verify"}, 2, "--db is required");
  refused({"match-all", "--work", work, "--shard", "1/1"}, 1, "choose is not done");
  refused({"shard", "pairs", work, "--ratio", "0.7"}, 2, "--ratio=0.7 is fixed");
  refused({"shard", "pairs", work}, 1, "item 1 of the step extract is not done");
  refused({"shard", "pairs", work, "-o", folder / "other"}, 2, "shard pairs has no --out");
  refused({"shard", "status", work, "--size", "5"}, 2, "shard status has no --size");
  refused({"shard", "status", work, "--redo"}, 2, "a flag of shard pairs");
  refused({"shard", "further", work, "--check"}, 2, "a flag of shard status");
  refused({"shard", "plan", images, "-o", work, "--decoders", "2"}, 2, "--decoders");
  refused({"shard", "plan", images, "-o", work, "--check"}, 2, "shard plan has no --check");
  refused({"shard", "status", work, "--local", "l"}, 2, "shard status has no --local");
  const fs::path plan = work / "plan.txt", photograph = images / "w101.png";
  const std::string kept = read_text(plan) + read_text(photograph);
  for (const fs::path& file : {plan, photograph}) {
    refused({"shard", "status", work, "--json", file}, 2, "would be overwritten");
    refused({"merge", work, "--by-component", folder / "parts", "--json", file}, 2,
            "would be overwritten");
    refused({"extract", "--work", work, "--shard", "1/2", "--json", file}, 2,
            "would be overwritten");
    refused({"shard", "plan", images, "-o", work, "--size", "2", "--no-root", "--json", file}, 2,
            "would be overwritten");
  }
  EXPECT_EQ(read_text(plan) + read_text(photograph), kept);
  refused({"shard", "plan", images, "-o", work, "--size", "2"}, 1, "other options");
  refused({"shard", "plan", images}, 2, "-o WORK");
  refused({"shard", "start", images}, 2, "plan, pairs, further or status");
  refused({"merge", work, "--db", folder / "merged.db"}, 1, "choose is not done");
  refused({"merge", work}, 2, "--by-component");
  EXPECT_FALSE(fs::exists(folder / "merged.db"));
}

TEST_F(ShardCommandTest, APhotographThatCannotBeReadIsNamedInEveryRun) {
  make_windows(3);
  std::ofstream(images / "broken.png") << "no picture";
  expect_done({"shard", "plan", images, "-o", work, "--size", "10", "-q"});
  for (int i = 0; i < 2; ++i) {
    const Outcome o = call({"extract", "--work", work, "--shard", "1/1", "--json", "-"});
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(o.err.find("broken.png"), std::string::npos) << o.err;
    EXPECT_EQ(Json::parse(o.out)["already"], i == 1);
  }
  EXPECT_EQ(status()["steps"][0]["failed"].size(), 1u);
  fs::remove(images / "broken.png");
  fs::copy_file(images / "w101.png", images / "broken.png");
  const Outcome o = call({"extract", "--work", work, "--shard", "1/1", "--redo"});
  EXPECT_EQ(o.code, 1) << "its size is not the plan's";
  EXPECT_NE(o.err.find("bytes but had"), std::string::npos) << o.err;
}

}  // namespace
}  // namespace cornea
