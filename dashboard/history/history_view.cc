#include "dashboard/history/history_view.h"

#include <algorithm>
#include <utility>

#include "dashboard/server/job_view.h"
#include "operator/api/json_field.h"
#include "operator/base/utf8.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// What it asked for: of a job that is over nobody holds any.
int64_t GpusOf(const WatchedJob& job) {
  int64_t gpus = 0;
  for (const WatchedRole& role : job.roles) gpus += int64_t{role.desired} * role.gpus;
  return gpus;
}

// A time in a status may be of the future, where somebody wrote it; such a job would never be old.
std::optional<Clock::WallTime> OverAt(const JobToJudge& judged, const HistoryEnd& end) {
  if (judged.job.ended()) {
    return std::min(judged.job.status.completion_time.value_or(judged.now), judged.now);
  }
  return end.deleted;
}

std::string DetailText(const JobToJudge& judged) {
  Json all = DetailOf({.judged = judged});
  Json out;
  for (const char* key : {"conditions", "attempt", "restartsByCause", "restartHistory"}) {
    out[key] = std::move(all[key]);
  }
  return DumpJson(out);
}

}  // namespace

std::string SearchText(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

HistoryJob EntryOf(const JobToJudge& judged,
                   const std::vector<std::shared_ptr<const WatchedEvent>>& events,
                   const HistoryEnd& end) {
  const WatchedJob& job = judged.job;
  Json row = RowOf(judged);
  const std::string search = job.meta.ns + "/" + job.meta.name + "\n" + job.owner + "\n" +
                             job.queue + "\n" + TextOf(row, "message");
  row.erase("deleting");
  row["gpus"] = GpusOf(job);
  HistoryJob entry{.uid = job.meta.uid,
                   .kind = job.kind,
                   .ns = job.meta.ns,
                   .name = job.meta.name,
                   .over = OverAt(judged, end),
                   .deleted = end.deleted,
                   .settled = end.settled,
                   .search = SearchText(CutToCharacter(search, kSearchBytes)),
                   .row = DumpJson(row),
                   .detail = DetailText(judged)};
  const Json texts = EventsOf(events, job, judged.pods);
  const size_t first = events.size() > kHistoryEventsMax ? events.size() - kHistoryEventsMax : 0;
  for (size_t i = first; i < events.size(); ++i) {
    entry.events.push_back(
        {.id = events[i]->meta.name, .at = events[i]->at, .json = DumpJson(texts[i])});
  }
  return entry;
}

void CutTail(HistoryTail* tail) {
  std::vector<HistoryLine>& lines = tail->lines;
  size_t bytes = 0, kept = 0;
  for (auto line = lines.rbegin(); line != lines.rend() && kept < kLogTailLines; ++line, ++kept) {
    if (line->l.size() > kLogLineBytes) {
      line->l = CutToCharacter(line->l, kLogLineBytes);
      tail->truncated = true;
    }
    bytes += line->t.size() + line->l.size();
    if (bytes > kLogTailBytes) break;
  }
  if (kept == lines.size()) return;
  tail->truncated = true;
  lines.erase(lines.begin(), lines.end() - static_cast<ptrdiff_t>(kept));
}

}  // namespace taas::dashboard
