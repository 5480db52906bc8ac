// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/context.h"

#include <functional>

#include <gtest/gtest.h>

#include "cornea/core/buffer.h"
#include "cornea/core/build.h"
#include "cornea/core/testing.h"
#include "cornea/core/transfer.h"

namespace cornea {
namespace {

using namespace core;

ErrorCode code_of(const std::function<void()>& call, std::string* sentence = nullptr) {
  try {
    call();
  } catch (const Error& error) {
    if (sentence) *sentence = error.what();
    return error.code();
  }
  ADD_FAILURE() << "no error was thrown";
  return ErrorCode::internal;
}

TEST(Context, NamesSayWhereWorkRuns) {
  EXPECT_EQ(Context::cpu(2).name(), "cpu");
  EXPECT_EQ(Context::cpu(2).description(), "CPU, 2 threads");
  EXPECT_EQ(Context::cpu(1).description(), "CPU, 1 thread");
  EXPECT_FALSE(Context::cpu().is_cuda());
  EXPECT_GE(Context::cpu().threads(), 1);
  EXPECT_EQ(Context::from_name("cpu", 3).threads(), 3);
}

TEST(Context, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  for (const char* name : {"gpu", "", "cuda:", "cuda:x", "cuda:-1", "CPU"}) {
    std::string sentence;
    EXPECT_EQ(code_of([&] { Context::from_name(name); }, &sentence), ErrorCode::invalid_argument);
    EXPECT_NE(sentence.find("cuda:N"), std::string::npos);
  }
  EXPECT_EQ(code_of([] { Context::cpu(-1); }), ErrorCode::invalid_argument);
}

TEST(Context, CudaWithoutAGpuIsAnErrorThatSaysSo) {
  if (testing::devices().size() > 1) GTEST_SKIP() << "this machine has a GPU";
  std::string sentence;
  EXPECT_EQ(code_of([] { Context::cuda(); }, &sentence), ErrorCode::device_unavailable);
  EXPECT_NE(sentence.find("use the CPU"), std::string::npos);
  EXPECT_EQ(Context::best().name(), "cpu");
}

class OnDevice : public testing::OnEveryDevice {};

TEST_P(OnDevice, ThePoolCountsWhatIsHeldByPurpose) {
  const Place place = context.is_cuda() ? Place::device : Place::host;
  {
    const Memory a = context.allocate(place, 1000, "first");
    const Memory b = context.allocate(place, 500, "second");
    EXPECT_EQ(context.memory().bytes, 1500u);
    EXPECT_EQ(context.memory().by_purpose.at("second"), 500u);
  }
  EXPECT_EQ(context.memory().bytes, 0u);
  EXPECT_EQ(context.memory().peak_bytes, 1500u);
  EXPECT_EQ(context.memory().allocations, 2u);
}

TEST_P(OnDevice, ABufferGrowsAndIsThenReused) {
  Buffer buffer(context.is_cuda() ? Place::device : Place::host, "test");
  void* large = buffer.reserve<int>(context, 1000);
  EXPECT_EQ(buffer.reserve<int>(context, 10), large);
  EXPECT_EQ(context.memory().allocations, 1u);
  buffer.reserve<int>(context, 2000);
  EXPECT_EQ(context.memory().allocations, 2u);
  EXPECT_EQ(context.memory().bytes, 8000u);
}

TEST_P(OnDevice, RunningOutOfMemorySaysHowMuchAndLeavesTheContextWorking) {
  std::string sentence;
  const Place place = context.is_cuda() ? Place::device : Place::host;
  constexpr std::size_t kAbsurd = std::size_t{1} << 50;
  EXPECT_EQ(code_of([&] { context.allocate(place, kAbsurd, "absurd"); }, &sentence),
            ErrorCode::out_of_memory);
  EXPECT_NE(sentence.find("1125899906842624"), std::string::npos);
  EXPECT_NE(sentence.find("absurd"), std::string::npos);
  EXPECT_NE(context.allocate(place, 64, "small").data(), nullptr);
}

TEST_P(OnDevice, UploadsAndDownloadsPreserveBytesAndAreCounted) {
  if (!context.is_cuda()) {
    EXPECT_EQ(code_of([&] { context.allocate(Place::device, 8, "x"); }),
              kHasCuda ? ErrorCode::invalid_argument : ErrorCode::device_unavailable);
    return;
  }
  const auto image = testing::random_image<std::uint16_t>(33, 17, 1);
  const auto copy = to_host(context, to_device(context, image));
  for (int y = 0; y < 17; ++y) {
    for (int x = 0; x < 33; ++x) ASSERT_EQ(copy(x, y), image(x, y));
  }
  EXPECT_EQ(context.transfers().uploads, 1u);
  EXPECT_EQ(context.transfers().upload_bytes, 33u * 17 * 2);
  EXPECT_EQ(context.transfers().download_bytes, 33u * 17 * 2);
  // A region of a larger image: rows are farther apart than they are long.
  const auto wide = testing::random_image<std::uint16_t>(50, 17, 2);
  Image<std::uint16_t> part(context, Place::device, 33, 17, "part");
  upload<std::uint16_t>(context, {wide.host().data + 5, 33, 17, 50}, part.device());
  EXPECT_EQ(to_host(context, part)(3, 9), wide(8, 9));
}

INSTANTIATE_TEST_SUITE_P(, OnDevice, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
