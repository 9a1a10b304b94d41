#include "dashboard/history/history_tables.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "dashboard/history/history_series.h"
#include "dashboard/history/history_usage.h"
#include "dashboard/http/gzip.h"
#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// Of one packed value: an object in etcd has 1.5 MB at most, curves 4 MB.
constexpr size_t kUnpackedBytes = 16 << 20;
// How far jobs that go on may take the file beyond its limit before their curves and logs are left
// out: a sixteenth.
constexpr int64_t kOverShare = 16;

int64_t ToMs(Clock::WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}
std::optional<int64_t> ToMs(const std::optional<Clock::WallTime>& time) {
  return time.has_value() ? std::optional(ToMs(*time)) : std::nullopt;
}
std::optional<Clock::WallTime> FromMs(const std::optional<int64_t>& ms) {
  if (!ms.has_value()) return std::nullopt;
  return Clock::WallTime(std::chrono::milliseconds(*ms));
}

std::optional<JobKind> KindOf(std::string_view name) {
  for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
    if (DialectOf(kind).kind_name == name) return kind;
  }
  return std::nullopt;
}

std::string NameOf(JobKind kind) { return std::string(DialectOf(kind).kind_name); }

// What is damaged on the disk is as if it were not there.
std::string Unpack(const std::string& packed) {
  return packed.empty() ? "" : Gunzip(packed, kUnpackedBytes).value_or("");
}

std::string TailText(const HistoryTail& tail) {
  Json lines = Json::array();
  for (const HistoryLine& line : tail.lines) lines.push_back(Json::array({line.t, line.l}));
  return DumpJson({{"lines", std::move(lines)}, {"truncated", tail.truncated}});
}

HistoryTail TailOf(std::string replica, int64_t pod_number, std::string_view text) {
  HistoryTail tail;
  tail.replica = std::move(replica);
  tail.pod_number = static_cast<int32_t>(pod_number);
  const Json read = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object() || !read.contains("lines") || !read["lines"].is_array()) return tail;
  tail.truncated = read.value("truncated", false);
  for (const Json& line : read["lines"]) {
    if (!line.is_array() || line.size() != 2 || !line[0].is_string() || !line[1].is_string()) {
      continue;
    }
    tail.lines.push_back({line[0].get<std::string>(), line[1].get<std::string>()});
  }
  return tail;
}

HistoryRow RowAt(const SqlStatement& found) {
  return {.cursor = {.over_ms = found.Number(1), .uid = found.Text(0)},
          .row = found.Text(4),
          .deleted = FromMs(found.MaybeNumber(2)),
          .unseen = found.Number(3) != 0};
}

}  // namespace

absl::Status HistoryTables::Apply(const std::vector<HistoryChange>& changes) {
  ASSIGN_OR_RETURN(const int64_t bytes, BytesInUse());
  full_ = bytes > limits_.bytes + limits_.bytes / kOverShare;
  ASSIGN_OR_RETURN(SqlTransaction transaction, SqlTransaction::Begin(file_.get()));
  for (const HistoryChange& change : changes) {
    RETURN_IF_ERROR(std::visit([this](const auto& one) { return Write(one); }, change));
  }
  return transaction.Commit();
}

absl::StatusOr<std::optional<int64_t>> HistoryTables::IdOf(const std::string& uid) {
  ASSIGN_OR_RETURN(SqlStatement find, file_->Prepare("SELECT id FROM jobs WHERE uid = ?"));
  ASSIGN_OR_RETURN(const bool found, find.Bind(uid).Next());
  return found ? std::optional(find.Number(0)) : std::nullopt;
}

