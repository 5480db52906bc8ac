// SPDX-License-Identifier: Apache-2.0
// Matches of features by index, for pairs of images by name, as text. The first line that is not
// blank distinguishes two forms:
//
//   image1,image2,index1,index2        CSV whose first line names these four columns, in any order
//   left.jpg,right.jpg,0,17            and among others; one row per match
//
//   left.jpg right.jpg                 COLMAP's text for its matches_importer: one line with two
//   0 17                               names, one line per match, and a blank line before the next
//   3 21                               pair. Lines before a pair that begin with # are skipped.
//
// Indices count the features of an image from 0. Every failure, including a match that is listed
// twice, is an Error whose message begins with the name of the file and names the line. Whether the
// images and features exist is not checked here.
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
  // COLMAP's form gives one line with two names, which may contain spaces themselves, so `names`
  // keeps the whole line. In the CSV form `names` is empty and `first` and `second` are set.
  std::string names = {};
  std::string first = {}, second = {};
  std::uint64_t line = 0;
  std::vector<IndexMatch> matches = {};
};

// `name` stands for the file in error messages. Pairs are in the order of their first lines.
std::vector<NamedMatches> read_named_matches(std::istream& in, const std::string& name);

}  // namespace cornea::io
