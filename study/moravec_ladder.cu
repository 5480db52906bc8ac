// SPDX-License-Identifier: Apache-2.0
// The rungs of the ladder, from the work that Cornea's Moravec started from; the name of each says
// what it changes.
#include <algorithm>
#include <functional>
#include <memory>

#include "study/moravec_ladder.h"
#include "study/plain_moravec.h"

#include "cornea/core/cuda.h"

namespace cornea::study {
namespace {

using core::cuda_check;
using core::cuda_check_launch;

constexpr int kFewThreads = 20;                  // per block, as the original first had it
constexpr int kManyThreads = 256;                // per block
constexpr int kTileWidth = 32, kTileHeight = 8;  // of the rungs with shared memory: 256 threads
constexpr int kWarmUp = 3;

__device__ inline bool is_inside(int x, int y, int width, int height) {
  return x >= kMoravecMargin && y >= kMoravecMargin && x < width - kMoravecMargin &&
         y < height - kMoravecMargin;
}

// The smallest of the eight sums; at(dx, dy) is the pixel at this offset, -2 .. 2.
template <class At>
__device__ inline int least_of_eight(const At& at) {
  int least = 0x7fffffff;
#pragma unroll
  for (int shift = 0; shift < 9; ++shift) {
    if (shift == 4) continue;
    const int sx = shift % 3 - 1, sy = shift / 3 - 1;
    int sum = 0;
#pragma unroll
    for (int j = -1; j <= 1; ++j) {
#pragma unroll
      for (int i = -1; i <= 1; ++i) {
        const int d = at(i + sx, j + sy) - at(i, j);
        sum += d * d;
      }
    }
    least = min(least, sum);
  }
  return least;
}

// One thread per pixel of a row-major image, in blocks of any size.
struct Pixel1d {
  int x, y;
  __device__ Pixel1d(int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x = i % width;
    y = i / width;
  }
};

// Every difference reads both of its pixels from global memory: `volatile` keeps the compiler from
// caching them in registers.
__global__ void global_kernel(const std::uint8_t* image, std::int32_t* map, int width, int height) {
  const Pixel1d p(width);
  if (p.y >= height) return;
  const volatile std::uint8_t* own = image + std::size_t(p.y) * width + p.x;
  map[std::size_t(p.y) * width + p.x] =
      is_inside(p.x, p.y, width, height)
          ? least_of_eight([&](int dx, int dy) { return int(own[dy * width + dx]); })
          : 0;
}

// The 5 x 5 neighbourhood is read once.
template <class Read>
__device__ inline int from_registers(const Read& read) {
  int pixels[5][5];
#pragma unroll
  for (int j = 0; j < 5; ++j) {
#pragma unroll
    for (int i = 0; i < 5; ++i) pixels[j][i] = read(i - 2, j - 2);
  }
  return least_of_eight([&](int dx, int dy) { return pixels[dy + 2][dx + 2]; });
}

__global__ void registers_kernel(const std::uint8_t* image, std::int32_t* map, int width,
                                 int height) {
  const Pixel1d p(width);
  if (p.y >= height) return;
  const std::uint8_t* own = image + std::size_t(p.y) * width + p.x;
  map[std::size_t(p.y) * width + p.x] =
      is_inside(p.x, p.y, width, height)
          ? from_registers([&](int dx, int dy) { return int(own[dy * width + dx]); })
          : 0;
}

__global__ void texture_kernel(cudaTextureObject_t image, std::int32_t* map, int width,
                               int height) {
  const Pixel1d p(width);
  if (p.y >= height) return;
  map[std::size_t(p.y) * width + p.x] =
      is_inside(p.x, p.y, width, height) ? from_registers([&](int dx, int dy) {
        return int(tex2D<unsigned char>(image, float(p.x + dx) + 0.5f, float(p.y + dy) + 0.5f));
      })
                                         : 0;
}

// A block reads its tile and a border of two pixels once.
__global__ void __launch_bounds__(kManyThreads)
    shared_kernel(const std::uint8_t* image, std::int32_t* map, int width, int height) {
  constexpr int kWide = kTileWidth + 2 * kMoravecMargin, kHigh = kTileHeight + 2 * kMoravecMargin;
  __shared__ std::uint8_t tile[kHigh][kWide];
  const int left = blockIdx.x * kTileWidth, top = blockIdx.y * kTileHeight;
  for (int i = threadIdx.x; i < kWide * kHigh; i += kManyThreads) {
    const int x = min(max(left + i % kWide - kMoravecMargin, 0), width - 1);
    const int y = min(max(top + i / kWide - kMoravecMargin, 0), height - 1);
    tile[i / kWide][i % kWide] = image[std::size_t(y) * width + x];
  }
  __syncthreads();
  const int tx = threadIdx.x % kTileWidth, ty = threadIdx.x / kTileWidth;
  const int x = left + tx, y = top + ty;
  if (x >= width || y >= height) return;
  map[std::size_t(y) * width + x] =
      is_inside(x, y, width, height) ? from_registers([&](int dx, int dy) {
        return int(tile[ty + dy + kMoravecMargin][tx + dx + kMoravecMargin]);
      })
                                     : 0;
}

struct DevicePeak {
  std::int32_t x, y, response;
};

// Thresholding and non-maximum suppression on the device, so that only coordinates are downloaded.
// Their order is that of the atomic additions; the host sorts them.
__global__ void peaks_kernel(const std::int32_t* map, DevicePeak* peaks, int* count, int width,
                             int height) {
  const Pixel1d p(width);
  if (p.y >= height || !is_inside(p.x, p.y, width, height)) return;
  const std::int32_t* at = map + std::size_t(p.y) * width + p.x;
  const int own = *at;
  if (own <= kMoravecThreshold) return;
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy) {
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      const int other = at[dy * width + dx];
      const bool before = dy < 0 || (dy == 0 && dx < 0);
      if (before ? own <= other : own < other) return;
    }
  }
  peaks[atomicAdd(count, 1)] = {p.x, p.y, own};
}

