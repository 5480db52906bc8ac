// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/exif.h"

#include <algorithm>
#include <string_view>

#include "cornea/io/decoded.h"

namespace cornea {
namespace {

using namespace io;

using io::Bytes;
using io::starts_with;

// Reads whole numbers at offsets that may lie outside the bytes.
class Reader {
 public:
  Reader(Bytes bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  bool holds(std::uint64_t at, std::uint64_t count) const {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  // Returns 0 if the number lies beyond the end.
  std::uint32_t number(std::uint64_t at, int size) const {
    if (!holds(at, std::uint64_t(size))) return 0;
    std::uint32_t value = 0;
    for (int i = 0; i < size; ++i) {
      const int byte = big_endian_ ? i : size - 1 - i;
      value = value << 8 | bytes_[at + std::uint64_t(byte)];
    }
    return value;
  }
  std::uint32_t u16(std::uint64_t at) const { return number(at, 2); }
  std::uint32_t u32(std::uint64_t at) const { return number(at, 4); }
  Bytes part(std::uint64_t at, std::uint64_t count) const { return bytes_.subspan(at, count); }
  std::uint64_t size() const { return bytes_.size(); }

 private:
  Bytes bytes_;
  bool big_endian_;
};

enum Tag : std::uint32_t {
  kMake = 0x010F,
  kModel = 0x0110,
  kOrientation = 0x0112,
  kExifIfd = 0x8769,
  kGpsIfd = 0x8825,
  kDateTimeOriginal = 0x9003,
  kSubSecTimeOriginal = 0x9291,
  kFocalLength = 0x920A,
  kPixelXDimension = 0xA002,
  kPixelYDimension = 0xA003,
  kFocalPlaneXResolution = 0xA20E,
  kFocalPlaneResolutionUnit = 0xA210,
  kFocalLengthIn35mmFilm = 0xA405,
};

// Tags of the GPS IFD.
enum GpsTag : std::uint32_t {
  kLatitudeRef = 1,
  kLatitude = 2,
  kLongitudeRef = 3,
  kLongitude = 4,
  kAltitudeRef = 5,
  kAltitude = 6,
  kStatus = 9,
};

enum Type : std::uint32_t { kByte = 1, kAscii = 2, kShort = 3, kLong = 4, kRational = 5 };

// One entry of an IFD (image file directory): 12 bytes that hold either the values or their offset.
struct Field {
  std::uint32_t tag = 0, type = 0, count = 0;
  std::uint64_t at = 0;  // offset of the first value
};

std::uint64_t bytes_of_type(std::uint32_t type) {
  switch (type) {
    case kByte:
    case kAscii:
      return 1;
    case kShort:
      return 2;
    case kLong:
      return 4;
    case kRational:
      return 8;
    default:
      return 0;
  }
}

// Visits the entries of an IFD that have a known type and lie within the bytes.
template <class F>
void for_each_field(const Reader& reader, std::uint64_t ifd, F&& f) {
  const std::uint32_t entries = reader.u16(ifd);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = ifd + 2 + 12 * std::uint64_t(i);
    if (!reader.holds(entry, 12)) return;
    Field field{reader.u16(entry), reader.u16(entry + 2), reader.u32(entry + 4), entry + 8};
    const std::uint64_t bytes = bytes_of_type(field.type) * field.count;
    if (bytes == 0) continue;
    if (bytes > 4) field.at = reader.u32(entry + 8);
    if (reader.holds(field.at, bytes)) f(field);
  }
}

std::uint32_t whole_number(const Reader& reader, const Field& field) {
  if (field.count != 1) return 0;
  return field.type == kShort  ? reader.u16(field.at)
         : field.type == kLong ? reader.u32(field.at)
                               : 0;
}

// 0 if the field holds no positive number.
double real_number(const Reader& reader, const Field& field) {
  if (field.type != kRational) return whole_number(reader, field);
  const std::uint32_t above = reader.u32(field.at), below = reader.u32(field.at + 4);
  return field.count == 1 && below != 0 ? double(above) / below : 0;
}

std::string string_of(const Reader& reader, const Field& field) {
  if (field.type != kAscii) return {};
  constexpr std::uint64_t kLongest = 256;
  const Bytes bytes = reader.part(field.at, std::min<std::uint64_t>(field.count, kLongest));
  std::string value(bytes.begin(), std::find(bytes.begin(), bytes.end(), 0));
  value.erase(value.find_last_not_of(' ') + 1);
  return value;
}

int pixels(const Reader& reader, const Field& field) {
  return int(std::min<std::uint32_t>(whole_number(reader, field), 1u << 30));
}

// Pixels per millimetre from pixels per unit: 2 inch, 3 centimetre, 4 millimetre, 5 micrometre.
double per_millimetre(double resolution, std::uint32_t unit) {
  switch (unit) {
    case 3:
      return resolution / 10;
    case 4:
      return resolution;
    case 5:
      return resolution * 1000;
    default:
      return resolution / 25.4;
  }
}

// The i-th of several rationals; empty if its denominator is 0.
std::optional<double> rational_at(const Reader& reader, const Field& field, std::uint32_t i) {
  if (field.type != kRational || i >= field.count) return std::nullopt;
  const std::uint32_t above = reader.u32(field.at + 8 * std::uint64_t(i));
  const std::uint32_t below = reader.u32(field.at + 8 * std::uint64_t(i) + 4);
  if (below == 0) return std::nullopt;
  return double(above) / below;
}

// Reads degrees, minutes and seconds; degrees and minutes may have fractions.
std::optional<double> angle_of(const Reader& reader, const Field& field, double largest) {
  if (field.count != 3) return std::nullopt;
  const auto degrees = rational_at(reader, field, 0), minutes = rational_at(reader, field, 1),
             seconds = rational_at(reader, field, 2);
  if (!degrees || !minutes || !seconds || *minutes > 60 || *seconds > 60) return std::nullopt;
  const double angle = *degrees + *minutes / 60 + *seconds / 3600;
  return angle <= largest ? std::optional(angle) : std::nullopt;
}

// 1 or -1 according to the letter; empty if it is neither.
std::optional<double> sign_of(const std::string& letter, const char* positive,
                              const char* negative) {
  if (letter == positive) return 1;
  if (letter == negative) return -1;
  return std::nullopt;
}

std::optional<GpsPosition> parse_gps(const Reader& reader, std::uint64_t ifd) {
  std::optional<double> latitude, longitude, north, east, altitude;
  std::uint32_t below_sea =
      0;  // EXIF's default; 2 and 3, new in 3.0, mean the same as 0 and 1 here
  bool is_void = false;
  for_each_field(reader, ifd, [&](const Field& field) {
    if (field.tag == kLatitudeRef) north = sign_of(string_of(reader, field), "N", "S");
    if (field.tag == kLongitudeRef) east = sign_of(string_of(reader, field), "E", "W");
    if (field.tag == kLatitude) latitude = angle_of(reader, field, 90);
    if (field.tag == kLongitude) longitude = angle_of(reader, field, 180);
    if (field.tag == kAltitude && field.count == 1) altitude = rational_at(reader, field, 0);
    if (field.tag == kAltitudeRef) {
      below_sea = field.type == kByte && field.count == 1 ? reader.number(field.at, 1) : ~0u;
    }
    if (field.tag == kStatus) is_void = string_of(reader, field) == "V";
  });
  if (is_void || !latitude || !longitude || !north || !east) return std::nullopt;
  GpsPosition position{*north * *latitude, *east * *longitude};
  constexpr double kHighest = 1e5;  // no aircraft is higher; some cameras write 2^32 - 1
  if (altitude && *altitude <= kHighest && below_sea <= 3) {
    position.altitude_m = below_sea % 2 == 1 ? -*altitude : *altitude;
  }
  return position;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "2026:11:17 09:05:31" and "25" become "2026-11-17 09:05:31.25"; empty if the text is not a time.
std::string time_of(const std::string& date_time, const std::string& part_of_second) {
  constexpr std::string_view kForm = "dddd:dd:dd dd:dd:dd";
  if (date_time.size() != kForm.size()) return {};
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'd' ? !is_digit(date_time[i]) : date_time[i] != kForm[i]) return {};
  }
  auto number = [&](std::size_t at) {
    return 10 * (date_time[at] - '0') + date_time[at + 1] - '0';
  };
  const int month = number(5), day = number(8);
  // Cameras whose clock was never set write zeros. Second 60 is a leap second.
  if (month < 1 || month > 12 || day < 1 || day > 31) return {};
  if (number(11) > 23 || number(14) > 59 || number(17) > 60) return {};
  std::string time = date_time;
  time[4] = time[7] = '-';
  constexpr std::size_t kMostDigits = 9;
  if (part_of_second.size() > kMostDigits ||
      !std::all_of(part_of_second.begin(), part_of_second.end(), is_digit)) {
    return time;
  }
  const std::size_t digits = part_of_second.find_last_not_of('0') + 1;
  return digits > 0 ? time + "." + part_of_second.substr(0, digits) : time;
}

std::optional<Exif> parse_tiff(Bytes bytes) {
  using namespace std::string_view_literals;
  const bool big_endian = starts_with(bytes, "MM\0*"sv);
  if (!big_endian && !starts_with(bytes, "II*\0"sv)) return std::nullopt;
  const Reader reader(bytes, big_endian);
  const std::uint64_t first = reader.u32(4);
  if (first < 8 || !reader.holds(first, 2)) return std::nullopt;

  Exif exif;
  std::uint64_t ifd = 0, gps_ifd = 0;
  for_each_field(reader, first, [&](const Field& field) {
    if (field.tag == kMake) exif.make = string_of(reader, field);
    if (field.tag == kModel) exif.model = string_of(reader, field);
    if (field.tag == kExifIfd) ifd = whole_number(reader, field);
    if (field.tag == kGpsIfd) gps_ifd = whole_number(reader, field);
    if (field.tag == kOrientation) {
      const std::uint32_t value = whole_number(reader, field);
      exif.orientation_said = value >= 1 && value <= 8;
      if (exif.orientation_said) exif.orientation = int(value);
    }
  });
  double resolution = 0;
  std::uint32_t unit = 2;
  std::string date_time, part_of_second;
  if (ifd >= 8) {
    for_each_field(reader, ifd, [&](const Field& field) {
      if (field.tag == kFocalLength) exif.focal_mm = real_number(reader, field);
      if (field.tag == kFocalLengthIn35mmFilm) exif.focal_35mm = real_number(reader, field);
      if (field.tag == kFocalPlaneXResolution) resolution = real_number(reader, field);
      if (field.tag == kFocalPlaneResolutionUnit) unit = whole_number(reader, field);
      if (field.tag == kPixelXDimension) exif.pixels_across = pixels(reader, field);
      if (field.tag == kPixelYDimension) exif.pixels_down = pixels(reader, field);
      if (field.tag == kDateTimeOriginal) date_time = string_of(reader, field);
      if (field.tag == kSubSecTimeOriginal) part_of_second = string_of(reader, field);
    });
  }
  exif.taken = time_of(date_time, part_of_second);
  if (gps_ifd >= 8) exif.gps = parse_gps(reader, gps_ifd);
  exif.focal_plane_pixels_per_mm = per_millimetre(resolution, unit);
  return exif;
}

// The first APP1 segment that begins with "Exif".
Bytes exif_of_jpeg(Bytes bytes) {
  using namespace std::string_view_literals;
  const Reader reader(bytes, true);
  std::uint64_t at = 2;
  while (reader.holds(at, 4)) {
    if (bytes[at] != 0xFF) return {};
    const std::uint8_t marker = bytes[at + 1];
    if (marker == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    const bool pixels_follow = marker == 0xDA || marker == 0xD9;
    const std::uint64_t length = reader.u16(at + 2);
    if (pixels_follow || length < 2 || !reader.holds(at + 2, length)) return {};
    const Bytes segment = reader.part(at + 4, length - 2);
    if (marker == 0xE1 && starts_with(segment, "Exif\0\0"sv)) return segment.subspan(6);
    at += 2 + length;
  }
  return {};
}

// A chunk of PNG (length, name, data, checksum) or of WebP (name, length, data, padding).
Bytes exif_of_png(Bytes bytes) {
  const Reader reader(bytes, true);
  for (std::uint64_t at = 8; reader.holds(at, 12);) {
    const std::uint64_t length = reader.u32(at);
    if (!reader.holds(at + 8, length)) return {};
    if (starts_with(bytes.subspan(at + 4), "eXIf")) return reader.part(at + 8, length);
    at += 12 + length;
  }
  return {};
}

Bytes exif_of_webp(Bytes bytes) {
  using namespace std::string_view_literals;
  const Reader reader(bytes, false);
  for (std::uint64_t at = 12; reader.holds(at, 8);) {
    const std::uint64_t length = reader.u32(at + 4);
    if (!reader.holds(at + 8, length)) return {};
    if (starts_with(bytes.subspan(at), "EXIF")) {
      const Bytes chunk = reader.part(at + 8, length);
      return starts_with(chunk, "Exif\0\0"sv) ? chunk.subspan(6) : chunk;
    }
    at += 8 + length + length % 2;
  }
  return {};
}

}  // namespace

double focal_pixels(const Exif& exif, int width, int height) {
  const double longer_side = std::max(width, height);
  if (exif.focal_35mm > 0) return longer_side * exif.focal_35mm / 35;
  const int pixels = std::max(exif.pixels_across, exif.pixels_down);
  if (exif.focal_mm > 0 && exif.focal_plane_pixels_per_mm > 0 && pixels > 0) {
    const double sensor_mm = pixels / exif.focal_plane_pixels_per_mm;  // along the longer side
    return longer_side * exif.focal_mm / sensor_mm;
  }
  return 0;
}

std::optional<Exif> decode_exif(std::span<const std::uint8_t> bytes) {
  if (io::is_jpeg(bytes)) return parse_tiff(exif_of_jpeg(bytes));
  if (io::is_png(bytes)) return parse_tiff(exif_of_png(bytes));
  if (io::is_webp(bytes)) return parse_tiff(exif_of_webp(bytes));
  return parse_tiff(bytes);
}

}  // namespace cornea
