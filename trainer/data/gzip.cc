#include "trainer/data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {
namespace {

constexpr size_t kInputBytes = 64 << 10;    // One read of the file.
constexpr size_t kOutputBytes = 256 << 10;  // Growth step of a file read whole.
constexpr int kGzipWindow = 15 + 16;        // The largest window; 16 asks zlib for gzip framing.
constexpr unsigned char kMagic[] = {0x1f, 0x8b};

}  // namespace

bool ClaimsGzip(std::string_view path) { return path.ends_with(".gz"); }

struct GzipReader::Stream {
  Stream() { CHECK(inflateInit2(&z, kGzipWindow) == Z_OK) << "zlib does not start"; }
  ~Stream() { inflateEnd(&z); }
  z_stream z{};
};

GzipReader::GzipReader(std::unique_ptr<RandomReadFile> file, std::string path, uint64_t size)
    : file_(std::move(file)),
      path_(std::move(path)),
      file_size_(size),
      input_(kInputBytes),
      stream_(std::make_unique<Stream>()) {}

GzipReader::~GzipReader() = default;

absl::StatusOr<std::unique_ptr<GzipReader>> GzipReader::Open(FileSystem& files, std::string path,
                                                             Compression compression) {
  ASSIGN_OR_RETURN(auto file, files.OpenRead(path));
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  std::unique_ptr<GzipReader> reader(new GzipReader(std::move(file), std::move(path), size));
  if (compression == Compression::kNone) {
    reader->plain_ = true;
    return reader;
  }
  unsigned char begin[sizeof(kMagic)] = {};
  ASSIGN_OR_RETURN(const size_t got, reader->file_->ReadAt(
                                         0, sizeof(begin), reinterpret_cast<char*>(begin)));
  if (got == sizeof(begin) && std::memcmp(begin, kMagic, sizeof(kMagic)) == 0) return reader;
  if (compression == Compression::kGzip || ClaimsGzip(reader->path_)) {
    return absl::DataLossError("read " + reader->path_ +
                               ": not a gzip file" + (size == 0 ? " (it is empty)" : ""));
  }
  reader->plain_ = true;
  return reader;
}

absl::Status GzipReader::Refill() {
  z_stream& z = stream_->z;
  if (z.avail_in > 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const size_t got, file_->ReadAt(next_, input_.size(),
                                                   reinterpret_cast<char*>(input_.data())));
  if (got == 0) {
    return absl::DataLossError("read " + path_ + ": the gzip file is truncated after " +
                               std::to_string(next_) + " bytes");
  }
  next_ += got;
  z.next_in = input_.data();
  z.avail_in = static_cast<uInt>(got);
  return absl::OkStatus();
}

// Another member may follow, as `cat a.gz b.gz` makes them.
absl::Status GzipReader::EndMember() {
  if (stream_->z.avail_in == 0 && next_ >= file_size_) {
    ended_ = true;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(Refill());
  inflateReset(&stream_->z);
  return absl::OkStatus();
}

absl::StatusOr<size_t> GzipReader::Read(std::span<uint8_t> out) {
  if (plain_) {
    ASSIGN_OR_RETURN(const size_t got,
                     file_->ReadAt(next_, out.size(), reinterpret_cast<char*>(out.data())));
    next_ += got;
    return got;
  }
  z_stream& z = stream_->z;
  size_t done = 0;
  while (done < out.size() && !ended_) {
    RETURN_IF_ERROR(Refill());
    const size_t room = std::min<size_t>(out.size() - done, 1u << 30);  // zlib counts 32 bits.
    z.next_out = out.data() + done;
    z.avail_out = static_cast<uInt>(room);
    const int result = inflate(&z, Z_NO_FLUSH);
    done += room - z.avail_out;
    if (result == Z_STREAM_END) {
      RETURN_IF_ERROR(EndMember());
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return absl::DataLossError("read " + path_ + ": the gzip file is damaged: " +
                                 (z.msg == nullptr ? "bad data" : z.msg));
    }
  }
  return done;
}

struct GzipEncoder::Stream {
  Stream() {
    // zlib's own header has time 0 and no name.
    CHECK(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                       Z_DEFAULT_STRATEGY) == Z_OK)
        << "zlib does not start";
  }
  ~Stream() { deflateEnd(&z); }
  z_stream z{};
};

GzipEncoder::GzipEncoder() : stream_(std::make_unique<Stream>()) {}
GzipEncoder::~GzipEncoder() = default;

void GzipEncoder::Add(std::string_view part, std::string* out) { Run(part, false, out); }
void GzipEncoder::Finish(std::string* out) { Run({}, true, out); }

void GzipEncoder::Run(std::string_view part, bool finish, std::string* out) {
  z_stream& z = stream_->z;
  for (bool ended = false; !ended;) {
    if (z.avail_in == 0) {
      const size_t bytes = std::min<size_t>(part.size(), 1u << 30);  // zlib counts 32 bits.
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      z.avail_in = static_cast<uInt>(bytes);
      part.remove_prefix(bytes);
    }
    const bool last = finish && part.empty();
    const size_t size = out->size();
    out->resize(size + kOutputBytes);
    z.next_out = reinterpret_cast<Bytef*>(out->data() + size);
    z.avail_out = kOutputBytes;
    const int result = deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
    CHECK(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR)
        << "deflate: " << result;
    out->resize(size + kOutputBytes - z.avail_out);
    ended = last ? result == Z_STREAM_END
                 : z.avail_in == 0 && part.empty() && z.avail_out > 0;
  }
}

std::string GzipCompress(std::string_view text) {
  std::string out;
  GzipEncoder encoder;
  encoder.Add(text, &out);
  encoder.Finish(&out);
  return out;
}

absl::StatusOr<std::string> GunzipFile(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(auto reader, GzipReader::Open(files, path));
  std::string text;
  while (true) {
    const size_t size = text.size();
    text.resize(size + kOutputBytes);
    ASSIGN_OR_RETURN(const size_t got,
                     reader->Read({reinterpret_cast<uint8_t*>(text.data()) + size, kOutputBytes}));
    text.resize(size + got);
    if (got < kOutputBytes) return text;
  }
}

}  // namespace taas
