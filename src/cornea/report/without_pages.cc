// SPDX-License-Identifier: Apache-2.0
// For builds without nlohmann-json: creating a page is an error that says so.
#include "cornea/core/error.h"
#include "cornea/report/folder_page.h"
#include "cornea/report/page.h"

namespace cornea {

void PageOptions::validate() const {}

std::string pair_page(const Context&, const PairPage&, const PageOptions&) {
  fail(ErrorCode::unsupported,
       "this build has no pages, which need nlohmann-json; build Cornea where it is installed");
}

void FolderPageOptions::validate() const {}

std::vector<FolderPageFile> folder_page(const FolderPage&, const FolderPageOptions&) {
  fail(ErrorCode::unsupported,
       "this build has no pages, which need nlohmann-json; build Cornea where it is installed");
}

}  // namespace cornea
