// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/outcome.h"

namespace cornea {

std::string_view name(TwoView kind) {
  switch (kind) {
    case TwoView::general:
      return "general";
    case TwoView::planar:
      return "planar";
    case TwoView::none:
      return "none";
    case TwoView::degenerate:
      return "degenerate";
    case TwoView::too_few_points:
      return "too few points";
  }
  return "";
}

std::string_view name(StopReason reason) {
  switch (reason) {
    case StopReason::confidence:
      return "confidence";
    case StopReason::target:
      return "target";
    case StopReason::maximum:
      return "maximum";
    case StopReason::nothing_to_do:
      return "nothing to do";
  }
  return "";
}

}  // namespace cornea
