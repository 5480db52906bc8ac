// SPDX-License-Identifier: Apache-2.0
// Tests of wrong usage and invalid input: the exit code, and one line that names the problem.
#include <cmath>

#include "cli_testing.h"

#include "cornea/core/random.h"

namespace cornea {
namespace {

TEST_F(Cli, WrongUsageIsExitCode2) {
  expect_refused("cornea", 2, "--help");
  expect_refused("cornea polish small.png", 2, "no command is called 'polish'");
  expect_refused("cornea detect", 2, "images");
  expect_refused("cornea detect small.png --sharpness 3", 2, "sharpness");
  expect_refused("cornea detect small.png --detector sobel", 2, "sobel");
  expect_refused("cornea detect small.png --threshold nan", 2, "not a number");
  expect_refused("cornea detect small.png --threshold", 2, "threshold");
  expect_refused("cornea detect small.png --window 4", 2, "window");
  expect_refused("cornea detect small.png --detector moravec --k 0.1", 2, "--k");
  expect_refused("cornea detect small.png --max-per-cell 3", 2, "cell");
  expect_refused("cornea detect small.png --threads -2", 2, "threads");
  expect_refused("cornea detect small.png --device gpu", 2, "cuda:N");
  expect_refused("cornea filter small.png", 2, "--out");
  expect_refused("cornea filter small.png -o o.png --filter median", 2, "median");
  expect_refused("cornea filter small.png -o o.png --sigma 0", 2, "sigma");
  expect_refused("cornea filter small.png -o o.png --sigma wide", 2, "--sigma");
  expect_refused("cornea filter small.png -o o.png --filter gaussian --radius 3", 2, "--radius");
  expect_refused("cornea filter small.png -o o.png --filter gaussian --levels l.png", 2,
                 "--levels");
  expect_refused("cornea filter small.png -o small.png", 2, "input");
  expect_refused("cornea filter small.png -o o.png --levels o.png", 2, "two results");
  expect_refused("cornea filter small.png -o o.png --levels \"$PWD/o.png\"", 2, "two results");
  expect_refused("cornea scene -o s --views 0", 2, "1 view or more");
  expect_refused("cornea scene -o s --noise nan", 2, "noise");
  expect_refused("cornea scene -o s --kind castle", 2, "castle");
  expect_refused("cornea scene -o s --views 2000000", 2, "10000");
  expect_refused("cornea scene -o s --scale 64", 2, "2^28");
  expect_refused("cornea scene -o s --columns 100000", 2, "1000");
  expect_refused("cornea bench --sizes big", 2, "WIDTHxHEIGHT");
  expect_refused("cornea bench --sizes 4294967297x1", 2, "WIDTHxHEIGHT");
  expect_refused("cornea detect small.png --relative=maybe", 2, "switch");
  expect_refused("cornea detect small.png --response map.png", 2, ".pfm");
  expect_refused("cornea detect small.png --detector sift --response map.pfm", 2, "response");
  expect_refused("cornea detect small.png --detector harris --descriptors d.npy", 2, "sift");
  expect_refused("cornea detect small.png --detector sift --relative", 2, "--relative");
  expect_refused("cornea detect small.png --detector sift --intervals 0", 2, "intervals");
  expect_refused(
      "cornea detect small.png --detector sift --sigma 16 --intervals 1 --scale-space "
      "trilateral",
      2, "smaller sigma");
  expect_refused("cornea detect small.png --detector sift --scale-space mean", 2, "trilateral");
  expect_refused("cornea detect small.png --detector sift --descriptors small.png", 2, "input");
  expect_refused("cornea detect small.png --threads 5000", 2, "1024");
  expect_refused("cornea match small.png", 2, "second");
  expect_refused("cornea match small.png small.png --ratio 0", 2, "ratio");
  expect_refused("cornea match small.png small.png --ratio nan", 2, "ratio");
  expect_refused("cornea match small.png small.png --max-distance -1", 2, "distance");
  expect_refused("cornea match small.png small.png --detector sobel", 2, "sobel");
  expect_refused("cornea match small.png small.png --k 0.1", 2, "--k");
  expect_refused("cornea match small.png small.png --max-features -1", 2, "max-features");
  expect_refused("cornea match small.png small.png --csv small.png", 2, "input");
  expect_refused("cornea match small.png small.png --csv o --draw o", 2, "two results");
  expect_refused("cornea bench --match 5", 2, "--match");
}

TEST_F(Cli, WholeNumbersAreDecimal) {
  expect_refused("cornea scene -o s --seed -5", 2, "takes a whole number of 0 or more, not -5");
  expect_refused("cornea scene -o s --views 0x2", 2, "takes a whole number, not 0x2");
  expect_refused("cornea scene -o s --views 2.5", 2, "--views");
  expect_refused("cornea scene -o s --views -", 2, "--views");
  expect_refused("cornea scene -o s --seed 18446744073709551616", 2, "--seed");
  expect_refused("cornea verify --db s.db --seed -5", 2, "takes a whole number of 0 or more");
  expect_refused("cornea match small.png small.png --max-features 0x10", 2, "not 0x10");
  expect_refused("cornea evaluate --points 0x10", 2, "not 0x10");
  expect_refused("cornea match-all --db s.db --sequential 0", 2, "positive whole number");
  // 0100 is 64 in octal, which is refused too, and 012 is 10.
  ASSERT_EQ(shell("cornea scene -o s --views 002 --width 0320 --height 240 --quiet").code, 0);
  EXPECT_TRUE(fs::exists(folder / "s/view_001.png"));
  EXPECT_EQ(read_gray(folder / "s/view_000.png").width(), 320);
}

TEST_F(Cli, WrongInputIsExitCode1AndNamesTheFile) {
  expect_refused("cornea match small.png none.png", 1, "none.png");
  fs::create_directory(folder / "directory.png");
  std::ofstream(folder / "empty.png");
  std::ofstream(folder / "text.jpg") << "This is no picture.\n";
  write_image(folder / "dot.png", testing::random_image<std::uint8_t>(1, 1, 1));
  write_image(folder / "thin.png", testing::random_image<std::uint8_t>(3, 500, 1));
  write_image(folder / "mask.png", testing::random_image<std::uint8_t>(63, 48, 1));
  auto bad = testing::random_image<float>(64, 48, 1);
  bad(7, 7) = NAN;
  write_image(folder / "nan.pfm", bad);
  for (const char* detector : {"harris", "moravec"}) {
    const std::string detect = text("cornea detect --detector ", detector, " ");
    expect_refused(detect + "missing.png", 1, "missing.png");
    expect_refused(detect + "directory.png", 1, "directory.png");
    expect_refused(detect + "empty.png", 1, "empty.png");
    expect_refused(detect + "text.jpg", 1, "text.jpg");
    expect_refused(detect + "dot.png", 1, "dot.png: an image of 1 x 1");
    expect_refused(detect + "thin.png", 1, "thin.png: an image of 3 x 500");
    expect_refused(detect + "nan.pfm", 1, "nan.pfm: the image holds NaN");
    expect_refused(detect + "small.png --mask mask.png", 1, "small.png: the mask is 63 x 48");
    expect_refused(detect + "small.png --mask missing.png", 1, "missing.png");
    expect_refused(detect + "small.png --draw no/such/folder/x.png", 1, "x.png");
    expect_refused(detect + "small.png --csv no/such/folder/x.csv", 1, "x.csv");
    expect_refused(detect + "small.png --json no/such/folder/x.json", 1, "x.json");
  }
  for (const char* filter : {"gaussian", "trilateral"}) {
    const std::string command = text("cornea filter -o o.png --filter ", filter, " ");
    expect_refused(command + "missing.png", 1, "missing.png");
    expect_refused(command + "text.jpg", 1, "text.jpg");
    expect_refused(command + "nan.pfm", 1, "nan.pfm: the image holds NaN");
    EXPECT_EQ(shell(command + "dot.png").code, 0);
    EXPECT_EQ(shell(command + "thin.png").code, 0);
    expect_refused(text("cornea filter small.png -o no/such/x.png --filter ", filter), 1, "x.png");
    expect_refused(text("cornea filter small.png -o x.gif --filter ", filter), 1, "x.gif");
  }
}

TEST_F(Cli, CudaWithoutAGpuIsExitCode1) {
  if (testing::devices().size() > 1) GTEST_SKIP() << "this machine has a GPU";
  expect_refused("cornea detect small.png --device cuda", 1, "--device cpu");
  expect_refused("cornea detect small.png --device cuda:3", 1, "--device cpu");
}

TEST_F(Cli, AGpuIsNotCalledMissingWhenAllMemoryIsTaken) {
  if (testing::devices().size() == 1) GTEST_SKIP() << "there is no CUDA device here";
  const std::vector<Memory> hog = testing::all_memory_of(Context::cuda(), 1 << 20);
  expect_refused("cornea detect small.png --device cuda", 1, "out of memory");
}

TEST_F(Cli, APngThatDeclaresTenBillionPixelsIsRefusedAtOnce) {
  // The start of a real file, with another size and a matching checksum.
  std::string png = read_text(folder / "small.png");
  auto put = [&](std::size_t at, std::uint32_t v) {
    for (int i = 0; i < 4; ++i) png[at + i] = char(v >> (24 - 8 * i));
  };
  put(16, 100000);
  put(20, 100000);
  std::uint32_t crc = ~0u;
  for (std::size_t i = 12; i < 29; ++i) {
    crc ^= std::uint8_t(png[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  put(29, ~crc);
  std::ofstream(folder / "huge.png", std::ios::binary) << png;
  expect_refused("cornea detect huge.png", 1, "100000 x 100000");
  expect_refused("cornea detect huge.png", 1, "--max-pixels");
  expect_refused("cornea detect small.png --max-pixels 100", 1, "--max-pixels");
}

TEST_F(Cli, SizesThatWouldOverflowAreRefusedWhateverTheLimit) {
  std::ofstream(folder / "ov.pfm", std::ios::binary) << "PF\n2147450889 1431677605\n-1\n"
                                                     << std::string(100000, 'x');
  std::ofstream(folder / "ov.ppm", std::ios::binary) << "P6\n2147450898 1431677599\n65535\n"
                                                     << std::string(100000, 'x');
  for (const char* file : {"ov.pfm", "ov.ppm"}) {
    expect_refused(text("cornea detect ", file, " --max-pixels 18446744073709551615"), 1, file);
    expect_refused(text("cornea detect ", file, " --max-pixels -1"), 2, "max-pixels");
  }
}

TEST_F(Cli, NamesWithLineBreaksStillMakeOneLine) {
  expect_refused("cornea detect \"$(printf 'no\\nsuch')\"", 1, "no?such");
  expect_refused("cornea detect small.png --detector \"$(printf 'a\\nb')\"", 2, "a?b");
}

TEST_F(Cli, TruncatedFilesAreRefusedWhereverTheyEnd) {
  const auto gray = testing::random_image<std::uint8_t>(64, 48, 3);
  write_image(folder / "whole.jpg", gray);
  write_image(folder / "whole.pgm", gray);
  fs::copy_file(folder / "small.png", folder / "whole.png");
  core::Random random(77);
  for (const char* ending : {"png", "jpg", "pgm"}) {
    const std::string whole = read_text(folder / text("whole.", ending));
    for (int i = 0; i < 20; ++i) {
      const std::string file = text("cut.", ending);
      // A PNG whose pixels are complete may lack its last 12 bytes; everything else is needed.
      const int last = static_cast<int>(whole.size()) - 17;
      const int length = random.integer(0, last);
      std::ofstream(folder / file, std::ios::binary) << whole.substr(0, length);
      expect_refused("cornea detect " + file, 1, file);
    }
  }
}

}  // namespace
}  // namespace cornea
