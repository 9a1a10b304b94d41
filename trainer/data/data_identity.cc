#include "trainer/data/data_identity.h"

#include <algorithm>
#include <cstddef>

#include "operator/base/hash.h"
#include "operator/base/status.h"
#include "trainer/loops/parallel.h"

namespace taas {
namespace {

// A page at each end: what is appended, cut or written anew shows there.
constexpr uint64_t kEndBytes = 4096;
// Files are opened side by side: on a network each takes its time.
constexpr int kThreads = 8;

struct FileFacts {
  std::string text;  // What the fingerprint is of.
  uint64_t size = 0;
};

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

absl::StatusOr<FileFacts> FactsOf(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, files.OpenRead(path));
  FileFacts facts;
  ASSIGN_OR_RETURN(facts.size, file->Size());
  char ends[2 * kEndBytes];
  ASSIGN_OR_RETURN(size_t got, file->ReadAt(0, kEndBytes, ends));
  const uint64_t last = std::max(facts.size, kEndBytes) - kEndBytes;
  ASSIGN_OR_RETURN(const size_t more, file->ReadAt(last, kEndBytes, ends + got));
  got += more;
  facts.text = NameOf(path) + '\0' + std::to_string(facts.size) + '\0' +
               std::to_string(StableHash({ends, got})) + '\0';
  return facts;
}

}  // namespace

absl::StatusOr<std::string> IdentifyFiles(FileSystem& files, const std::vector<std::string>& paths,
                                          int64_t examples) {
  std::vector<absl::StatusOr<FileFacts>> all(paths.size(), FileFacts());
  ParallelFor(kThreads, std::ssize(paths), [&](int64_t i) {
    all[static_cast<size_t>(i)] = FactsOf(files, paths[static_cast<size_t>(i)]);
  });
  std::string text;
  uint64_t bytes = 0;
  for (const absl::StatusOr<FileFacts>& facts : all) {
    if (!facts.ok()) return facts.status();
    text += facts->text;
    bytes += facts->size;
  }
  const std::string files_text =
      paths.size() == 1 ? "file " + NameOf(paths[0])
                        : std::to_string(paths.size()) + " files, " + NameOf(paths.front()) +
                              " to " + NameOf(paths.back());
  return std::to_string(examples) + " examples in " + files_text + ", " + std::to_string(bytes) +
         " bytes, fingerprint " + HexOf(StableHash(text));
}

}  // namespace taas