absl::Status HistoryTables::Write(const HistoryJob& job) {
  // A job that is over and then goes on again, since somebody has edited its status, is no history.
  ASSIGN_OR_RETURN(
      SqlStatement put,
      file_->Prepare(
          "INSERT INTO jobs (uid, kind, ns, name, over_at, deleted, settled, search)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (uid) DO UPDATE SET over_at = CASE WHEN"
          " excluded.over_at IS NULL THEN NULL ELSE coalesce(over_at, excluded.over_at) END,"
          " deleted = coalesce(deleted, excluded.deleted), settled = excluded.settled,"
          " search = excluded.search RETURNING id"));
  put.Bind(job.uid).Bind(NameOf(job.kind)).Bind(job.ns).Bind(job.name).Bind(ToMs(job.over));
  put.Bind(ToMs(job.deleted)).Bind(int64_t{job.settled}).Bind(job.search);
  ASSIGN_OR_RETURN(const bool written, put.Next());
  const int64_t id = written ? put.Number(0) : 0;
  RETURN_IF_ERROR(put.Done());
  ASSIGN_OR_RETURN(SqlStatement body,
                   file_->Prepare("INSERT INTO bodies (job, row, detail) VALUES (?, ?, ?) ON"
                                  " CONFLICT (job) DO UPDATE SET row = excluded.row,"
                                  " detail = excluded.detail"));
  RETURN_IF_ERROR(body.Bind(id).Bind(job.row).Bind(job.detail).Done());
  return WriteEvents(id, job.events);
}

absl::Status HistoryTables::WriteEvents(int64_t id, const std::vector<HistoryEvent>& events) {
  if (events.empty()) return absl::OkStatus();
  for (const HistoryEvent& event : events) {
    // The same ones come again and again while a job runs.
    ASSIGN_OR_RETURN(SqlStatement put,
                     file_->Prepare("INSERT INTO events (job, id, at, event) VALUES (?, ?, ?, ?) ON"
                                    " CONFLICT (job, id) DO UPDATE SET at = excluded.at,"
                                    " event = excluded.event WHERE event <> excluded.event"));
    RETURN_IF_ERROR(
        put.Bind(id).Bind(event.id).Bind(ToMs(event.at)).Bind(event.json).Done());
  }
  ASSIGN_OR_RETURN(SqlStatement drop,
                   file_->Prepare("DELETE FROM events WHERE rowid IN (SELECT rowid FROM events"
                                  " WHERE job = ? ORDER BY at DESC, id LIMIT -1 OFFSET ?)"));
  return drop.Bind(id).Bind(int64_t{kHistoryEventsMax}).Done();
}

absl::Status HistoryTables::Write(const HistoryManifest& manifest) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> id, IdOf(manifest.uid));
  if (!id.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(SqlStatement note,
                   file_->Prepare("UPDATE jobs SET generation = ? WHERE id = ?"));
  RETURN_IF_ERROR(note.Bind(manifest.generation).Bind(*id).Done());
  ASSIGN_OR_RETURN(SqlStatement put,
                   file_->Prepare("UPDATE bodies SET manifest = ? WHERE job = ?"));
  return put.BindBytes(Gzip(manifest.json)).Bind(*id).Done();
}

absl::Status HistoryTables::Write(const HistoryCheckpoints& seen) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> id, IdOf(seen.uid));
  if (!id.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(SqlStatement put,
                   file_->Prepare("UPDATE bodies SET checkpoints = ? WHERE job = ?"));
  return put.Bind(seen.json).Bind(*id).Done();
}

absl::Status HistoryTables::Write(const HistorySeries& series) {
  return ChangeCurves(series.uid, [&series](const std::string& before) {
    return JoinCurves(before, series.answer);
  });
}

absl::Status HistoryTables::Write(const HistoryFiles& files) {
  return ChangeCurves(files.uid, [&files](const std::string& before) {
    return FilledCurves(before, files.curves, files.until);
  });
}

absl::Status HistoryTables::Write(const HistoryLastPoints& last) {
  return ChangeCurves(last.uid, [&last](const std::string& before) {
    return WithLastPoints(before, last.points);
  });
}

absl::Status HistoryTables::ChangeCurves(
    const std::string& uid, const std::function<std::string(const std::string&)>& change) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> id, IdOf(uid));
  if (!id.has_value() || full_) return absl::OkStatus();
  std::string before;
  {
    ASSIGN_OR_RETURN(SqlStatement find, file_->Prepare("SELECT curves FROM series WHERE job = ?"));
    ASSIGN_OR_RETURN(const bool found, find.Bind(*id).Next());
    if (found) before = Unpack(find.Text(0));
  }
  const std::string joined = change(before);
  if (joined.empty() || joined == before) return absl::OkStatus();
  ASSIGN_OR_RETURN(SqlStatement put,
                   file_->Prepare("INSERT INTO series (job, curves) VALUES (?, ?) ON CONFLICT"
                                  " (job) DO UPDATE SET curves = excluded.curves"));
  return put.Bind(*id).BindBytes(Gzip(joined)).Done();
}

