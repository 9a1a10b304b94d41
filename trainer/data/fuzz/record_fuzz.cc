// Files of records: as they are, and with right checksums whatever they say, since wrong ones end
// every reader at once.

#include <cstring>
#include <string>
#include <vector>

#include "operator/base/crc32c.h"
#include "tools/fuzz/memory_files.h"
#include "tools/fuzz/target.h"
#include "trainer/data/gzip.h"
#include "trainer/data/record_file.h"
#include "trainer/formats/record_frame.h"

namespace taas {
namespace {

// The checksums of heads made right, and those of data that is there.
std::string Believable(std::string text) {
  for (size_t at = 0; text.size() - at >= kRecordHeadBytes;) {
    const uint32_t head = MaskedCrc32c(std::string_view(text).substr(at, sizeof(uint64_t)));
    std::memcpy(text.data() + at + sizeof(uint64_t), &head, sizeof(head));
    uint64_t length = 0;
    std::memcpy(&length, text.data() + at, sizeof(length));
    at += kRecordHeadBytes;
    if (length > text.size() - at || text.size() - at - length < kRecordFootBytes) break;
    const uint32_t foot = MaskedCrc32c(std::string_view(text).substr(at, length));
    std::memcpy(text.data() + at + length, &foot, sizeof(foot));
    at += length + kRecordFootBytes;
  }
  return text;
}

void ReadAll(FileSystem& files, const RecordReader::Options& options) {
  const auto reader = RecordReader::Open(files, "/x", options);
  if (!reader.ok()) return;
  for (;;) {
    const auto record = (*reader)->Next();
    if (!record.ok() || !*record) return;
  }
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  const std::string records =
      FrameRecord("one") + FrameRecord("") + FrameRecord(std::string(99, 'x'));
  return {records, GzipCompress(records), GzipCompress("") + GzipCompress(records),
          std::string("\x78\x9c\x03\0\0\0\0\1", 8)};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(taas::FuzzText(data, size));
  for (const std::string& file : {text, taas::Believable(text)}) {
    taas::MemoryFiles files({{"/x", file}});
    taas::ReadAll(files, {});
    taas::ReadAll(files, {.skip_bad = true, .record_bytes_max = 1 << 20});
    taas::ReadAll(files, {.compression = taas::Compression::kZlib});
  }
  return 0;
}
