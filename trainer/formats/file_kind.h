// What a file is, told by its first bytes: for the message about one that is not what it was taken
// for. A download that brought an error page, or a clone without its large files, is understood at
// once when it is called that.
//
// Ownership: pure functions; texts live for ever. Threads: any. Errors: none.
//
//   return absl::DataLossError("read x: no IDX file" + KindNote(first, FileKind::kIdx));
//   // "…; it is a pointer of Git LFS: `git lfs pull` brings the file that it stands for"

#ifndef TRAINER_FORMATS_FILE_KIND_H_
#define TRAINER_FORMATS_FILE_KIND_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace taas {

enum class FileKind {
  kUnknown,
  kEmpty,
  kText,
  kJson,
  kRecords,
  kIdx,
  kGzip,
  kZlib,
  kZeroes,
  kPointer,  // Of Git LFS or git-annex.
  kOther,    // One that nothing here reads.
};

struct KnownFile {
  FileKind kind = FileKind::kUnknown;
  std::string_view what;  // "a web page (HTML) …", behind "it is"; empty of kUnknown.
};

// As many as are looked at: behind them stands the mark of a tar archive.
inline constexpr size_t kKindBytes = 512;

// `first` are the file's first kKindBytes, or all that it has.
KnownFile KindOf(std::string_view first);

// "; it is …" of a file that was taken for `wanted`; "" if it may be that, or nobody can tell.
// Taken for kUnknown, which is numbers of any kind, it may also be text, zeroes or the like.
// `packed`: the bytes are what a compressed file held.
std::string KindNote(std::string_view first, FileKind wanted, bool packed = false);

}  // namespace taas

#endif  // TRAINER_FORMATS_FILE_KIND_H_