absl::Status HistoryTables::Write(const HistoryUsage& usage) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> id, IdOf(usage.uid));
  if (!id.has_value() || full_) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string before, Usage(usage.uid));
  const std::string joined = JoinUsage(before, usage.sample);
  if (joined.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(SqlStatement put,
                   file_->Prepare("INSERT INTO usage (job, used) VALUES (?, ?) ON CONFLICT"
                                  " (job) DO UPDATE SET used = excluded.used"));
  return put.Bind(*id).BindBytes(Gzip(joined)).Done();
}

absl::Status HistoryTables::Write(const HistoryLog& log) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> id, IdOf(log.uid));
  if (!id.has_value() || full_) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      SqlStatement put,
      file_->Prepare("INSERT INTO logs (job, replica, pod_number, tail) VALUES (?, ?, ?, ?) ON"
                     " CONFLICT (job, replica) DO UPDATE SET pod_number = excluded.pod_number,"
                     " tail = excluded.tail WHERE excluded.pod_number >= pod_number"));
  return put.Bind(*id)
      .Bind(log.tail.replica)
      .Bind(int64_t{log.tail.pod_number})
      .BindBytes(Gzip(TailText(log.tail)))
      .Done();
}

absl::Status HistoryTables::Write(const HistoryGone& gone) {
  ASSIGN_OR_RETURN(SqlStatement put,
                   file_->Prepare("UPDATE jobs SET over_at = coalesce(over_at, ?1), deleted = ?1,"
                                  " unseen = ?2 WHERE uid = ?3 AND deleted IS NULL"));
  return put.Bind(ToMs(gone.at)).Bind(int64_t{gone.unseen}).Bind(gone.uid).Done();
}

absl::StatusOr<std::vector<HistoryPlace>> HistoryTables::Places(const std::string& ns) {
  ASSIGN_OR_RETURN(SqlStatement find,
                   file_->Prepare("SELECT kind, ns FROM jobs INDEXED BY jobs_over WHERE over_at IS"
                                  " NOT NULL AND (?1 = '' OR ns = ?1) GROUP BY kind, ns"
                                  " ORDER BY max(over_at) DESC, kind, ns"));
  find.Bind(ns);
  std::vector<HistoryPlace> places;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, find.Next());
    if (!found) return places;
    const auto kind = KindOf(find.Text(0));
    if (kind.has_value()) places.push_back({*kind, find.Text(1)});
  }
}

absl::StatusOr<HistoryPage> HistoryTables::Page(const HistoryQuery& query) {
  Json places = Json::array(), words = Json::array();
  for (const HistoryPlace& place : query.places) {
    places.push_back(NameOf(place.kind) + "/" + place.ns);
  }
  for (const std::string& word : query.words) words.push_back(word);
  // CROSS JOIN: bodies are looked up only for rows that are shown.
  ASSIGN_OR_RETURN(
      SqlStatement find,
      file_->Prepare(
          "SELECT j.uid, j.over_at, j.deleted, j.unseen, b.row FROM jobs j INDEXED BY jobs_over"
          " CROSS JOIN bodies b ON b.job = j.id WHERE j.over_at IS NOT NULL"
          " AND (j.over_at, j.uid) < (?, ?)"
          " AND j.kind || '/' || j.ns IN (SELECT value FROM json_each(?))"
          " AND NOT EXISTS (SELECT 1 FROM json_each(?) w WHERE instr(j.search, w.value) = 0)"
          " ORDER BY j.over_at DESC, j.uid DESC LIMIT ?"));
  const HistoryCursor first{.over_ms = std::numeric_limits<int64_t>::max(), .uid = ""};
  const HistoryCursor& before = query.before.has_value() ? *query.before : first;
  // One more than asked for says whether there is a next page for this caller.
  find.Bind(before.over_ms).Bind(before.uid).Bind(DumpJson(places)).Bind(DumpJson(words));
  find.Bind(int64_t{query.limit} + 1);
  HistoryPage page;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, find.Next());
    if (!found) return page;
    if (page.rows.size() == static_cast<size_t>(query.limit)) {
      page.more = true;
      return page;
    }
    page.rows.push_back(RowAt(find));
  }
}

