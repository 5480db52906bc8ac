// SPDX-License-Identifier: Apache-2.0
// Correspondences as text, one line per match.
//
// If the first line names the columns, x1, y1, x2 and y2 are found by name, in any order, among any
// other columns, in upper or lower case. A line of names in which one of them is missing or appears
// twice is an error that lists the columns. A row with more or fewer cells than there are names is
// an error too.
//
// Without names the first four columns are x1, y1, x2 and y2, and further ones may follow. Two
// kinds of tables are then rejected, because their first column or line is most likely not data:
// five or more columns of which the first counts 0, 1, 2, ... or 1, 2, 3, ... or is otherwise a
// rising index, and several lines of which the first is 0,1,2,3,..., the column numbers of a table
// without names.
//
// Cells are separated by commas, semicolons, tabs or spaces: by the first comma, semicolon or tab
// that a line has outside quotes, otherwise by spaces. A cell may be enclosed in double quotes,
// inside which "" stands for one quote. Empty lines and a byte order mark are skipped. Files of
// more than 10 million matches or 1 GiB, and lines of more than 1 MiB, are rejected.
//
// Every failure is an Error whose message begins with the name of the file and names the line.
// Coordinates that are infinite, not numbers, or beyond 1,048,576 pixels (2^20) are failures.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "cornea/core/export.h"
#include "cornea/core/features.h"

namespace cornea {

CORNEA_API std::vector<Correspondence> read_matches_csv(const std::filesystem::path& file);

// The matches with the text of all their columns, so that they can be written again with additional
// columns.
struct MatchTable {
  std::vector<Correspondence> matches = {};
  std::string header = {};             // column names separated by commas, without a line break
  std::vector<std::string> rows = {};  // the cells of each match, likewise
};

// Columns named in `left_out`, in upper or lower case, are omitted from header and rows. If the
// file names no columns, they are called x1,y1,x2,y2,column5,column6 and so on.
CORNEA_API MatchTable read_match_table(const std::filesystem::path& file,
                                       std::span<const std::string> left_out = {});
// The same from a stream; `name` stands for the file in error messages.
CORNEA_API MatchTable read_match_table(std::istream& in, const std::string& name,
                                       std::span<const std::string> left_out = {});

}  // namespace cornea
