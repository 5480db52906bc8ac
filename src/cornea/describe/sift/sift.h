// SIFT: points that stay where they are when an image is scaled, turned and lit otherwise, with a
// description of 128 bytes each (D. Lowe, "Distinctive image features from scale-invariant
// keypoints", International Journal of Computer Vision 60, 2004).
//
//   1. Scale space: octaves of n + 3 levels, level l blurred to sigma 2^(l/n). Level 0 of the first
//      octave is the image, doubled if asked for; of the others, every second pixel of level n of
//      the one before. Level l is a filter applied to level l - 1: a Gaussian with
//      sigma sqrt(2^(2/n) - 1) 2^((l-1)/n), or an edge-preserving filter with that sigma.
//   2. Points: D_l = level l + 1 - level l. A pixel of D_1 .. D_n, at least 5 from the edge of its
//      octave, that is positive and the largest or negative and the smallest of the 27 around it
//      (of equal ones the first), with |D| above half of contrast / n, is fitted with a quadratic
//      in x, y and l, up to 5 times, each time around the pixel that the fit before it points to.
//      It is a point if the fit settles (see Settling), |D| there is at least contrast / n, and the
//      two curvatures of D have one sign and a ratio under edge_ratio.
//   3. Angles: 36 bins of gradient directions in a disc of radius 4.5 times the scale. The highest
//      bin and all local peaks of at least 0.8 of it give a feature each.
//   4. Descriptors: gradients at 20 x 20 places of a grid that is turned and scaled with the point,
//      4 to a cell and direction; 4 x 4 cells of 8 directions, shared out linearly between
//      neighbours, under a Gaussian of 2 cells. Normalised, cut at 0.2, RootSIFT, times 512.
//
// Two options help where the viewpoint changes much.
//
//   affine_shape: points are ellipses (T. Lindeberg and J. Garding, Image and Vision Computing 15,
//   1997; A. Baumberg, CVPR 2000). Between 2 and 3 a point gets a shape A, symmetric, its smaller
//   eigenvalue 1. From A = 1 on, 5 times: the moments m = sum of w g g^T over the gradients g of
//   the level below the point's own at 12 x 12 places, 1.25 apart on the plane that scale * A maps
//   to pixels, under a Gaussian w of 3 there; A = m^(-1/2), scaled so that its smaller eigenvalue
//   is 1, its larger one 5 at most. Angles come from 16 x 16 places of that plane, 0.5625 apart,
//   and descriptors from the grid of step 4 on it, of that level too; a gradient is A^T g there.
//   domain_size_pooling (J. Dong and S. Soatto, CVPR 2015): descriptors of 10 sizes, (1/6 + 17 k /
//   60) of the point's own for k = 0 .. 9, each from the level of the point's octave whose blur
//   fits its size best, each with 3 x 3 samples per cell, normalised, cut and normalised, are added
//   up.
//
// Positions are those of the input image. Pixels 2x and 2x + 1 of the doubled image lie a quarter
// of a pixel before and after pixel x: doubling moves no point.
//
// Features come ordered by octave, level, y and x of their pixel, and angle (the highest peak
// first). Both devices follow one set of formulas (sift_math.h) in one order, and give the same
// bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/detect/detect_report.h"