absl::StatusOr<std::optional<HistoryName>> HistoryTables::Locate(const std::string& uid) {
  ASSIGN_OR_RETURN(SqlStatement find, file_->Prepare("SELECT kind, ns, name FROM jobs WHERE"
                                                     " uid = ? AND over_at IS NOT NULL"));
  ASSIGN_OR_RETURN(const bool found, find.Bind(uid).Next());
  if (!found) return std::nullopt;
  const auto kind = KindOf(find.Text(0));
  if (!kind.has_value()) return std::nullopt;
  return HistoryName{.place = {*kind, find.Text(1)}, .name = find.Text(2)};
}

absl::StatusOr<std::optional<HistoryRecord>> HistoryTables::Load(const std::string& uid,
                                                                 const HistoryParts& parts) {
  ASSIGN_OR_RETURN(
      SqlStatement find,
      file_->Prepare("SELECT j.uid, j.over_at, j.deleted, j.unseen, b.row, b.detail, b.manifest,"
                     " s.curves, j.id, b.checkpoints FROM jobs j JOIN bodies b ON b.job = j.id"
                     " LEFT JOIN series s ON s.job = j.id"
                     " WHERE j.uid = ? AND j.over_at IS NOT NULL"));
  ASSIGN_OR_RETURN(const bool found, find.Bind(uid).Next());
  if (!found) return std::nullopt;
  HistoryRecord record{.row = RowAt(find), .detail = find.Text(5)};
  if (parts.manifest) record.manifest = Unpack(find.Text(6));
  record.curves = Unpack(find.Text(7));
  const int64_t id = find.Number(8);
  record.checkpoints = find.Text(9);
  if (parts.usage) {
    ASSIGN_OR_RETURN(record.usage, Usage(uid));
  }
  if (parts.events) {
    RETURN_IF_ERROR(LoadEvents(id, &record));
  }
  if (parts.logs) {
    RETURN_IF_ERROR(LoadLogs(id, &record));
  }
  return record;
}

absl::StatusOr<std::string> HistoryTables::Checkpoints(const std::string& uid) {
  ASSIGN_OR_RETURN(SqlStatement find,
                   file_->Prepare("SELECT b.checkpoints FROM jobs j JOIN bodies b"
                                  " ON b.job = j.id WHERE j.uid = ?"));
  ASSIGN_OR_RETURN(const bool found, find.Bind(uid).Next());
  return found ? find.Text(0) : "";
}

absl::StatusOr<std::string> HistoryTables::Usage(const std::string& uid) {
  return Packed("SELECT u.used FROM jobs j JOIN usage u ON u.job = j.id WHERE j.uid = ?", uid);
}

absl::StatusOr<std::string> HistoryTables::Curves(const std::string& uid) {
  return Packed("SELECT s.curves FROM jobs j JOIN series s ON s.job = j.id WHERE j.uid = ?", uid);
}

absl::StatusOr<std::string> HistoryTables::Packed(const char* query, const std::string& uid) {
  ASSIGN_OR_RETURN(SqlStatement find, file_->Prepare(query));
  ASSIGN_OR_RETURN(const bool found, find.Bind(uid).Next());
  return found ? Unpack(find.Text(0)) : "";
}

absl::Status HistoryTables::LoadEvents(int64_t id, HistoryRecord* record) {
  ASSIGN_OR_RETURN(SqlStatement find,
                   file_->Prepare("SELECT event FROM events WHERE job = ? ORDER BY at, id"));
  find.Bind(id);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, find.Next());
    if (!found) return absl::OkStatus();
    record->events.push_back(find.Text(0));
  }
}

