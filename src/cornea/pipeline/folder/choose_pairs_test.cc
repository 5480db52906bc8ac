// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/choose_pairs.h"

#include <algorithm>
#include <fstream>

#include "cornea/pipeline/folder/exif_testing.h"
#include "cornea/pipeline/folder/folder_testing.h"

namespace cornea {
namespace {

using namespace testing;
using colmap::ImagePair;
using Pairs = std::vector<ImagePair>;

// Groups of images; those of one group have nearly the same descriptors.
class ChoosePairs : public OnEveryDevice {
 protected:
  Id add(Database& database, const std::string& name, int group, int count = 60) {
    Features features;
    core::Random descriptors(std::uint64_t(group) + 1), noise(std::uint64_t(++added_));
    for (int i = 0; i < count; ++i) {
      features.keypoints.push_back({.x = float(i), .y = float(i % 7), .scale = 1 + float(i % 5)});
      for (int k = 0; k < Features::kLength; ++k) {
        const int value = int(descriptors.integer(0, 120)) + int(noise.integer(0, 6));
        features.descriptors.push_back(std::uint8_t(value));
      }
    }
    Database::Transaction transaction(database);
    const Id camera =
        database.add_camera({.width = 100, .height = 100, .params = {120, 50, 50, 0}});
    const Id image = database.add_image(name, camera);
    database.write_features(image, features);
    transaction.commit();
    return image;
  }
  Database made(const std::string& name = "c.db") const {
    return Database(folder / name, Database::Open::create);
  }
  ChosenPairs choose(Database& database, const ChoosePairsOptions& options) {
    return choose_pairs(context, photographs, database, options);
  }

