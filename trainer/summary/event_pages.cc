#include "trainer/summary/event_pages.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

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

std::vector<std::string> EventPages::Runs() const {
  if (dir_.empty()) return {};
  std::vector<std::string> runs = {kTop};
  const auto names = files_.List(dir_);
  if (!names.ok()) return runs;
  for (const std::string& name : *names) {
    if (IsPlainName(name) && !IsEventFile(name)) runs.push_back(name);
  }
  return runs;
}

absl::StatusOr<std::string> EventPages::List() const {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& run : Runs()) {
    // What is no directory, or is not there yet, holds none.
    const auto names = files_.List(dir_ + "/" + run);
    if (!names.ok()) continue;
    const size_t first = names->size() - std::min(names->size(), kFilesMax);
    for (size_t i = first; i < names->size() && list.size() < kFilesMax; ++i) {
      const std::string& name = (*names)[i];
      if (!IsPlainName(name) || !IsEventFile(name)) continue;
      const auto file = files_.OpenRead(dir_ + "/" + run + "/" + name);
      if (!file.ok()) continue;
      ASSIGN_OR_RETURN(const uint64_t bytes, (*file)->Size());
      list.push_back({{"run", run}, {"file", name}, {"bytes", bytes}});
    }
  }
  return nlohmann::json{{"files", std::move(list)}}.dump();
}

absl::StatusOr<std::string> EventPages::Data(const std::string& query) const {
  ASSIGN_OR_RETURN(const DataQuery asked, ParseDataQuery(query));
  if (dir_.empty()) return absl::NotFoundError("there is no summaries.dir");
  ASSIGN_OR_RETURN(const auto file,
                   files_.OpenRead(dir_ + "/" + asked.run + "/" + asked.file));
  std::string bytes(kBytesMax, '\0');
  ASSIGN_OR_RETURN(const size_t size, file->ReadAt(asked.from, bytes.size(), bytes.data()));
  bytes.resize(size);
  return bytes;
}

}  // namespace taas
