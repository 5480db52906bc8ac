// SPDX-License-Identifier: Apache-2.0
// SIFT: keypoints that are invariant to scale, rotation and illumination, each with a descriptor of
// 128 bytes (D. Lowe, "Distinctive image features from scale-invariant keypoints", International
// Journal of Computer Vision 60, 2004).
//
//   1. Scale space: octaves of n + 3 levels, level l blurred to sigma 2^(l/n). Level 0 of the first
//      octave is the image, doubled by default; level 0 of each other octave is every second pixel
//      of level n of the octave before. Level l is a filter applied to level l - 1: a Gaussian with
//      sigma sqrt(2^(2/n) - 1) 2^((l-1)/n), or an edge-preserving filter with that sigma.
//   2. Points: D_l = level l + 1 - level l. A pixel of D_1 .. D_n, at least 5 pixels from the edge
//      of its octave, is an extremum if it is positive and the largest or negative and the smallest
//      of its 3 x 3 x 3 neighbourhood (ties keep the first), and |D| exceeds half of contrast / n.
//      A quadratic in x, y and l is fitted around it up to 5 times, each time around the pixel to
//      which the previous fit points. It is a point if the fit converges (see Settling), |D| there
//      is at least contrast / n, and the two principal curvatures of D have the same sign and a
//      ratio below edge_ratio.
//   3. Orientations: a histogram of gradient directions with 36 bins over a disc of radius 4.5
//      times the scale, smoothed with (1, 4, 6, 4, 1) / 16. The highest peak and all local peaks of
//      at least 0.8 of its height (kAngleShare in sift_math.h) give a feature each.
//   4. Descriptors: gradients at the 20 x 20 samples of a grid that is rotated and scaled with the
//      point, with 4 samples per cell side; 4 x 4 cells, with sides of 3 scales, of 8 directions
//      with trilinear interpolation, under a Gaussian of 2 cells. Normalised, clamped at 0.2,
//      RootSIFT, times 512.
//
// Two options help with large changes of viewpoint.
//
//   affine_shape: points are ellipses (T. Lindeberg and J. Garding, Image and Vision Computing 15,
//   1997; A. Baumberg, CVPR 2000). Between steps 2 and 3 a point gets a symmetric shape matrix A
//   whose smaller eigenvalue is 1. Starting from A = I, 5 iterations compute the second moment
//   matrix m = sum of w g g^T over the gradients g of the level below the point's own, at 12 x 12
//   samples with a spacing of 1.25 in the plane that scale * A maps to pixels (the normalised
//   plane), under a Gaussian w with a sigma of 3 there; then A = m^(-1/2), scaled so that its
//   smaller eigenvalue is 1, with the larger one limited to 5. Orientations come from 16 x 16
//   samples of that plane with a spacing of 0.5625, and descriptors from the grid of step 4 in it,
//   both from that level; a gradient is A^T g there.
//   domain_size_pooling (J. Dong and S. Soatto, CVPR 2015): the descriptor is the sum of those of
//   10 domain sizes, 1/6 + 17 k / 60 times the point's own for k = 0 .. 9. Each comes from the
//   level of the point's octave whose blur matches its size best, has 3 x 3 samples per cell, and
//   is normalised, clamped and normalised again.
//
// Positions are in pixels of the input image. Pixels 2x and 2x + 1 of the doubled image lie a
// quarter of a pixel before and after pixel x, so that doubling causes no position bias.
//
// Features are ordered by octave, level, y and x of their pixel, and orientation (the highest peak
// first). Both devices use the same formulas (sift_math.h) in the same order and give the same
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
// Strict: those for which one of the 5 fits stays within half a pixel and half a level of the pixel
// around which it was made (Lowe).
// Lenient: also some extrema whose fits oscillate between two pixels or leave the levels of the
// octave, namely those that converge within their own level. There, too, up to 5 fits are made. If
// a fit points more than 0.6 pixels away in x or y, the next one is made one pixel further in that
// direction; the last one must stay within 1.5 pixels and 1.5 levels (VLFeat).
enum class Settling { strict, lenient };

// Which points a cap keeps: those of the largest contrast |D|, of the largest scale in the image,
// or (both) of the largest |D| times scale squared. A cap counts points: a point that is kept keeps
// all its orientations, so that there may be more features than points. Ties keep the first.
enum class KeepPoints { contrast, scale, both };

