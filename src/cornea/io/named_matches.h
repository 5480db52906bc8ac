// SPDX-License-Identifier: Apache-2.0
// Matches of features by index, for pairs of images by name, as text. Two forms, told apart by the
// first line that is not blank:
//
//   image1,image2,index1,index2        CSV whose first line names these four columns, in any order
//   left.jpg,right.jpg,0,17            and among others; a row per match
//
//   left.jpg right.jpg                 COLMAP's text for its matches_importer: a line with two
//   0 17                               names, a line per match, and a blank line before the next
//   3 21                               pair. Other lines that begin with # are passed over.
//
// An index counts the features of its image from 0. Every failure is an Error whose sentence begins
// with the name of the file and names the line; so is a match that stands there twice. Whether
// there are such images and features is not known here.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace cornea::io {

struct IndexMatch {
  std::uint32_t first = 0, second = 0;
  std::uint64_t line = 0;
};

struct NamedMatches {
  // Two names as they stand in a line, which may hold spaces themselves; or, where this is empty,
  // each of them.
  std::string names = {};
  std::string first = {}, second = {};
  std::uint64_t line = 0;
  std::vector<IndexMatch> matches = {};
};

// `name` stands for the file in errors. Pairs are in the order of their first lines.
std::vector<NamedMatches> read_named_matches(std::istream& in, const std::string& name);

}  // namespace cornea::io