  int added_ = 0;
  const TemporaryFolder folder;
  const fs::path photographs = folder.path();
};

// Tests the order in which match_all reads the images, not the choice of pairs.
TEST_P(ChoosePairs, AreMatchedSoThatImagesAreReadTogether) {
  constexpr int kGroups = 4, kPerGroup = 3, kPoints = 60;
  Database database = made(), by_id = made("by_id.db");
  MatchAllOptions options;
  options.listed = true;
  // Ids of one group lie apart, and a block has room for one group.
  options.block_bytes = std::size_t(kPerGroup * kPoints * Features::kLength);
  for (int i = 0; i < kGroups * kPerGroup; ++i) {
    add(database, text(i, ".png"), i % kGroups, kPoints);
    for (int j = i % kGroups; j < i; j += kGroups) options.pairs.push_back({j + 1, i + 1});
  }
  added_ = 0;
  for (int i = 0; i < kGroups * kPerGroup; ++i) {
    add(by_id, text(i, ".png"), i % kGroups, kPoints);
  }
  const MatchAllReport report = match_all(context, database, options);
  EXPECT_EQ(report.matched, 12);
  EXPECT_EQ(report.images_read, 12);
  match_all(context, by_id);
  for (const colmap::ImagePair& pair : options.pairs) {
    const auto matches = database.matches(pair_id(pair));
    EXPECT_GT(matches.size(), 40u);
    EXPECT_EQ(matches, by_id.matches(pair_id(pair)));
  }
}

TEST_P(ChoosePairs, AutoTakesAllOfFewImages) {
  Database database = made();
  for (int i = 0; i < 4; ++i) add(database, text("i", i), i);
  const ChosenPairs all = choose(database, {.all_up_to = 4});
  EXPECT_EQ(all.choice, PairChoice::all);
  EXPECT_EQ(all.count, 6);
  EXPECT_TRUE(all.pairs.empty());
  EXPECT_TRUE(further_pairs(database, all).empty());
  EXPECT_EQ(choose(database, {.all_up_to = 3}).choice, PairChoice::retrieve);
  EXPECT_EQ(choose(database, {.choice = PairChoice::all, .all_up_to = 0}).count, 6);
}

TEST_P(ChoosePairs, SequentialFollowsNamesWhateverTheIds) {
  Database database = made();
  const Id c = add(database, "c", 0), a = add(database, "a", 0), b = add(database, "b", 0);
  const ChosenPairs chosen = choose(database, {.choice = PairChoice::sequential, .overlap = 1});
  EXPECT_EQ(chosen.pairs, (Pairs{{c, b}, {a, b}}));
  EXPECT_EQ(chosen.count, 2);
  EXPECT_FALSE(chosen.remembered);
}

TEST_P(ChoosePairs, RetrieveFindsWhatLooksAlikeAndIsRemembered) {
  Database database = made();
  for (int i = 0; i < 8; ++i) add(database, text("image ", i), i / 2);
  const ChoosePairsOptions options{.choice = PairChoice::retrieve,
                                   .retrieve = {.neighbours = 1, .words = 32}};
  const ChosenPairs chosen = choose(database, options);
  EXPECT_EQ(chosen.pairs, (Pairs{{1, 2}, {3, 4}, {5, 6}, {7, 8}}));
  EXPECT_FALSE(chosen.remembered);
  const ChosenPairs again = choose(database, options);
  EXPECT_TRUE(again.remembered);
  EXPECT_EQ(again.pairs, chosen.pairs);
  // Other options and other images lead to another choice.
  ChoosePairsOptions other = options;
  other.retrieve_features = 40;
  EXPECT_FALSE(choose(database, other).remembered);
  EXPECT_FALSE(choose(database, options).remembered);  // only the last choice is kept
  add(database, "one more", 9);
  EXPECT_FALSE(choose(database, options).remembered);
  // Other descriptors of the same number also lead to another choice.
  EXPECT_TRUE(choose(database, options).remembered);
  change_file(database.file(),
              "UPDATE descriptors SET data = (SELECT data FROM descriptors WHERE image_id = 8) "
              "WHERE image_id = 1");
  EXPECT_FALSE(choose(database, options).remembered);
}

TEST_P(ChoosePairs, DoesNotDependOnThePairsMatchedSoFar) {
  Database database = made();
  for (int i = 0; i < 6; ++i) add(database, text("image ", i), i / 2);
  const ChoosePairsOptions options{.choice = PairChoice::retrieve,
                                   .retrieve = {.neighbours = 1, .words = 32}};
  const Pairs before = choose(database, options).pairs;
  change_file(database.file(), "DELETE FROM cornea_choice");
  {
    Database::Transaction transaction(database);
    database.write_matches({1, 5}, {});
    transaction.commit();
  }
  const ChosenPairs after = choose(database, options);
  EXPECT_FALSE(after.remembered);
  EXPECT_EQ(after.pairs, before);
}

TEST_P(ChoosePairs, StoppedWhileLearningItLeavesNothing) {
  Database database = made();
  for (int i = 0; i < 6; ++i) add(database, text("image ", i), i / 2);
  FolderEvents events;
  events.stop = [] { return true; };
  const ChosenPairs chosen =
      choose_pairs(context, photographs, database, {.choice = PairChoice::retrieve}, events);
  EXPECT_TRUE(chosen.stopped);
  EXPECT_TRUE(chosen.pairs.empty());
  EXPECT_FALSE(choose(database, {.choice = PairChoice::retrieve}).remembered);
}

TEST_P(ChoosePairs, AutoAddsSequencesByNameAndByTime) {
  Database database = made();
  const auto picture = random_image<std::uint8_t>(32, 24, 1);
  // Some names form a sequence; the others do not, but their times do.
  for (int i = 0; i < 4; ++i) add(database, text("frame_", 10 + i, ".png"), i);
  const char* names[] = {"lion.jpg", "ant.jpg", "dog.jpg"};
  for (int i = 0; i < 3; ++i) {
    write_taken_jpeg(photographs / names[i], picture, text("2026:11:17 09:0", i, ":00"));
    add(database, names[i], 4 + i);
  }
  const ChosenPairs chosen =
      choose(database, {.all_up_to = 2, .overlap = 1, .retrieve = {.neighbours = 1, .words = 32}});
  EXPECT_EQ(chosen.choice, PairChoice::retrieve);
  for (const ImagePair& pair : Pairs{{1, 2}, {2, 3}, {3, 4}, {5, 6}, {6, 7}}) {
    EXPECT_NE(std::find(chosen.pairs.begin(), chosen.pairs.end(), pair), chosen.pairs.end())
        << pair.first << " " << pair.second;
  }
}

TEST_P(ChoosePairs, SpatialTakesTheNearestByGps) {
  Database database = made();
  const auto picture = random_image<std::uint8_t>(32, 24, 1);
  // One second of arc is 31 m along a meridian.
  const std::uint32_t norths[] = {180000, 180001, 180060, 180062};
  for (int i = 0; i < 4; ++i) {
    const std::string name = text("p", i, ".jpg");
    write_taken_jpeg(photographs / name, picture, "", norths[i], 36000);
    add(database, name, i);
  }
  write_image(photographs / "without.jpg", picture);
  add(database, "without.jpg", 5);
  std::vector<std::string> notes;
  FolderEvents events;
  events.note = [&](const std::string& sentence) { notes.push_back(sentence); };
  const ChosenPairs chosen =
      choose_pairs(context, photographs, database, {.choice = PairChoice::spatial}, events);
  EXPECT_EQ(chosen.pairs, (Pairs{{1, 2}, {3, 4}}));
  EXPECT_EQ(chosen.without_position, 1);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("1 of 5 images have no GPS position"), std::string::npos) << notes[0];
  EXPECT_EQ(choose(database, {.choice = PairChoice::spatial, .max_metres = 40}).pairs,
            (Pairs{{1, 2}}));
  double last = 0;
  // A remembered choice is that of these options to the last digit.
  for (const double metres : {1234567.0, 1234568.0, 1234568.0}) {
    const bool before = metres == last;
    EXPECT_EQ(choose(database, {.choice = PairChoice::spatial, .max_metres = metres}).remembered,
              before);
    last = metres;
  }
}

// Which of several equal candidates are taken must not depend on when an image was added.
TEST_P(ChoosePairs, TiesGoByNameWhateverTheIds) {
  const auto picture = random_image<std::uint8_t>(32, 24, 1);
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i) {
    names.push_back(text(std::string(1, char('a' + (5 * i) % 6)), ".jpg"));
    write_taken_jpeg(photographs / names.back(), picture, "2026:11:17 09:00:00", 180000, 36000);
  }
  const auto named_pairs = [&](const std::string& file, std::vector<std::string> order,
                               const ChoosePairsOptions& options) {
    Database database = made(file);
    for (const std::string& name : order) {
      added_ = 100 + name[0];  // so that the descriptors of an image do not depend on the order
      add(database, name, name[0] - 'a');
    }
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const ImagePair& pair : choose(database, options).pairs) {
      pairs.push_back(std::minmax(order[pair.first - 1], order[pair.second - 1]));
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  };
  const std::vector<std::string> reversed(names.rbegin(), names.rend());
  std::vector<std::string> swapped = names;  // unlike the reversal, with other neighbours
  std::swap(swapped[1], swapped[4]);
  const ChoosePairsOptions spatial = {.choice = PairChoice::spatial, .nearest = 2};
  const auto nearest = named_pairs("a.db", names, spatial);
  EXPECT_LT(nearest.size(), 15u);
  EXPECT_EQ(nearest, named_pairs("b.db", reversed, spatial));
  const ChoosePairsOptions by_time = {
      .all_up_to = 2, .overlap = 1, .retrieve = {.neighbours = 1, .words = 32}};
  const auto sequence = named_pairs("c.db", names, by_time);
  EXPECT_TRUE(std::binary_search(sequence.begin(), sequence.end(),
                                 std::pair<std::string, std::string>("a.jpg", "b.jpg")));
  EXPECT_EQ(sequence, named_pairs("d.db", swapped, by_time));
}

