// SPDX-License-Identifier: Apache-2.0
// For tests: EXIF as cameras write it.
#pragma once

#include <string>
#include <vector>

#include "cornea/io/file_testing.h"

namespace cornea::testing {

// Writes a TIFF, one IFD after the other, in either byte order.
class TiffMaker {
 public:
  explicit TiffMaker(bool big_endian) : big_(big_endian) {
    bytes_ = bytes_of_text(big_ ? "MM" : "II");
    put(42, 2);
    put(8, 4);
  }
  struct Field {
    std::uint32_t tag, type, count;
    ByteVector value;
  };
  ByteVector number(std::uint32_t v, int size) const {
    ByteVector out;
    for (int i = 0; i < size; ++i) {
      out.push_back(std::uint8_t(v >> 8 * (big_ ? size - 1 - i : i)));
    }
    return out;
  }
  Field whole(std::uint32_t tag, std::uint32_t v, bool is_long = false) const {
    return {tag, is_long ? 4u : 3u, 1, number(v, is_long ? 4 : 2)};
  }
  Field rational(std::uint32_t tag, std::uint32_t above, std::uint32_t below) const {
    Field field{tag, 5, 1, number(above, 4)};
    append(field.value, number(below, 4));
    return field;
  }
  // Numerators and denominators alternate.
  Field rationals(std::uint32_t tag, const std::vector<std::uint32_t>& parts) const {
    Field field{tag, 5, std::uint32_t(parts.size() / 2), {}};
    for (const std::uint32_t part : parts) append(field.value, number(part, 4));
    return field;
  }
  Field byte(std::uint32_t tag, std::uint8_t v) const { return {tag, 1, 1, {v}}; }
  Field text(std::uint32_t tag, const std::string& s) const {
    Field field{tag, 2, std::uint32_t(s.size() + 1), bytes_of_text(s)};
    field.value.push_back(0);
    return field;
  }
  // An IFD, followed by the values that do not fit into four bytes.
  void folder(const std::vector<Field>& fields) {
    put(std::uint32_t(fields.size()), 2);
    ByteVector beyond;
    const std::size_t after = bytes_.size() + 12 * fields.size() + 4;
    for (const Field& f : fields) {
      put(f.tag, 2);
      put(f.type, 2);
      put(f.count, 4);
      if (f.value.size() > 4) {
        put(std::uint32_t(after + beyond.size()), 4);
        append(beyond, f.value);
      } else {
        ByteVector padded = f.value;
        padded.resize(4);
        append(bytes_, padded);
      }
    }
    put(0, 4);
    append(bytes_, beyond);
  }
  std::size_t size() const { return bytes_.size(); }
  const ByteVector& bytes() const { return bytes_; }

 private:
  void put(std::uint32_t v, int size) { append(bytes_, number(v, size)); }
  bool big_;
  ByteVector bytes_;
};

// A JPEG file with the TIFF in its first segment.
inline ByteVector with_exif(const ByteVector& jpeg, const ByteVector& tiff) {
  ByteVector bytes(jpeg.begin(), jpeg.begin() + 2);
  const std::size_t length = 2 + 6 + tiff.size();
  append(bytes, {0xFF, 0xE1, std::uint8_t(length >> 8), std::uint8_t(length)});
  append(bytes, {'E', 'x', 'i', 'f', 0, 0});
  append(bytes, tiff);
  bytes.insert(bytes.end(), jpeg.begin() + 2, jpeg.end());
  return bytes;
}

// What a camera states about a photograph; fields that are empty or 0 are not written.
struct Said {
  std::string make = {}, model = {};
  std::uint32_t focal_35mm = 0, orientation = 0;
  bool gps = false;  // 48.5 degrees north, 11.25 degrees west, 519.5 m
};

inline ByteVector tiff_of(const Said& said) {
  // IFDs follow each other; the offset of one is known only once those before it have been built.
  std::uint32_t lens = 0, gps = 0;
  for (;;) {
    TiffMaker tiff(false);
    std::vector<TiffMaker::Field> first = {tiff.whole(0x8769, lens, true)};
    if (said.gps) first.push_back(tiff.whole(0x8825, gps, true));
    if (!said.make.empty()) first.push_back(tiff.text(0x010F, said.make));
    if (!said.model.empty()) first.push_back(tiff.text(0x0110, said.model));
    if (said.orientation > 0) first.push_back(tiff.whole(0x0112, said.orientation));
    tiff.folder(first);
    const auto after_first = std::uint32_t(tiff.size());
    std::vector<TiffMaker::Field> second;
    if (said.focal_35mm > 0) second.push_back(tiff.whole(0xA405, said.focal_35mm));
    tiff.folder(second);
    const auto after_second = std::uint32_t(tiff.size());
    tiff.folder({tiff.text(1, "N"), tiff.rationals(2, {485, 10, 0, 1, 0, 1}), tiff.text(3, "W"),
                 tiff.rationals(4, {11, 1, 15, 1, 0, 1}), tiff.byte(5, 0),
                 tiff.rational(6, 1039, 2)});
    if (lens == after_first && gps == after_second) return tiff.bytes();
    lens = after_first;
    gps = after_second;
  }
}

}  // namespace cornea::testing
