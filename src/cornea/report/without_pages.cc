// In builds without nlohmann-json a page is an error that says so.
#include "cornea/core/error.h"
#include "cornea/report/page.h"

namespace cornea {

void PageOptions::validate() const {}

std::string pair_page(const Context&, const PairPage&, const PageOptions&) {
  fail(ErrorCode::unsupported,
       "this build has no pages, which need nlohmann-json; build Cornea where it is installed");
}

}  // namespace cornea
