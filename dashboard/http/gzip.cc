#include "dashboard/http/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "operator/base/check.h"

namespace taas::dashboard {
namespace {

// Lists of jobs become eight times smaller at this level; the highest takes four times as long for
// a tenth less.
constexpr int kLevel = 3;
constexpr int kGzipWindow = 15 + 16;
constexpr int kMemory = 8;

}  // namespace

std::string Gzip(std::string_view text) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) ==
        Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

absl::StatusOr<std::string> Gunzip(std::string_view packed, size_t bytes_max) {
  constexpr size_t kStep = 64 << 10;
  z_stream stream{};
  CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK && out.size() <= bytes_max) {
    const size_t before = out.size();
    out.resize(before + kStep);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = kStep;
    result = inflate(&stream, Z_NO_FLUSH);
    out.resize(before + kStep - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END) {
    return absl::InvalidArgumentError("unpack gzip: not gzip, cut off, or larger than " +
                                      std::to_string(bytes_max) + " bytes");
  }
  if (out.size() > bytes_max) return absl::InvalidArgumentError("unpack gzip: too large");
  return out;
}

}  // namespace taas::dashboard
