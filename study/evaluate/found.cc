// SPDX-License-Identifier: Apache-2.0
#include "study/evaluate/found.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "cornea/core/error.h"
#include "cornea/core/lower_case.h"
#include "cornea/io/matches_csv.h"
#include "cornea/io/points_csv.h"

namespace cornea::evaluate {
namespace {

namespace fs = std::filesystem;
using SortedJson = nlohmann::json;

constexpr Matrix kSame = {1, 0, 0, 0, 1, 0, 0, 0, 1};

// The column names of a CSV file; empty if its first line is anything else.
std::set<std::string> columns_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line, cell;
  if (!std::getline(in, line)) return {};
  std::set<std::string> columns;
  std::istringstream cells(core::in_lower_case(line));
  while (std::getline(cells, cell, ',')) {
    const std::size_t begin = cell.find_first_not_of(" \"\t\r\xEF\xBB\xBF");
    if (begin == std::string::npos) continue;
    columns.insert(cell.substr(begin, cell.find_last_not_of(" \"\t\r") + 1 - begin));
  }
  return columns;
}

bool has_columns(const fs::path& file, std::initializer_list<const char*> names) {
  const std::set<std::string> columns = columns_of(file);
  return std::all_of(names.begin(), names.end(),
                     [&](const char* n) { return columns.contains(n); });
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && !entry.path().filename().string().starts_with('.')) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string name_in(const std::string& prefix, const fs::path& file) {
  return (fs::path(prefix) / file.stem()).generic_string();
}

// The image of that name with any file ending; empty if there is none.
fs::path image_called(const std::vector<fs::path>& files, const std::string& stem) {
  for (const fs::path& file : files) {
    if (file.stem() == stem && can_read_extension(file)) return file;
  }
  return {};
}

Matrix read_homography(const fs::path& file) {
  std::ifstream in(file);
  Matrix H;
  for (double& value : H) {
    if (!(in >> value) || !std::isfinite(value)) {
      fail(ErrorCode::io, file.string(), ": does not hold the nine numbers of a homography");
    }
  }
  std::string more;
  if (in >> more) fail(ErrorCode::io, file.string(), ": holds more than nine numbers");
  const Matrix inverse = inverse_of(H);
  if (!std::all_of(inverse.begin(), inverse.end(), [](double v) { return std::isfinite(v); })) {
    fail(ErrorCode::io, file.string(), ": the homography has no inverse");
  }
  return H;
}

// Files img1, img2, ... with H1to2.txt or H1to2p; or 1, 2, ... with H_1_2.
bool add_sequence(const fs::path& folder, const std::string& prefix, const std::string& name,
                  const std::vector<fs::path>& files, Found& found) {
  for (const bool hpatches : {false, true}) {
    const std::string stem = hpatches ? "" : "img";
    const fs::path first = image_called(files, stem + "1");
    if (first.empty()) continue;
    Sequence sequence{name, {{name_in(prefix, first), first}}, {kSame}};
    for (int n = 2;; ++n) {
      const std::vector<std::string> spellings =
          hpatches ? std::vector{text("H_1_", n), text("H_1_", n, ".txt")}
                   : std::vector{text("H1to", n, ".txt"), text("H1to", n, "p"), text("H1to", n)};
      const auto spelling = std::find_if(spellings.begin(), spellings.end(), [&](const auto& s) {
        return fs::is_regular_file(folder / s);
      });
      if (spelling == spellings.end()) break;
      const fs::path image = image_called(files, text(stem, n));
      if (image.empty()) {
        fail(ErrorCode::io, (folder / *spelling).string(), ": there is no image ", stem, n,
             " beside it");
      }
      sequence.pictures.push_back({name_in(prefix, image), image});
      sequence.from_first.push_back(read_homography(folder / *spelling));
    }
    if (sequence.pictures.size() < 2) continue;
    found.sequences.push_back(std::move(sequence));
    return true;
  }
  return false;
}

// The cells of a row of a MatchTable; those with a comma are in quotes.
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : row) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

