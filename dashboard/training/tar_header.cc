#include "dashboard/training/tar_header.h"

#include <algorithm>

namespace taas::dashboard {
namespace {

// A field of the header.
struct Field {
  size_t at = 0;
  size_t bytes = 0;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kOwner{108, 8}, kGroup{116, 8}, kSize{124, 12},
    kModified{136, 12}, kSum{148, 8}, kType{156, 1}, kMagic{257, 8}, kPrefix{345, 155};

void Put(std::string* block, const Field& field, std::string_view text) {
  block->replace(field.at, text.size(), text);
}

// Octal digits and a zero byte, or, where they are too many, the sign of a binary number and it.
void PutNumber(std::string* block, const Field& field, uint64_t number) {
  const size_t digits = field.bytes - 1;
  const bool octal = digits * 3 >= 64 || number >> (digits * 3) == 0;
  for (size_t i = digits; i-- > 0;) {
    (*block)[field.at + i] = static_cast<char>('0' + (number & 7));
    if (octal) number >>= 3;
  }
  if (octal) return;
  for (size_t i = field.bytes; i-- > 0;) {
    (*block)[field.at + i] = static_cast<char>(number & 0xff);
    number >>= 8;
  }
  (*block)[field.at] = '\x80';
}

}  // namespace

absl::StatusOr<std::string> TarHeader(const TarFile& file) {
  if (file.name.empty() || file.name.size() > kName.bytes || file.folder.size() > kPrefix.bytes) {
    return absl::InvalidArgumentError("put " + file.folder + "/" + file.name +
                                      " into a tar archive: the name is too long");
  }
  std::string block(kTarBlockBytes, '\0');
  Put(&block, kName, file.name);
  PutNumber(&block, kMode, 0644);
  PutNumber(&block, kOwner, 0);
  PutNumber(&block, kGroup, 0);
  PutNumber(&block, kSize, file.bytes);
  PutNumber(&block, kModified, static_cast<uint64_t>(std::max<int64_t>(file.modified_s, 0)));
  Put(&block, kType, "0");
  Put(&block, kMagic, std::string_view("ustar\00000", kMagic.bytes));
  Put(&block, kPrefix, file.folder);
  // Of the whole block, in which the sum itself counts as blanks.
  Put(&block, kSum, "        ");
  uint64_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  PutNumber(&block, {kSum.at, kSum.bytes - 1}, sum);
  return block;
}

}  // namespace taas::dashboard