absl::Status HistoryTables::LoadLogs(int64_t id, HistoryRecord* record) {
  ASSIGN_OR_RETURN(SqlStatement find, file_->Prepare("SELECT replica, pod_number, tail FROM logs"
                                                     " WHERE job = ? ORDER BY replica"));
  find.Bind(id);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, find.Next());
    if (!found) return absl::OkStatus();
    record->logs.push_back(TailOf(find.Text(0), find.Number(1), Unpack(find.Text(2))));
  }
}

absl::StatusOr<std::vector<HistoryOpen>> HistoryTables::Open() {
  ASSIGN_OR_RETURN(SqlStatement find,
                   file_->Prepare("SELECT uid, kind, ns, generation, over_at IS NOT NULL, settled"
                                  " FROM jobs WHERE deleted IS NULL"));
  std::vector<HistoryOpen> open;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, find.Next());
    if (!found) return open;
    const auto kind = KindOf(find.Text(1));
    if (!kind.has_value()) continue;
    open.push_back({.uid = find.Text(0),
                    .kind = *kind,
                    .ns = find.Text(2),
                    .generation = find.Number(3),
                    .over = find.Number(4) != 0,
                    .settled = find.Number(5) != 0});
  }
}

absl::StatusOr<int64_t> HistoryTables::BytesInUse() {
  ASSIGN_OR_RETURN(const int64_t pages, file_->Number("PRAGMA page_count"));
  ASSIGN_OR_RETURN(const int64_t free_pages, file_->Number("PRAGMA freelist_count"));
  ASSIGN_OR_RETURN(const int64_t size, file_->Number("PRAGMA page_size"));
  return (pages - free_pages) * size;
}

// The oldest, if there are too many, they are too old, or they take too much room.
absl::StatusOr<std::vector<int64_t>> HistoryTables::TooMany(Clock::WallTime now) {
  ASSIGN_OR_RETURN(const int64_t bytes, BytesInUse());
  ASSIGN_OR_RETURN(const int64_t jobs,
                   file_->Number("SELECT count(*) FROM jobs WHERE over_at IS NOT NULL"));
  const bool any = bytes > limits_.bytes || jobs > limits_.jobs;
  const int64_t oldest = any ? std::numeric_limits<int64_t>::max()
                             : ToMs(now - std::chrono::hours(24) * limits_.days);
  // Of too many jobs no more than those.
  const bool counted = any && bytes <= limits_.bytes;
  const int64_t count =
      counted ? std::min<int64_t>(jobs - limits_.jobs, kTrimJobs) : int64_t{kTrimJobs};
  ASSIGN_OR_RETURN(SqlStatement find,
                   file_->Prepare("SELECT id FROM jobs WHERE over_at IS NOT NULL AND over_at < ?"
                                  " ORDER BY over_at, uid LIMIT ?"));
  find.Bind(oldest).Bind(count);
  std::vector<int64_t> ids;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, find.Next());
    if (!found) return ids;
    ids.push_back(find.Number(0));
  }
}

absl::StatusOr<bool> HistoryTables::Trim(Clock::WallTime now) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> ids, TooMany(now));
  if (!ids.empty()) {
    ASSIGN_OR_RETURN(SqlTransaction transaction, SqlTransaction::Begin(file_.get()));
    for (const int64_t id : ids) {
      for (const char* sql :
           {"DELETE FROM jobs WHERE id = ?", "DELETE FROM bodies WHERE job = ?",
            "DELETE FROM events WHERE job = ?", "DELETE FROM series WHERE job = ?",
            "DELETE FROM logs WHERE job = ?", "DELETE FROM usage WHERE job = ?"}) {
        ASSIGN_OR_RETURN(SqlStatement drop, file_->Prepare(sql));
        RETURN_IF_ERROR(drop.Bind(id).Done());
      }
    }
    RETURN_IF_ERROR(transaction.Commit());
    return true;
  }
  ASSIGN_OR_RETURN(const int64_t free_pages, file_->Number("PRAGMA freelist_count"));
  ASSIGN_OR_RETURN(const int64_t size, file_->Number("PRAGMA page_size"));
  if (free_pages * size <= kFreeBytesKept) return false;
  RETURN_IF_ERROR(
      file_->Run(("PRAGMA incremental_vacuum(" + std::to_string(kTrimPages) + ")").c_str()));
  return true;
}

}  // namespace taas::dashboard