Labelled read_labelled(const fs::path& file, const std::string& name) {
  const MatchTable table = read_match_table(file);
  const std::vector<std::string> header = cells_of(core::in_lower_case(table.header));
  const auto column =
      std::size_t(std::find(header.begin(), header.end(), "label") - header.begin());
  Labelled labelled{name, table.matches, {}};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::vector<std::string> cells = cells_of(table.rows[i]);
    const std::string cell = column < cells.size() ? cells[column] : "";
    double label = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), label);
    if (error != std::errc() || end != cell.data() + cell.size() || (label != 0 && label != 1)) {
      fail(ErrorCode::io, file.string(), ": match ", i + 1, " has the label '", cell,
           "'; a label is 1 for a correct match and 0 for a wrong one");
    }
    if (label == 1) labelled.right.push_back(table.matches[i]);
  }
  if (labelled.right.size() < 8) {
    fail(ErrorCode::io, file.string(), ": labels ", labelled.right.size(),
         " matches as correct; F needs 8");
  }
  return labelled;
}

// --- Cameras -----------------------------------------------------------------------------------

template <std::size_t n>
std::array<double, n> numbers_of(const SortedJson& value) {
  std::array<double, n> numbers{};
  std::size_t i = 0;
  auto take = [&](const SortedJson& v) {
    if (i == n) throw std::invalid_argument("too many numbers");
    numbers[i++] = v.get<double>();
  };
  for (const SortedJson& row : value) {
    if (!row.is_array()) {
      take(row);
      continue;
    }
    for (const SortedJson& v : row) take(v);
  }
  if (i != n) throw std::invalid_argument("too few numbers");
  return numbers;
}

Views::Camera camera_of(const SortedJson& json) {
  auto either = [&](const char* name, const char* other) -> const SortedJson& {
    return json.contains(name) ? json.at(name) : json.at(other);
  };
  const Matrix K = numbers_of<9>(json.at("K"));
  if (K[1] != 0 || K[3] != 0 || K[6] != 0 || K[7] != 0 || K[8] != 1) {
    throw std::invalid_argument("K is not [fx 0 cx; 0 fy cy; 0 0 1]");
  }
  Views::Camera camera{{.fx = K[0], .fy = K[4], .cx = K[2], .cy = K[5]},
                       numbers_of<9>(either("R", "R_cam_from_world")),
                       numbers_of<3>(either("t", "t_cam_from_world"))};
  camera.intrinsics.validate();
  const Matrix& R = camera.R;
  const Matrix transposed = {R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]};
  const Matrix one = product(R, transposed);
  for (int i = 0; i < 9; ++i) {
    if (!(std::abs(one[i] - kSame[i]) < 1e-3)) throw std::invalid_argument("R is not a rotation");
  }
  const double determinant = R[0] * (R[4] * R[8] - R[5] * R[7]) -
                             R[1] * (R[3] * R[8] - R[5] * R[6]) +
                             R[2] * (R[3] * R[7] - R[4] * R[6]);
  if (determinant < 0) throw std::invalid_argument("R is a reflection, not a rotation");
  return camera;
}

// By image name, as in {"0000.jpg": {K, R, t}}, or a list of views with image names, as `cornea
// scene` writes it.
void add_views(const fs::path& folder, const std::string& prefix, const std::string& name,
               Found& found) {
  const fs::path file = folder / "cameras.json";
  Views views{name, {}, {}};
  auto add = [&](const std::string& image, const SortedJson& json) {
    fs::path path = folder / image;
    if (!fs::is_regular_file(path)) path = folder / "images" / image;
    if (!fs::is_regular_file(path)) {
      fail(ErrorCode::io, file.string(), ": names the image ", image, ", which is neither in ",
           folder.string(), " nor in its folder images");
    }
    views.pictures.push_back({name_in(prefix, path), path});
    views.cameras.push_back(camera_of(json));
  };
  try {
    std::ifstream in(file);
    const SortedJson json = SortedJson::parse(in);
    if (json.contains("views")) {
      for (const SortedJson& view : json.at("views"))
        add(view.at("image").get<std::string>(), view);
    } else {
      for (const auto& [image, camera] : json.items()) add(image, camera);
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& problem) {
    fail(ErrorCode::io, file.string(), ": is invalid (", problem.what(),
         "); it must hold K, R and t per image, with x_camera = R x_world + t");
  }
  if (views.pictures.size() < 2)
    fail(ErrorCode::io, file.string(), ": names fewer than two images");
  found.views.push_back(std::move(views));
}

// ---------------------------------------------------------------------------------------------

void look_at(const fs::path& folder, const std::string& prefix, Found& found) {
  const std::vector<fs::path> files = files_in(folder);
  const std::string name = prefix.empty() ? folder.filename().string() : prefix;
  if (fs::is_regular_file(folder / "cameras.json")) return add_views(folder, prefix, name, found);
  if (add_sequence(folder, prefix, name, files, found)) return;
  for (const fs::path& file : files) {
    if (can_read_extension(file)) {
      Picture picture{name_in(prefix, file), file};
      const fs::path corners = fs::path(file).replace_extension(".csv");
      if (fs::is_regular_file(corners) && has_columns(corners, {"x", "y"})) {
        for (const Keypoint& p : io::read_points_csv(corners).points) {
          picture.corners.push_back({p.x, p.y});
        }
      }
      found.pictures.push_back(std::move(picture));
    } else if (extension_in_lower_case(file) == ".csv" &&
               has_columns(file, {"x1", "y1", "x2", "y2", "label"})) {
      found.labelled.push_back(read_labelled(file, name_in(prefix, file)));
    }
  }
}

}  // namespace