struct EventDeleter {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, EventDeleter>;
Event make_event() {
  cudaEvent_t event = nullptr;
  cuda_check(cudaEventCreate(&event), "making an event");
  return Event(event);
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// An image in the layout of the texture cache.
class Texture {
 public:
  Texture(int width, int height) {
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
    cuda_check(cudaMallocArray(&array_, &bytes, width, height), "memory for a texture");
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    cudaTextureDesc texture = {};
    texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
    texture.filterMode = cudaFilterModePoint;
    texture.readMode = cudaReadModeElementType;
    const cudaError_t made = cudaCreateTextureObject(&object_, &resource, &texture, nullptr);
    if (made != cudaSuccess) cudaFreeArray(array_);
    cuda_check(made, "making a texture");
  }
  ~Texture() {
    cudaDestroyTextureObject(object_);
    cudaFreeArray(array_);
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  cudaTextureObject_t object() const { return object_; }
  void upload(const std::uint8_t* pixels, int width, int height, cudaStream_t stream) const {
    cuda_check(cudaMemcpy2DToArrayAsync(array_, 0, 0, pixels, width, width, height,
                                        cudaMemcpyHostToDevice, stream),
               "uploading the texture");
  }

 private:
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t object_ = 0;
};

class Ladder {
 public:
  Ladder(const Context& cuda, HostView<const std::uint8_t> image, int repeat)
      : context_(cuda),
        guard_(cuda),
        stream_(core::cuda_stream(cuda)),
        width_(image.width),
        height_(image.height),
        pixels_(std::size_t(width_) * height_),
        repeat_(repeat),
        // Pinned, so that copies run at the speed of the bus for every rung.
        host_image_(cuda.allocate(Place::pinned, pixels_, "study: image")),
        host_map_(cuda.allocate(Place::pinned, pixels_ * sizeof(std::int32_t), "study: map")),
        host_peaks_(cuda.allocate(Place::pinned, pixels_ * sizeof(DevicePeak), "study: peaks")),
        host_count_(cuda.allocate(Place::pinned, sizeof(int), "study: count")),
        image_(cuda.allocate(Place::device, pixels_, "study: image")),
        map_(cuda.allocate(Place::device, pixels_ * sizeof(std::int32_t), "study: map")),
        peaks_(cuda.allocate(Place::device, pixels_ * sizeof(DevicePeak), "study: peaks")),
        count_(cuda.allocate(Place::device, sizeof(int), "study: count")),
        texture_(width_, height_) {
    for (int i = 0; i < 4; ++i) events_.push_back(make_event());
    for (int y = 0; y < height_; ++y) {
      std::copy_n(image.row(y), width_, bytes(host_image_) + std::size_t(y) * width_);
    }
  }

  std::vector<LadderRung> run() {
    std::vector<LadderRung> rungs;
    const int many = kManyThreads, few = kFewThreads;
    rungs.push_back(whole_map("global memory", many, false, [&] {
      global_kernel<<<blocks(many), many, 0, stream_>>>(bytes(image_), map(), width_, height_);
      cuda_check_launch("global_kernel");
    }));
    rungs.push_back(whole_map("5 x 5 pixels in registers", many, false, [&] {
      registers_kernel<<<blocks(many), many, 0, stream_>>>(bytes(image_), map(), width_, height_);
      cuda_check_launch("registers_kernel");
    }));
    for (const int threads : {few, many}) {
      rungs.push_back(whole_map("texture memory", threads, true, [&, threads] {
        texture_kernel<<<blocks(threads), threads, 0, stream_>>>(texture_.object(), map(), width_,
                                                                 height_);
        cuda_check_launch("texture_kernel");
      }));
    }
    rungs.push_back(whole_map("shared memory", many, false, [&] { launch_shared(); }));
    rungs.push_back(coordinates());
    return rungs;
  }

 private:
  static std::uint8_t* bytes(const Memory& memory) {
    return static_cast<std::uint8_t*>(memory.data());
  }
  std::int32_t* map() const { return static_cast<std::int32_t*>(map_.data()); }
  unsigned blocks(int threads) const { return unsigned((pixels_ + threads - 1) / threads); }

  void launch_shared() {
    const dim3 grid((width_ + kTileWidth - 1) / kTileWidth,
                    (height_ + kTileHeight - 1) / kTileHeight);
    shared_kernel<<<grid, kManyThreads, 0, stream_>>>(bytes(image_), map(), width_, height_);
    cuda_check_launch("shared_kernel");
  }
  void copy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
    cuda_check(cudaMemcpyAsync(to, from, size, kind, stream_), "copying");
  }
  void record(int event) {
    cuda_check(cudaEventRecord(events_[event].get(), stream_), "recording an event");
  }
  void upload(bool to_texture) {
    if (to_texture) {
      texture_.upload(bytes(host_image_), width_, height_, stream_);
    } else {
      copy(image_.data(), host_image_.data(), pixels_, cudaMemcpyHostToDevice);
    }
  }
  // The medians of the three intervals between the four events that `once` records.
  LadderRung timed(const char* name, int threads, const std::function<void()>& once) {
    LadderRung rung;
    rung.name = name;
    rung.threads = threads;
    std::vector<double> times[3];
    for (int i = 0; i < kWarmUp + repeat_; ++i) {
      once();
      cuda_check(cudaStreamSynchronize(stream_), name);
      for (int k = 0; k < 3 && i >= kWarmUp; ++k) {
        float ms = 0;
        cuda_check(cudaEventElapsedTime(&ms, events_[k].get(), events_[k + 1].get()),
                   "reading the time");
        times[k].push_back(ms);
      }
    }
    rung.upload_ms = median(times[0]);
    rung.kernel_ms = median(times[1]);
    rung.download_ms = median(times[2]);
    return rung;
  }
  LadderRung whole_map(const char* name, int threads, bool to_texture,
                       const std::function<void()>& kernel) {
    // Clears the map, so that the result of an earlier rung cannot pass for this one's.
    cuda_check(cudaMemsetAsync(map_.data(), 0xff, pixels_ * sizeof(std::int32_t), stream_),
               "clearing the map");
    LadderRung rung = timed(name, threads, [&] {
      record(0);
      upload(to_texture);
      record(1);
      kernel();
      record(2);
      copy(host_map_.data(), map_.data(), pixels_ * sizeof(std::int32_t), cudaMemcpyDeviceToHost);
      record(3);
    });
    const auto* made = static_cast<const std::int32_t*>(host_map_.data());
    rung.map.assign(made, made + pixels_);
    return rung;
  }
  LadderRung coordinates() {
    auto* count = static_cast<int*>(host_count_.data());
    const auto* peaks = static_cast<const DevicePeak*>(host_peaks_.data());
    LadderRung rung = timed("shared memory, coordinates alone", kManyThreads, [&] {
      record(0);
      upload(false);
      record(1);
      cuda_check(cudaMemsetAsync(count_.data(), 0, sizeof(int), stream_), "clearing the count");
      launch_shared();
      peaks_kernel<<<blocks(kManyThreads), kManyThreads, 0, stream_>>>(
          map(), static_cast<DevicePeak*>(peaks_.data()), static_cast<int*>(count_.data()), width_,
          height_);
      cuda_check_launch("peaks_kernel");
      record(2);
      copy(count, count_.data(), sizeof(int), cudaMemcpyDeviceToHost);
      cuda_check(cudaStreamSynchronize(stream_), "counting corners");
      if (*count > 0) {
        copy(host_peaks_.data(), peaks_.data(), *count * sizeof(DevicePeak),
             cudaMemcpyDeviceToHost);
      }
      record(3);
    });
    for (int i = 0; i < *count; ++i) {
      rung.corners.push_back({float(peaks[i].x), float(peaks[i].y), float(peaks[i].response)});
    }
    std::sort(rung.corners.begin(), rung.corners.end(),
              [](const Corner& a, const Corner& b) { return a.y != b.y ? a.y < b.y : a.x < b.x; });
    return rung;
  }

  Context context_;
  core::DeviceGuard guard_;
  cudaStream_t stream_;
  int width_, height_;
  std::size_t pixels_;
  int repeat_;
  Memory host_image_, host_map_, host_peaks_, host_count_, image_, map_, peaks_, count_;
  Texture texture_;
  std::vector<Event> events_;
};

}  // namespace

std::vector<LadderRung> moravec_ladder(const Context& cuda, HostView<const std::uint8_t> image,
                                       int repeat) {
  return Ladder(cuda, image, repeat).run();
}

}  // namespace cornea::study
