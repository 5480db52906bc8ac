// SPDX-License-Identifier: Apache-2.0
// Metadata that a camera stores beside the pixels: orientation, lens, time and GPS position.
//
// EXIF is a TIFF directory (IFD; "Exif Version 2.3", JEITA CP-3451C). JPEG keeps it in an APP1
// segment, PNG in an eXIf chunk, WebP in an EXIF chunk; a TIFF file contains the directory itself.
// Cameras and editors often write invalid EXIF: an inconsistent field keeps its default, and
// nothing is read outside the given bytes, whatever offsets and lengths they claim.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cornea/core/export.h"

namespace cornea {

// GPS position at which a photograph was taken: degrees, north and east positive, on WGS 84.
struct GpsPosition {
  double latitude = 0, longitude = 0;     // -90 to 90; -180 to 180
  std::optional<double> altitude_m = {};  // above sea level; negative below it
};

struct Exif {
  // How the stored pixels are shown: 1 as stored, 2 mirrored left to right, 3 rotated by 180
  // degrees, 4 mirrored top to bottom, 5 transposed, 6 rotated clockwise by 90 degrees, 7
  // transposed along the other diagonal, 8 rotated anticlockwise by 90 degrees.
  int orientation = 1;
  bool orientation_said = false;  // whether the file states it; otherwise the 1 above is assumed
  double focal_mm = 0, focal_35mm = 0;     // focal length; its equivalent on 35 mm film; 0: unknown
  std::string make = {}, model = {};       // of the camera, bytes as in the file
  double focal_plane_pixels_per_mm = 0;    // across the sensor; 0: unknown
  int pixels_across = 0, pixels_down = 0;  // of the image to which this density refers; 0: unknown
  // Unset if latitude, longitude or their signs (N, S, E, W) are missing or invalid, and if the
  // receiver itself states that it had no position.
  std::optional<GpsPosition> gps = {};
  // When the shutter opened, by the camera's own clock: "2026-11-17 09:05:31.25". The text sorts in
  // order of time. Fractions of a second appear if the camera wrote them, without trailing zeros.
  // Empty: unknown.
  std::string taken = {};

  // Whether width and height are exchanged.
  bool swaps_sides() const { return orientation >= 5; }
};

// The focal length in pixels of an image of this size; m is its longer side:
//   35 mm equivalent f35:                       m f35 / 35, which is COLMAP's formula
//   focal length f and longer side s, in mm:    m f / s, s from the focal plane's resolution
//   otherwise                                   0: unknown
CORNEA_API double focal_pixels(const Exif& exif, int width, int height);

// Reads EXIF from the bytes of an image file; empty if they hold no readable EXIF.
CORNEA_API std::optional<Exif> decode_exif(std::span<const std::uint8_t> bytes);

}  // namespace cornea