Pixels Picture::pixels(const ReadOptions& reading) const {
  if (generated) return generated;
  return std::make_shared<const Image<std::uint8_t>>(read_image<std::uint8_t>(file, reading));
}

RelativePose relative_pose(const Views::Camera& first, const Views::Camera& second) {
  const Matrix& a = first.R;
  const Matrix R = product(second.R, {a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]});
  RelativePose pose{R, second.t};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) pose.t[i] -= R[3 * i + k] * first.t[k];
  }
  return pose;
}

Found look_into(const std::vector<std::string>& folders) {
  Found found;
  for (const std::string& given : folders) {
    std::error_code ignored;
    const fs::path folder = fs::weakly_canonical(given, ignored);
    if (!fs::is_directory(folder)) fail(ErrorCode::io, given, ": there is no such folder");
    const std::string prefix = folders.size() > 1 ? folder.filename().string() : "";
    look_at(folder, prefix, found);
    std::vector<fs::path> inner;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      const bool of_views = name == "images" && fs::is_regular_file(folder / "cameras.json");
      if (entry.is_directory() && !name.starts_with('.') && !of_views) inner.push_back(entry);
    }
    std::sort(inner.begin(), inner.end());
    for (const fs::path& sub : inner) {
      look_at(sub, (fs::path(prefix) / sub.filename()).generic_string(), found);
    }
  }
  if (found.empty()) {
    fail(ErrorCode::io, folders.front(), folders.size() > 1 ? " and the others" : "",
         ": no image, sequence, labelled correspondences or cameras.json there or in the folders "
         "in it");
  }
  std::set<std::string> sequences;
  for (const Sequence& s : found.sequences) {
    if (!sequences.insert(s.name).second) {
      fail(ErrorCode::io, "two sequences are called ", s.name, "; evaluate them one by one");
    }
  }
  return found;
}

void Found::require_different_names() const {
  std::map<std::string, fs::path> files;
  const auto add = [&](const std::vector<Picture>& of) {
    for (const Picture& p : of) {
      const auto [other, is_new] = files.emplace(p.name, p.file);
      if (!is_new && other->second != p.file) {
        fail(ErrorCode::io, p.file.string(), ": is called ", p.name, " here, like ",
             other->second.string(), "; rename one of them, or evaluate them one by one");
      }
    }
  };
  add(pictures);
  for (const Sequence& s : sequences) add(s.pictures);
  for (const Views& v : views) add(v.pictures);
}

std::string Found::summary() const {
  std::string words;
  auto add = [&](std::size_t count, const char* one, const std::string& more) {
    if (count == 0) return;
    words += (words.empty() ? "" : ", ") + text(count, " ", one, count == 1 ? "" : "s", more);
  };
  std::size_t corners = 0, pairs = 0, view_pairs = 0;
  for (const Picture& p : pictures) corners += p.corners.size();
  for (const Sequence& s : sequences) pairs += s.pictures.size() - 1;
  for (const Views& v : views) view_pairs += v.pictures.size() * (v.pictures.size() - 1) / 2;
  add(pictures.size(), "image", corners > 0 ? text(" with ", corners, " labelled corners") : "");
  add(sequences.size(), "sequence", text(" with ", pairs, " homographies"));
  add(labelled.size(), "file", " of labelled correspondences");
  add(views.size(), "set", text(" of known cameras with ", view_pairs, " pairs"));
  return words;
}

}  // namespace cornea::evaluate