struct CORNEA_API SiftOptions {
  ScaleSpace scale_space = ScaleSpace::gaussian;
  double sigma_range = 20;  // of the bilateral filter, gray levels of 0..255
  bool doubled = true;      // start with an octave of twice the image's size
  int octaves = 0;          // most octaves; 0: as many as have room for a point
  int intervals = 3;        // n, 1 to 8: levels per octave that are searched for points
  double sigma = 1.6;       // blur of level 0, in pixels of its octave
  double blur = 0.5;        // assumed blur of the input image, pixels
  double contrast = 0.04;   // least |D| times n; black to white is 1
  double edge_ratio = 10;   // largest ratio of principal curvatures; 0: no edge test
  Settling settle = Settling::lenient;
  int orientations = 4;                // most features per point, 1 to 8; 0: one, upright
  bool affine_shape = false;           // points are ellipses; see above
  bool domain_size_pooling = false;    // descriptors are sums over 10 sizes; see above
  bool root = true;                    // RootSIFT: square roots of the L1-normalised descriptor
  KeepPoints keep = KeepPoints::both;  // ranking for the caps below
  int max_points = 0;                  // most points per image; 0: no limit
  int cell = 0;                        // side of a grid cell, pixels of the image; 0: no grid
  int max_per_cell = 0;                // most points per cell; needs `cell`

  void validate() const;
};

// Whether describe() computes the orientation and the shape of a point, or uses those given.
enum class Angles { assign, keep };

// Features in device memory, in the order of detect().
struct DeviceFeatures {
  const Keypoint* keypoints = nullptr;
  const std::uint8_t* descriptors = nullptr;  // Features::kLength bytes per point
  std::size_t size = 0;
};

// A Sift is constructed once and then applied to any number of images. It allocates nothing after
// the first image of a size, unless a later one has many more points.
//
// Images are 8-bit, 16-bit or float (0..1), gray or RGB. On a CPU context they lie in host memory.
// On a CUDA context they lie in host memory (the upload is fastest from pinned memory) or on the
// device; only the finished features are downloaded.
class CORNEA_API Sift {
 public:
  explicit Sift(const Context& context, const SiftOptions& options = {});
  ~Sift();
  Sift(Sift&&) noexcept;

  // No point lies where the mask (8-bit, of the image's size) is 0. Results passed by reference
  // reuse their memory from call to call.
  Features detect(AnyView image, AnyView mask = {});
  void detect(AnyView image, Features& out, AnyView mask = {}) {
    detect_batch({&image, 1}, {&out, 1}, mask);
  }
  // Processes many images of one size and type in one call, with one mask for all.
  void detect_batch(std::span<const AnyView> images, std::span<Features> out, AnyView mask = {});

  // Describes points of any detector: one feature per point, in their order. The scale of each
  // point must be set (in pixels of the image; corners have no scale: see keypoints_of()).
  void describe(AnyView image, std::span<const Keypoint> points, Features& out,
                Angles angles = Angles::assign);

  // Whether descriptors are also kept on the device, for a matcher on the same context. They are
  // those of the last call with one image, in its order, and valid until the next call. Null on the
  // CPU, or if off.
  void keep_on_device(bool on);
  const std::uint8_t* device_descriptors() const;

  // As detect(), for CUDA contexts only, with all features left on the device until the next call:
  // the host waits for the number of features and reads nothing else. For an image on the device
  // nothing is transferred; reading that number is not counted in Context::transfers().
  DeviceFeatures detect_on_device(AnyView image, AnyView mask = {});

  // The device memory (on the CPU: host memory) needed for 8-bit gray images of this size, with
  // room for a typical number of points. A call that cannot allocate it throws an error that states
  // the amount, and frees its scale space. On the CPU the levels of a Gaussian scale space that do
  // not fit into 256 MiB are computed in strips of rows, with the same result; the other filters
  // need whole images.
  std::size_t memory_needed(int width, int height, int images = 1) const;

  // The report of the last call. Timing stages costs a little on CUDA, so it is off by default.
  void time_stages(bool on);
  const DetectReport& report() const;
  const Context& context() const;
  const SiftOptions& options() const;

  // Level `level` of octave `octave` (0 is the first, doubled or not) of the last image's scale
  // space, in host memory, for inspection. Throws if the image was so large that the CPU computed
  // its levels in strips.
  Image<float> level(int octave, int level) const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

// Corners as keypoints of one scale, for describe().
CORNEA_API std::vector<Keypoint> keypoints_of(std::span<const Corner> corners, float scale);

}  // namespace cornea