namespace cornea {

enum class ScaleSpace { gaussian, bilateral, trilateral };

// Which extrema become points.
// Strict: those with a fit, among the 5, that stays within half a pixel and half a level of the
// place around which it was made (Lowe).
// Lenient: these, and of the others, whose fits go back and forth between two places or leave the
// levels of the octave, those that settle within their own level: of 5 fits there, each a pixel
// further in x and y where the one before it points more than 0.6 pixels away, the last one stays
// within 1.5 pixels and 1.5 levels (VLFeat).
enum class Settling { strict, lenient };

// Which points a cap keeps: those of the largest contrast |D|, of the largest scale in the image,
// or, both, of the largest |D| times scale squared. A cap counts points: all orientations of a
// point that is kept follow it, so that there may be more features than points. Of equal points the
// first are kept.
enum class KeepPoints { contrast, scale, both };

struct CORNEA_API SiftOptions {
  ScaleSpace scale_space = ScaleSpace::gaussian;
  double sigma_range = 20;  // of the bilateral filter, gray levels of 0..255
  bool doubled = true;      // begin with an octave of twice the image's size
  int octaves = 0;          // most; 0: as many as have room for a point
  int intervals = 3;        // n, 1 to 8: levels per octave in which points are sought
  double sigma = 1.6;       // of level 0, in its octave's pixels
  double blur = 0.5;        // that the image is taken to have, pixels
  double contrast = 0.04;   // least |D| times n; black to white is 1
  double edge_ratio = 10;   // of the curvatures; 0: no test for edges
  Settling settle = Settling::lenient;
  int orientations = 4;                // most features per point, 1 to 8; 0: one, upright
  bool affine_shape = false;           // points are ellipses; see above
  bool domain_size_pooling = false;    // descriptors are means over 10 sizes; see above
  bool root = true;                    // RootSIFT: square roots of the L1-normalised descriptor
  KeepPoints keep = KeepPoints::both;  // under the caps that follow
  int max_points = 0;                  // most points of an image; 0: no limit
  int cell = 0;                        // side of a grid cell, pixels of the image; 0: no grid
  int max_per_cell = 0;                // most points of each cell; needs `cell`

  void validate() const;
};

// Whether describe() finds the angle of a point, and its shape, or takes those it has.
enum class Angles { assign, keep };

// Features in device memory, in the order that detect() has.
struct DeviceFeatures {
  const Keypoint* keypoints = nullptr;
  const std::uint8_t* descriptors = nullptr;  // Features::kLength bytes per point
  std::size_t size = 0;
};

// Made once; then it takes image after image and allocates nothing after the first of a size,
// unless a later one has many more points.
//
// Images are 8-bit, 16-bit or float (0..1), gray or RGB. On a CPU context they lie in host memory.
// On a CUDA context they lie in host memory (from pinned memory the upload is fastest) or on the
// device; nothing but the finished features comes back.
class CORNEA_API Sift {
 public:
  explicit Sift(const Context& context, const SiftOptions& options = {});
  ~Sift();
  Sift(Sift&&) noexcept;

  // No point lies where the mask (8-bit, the image's size) is 0. Results given by reference keep
  // their memory from call to call.
  Features detect(AnyView image, AnyView mask = {});
  void detect(AnyView image, Features& out, AnyView mask = {}) {
    detect_batch({&image, 1}, {&out, 1}, mask);
  }
  // Many images of one size and type in one go, with one mask for all.
  void detect_batch(std::span<const AnyView> images, std::span<Features> out, AnyView mask = {});

  // Describes points of any detector: one feature per point, in their order. A point's scale must
  // be set (pixels of the image; corners have none of their own: see keypoints_of()).
  void describe(AnyView image, std::span<const Keypoint> points, Features& out,
                Angles angles = Angles::assign);

  // Whether descriptors also stay on the device, for a matcher on the same context. They are those
  // of the last call with one image, in its order, until the next call. Null on the CPU, or if off.
  void keep_on_device(bool on);
  const std::uint8_t* device_descriptors() const;

  // As detect(), on a CUDA context alone, with all features left on the device until the next call:
  // the host waits for the number of features and learns nothing else. Of an image on the device
  // nothing is transferred; that number is no transfer to Context::transfers().
  DeviceFeatures detect_on_device(AnyView image, AnyView mask = {});

  // Device memory (on the CPU: host memory) that 8-bit gray images of this size take, with room for
  // a usual number of points. A call that finds less fails, says how much it needs, and gives its
  // scale space back. On the CPU the levels of a Gaussian scale space that do not fit into 256 MiB
  // are made in strips of rows, with the same result; the other filters look at whole images.
  std::size_t memory_needed(int width, int height, int images = 1) const;

  // Of the last call. Times by stage cost a little on CUDA; off unless asked for.
  void time_stages(bool on);
  const DetectReport& report() const;
  const Context& context() const;
  const SiftOptions& options() const;

  // Level `level` of octave `octave` (0 is the first, doubled or not) of the last image's scale
  // space, in host memory; for looking at it. An error where the image was so large that the CPU
  // made its levels in strips.
  Image<float> level(int octave, int level) const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

// Corners as points of one scale, for describe().
CORNEA_API std::vector<Keypoint> keypoints_of(std::span<const Corner> corners, float scale);

}  // namespace cornea
