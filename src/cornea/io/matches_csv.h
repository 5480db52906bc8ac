// SPDX-License-Identifier: Apache-2.0
// Correspondences as text, a line per match.
//
// Where the first line names the columns, x1, y1, x2 and y2 are found by name: in any order, among
// any others, in upper or lower case. A line of names that lacks one of them or has it twice is an
// error that lists the columns, and so is a row with more or fewer cells than there are names.
// Without names the first four columns are x1, y1, x2 and y2, and further ones may follow; a first
// of five or more columns that counts 0, 1, 2, ... or 1, 2, 3, ... is taken for an index that was
// written along, which is an error too; so is a first of several lines 0,1,2,3,..., which is taken
// for the numbers of columns.
//
// Cells are separated by commas, semicolons, tabs or spaces: by the first of these that a line has
// outside quotes, spaces last. A cell may stand in double quotes, "" in it is one. Empty lines and
// a byte order mark are passed over. Files of more than 10 million matches or 1 GiB, and lines of
// more than 1 MiB, are refused.
//
// Every failure is an Error whose sentence begins with the name of the file and names the line.
// Coordinates that are infinite or not numbers are failures.
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

// The matches with the text of all their columns, to be written again with further ones behind.
struct MatchTable {
  std::vector<Correspondence> matches = {};
  std::string header = {};             // names with commas between them, without a line's end
  std::vector<std::string> rows = {};  // of each match its cells, likewise
};

// Columns named in `left_out`, in upper or lower case, are in neither header nor rows. Where the
// file names no columns they are x1,y1,x2,y2,column5,column6 and so on.
CORNEA_API MatchTable read_match_table(const std::filesystem::path& file,
                                       std::span<const std::string> left_out = {});
// The same from a stream; `name` stands for the file in errors.
CORNEA_API MatchTable read_match_table(std::istream& in, const std::string& name,
                                       std::span<const std::string> left_out = {});

}  // namespace cornea
