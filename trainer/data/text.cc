#include "trainer/data/text.h"

#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/data/rows.h"
#include "trainer/data/whole_file.h"

namespace taas {

absl::StatusOr<Dataset> ReadText(FileSystem& files, const std::vector<std::string>& paths,
                                 int64_t context) {
  CHECK(!paths.empty()) << "a text needs a file";
  std::vector<uint8_t> text;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::vector<uint8_t> part, ReadWholeFile(files, path));
    if (part.empty()) return absl::InvalidArgumentError("read " + path + ": it is empty");
    if (text.size() + part.size() > kDataBytesMax) {
      return absl::ResourceExhaustedError("read " + path + ": the text has more than " +
                                          std::to_string(kDataBytesMax >> 30) + " GiB");
    }
    text.insert(text.end(), part.begin(), part.end());
  }
  return Dataset::FromTokens("read " + paths.front(), std::move(text), context, kByteVocabulary);
}

}  // namespace taas
