#include "trainer/summary/event_pages.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "operator/base/directory.h"
#include "operator/base/plain_name.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/summary/event_file.h"

namespace taas {
namespace {

constexpr char kTop[] = ".";
struct DataQuery {
  std::string run;
  std::string file;
  uint64_t from = 0;
};

absl::StatusOr<DataQuery> ParseDataQuery(std::string_view query) {
  DataQuery out;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.rfind("file=", 0) == 0) {
      const std::string_view path = pair.substr(5);
      const size_t slash = std::min(path.find('/'), path.size());
      out.run = path.substr(0, slash);
      out.file = path.substr(std::min(slash + 1, path.size()));
    } else if (pair.rfind("from=", 0) == 0) {
      const char* const last = pair.data() + pair.size();
      const auto [next, error] = std::from_chars(pair.data() + 5, last, out.from);
      if (error != std::errc() || next != last) out.file.clear();
    }
  }
  if (!IsPlainName(out.run) || !IsPlainName(out.file) || !IsEventFile(out.file)) {
    return absl::InvalidArgumentError(
        "/events/data wants ?file=RUN/FILE&from=BYTE, with a run and a file of /events");
  }
  return out;
}

}  // namespace

absl::StatusOr<std::string> EventPages::List() const {
  nlohmann::json list = nlohmann::json::array();
  std::vector<std::string> runs;
  // What is not there yet holds none.
  const absl::StatusOr<Directory> top =
      dir_.empty() ? absl::NotFoundError("") : Directory::Open(dir_, Links::kRefused);
  if (top.ok()) {
    runs = {kTop};
    ASSIGN_OR_RETURN(const std::vector<Directory::Entry> entries, top->List(kNamesMax));
    for (const Directory::Entry& entry : entries) {
      const bool is_run = entry.kind == Directory::Entry::Kind::kDirectory;
      if (is_run && IsPlainName(entry.name)) runs.push_back(entry.name);
    }
  }
  for (const std::string& run : runs) {
    const auto directory = top->OpenDirectoryIn(run);
    if (!directory.ok()) continue;
    ASSIGN_OR_RETURN(const std::vector<Directory::Entry> entries, directory->List(kNamesMax));
    const size_t first = entries.size() - std::min(entries.size(), kFilesMax);
    for (size_t i = first; i < entries.size() && list.size() < kFilesMax; ++i) {
      const std::string& name = entries[i].name;
      if (!IsPlainName(name) || !IsEventFile(name) || IsOfAnotherJob(name, job_)) continue;
      const auto file = directory->IdentityOf(name);
      if (!file.ok()) continue;
      list.push_back({{"run", run}, {"file", name}, {"bytes", file->size}});
    }
  }
  return nlohmann::json{{"files", std::move(list)}}.dump();
}

absl::StatusOr<std::string> EventPages::Data(const std::string& query) const {
  ASSIGN_OR_RETURN(const DataQuery asked, ParseDataQuery(query));
  if (dir_.empty()) return absl::NotFoundError("there is no summaries.dir");
  ASSIGN_OR_RETURN(const Directory top, Directory::Open(dir_, Links::kRefused));
  ASSIGN_OR_RETURN(const Directory run, top.OpenDirectoryIn(asked.run));
  ASSIGN_OR_RETURN(const OpenFile file, run.OpenFileIn(asked.file));
  std::string bytes(kBytesMax, '\0');
  ASSIGN_OR_RETURN(const size_t size, file.ReadAt(asked.from, bytes.size(), bytes.data()));
  bytes.resize(size);
  return bytes;
}

}  // namespace taas
