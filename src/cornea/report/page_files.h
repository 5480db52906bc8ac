// SPDX-License-Identifier: Apache-2.0
// Internal to report: the files of page/, embedded in the library by cmake/embed_files.cmake.
#pragma once

#include <string_view>

namespace cornea::report::page_files {

// Used by all pages, including those of studies.
extern const std::string_view head_html, page_css;
// Used by the pages of a pair and of a folder.
extern const std::string_view frame_html, made_html, basics_js, theme_js, bars_js, rows_js,
    gestures_js;
// Used by the page of a pair.
extern const std::string_view page_html, found_js, shapes_js, draw_js, overlay_js, point_js,
    histogram_js, table_js, space_js, pose_js, words_js;
// Used by the page of a folder.
extern const std::string_view folder_html, folder_css, folder_found_js, folder_parts_js, glide_js,
    folder_matrix_js, folder_graph_js, folder_pair_js, folder_table_js, folder_words_js;

}  // namespace cornea::report::page_files
