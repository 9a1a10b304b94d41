#include "trainer/data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/formats/file_kind.h"

namespace taas {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr size_t kInputBytes = 64 << 10;    // One read of the file.
constexpr size_t kOutputBytes = 256 << 10;  // Growth step of a file read whole.
constexpr int kZlibWindow = 15;             // The largest window.
constexpr int kGzipWindow = 15 + 16;        // The same; 16 asks zlib for gzip framing.

// RFC 1950: deflate, any window, a checksum of both bytes, no dictionary.
bool IsZlibHead(std::string_view first) {
  const unsigned method = static_cast<uint8_t>(first[0]);
  const unsigned flags = static_cast<uint8_t>(first[1]);
  return (method & 0x0f) == 8 && method <= 0x78 && (method * 256 + flags) % 31 == 0 &&
         (flags & 0x20) == 0;
}

}  // namespace

bool ClaimsGzip(std::string_view path) { return path.ends_with(".gz"); }

struct GzipReader::Stream {
  explicit Stream(int window) {
    CHECK(inflateInit2(&z, window) == Z_OK) << "zlib does not start";
  }
  ~Stream() { inflateEnd(&z); }
  z_stream z{};
};

GzipReader::GzipReader(std::unique_ptr<RandomReadFile> file, std::string path, uint64_t size)
    : file_(std::move(file)), path_(std::move(path)), file_size_(size) {}

GzipReader::~GzipReader() = default;

void GzipReader::Begin(const char* framing, int window) {
  framing_ = framing;
  stream_ = std::make_unique<Stream>(window);
  input_.resize(kInputBytes);
}

absl::StatusOr<std::unique_ptr<GzipReader>> GzipReader::Open(FileSystem& files, std::string path,
                                                             Compression compression) {
  ASSIGN_OR_RETURN(auto file, files.OpenRead(path));
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  std::unique_ptr<GzipReader> reader(new GzipReader(std::move(file), std::move(path), size));
  if (compression == Compression::kNone) return reader;
  char begin[kKindBytes];
  ASSIGN_OR_RETURN(const size_t got, reader->file_->ReadAt(0, sizeof(begin), begin));
  if (got == 0) return reader;
  const std::string_view first(begin, got);
  if (compression == Compression::kZlib) {
    if (first.size() >= 2 && IsZlibHead(first)) {
      reader->Begin("zlib", kZlibWindow);
      return reader;
    }
    return absl::DataLossError("read " + reader->path_ + ": not packed with zlib" +
                               KindNote(first, FileKind::kZlib));
  }
  if (first.starts_with(kGzipMagic)) {
    reader->Begin("gzip", kGzipWindow);
    return reader;
  }
  if (compression == Compression::kGzip || ClaimsGzip(reader->path_)) {
    return absl::DataLossError("read " + reader->path_ + ": not a gzip file" +
                               KindNote(first, FileKind::kGzip));
  }
  return reader;
}

absl::Status GzipReader::Refill() {
  z_stream& z = stream_->z;
  if (z.avail_in > 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const size_t got, file_->ReadAt(next_, input_.size(),
                                                   reinterpret_cast<char*>(input_.data())));
  if (got == 0) {
    return absl::DataLossError("read " + path_ + ": the " + framing_ + " file is truncated after " +
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
  if (is_plain()) {
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
      return absl::DataLossError("read " + path_ + ": the " + framing_ + " file is damaged: " +
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
