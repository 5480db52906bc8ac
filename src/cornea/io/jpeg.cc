// SPDX-License-Identifier: Apache-2.0
// JPEG through libjpeg. libjpeg reports errors by longjmp, which must not skip C++ destructors: the
// functions passed to `completes` contain only plain C calls and trivial locals.
#include <csetjmp>
#include <cstdio>
#include <new>

// After <cstdio>: jpeglib.h uses FILE without including it.
#include <jpeglib.h>
// After jpeglib.h, whose types the macros of jerror.h use.
#include <jerror.h>

#include "cornea/io/decoded.h"

namespace cornea::io {
namespace {

// State for libjpeg's callbacks, reached through client_data.
struct JpegState {
  jpeg_error_mgr errors{};
  std::jmp_buf back{};
  int code = 0;  // of the message: a J_MESSAGE_CODE
  char message[JMSG_LENGTH_MAX] = "";
  std::vector<std::uint8_t> output;
};

[[noreturn]] void keep_error(j_common_ptr info) {
  auto* state = static_cast<JpegState*>(info->client_data);
  state->code = info->err->msg_code;
  info->err->format_message(info, state->message);
  std::longjmp(state->back, 1);
}

// libjpeg only warns of corrupt and missing data and continues with gray; here that is an error.
// Two of its warnings do not concern the pixels.
void judge_message(j_common_ptr info, int level) {
  if (level >= 0) return;  // a trace message
  const int code = info->err->msg_code;
  if (code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR) keep_error(info);
}

void print_nothing(j_common_ptr) {}

// A scan can be a few bytes long and yet makes the decoder visit all pixels, so the number of scans
// is limited. Encoders write about ten; libtiff also stops at a hundred.
constexpr int kMostScans = 100;

void limit_scans(j_common_ptr info) {
  const int scan = reinterpret_cast<j_decompress_ptr>(info)->input_scan_number;
  if (scan <= kMostScans) return;
  auto* state = static_cast<JpegState*>(info->client_data);
  std::snprintf(state->message, sizeof(state->message), "it has more than %d scans", kMostScans);
  std::longjmp(state->back, 1);
}

template <class Calls>
bool completes(JpegState& state, Calls&& calls) {
  if (setjmp(state.back)) return false;
  calls();
  return true;
}

template <class Info>
void attach(JpegState& state, Info& info) {
  info.err = jpeg_std_error(&state.errors);
  info.client_data = &state;
  state.errors.error_exit = keep_error;
  state.errors.emit_message = judge_message;
  state.errors.output_message = print_nothing;
}

class JpegReader {
 public:
  explicit JpegReader(const Source& source) : source_(source) {}
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  void read_header() {
    attach(state_, info_);
    check(completes(state_, [this] {
      jpeg_create_decompress(&info_);
      jpeg_mem_src(&info_, source_.bytes.data(), source_.bytes.size());
      jpeg_read_header(&info_, TRUE);
    }));
    progress_.progress_monitor = limit_scans;
    info_.progress = &progress_;
    check_size(source_, info_.image_width, info_.image_height);
  }

  ImageFileInfo info() const {
    return {"JPEG",
            static_cast<int>(info_.image_width),
            static_cast<int>(info_.image_height),
            info_.num_components,
            info_.data_precision,
            /*is_float=*/false};
  }

  DecodedImage read_pixels() {
    const bool colour = choose_colour();
    DecodedImage image =
        make_image(colour ? Pixel::rgb_u8 : Pixel::u8, static_cast<int>(info_.image_width),
                   static_cast<int>(info_.image_height));
    const Rows rows = rows_of(image);
    check(completes(state_, [this, rows] {
      jpeg_start_decompress(&info_);
      while (info_.output_scanline < info_.output_height) {
        JSAMPROW row = rows.row(info_.output_scanline);
        jpeg_read_scanlines(&info_, &row, 1);
      }
      jpeg_finish_decompress(&info_);  // detects a missing end-of-image marker
    }));
    return image;
  }

 private:
  bool choose_colour() {
    switch (info_.jpeg_color_space) {
      case JCS_GRAYSCALE:
        info_.out_color_space = JCS_GRAYSCALE;
        return false;
      case JCS_YCbCr:
      case JCS_RGB:
        info_.out_color_space = JCS_RGB;
        return true;
      case JCS_CMYK:
      case JCS_YCCK:
        fail(ErrorCode::unsupported, source_.name,
             ": is a CMYK JPEG, whose colours depend on a printer; convert it to RGB first");
      default:
        fail(ErrorCode::unsupported, source_.name, ": is a JPEG of ", info_.num_components,
             " channels without known colours; convert it to gray or RGB first");
    }
  }

