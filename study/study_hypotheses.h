// SPDX-License-Identifier: Apache-2.0
// Why a RANSAC hypothesis computes its null vector by Householder reflections.
#pragma once

#include <vector>

#include "study/study.h"

#include "cornea/core/features.h"

namespace cornea::cli {

// Measures both methods on samples of 8 of these correspondences, on every device.
study::Section null_vector_section(const StudyDevices& devices,
                                   const std::vector<Correspondence>& matches,
                                   const StudyCommand& command);

}  // namespace cornea::cli
