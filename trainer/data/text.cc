#include "trainer/data/text.h"

#include <string_view>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/data/empty_files.h"
#include "trainer/data/rows.h"
#include "trainer/data/whole_file.h"
#include "trainer/formats/file_kind.h"

namespace taas {

absl::StatusOr<Dataset> ReadText(FileSystem& files, const std::vector<std::string>& paths,
                                 int64_t context) {
  CHECK(!paths.empty()) << "a text needs a file";
  std::vector<uint8_t> text;
  EmptyFiles empty;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::vector<uint8_t> part, ReadWholeFile(files, path));
    if (part.empty()) empty.Add(path);
    // All other bytes are a text that somebody may mean.
    const std::string_view first(reinterpret_cast<const char*>(part.data()), part.size());
    if (const KnownFile known = KindOf(first); known.kind == FileKind::kPointer) {
      return absl::InvalidArgumentError("read " + path + ": it is " + std::string(known.what));
    }
    if (text.size() + part.size() > kDataBytesMax) {
      return absl::ResourceExhaustedError("read " + path + ": the text has more than " +
                                          std::to_string(kDataBytesMax >> 30) + " GiB");
    }
    text.insert(text.end(), part.begin(), part.end());
  }
  RETURN_IF_ERROR(empty.Tell(paths.size()));
  return Dataset::FromTokens("read " + paths.front(), std::move(text), context, kByteVocabulary);
}

}  // namespace taas