  void check(bool completed) const {
    if (completed) return;
    switch (state_.code) {
      case JERR_BAD_PRECISION:
      case JERR_SOF_UNSUPPORTED:
      case JERR_CONVERSION_NOTIMPL:
        fail(ErrorCode::unsupported, source_.name, ": a kind of JPEG that libjpeg does not read (",
             state_.message, "); convert it to an 8-bit baseline or progressive one");
      case JERR_OUT_OF_MEMORY:
        throw std::bad_alloc();
      default:
        fail_damaged(source_, "JPEG", state_.message);
    }
  }

  const Source& source_;
  JpegState state_;
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct info_{};
};

// Once libjpeg has filled the output vector, doubles it and hands over the new half.
boolean make_room(j_compress_ptr info) {
  std::vector<std::uint8_t>& output = static_cast<JpegState*>(info->client_data)->output;
  constexpr std::size_t kFirstBytes = std::size_t{1} << 16;
  const std::size_t used = output.size();
  bool grown = true;
  try {
    output.resize(used == 0 ? kFirstBytes : 2 * used);
  } catch (const std::bad_alloc&) {
    grown = false;  // an exception must not pass through libjpeg
  }
  if (!grown) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
  info->dest->next_output_byte = output.data() + used;
  info->dest->free_in_buffer = output.size() - used;
  return TRUE;
}

void start_output(j_compress_ptr info) { make_room(info); }

void end_output(j_compress_ptr info) {
  std::vector<std::uint8_t>& output = static_cast<JpegState*>(info->client_data)->output;
  output.resize(output.size() - info->dest->free_in_buffer);
}

class JpegWriter {
 public:
  JpegWriter() = default;
  ~JpegWriter() { jpeg_destroy_compress(&info_); }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  std::vector<std::uint8_t> write(const AnyView& image, int quality) {
    attach(state_, info_);
    if (!completes(state_, [this, &image, quality] { write_all(image, quality); })) {
      if (state_.code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
      fail(ErrorCode::unsupported, "libjpeg cannot write it (", state_.message, ")");
    }
    return std::move(state_.output);
  }

 private:
  void write_all(const AnyView& image, int quality) {
    jpeg_create_compress(&info_);
    destination_.init_destination = start_output;
    destination_.empty_output_buffer = make_room;
    destination_.term_destination = end_output;
    info_.dest = &destination_;
    const bool colour = is_rgb(image.pixel());
    info_.image_width = static_cast<JDIMENSION>(image.width());
    info_.image_height = static_cast<JDIMENSION>(image.height());
    info_.input_components = colour ? 3 : 1;
    info_.in_color_space = colour ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    jpeg_start_compress(&info_, TRUE);
    while (info_.next_scanline < info_.image_height) {
      // libjpeg only reads the row; its interface predates const.
      JSAMPROW row = const_cast<JSAMPROW>(row_of(image, static_cast<int>(info_.next_scanline)));
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
  }

  JpegState state_;
  jpeg_destination_mgr destination_{};
  jpeg_compress_struct info_{};
};

}  // namespace

ImageFileInfo probe_jpeg(const Source& source) {
  JpegReader reader(source);
  reader.read_header();
  return reader.info();
}

DecodedImage decode_jpeg(const Source& source) {
  JpegReader reader(source);
  reader.read_header();
  return reader.read_pixels();
}

}  // namespace cornea::io

namespace cornea {
namespace {

using namespace io;

}  // namespace

std::vector<std::uint8_t> encode_jpeg(const AnyView& image, int quality) {
  require(!image.empty(), "an image without pixels cannot be written as JPEG");
  require(image.pixel() == Pixel::u8 || image.pixel() == Pixel::rgb_u8,
          "JPEG holds 8-bit gray or RGB, not ", name(image.pixel()), "; convert it first");
  require(!image.on_device(), "the image lives in device memory; copy it first");
  require(quality >= 1 && quality <= 100, "a JPEG quality of ", quality, " is not in 1..100");
  return io::JpegWriter().write(image, quality);
}

}  // namespace cornea
