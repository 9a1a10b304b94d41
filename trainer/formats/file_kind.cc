#include "trainer/formats/file_kind.h"

#include <algorithm>
#include <cstdint>

#include "trainer/formats/record_frame.h"

namespace taas {
namespace {

using std::literals::string_view_literals::operator""sv;

struct Mark {
  size_t offset;
  std::string_view bytes;
  KnownFile file;
};

constexpr Mark kMarks[] = {
    {0, "version https://git-lfs"sv,
     {FileKind::kPointer,
      "a pointer of Git LFS: `git lfs pull` brings the file that it stands for"}},
    {0, "/annex/objects/"sv,
     {FileKind::kPointer,
      "a pointer of git-annex: `git annex get` brings the file that it stands for"}},
    {0, "\x1f\x8b"sv, {FileKind::kGzip, "packed with gzip"}},
    {0, "BZh"sv, {FileKind::kOther, "packed with bzip2"}},
    {0, "\xfd" "7zXZ\0"sv, {FileKind::kOther, "packed with xz"}},
    {0, "\x28\xb5\x2f\xfd"sv, {FileKind::kOther, "packed with Zstandard"}},
    {0, "\x04\x22\x4d\x18"sv, {FileKind::kOther, "packed with LZ4"}},
    {0, "PK\x03\x04"sv, {FileKind::kOther, "a ZIP archive"}},
    {0, "7z\xbc\xaf\x27\x1c"sv, {FileKind::kOther, "a 7-Zip archive"}},
    {257, "ustar"sv, {FileKind::kOther, "a tar archive"}},
    {0, "PAR1"sv, {FileKind::kOther, "a Parquet file"}},
    {0, "ORC"sv, {FileKind::kOther, "an ORC file"}},
    {0, "Obj\x01"sv, {FileKind::kOther, "an Avro file"}},
    {0, "ARROW1"sv, {FileKind::kOther, "an Arrow file"}},
    {0, "SEQ\x06"sv, {FileKind::kOther, "a SequenceFile of Hadoop"}},
    {0, "\x89HDF\r\n"sv, {FileKind::kOther, "an HDF5 file"}},
    {0, "\x93NUMPY"sv, {FileKind::kOther, "an array of NumPy"}},
    {0, "SQLite format 3"sv, {FileKind::kOther, "an SQLite database"}},
    {0, "\x89PNG\r\n"sv, {FileKind::kOther, "a PNG image"}},
    {0, "\xff\xd8\xff"sv, {FileKind::kOther, "a JPEG image"}},
    {0, "GIF8"sv, {FileKind::kOther, "a GIF image"}},
    {0, "%PDF-"sv, {FileKind::kOther, "a PDF document"}},
    {0, "\x7f" "ELF"sv, {FileKind::kOther, "a program (ELF)"}},
};

constexpr KnownFile kHtml{FileKind::kOther,
                          "a web page (HTML), as servers send one instead of a file: fetch the "
                          "file anew"};
constexpr KnownFile kXml{FileKind::kOther,
                         "an XML document, as stores send one instead of a file: fetch the file "
                         "anew"};

bool BeginsWithoutCase(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char want, char is) {
           return want == (is >= 'A' && is <= 'Z' ? static_cast<char>(is - 'A' + 'a') : is);
         });
}

bool BeginsAsRecord(std::string_view first) {
  return first.size() >= kRecordHeadBytes && RecordLength(first.data()).has_value();
}

// Zeroes, one of the six types, one to eight dimensions.
bool BeginsAsIdx(std::string_view first) {
  return first.size() >= 4 && first[0] == 0 && first[1] == 0 && first[2] >= 0x08 &&
         first[2] <= 0x0e && first[2] != 0x0a && first[3] >= 1 && first[3] <= 8;
}

// The largest window, the one that everybody uses, and no dictionary.
bool BeginsAsZlib(std::string_view first) {
  if (first.size() < 2 || first[0] != 0x78) return false;
  const uint8_t flags = static_cast<uint8_t>(first[1]);
  return (0x78 * 256 + flags) % 31 == 0 && (flags & 0x20) == 0;
}

bool IsText(std::string_view first) {
  return std::ranges::none_of(first, [](char c) {
    return (c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f') || c == 0x7f;
  });
}

KnownFile KindOfText(std::string_view first) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (first.starts_with(kByteOrderMark)) first.remove_prefix(kByteOrderMark.size());
  first.remove_prefix(std::min(first.size(), first.find_first_not_of(" \t\r\n")));
  if (BeginsWithoutCase(first, "<!doctype html") || BeginsWithoutCase(first, "<html")) return kHtml;
  if (BeginsWithoutCase(first, "<?xml")) return kXml;
  if (first.starts_with('{') || first.starts_with('[')) return {FileKind::kJson, "JSON"};
  return {FileKind::kText, "text"};
}

}  // namespace

KnownFile KindOf(std::string_view first) {
  first = first.substr(0, kKindBytes);
  if (first.empty()) return {FileKind::kEmpty, "empty"};
  // Before the marks: a record's length may be any of them, and has a checksum.
  if (BeginsAsRecord(first)) return {FileKind::kRecords, "a file of records (TFRecord)"};
  for (const Mark& mark : kMarks) {
    if (first.size() >= mark.offset && first.substr(mark.offset).starts_with(mark.bytes)) {
      return mark.file;
    }
  }
  if (BeginsAsIdx(first)) return {FileKind::kIdx, "an IDX file"};
  if (BeginsAsZlib(first)) return {FileKind::kZlib, "packed with zlib"};
  if (IsText(first)) return KindOfText(first);
  if (first.find_first_not_of('\0') == std::string_view::npos) {
    return {FileKind::kZeroes, "nothing but zeroes where it begins, as of a file never written"};
  }
  return {};
}

std::string KindNote(std::string_view first, FileKind wanted, bool packed) {
  const KnownFile found = KindOf(first);
  if (found.kind == wanted || found.kind == FileKind::kUnknown) return "";
  const bool text = found.kind == FileKind::kText || found.kind == FileKind::kJson;
  if (wanted == FileKind::kText && text) return "";
  const bool numbers = found.kind == FileKind::kZeroes || found.kind == FileKind::kIdx;
  if (wanted == FileKind::kUnknown && (text || numbers)) return "";
  return (packed ? "; what was packed in it is " : "; it is ") + std::string(found.what);
}

}  // namespace taas
