// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: options as the text that a database records, and the differences between
// two such texts.
#pragma once

#include <string>
#include <vector>

#include "cornea/catalog/settings.h"
#include "cornea/pipeline/folder/choose_pairs.h"
#include "cornea/pipeline/folder/extract.h"
#include "cornea/pipeline/folder/match_all.h"
#include "cornea/pipeline/folder/verify.h"

namespace cornea::folder {

// All options that affect a result: "contrast=0.02 root=yes".
std::string options_text(const ExtractOptions& options);
std::string options_text(const MatchOptions& options);
std::string options_text(const VerifyOptions& options);
// Those that the choice of similar images depends on.
std::string retrieve_options_text(const ChoosePairsOptions& options);

// For an error sentence: "contrast 0.02 then and 0.01 now"; empty if they are equal.
std::string options_difference(const std::string& then, const std::string& now);

}  // namespace cornea::folder
