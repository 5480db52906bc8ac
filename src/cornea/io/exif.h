// SPDX-License-Identifier: Apache-2.0
// What a camera wrote beside the pixels: which way up they are, the lens, the time and the place.
//
// EXIF is a TIFF folder ("Exif Version 2.3", JEITA CP-3451C). JPEG keeps it in an APP1 segment, PNG
// in an eXIf chunk, WebP in an EXIF chunk; a TIFF file is one itself. Cameras and editors write it
// badly: a field that does not add up is left at its default, and nothing is read outside of the
// bytes, whatever they claim.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cornea/core/export.h"

namespace cornea {

// Where a photograph was taken, by satellites: degrees, north and east positive, on WGS 84.
struct GpsPosition {
  double latitude = 0, longitude = 0;     // -90 to 90; -180 to 180
  std::optional<double> altitude_m = {};  // above the sea, or below it where negative
};

struct Exif {
  // How the stored pixels are shown: 1 as they are, 2 mirrored left to right, 3 rotated by 180
  // degrees, 4 mirrored top to bottom, 5 transposed, 6 rotated clockwise by 90 degrees, 7
  // transposed along the other diagonal, 8 rotated anticlockwise by 90 degrees.
  int orientation = 1;
  bool orientation_said = false;         // by the file; otherwise the 1 above is a guess
  double focal_mm = 0, focal_35mm = 0;   // focal length; its equivalent on 35 mm film; 0: not said
  std::string make = {}, model = {};     // of the camera, bytes as they are in the file
  double focal_plane_pixels_per_mm = 0;  // across the sensor; 0: not said
  int pixels_across = 0, pixels_down = 0;  // of the image that this density is of; 0: not said
  // Unset where latitude, longitude or their signs (N, S, E, W) are missing or cannot be, and where
  // the receiver itself said that it had no position.
  std::optional<GpsPosition> gps = {};
  // When the shutter opened, by the camera's own clock: "2026-11-17 09:05:31.25". The text sorts as
  // the time does; parts of a second are there where the camera wrote them, without zeros at the
  // end. Empty: not said.
  std::string taken = {};

  // Whether width and height change places.
  bool swaps_sides() const { return orientation >= 5; }
};

// The focal length of an image of this size, pixels, with m its longer side:
//   35 mm equivalent f35:                       m f35 / 35, which is COLMAP's formula
//   focal length f and longer side s, in mm:    m f / s, s from the focal plane's resolution
//   otherwise                                   0: not known
CORNEA_API double focal_pixels(const Exif& exif, int width, int height);

// From the bytes of an image file; empty where they hold no EXIF that can be read.
CORNEA_API std::optional<Exif> decode_exif(std::span<const std::uint8_t> bytes);

}  // namespace cornea
