#include "trainer/checkpoint/table_reader.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "operator/base/crc32c.h"
#include "operator/base/status.h"
#include "snappy.h"

namespace taas {
namespace {

constexpr size_t kFooterBytes = 48;
constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr size_t kTrailerBytes = 5;  // Of a block: its kind and a checksum.
constexpr char kPlain = 0;
constexpr char kSnappy = 1;
// A copy of 64 bytes takes Snappy three: what promises more than this lies.
constexpr size_t kSnappyRatioMax = 22;

using Entries = std::map<std::string, std::string>;

absl::Status Bad(const std::string& why) {
  return absl::DataLossError("no sorted table, or a damaged one: " + why);
}

template <typename T>
T NumberAt(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// Takes the number off the front.
bool TakeVarint(std::string_view* text, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !text->empty(); shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(text->front());
    text->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Where a block lies, without kind and checksum.
struct Handle {
  uint64_t offset = 0;
  uint64_t size = 0;
};

bool TakeHandle(std::string_view* text, Handle* handle) {
  return TakeVarint(text, &handle->offset) && TakeVarint(text, &handle->size);
}

class TableReader {
 public:
  explicit TableReader(std::string_view file) : file_(file) {}

  absl::StatusOr<Entries> Run() {
    if (file_.size() < kFooterBytes) return Bad("it is too short");
    std::string_view footer = file_.substr(file_.size() - kFooterBytes);
    if (NumberAt<uint64_t>(footer, kFooterBytes - sizeof(kMagic)) != kMagic) {
      return Bad("it does not end as one");
    }
    Handle meta, index;
    if (!TakeHandle(&footer, &meta) || !TakeHandle(&footer, &index)) return Bad("a bad footer");
    ASSIGN_OR_RETURN(const std::string handles, Block(index));
    Entries entries;
    RETURN_IF_ERROR(EachEntry(handles, [&](const std::string&, std::string_view value) {
      return AddBlock(value, &entries);
    }));
    return entries;
  }

 private:
  // The entries of a block, unpacked, without kind and checksum.
  absl::StatusOr<std::string> Block(const Handle& handle) {
    const uint64_t room = file_.size() - kFooterBytes;
    if (handle.size > room || room - handle.size < kTrailerBytes ||
        handle.offset > room - handle.size - kTrailerBytes) {
      return Bad("a block of " + std::to_string(handle.size) + " bytes from byte " +
                 std::to_string(handle.offset) + " on, of a file of " +
                 std::to_string(file_.size()));
    }
    const std::string_view bytes = file_.substr(handle.offset, handle.size);
    const std::string_view checked = file_.substr(handle.offset, handle.size + 1);
    if (MaskedCrc32c(checked) != NumberAt<uint32_t>(file_, handle.offset + handle.size + 1)) {
      return Bad("the checksum of the block at byte " + std::to_string(handle.offset) +
                 " is wrong");
    }
    if (checked.back() == kPlain) return std::string(bytes);
    size_t size = 0;
    if (checked.back() != kSnappy ||
        !snappy::GetUncompressedLength(bytes.data(), bytes.size(), &size) ||
        size > kSnappyRatioMax * bytes.size()) {
      return Bad("a block that is packed in another way than Snappy's");
    }
    std::string text(size, '\0');
    if (!snappy::RawUncompress(bytes.data(), bytes.size(), text.data())) {
      return Bad("a block that Snappy cannot unpack");
    }
    return text;
  }

  absl::Status AddBlock(std::string_view value, Entries* entries) {
    Handle handle;
    if (!TakeHandle(&value, &handle)) return Bad("a bad place of a block");
    // As they are written. Otherwise many could be the same one, which is read again for each.
    if (handle.offset < end_) return Bad("blocks that overlap");
    ASSIGN_OR_RETURN(const std::string block, Block(handle));
    end_ = handle.offset + handle.size + kTrailerBytes;
    return EachEntry(block, [&](const std::string& key, std::string_view text) {
      bytes_ += key.size() + text.size();
      if (bytes_ > kTableBytesMax) {
        return Bad("its entries have more than " + std::to_string(kTableBytesMax >> 20) + " MiB");
      }
      entries->emplace(key, text);
      return absl::OkStatus();
    });
  }

  // Calls `visit` with each key and value of a block.
  template <typename Visit>
  static absl::Status EachEntry(std::string_view block, const Visit& visit) {
    if (block.size() < sizeof(uint32_t)) return Bad("a block that is too short");
    const uint64_t restarts = NumberAt<uint32_t>(block, block.size() - sizeof(uint32_t));
    const uint64_t tail = (restarts + 1) * sizeof(uint32_t);
    if (tail > block.size()) return Bad("a block with too many restarts");
    block.remove_suffix(tail);
    std::string key;
    while (!block.empty()) {
      uint64_t shared = 0, unshared = 0, length = 0;
      if (!TakeVarint(&block, &shared) || !TakeVarint(&block, &unshared) ||
          !TakeVarint(&block, &length) || shared > key.size() || unshared > block.size() ||
          length > block.size() - unshared) {
        return Bad("an entry that is none");
      }
      key.resize(shared);
      key.append(block.substr(0, unshared));
      RETURN_IF_ERROR(visit(key, block.substr(unshared, length)));
      block.remove_prefix(unshared + length);
    }
    return absl::OkStatus();
  }

  const std::string_view file_;
  uint64_t end_ = 0;    // Of the data blocks that were read.
  uint64_t bytes_ = 0;  // Of all keys and values.
};

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> ReadTable(std::string_view file) {
  if (file.size() > kTableBytesMax) return Bad("it is too long");
  return TableReader(file).Run();
}

}  // namespace taas
