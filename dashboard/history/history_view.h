// What the history keeps of a job as the dashboard sees it now.
//
// Pure. Ownership: values. Threads: any. Errors: none; what is not known is left out.
//
//   store.Put(EntryOf({.job = *job, .pods = pods, .now = now}, events, {}));

#ifndef DASHBOARD_HISTORY_HISTORY_VIEW_H_
#define DASHBOARD_HISTORY_HISTORY_VIEW_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/history/history_entry.h"
#include "dashboard/server/health.h"
#include "dashboard/server/watched.h"

namespace taas::dashboard {

// Of the text that a list is searched through.
inline constexpr size_t kSearchBytes = 512;

struct HistoryEnd {
  std::optional<Clock::WallTime> deleted;
  bool settled = false;
};
// `events`: of the job and its pods, oldest first.
HistoryJob EntryOf(const JobToJudge& judged,
                   const std::vector<std::shared_ptr<const WatchedEvent>>& events,
                   const HistoryEnd& end);

// In lower case as far as it is ASCII, which is what names are.
std::string SearchText(std::string_view text);

// The last lines, as many as are kept; what is cut at a character.
void CutTail(HistoryTail* tail);

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_VIEW_H_
