// SPDX-License-Identifier: Apache-2.0
// Tests that every device and any number of threads reproduces the recorded answers to the bit.
#include "cornea/pipeline/certificate.h"

#include <gtest/gtest.h>

#include "cornea/core/testing.h"

namespace cornea {
namespace {

void expect_recorded(const Context& context) {
  const std::vector<CertificateRow> rows = certify(context);
  ASSERT_GE(rows.size(), 20u);
  for (const CertificateRow& row : rows) {
    EXPECT_TRUE(row.equal()) << row.name << " (" << row.what << "): recorded " << std::hex
                             << row.recorded << ", found " << row.found;
  }
}

class Certificate : public testing::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(, Certificate, testing::every_device(), testing::device_name);

TEST_P(Certificate, AnswersAreThoseRecorded) { expect_recorded(context); }

TEST(CertificateThreads, DoNotChangeAnAnswer) {
  for (int threads : {1, 3}) expect_recorded(Context::cpu(threads));
}

}  // namespace
}  // namespace cornea
