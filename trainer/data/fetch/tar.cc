#include "trainer/data/fetch/tar.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "operator/base/status.h"

namespace taas {
namespace {

constexpr size_t kBlock = 512;
// Of a header: where its fields begin, and how long they are.
constexpr size_t kNameBytes = 100;
constexpr size_t kSizeAt = 124, kSizeBytes = 12;
constexpr size_t kSumAt = 148, kSumBytes = 8;
constexpr size_t kTypeAt = 156;

std::string_view Text(std::string_view field) { return field.substr(0, field.find('\0')); }

// -1: no octal number.
int64_t Octal(std::string_view field) {
  int64_t value = 0;
  bool any = false;
  for (const char c : Text(field)) {
    if (c == ' ') continue;
    if (c < '0' || c > '7') return -1;
    value = value * 8 + (c - '0');
    any = true;
  }
  return any ? value : -1;
}

// Of all bytes of the header, with spaces for the sum itself.
int64_t SumOf(std::string_view header) {
  int64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const bool own = i >= kSumAt && i < kSumAt + kSumBytes;
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

bool IsEnd(std::string_view header) {
  return std::ranges::all_of(header, [](char c) { return c == '\0'; });
}

}  // namespace

absl::StatusOr<std::vector<TarFile>> ReadTar(std::string_view archive) {
  std::vector<TarFile> files;
  for (size_t at = 0; at + kBlock <= archive.size();) {
    const std::string_view header = archive.substr(at, kBlock);
    if (IsEnd(header)) return files;
    const int64_t size = Octal(header.substr(kSizeAt, kSizeBytes));
    if (size < 0 || Octal(header.substr(kSumAt, kSumBytes)) != SumOf(header)) {
      return absl::DataLossError("read a tar archive: no header at byte " + std::to_string(at));
    }
    const auto bytes = static_cast<size_t>(size);
    if (bytes > archive.size() - at - kBlock) break;
    const char type = header[kTypeAt];
    if (type == '0' || type == '\0') {
      files.push_back({Text(header.substr(0, kNameBytes)), archive.substr(at + kBlock, bytes)});
    }
    at += kBlock + (bytes + kBlock - 1) / kBlock * kBlock;
  }
  return absl::DataLossError("read a tar archive: it ends within a file, after " +
                             std::to_string(archive.size()) + " bytes");
}

}  // namespace taas
