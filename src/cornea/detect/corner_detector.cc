#include "cornea/detect/corner_detector.h"

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/pixels.h"
#include "cornea/core/stopwatch.h"
#include "cornea/core/transfer.h"
#include "cornea/detect/refine/refine.h"

namespace cornea {
namespace {

const char* place_name(const AnyView& view) { return view.on_device() ? "device" : "host"; }

}  // namespace

CornerDetector::CornerDetector(const Context& context, const PeakOptions& peaks)
    : context_(context),
      peak_options_(peaks),
      device_peaks_(context, peaks),
      clock_(context),
      map_(context.is_cuda() ? Place::device : Place::host, "detect: response map") {
  peaks.validate();
}

void CornerDetector::check_call(std::span<const AnyView> images, AnyView mask) const {
  require(!images.empty(), "no image was given");
  const AnyView& first = images.front();
  require(!first.empty(), "the image is empty");
  require(first.pixel() != Pixel::f64, "double images are not supported; give float ones (0..1)");
  require(first.data() != nullptr, "the image has a size and no pixels");
  check_image_size(first);
  require(images.size() <= kLargestBatch, "a batch of ", images.size(),
          " images is too large; the limit is ", kLargestBatch);
  for (const AnyView& image : images) {
    require(image.width() == first.width() && image.height() == first.height() &&
                image.pixel() == first.pixel(),
            "the images of a batch differ: ", first.width(), " x ", first.height(), " ",
            name(first.pixel()), " and ", image.width(), " x ", image.height(), " ",
            name(image.pixel()), "; call detect() for each size");
    require(image.on_device() == first.on_device(),
            "the images of a batch lie in host and in device memory; copy them to one place");
    require(context_.is_cuda() || !image.on_device(),
            "the image lies in device memory and the context is the CPU's; use the context that "
            "owns the image");
  }
  if (mask.empty()) return;
  require(mask.pixel() == Pixel::u8, "the mask must be 8-bit gray, not ", name(mask.pixel()));
  require(mask.width() == first.width() && mask.height() == first.height(), "the mask is ",
          mask.width(), " x ", mask.height(), " pixels and the image ", first.width(), " x ",
          first.height(), "; they must be equal");
  require(mask.on_device() == first.on_device(), "the image lies in ", place_name(first),
          " memory and the mask in ", place_name(mask), " memory; copy them to one place");
}

void CornerDetector::check_size(const AnyView& image) const {
  const int support = margin().before + margin().after + 1;
  require(image.width() >= support && image.height() >= support, "an image of ", image.width(),
          " x ", image.height(), " pixels has no room for a corner; this detector looks at ",
          support, " x ", support);
}

// The strongest response and the quadratic fit look at values that decide no peak.
CornerDetector::MapUse CornerDetector::map_use() const {
  const bool more = peak_options_.relative || peak_options_.subpixel == Subpixel::quadratic;
  return more ? MapUse::every_value : MapUse::peaks;
}

// Host images: colour to gray, float checked, and to 16 bit where the algorithm counts in integers.
AnyView CornerDetector::to_working_pixels(AnyView image) {
  const int w = image.width(), h = image.height();
  const std::size_t pixels = std::size_t(w) * h;
  if (is_rgb(image.pixel())) {
    with_gray(channel_of(image.pixel()), [&](auto channel) {
      using T = decltype(channel);
      const HostView<T> gray(gray_.reserve<T>(context_, pixels), w, h);
      gray_from_rgb<T>(context_, image.host<Rgb<T>>(), gray);
      image = gray;
    });
  }
  if (image.pixel() != Pixel::f32) return image;
  require(all_usable(context_, image.host<float>()), kUnusable);
  if (working_pixel(Pixel::f32) == Pixel::f32) return image;
  const HostView<std::uint16_t> to(quantised_.reserve<std::uint16_t>(context_, pixels), w, h);
  u16_from_float(context_, image.host<float>(), to);
  return to;
}

CornerDetector::Map CornerDetector::reserve_map(AnyView view, int frames) {
  const std::size_t pixels = std::size_t(view.width()) * view.height() * frames;
  const std::size_t bytes = pixels * bytes_of(map_pixel(view.pixel()));
  return {map_.reserve_bytes(context_, bytes), view.width(), view.height()};
}

std::vector<Corner> CornerDetector::detect_on_host(AnyView image, AnyView mask) {
  image = to_working_pixels(image);
  const Map map = reserve_map(image, 1);
  respond(image, 1, map, map_use(), nullptr);
  mark(stage_names().response);
  const Region region = inside_margin(image.width(), image.height(), margin());
  const HostView<const std::uint8_t> mask_view =
      mask.empty() ? HostView<const std::uint8_t>() : mask.host<std::uint8_t>();
  PeakTest test;
  if (confirms()) {
    test = [&](double cutoff, std::vector<PixelAt>& peaks) {
      mark(stage_names().peaks);
      confirm(image, cutoff, peaks);
    };
  }
  auto search = [&](auto value) {
    using R = decltype(value);
    return find_peaks<R>(context_, map.host<R>(), region, mask_view, peak_options_,
                         response_unit(image.pixel()), test);
  };
  std::vector<Corner> corners =
      map_pixel(image.pixel()) == Pixel::f32 ? search(float{}) : search(double{});
  mark(stage_names().peaks);
  if (peak_options_.subpixel == Subpixel::gradient) {
    refine_corners(context_, image, peak_options_.subpixel_radius, corners);
    mark("refinement");
  }
  return corners;
}

// A host image as working pixels at `to` on the device.
void CornerDetector::upload_frame(AnyView image, void* to) {
  const AnyView working = to_working_pixels(image);
  const std::size_t row = working.width() * bytes_of(working.pixel());
  context_.upload(to, row, working.data(), working.stride_bytes(), row, working.height());
  // A converted image lies in scratch memory that the next one overwrites.
  if (working.data() != image.data()) context_.synchronize();
}

// The same for an image that lies on the device: everything is queued, and a NaN raises a flag that
// collect_frames() reads.
void CornerDetector::convert_frame(AnyView image, void* to) {
  if constexpr (kHasCuda) {
    const int w = image.width(), h = image.height();
    const Pixel gray_pixel = channel_of(image.pixel());
    const bool quantise = gray_pixel == Pixel::f32 && working_pixel(Pixel::f32) == Pixel::u16;
    if (is_rgb(image.pixel())) {
      with_gray(channel_of(gray_pixel), [&](auto channel) {
        using T = decltype(channel);
        T* at =
            quantise ? device_gray_.reserve<T>(context_, std::size_t(w) * h) : static_cast<T*>(to);
        gray_from_rgb<T>(context_, image.device<Rgb<T>>(), DeviceView<T>(at, w, h));
        image = DeviceView<const T>(at, w, h);
      });
    }
    if (gray_pixel == Pixel::f32) {
      flag_unusable(context_, image.device<float>(), unusable_.data<int>());
    }
    if (quantise) {
      u16_from_float(context_, image.device<float>(),
                     DeviceView<std::uint16_t>(static_cast<std::uint16_t*>(to), w, h));
    } else if (image.data() != to) {
      const std::size_t row = w * bytes_of(gray_pixel);
      context_.copy_on_device(to, row, image.data(), image.stride_bytes(), row, h);
    }
  }
}

// All images as working pixels on the device, one below the other; the view of the first. A single
// device image that needs no conversion is used where it lies.
AnyView CornerDetector::stack_on_device(std::span<const AnyView> images) {
  const AnyView& first = images[0];
  const Pixel working = working_pixel(channel_of(first.pixel()));
  if (images.size() == 1 && first.on_device() && first.pixel() == working) {
    if constexpr (kHasCuda) {
      if (working == Pixel::f32) {
        flag_unusable(context_, first.device<float>(), unusable_.data<int>());
      }
    }
    return first;
  }
  const int w = first.width(), h = first.height();
  const std::size_t frame_bytes = std::size_t(w) * h * bytes_of(working);
  auto* stack =
      static_cast<std::byte*>(frames_.reserve_bytes(context_, frame_bytes * images.size()));
  for (std::size_t i = 0; i < images.size(); ++i) {
    std::byte* to = stack + i * frame_bytes;
    first.on_device() ? convert_frame(images[i], to) : upload_frame(images[i], to);
  }
  AnyView view;
  with_gray(channel_of(working), [&](auto channel) {
    using T = decltype(channel);
    view = DeviceView<const T>(reinterpret_cast<const T*>(stack), w, h);
  });
  return view;
}

AnyView CornerDetector::mask_on_device(AnyView mask) {
  if (mask.empty() || mask.on_device()) return mask;
  const int w = mask.width(), h = mask.height();
  const DeviceView<std::uint8_t> to(
      device_mask_.reserve<std::uint8_t>(context_, std::size_t(w) * h), w, h);
  upload<std::uint8_t>(context_, mask.host<std::uint8_t>(), to);
  return to;
}

void CornerDetector::enqueue_frames(std::span<const AnyView> images, AnyView mask) {
  if constexpr (kHasCuda) {
    const int count = static_cast<int>(images.size());
    if (!unusable_.data<int>()) *unusable_.reserve<int>(context_, 1) = 0;
    const AnyView device_mask = mask_on_device(mask);
    const AnyView first = stack_on_device(images);
    if (!images[0].on_device()) mark("upload");
    const Map map = reserve_map(first, count);
    const Region region = inside_margin(first.width(), first.height(), margin());
    const DeviceView<const std::uint8_t> mask_view =
        mask.empty() ? DeviceView<const std::uint8_t>() : device_mask.device<std::uint8_t>();
    auto respond_and_search = [&](auto value) {
      using R = decltype(value);
      device_peaks_.prepare<R>(first.width(), first.height(), count);
      OrderedBits<R>* strongest =
          device_peaks_.enqueue_reset<R>(count, region, mask_view, response_unit(first.pixel()));
      const bool track = peak_options_.relative && mask.empty();
      respond(first, count, map, map_use(), track ? strongest : nullptr);
      mark(stage_names().response);
      DevicePeakTest test;
      if (confirms()) {
        test = [&](const DeviceCandidates& candidates) {
          mark(stage_names().peaks);
          enqueue_confirm(first, candidates);
        };
      }
      device_peaks_.enqueue_search<R>(map.device<R>(), count, track, test);
    };
    map_pixel(first.pixel()) == Pixel::f32 ? respond_and_search(float{})
                                           : respond_and_search(double{});
    mark(stage_names().peaks);
    if (peak_options_.subpixel == Subpixel::gradient) {
      enqueue_refine_corners(context_, first, count, peak_options_.subpixel_radius,
                             device_peaks_.device_points(0), device_peaks_.device_count(0),
                             device_peaks_.capacity());
      mark("refinement");
    }
    device_peaks_.enqueue_delivery(count);
    mark("download");
    queued_frames_ = count;
  }
}

void CornerDetector::check_flag() {
  int* flag = unusable_.data<int>();
  if (!flag || *flag == 0) return;
  *flag = 0;
  fail(ErrorCode::invalid_argument, kUnusable);
}

std::vector<std::vector<Corner>> CornerDetector::collect_frames() {
  std::vector<std::vector<Corner>> corners(queued_frames_);
  if constexpr (kHasCuda) {
    context_.synchronize();
    check_flag();
    for (int i = 0; i < queued_frames_; ++i) corners[i] = device_peaks_.fetch(i);
  }
  return corners;
}

std::vector<std::vector<Corner>> CornerDetector::detect_batch(std::span<const AnyView> images,
                                                              AnyView mask) {
  const Stopwatch watch;
  check_call(images, mask);
  check_size(images[0]);
  if (time_stages_) clock_.start();
  timing_ = time_stages_;
  std::vector<std::vector<Corner>> corners;
  if (context_.is_cuda()) {
    enqueue_frames(images, mask);
    corners = collect_frames();
  } else {
    for (const AnyView& image : images) corners.push_back(detect_on_host(image, mask));
  }
  report_ = {images[0].width(), images[0].height(), static_cast<int>(images.size()), 0, 0, {}};
  for (const auto& frame : corners) report_.points += frame.size();
  timing_ = false;
  if (time_stages_) report_.stages = clock_.read();
  report_.milliseconds = watch.milliseconds();
  return corners;
}

std::vector<Corner> CornerDetector::detect(AnyView image, AnyView mask) {
  return std::move(detect_batch({&image, 1}, mask).front());
}

Image<float> CornerDetector::response(AnyView image) {
  timing_ = false;
  check_call({&image, 1}, {});
  const double unit = response_unit(working_pixel(channel_of(image.pixel())));
  Image<float> result(image.width(), image.height());
  auto scaled_copy = [&](auto map) {
    for (int y = 0; y < map.height; ++y) {
      for (int x = 0; x < map.width; ++x) result(x, y) = static_cast<float>(map(x, y) / unit);
    }
  };
  auto read_map = [&](Map map, auto value) {
    using R = decltype(value);
    if (!context_.is_cuda()) return scaled_copy(map.host<R>());
    Image<R> copy(map.width, map.height);
    download<R>(context_, map.device<R>(), copy.host());
    context_.synchronize();
    scaled_copy(copy.host());
  };
  if (context_.is_cuda() && !unusable_.data<int>()) *unusable_.reserve<int>(context_, 1) = 0;
  const AnyView working =
      context_.is_cuda() ? stack_on_device({&image, 1}) : to_working_pixels(image);
  const Map map = reserve_map(working, 1);
  respond(working, 1, map, MapUse::every_value, nullptr);
  map_pixel(working.pixel()) == Pixel::f32 ? read_map(map, float{}) : read_map(map, double{});
  check_flag();
  return result;
}

void CornerDetector::enqueue(AnyView device_image, AnyView device_mask) {
  require(context_.is_cuda(), "enqueue() is for CUDA contexts; on the CPU use detect()");
  check_call({&device_image, 1}, device_mask);
  check_size(device_image);
  require(device_image.on_device(),
          "enqueue() takes an image in device memory; use detect() or "
          "upload it first (cornea/core/transfer.h)");
  timing_ = false;
  enqueue_frames({&device_image, 1}, device_mask);
}

std::vector<Corner> CornerDetector::collect() {
  require(queued_frames_ == 1, "collect() was called and nothing was queued; call enqueue() first");
  return std::move(collect_frames().front());
}

}  // namespace cornea