TEST_P(ChoosePairs, SpatialWithoutPositionsIsAnError) {
  Database database = made();
  add(database, "a.jpg", 0), add(database, "b.jpg", 1);
  try {
    choose(database, {.choice = PairChoice::spatial});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("0 of 2 images have a GPS position"),
              std::string::npos)
        << error.what();
  }
}

TEST_P(ChoosePairs, ListedTakesThePairsOfTheFile) {
  Database database = made();
  for (const char* name : {"a.png", "b.png", "c.png"}) add(database, name, 0);
  std::ofstream(folder / "list.txt") << "c.png a.png\na.png c.png\na.png x.png\n";
  const ChosenPairs chosen =
      choose(database, {.choice = PairChoice::listed, .list = folder / "list.txt"});
  EXPECT_EQ(chosen.pairs, (Pairs{{1, 3}}));
  EXPECT_EQ(chosen.refused.size(), 1u);
}

TEST_P(ChoosePairs, ImagesWithoutFeaturesAreInNoPair) {
  Database database = made();
  add(database, "a", 0), add(database, "b", 0, 0), add(database, "c", 0);
  for (int i = 0; i < 4; ++i) add(database, text("d", i), 1 + i / 2);
  const ChosenPairs chosen = choose(
      database, {.choice = PairChoice::retrieve, .retrieve = {.neighbours = 1, .words = 32}});
  EXPECT_EQ(chosen.pairs, (Pairs{{1, 3}, {4, 5}, {6, 7}}));
}

INSTANTIATE_TEST_SUITE_P(, ChoosePairs, every_device(), device_name);

TEST(ChoosePairsOptions, RefusesInvalidValues) {
  EXPECT_THROW(ChoosePairsOptions{.overlap = 0}.validate(), Error);
  EXPECT_THROW(ChoosePairsOptions{.nearest = 0}.validate(), Error);
  EXPECT_THROW(ChoosePairsOptions{.max_metres = 0}.validate(), Error);
  EXPECT_THROW(ChoosePairsOptions{.further = -1}.validate(), Error);
  EXPECT_NO_THROW(ChoosePairsOptions{}.validate());
  EXPECT_THROW((MatchAllOptions{.pairs = {{4, 5}, {5, 5}}, .listed = true}.validate()), Error);
}

}  // namespace
}  // namespace cornea
