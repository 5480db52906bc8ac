// Inside of report: the files of page/, put into the library by cmake/embed_files.cmake.
#pragma once

#include <string_view>

namespace cornea::report::page_files {

extern const std::string_view page_html, page_css, found_js, shapes_js, draw_js, overlay_js,
    point_js, histogram_js, table_js, space_js, pose_js, words_js;

}  // namespace cornea::report::page_files
