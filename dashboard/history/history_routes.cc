#include "dashboard/history/history_routes.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "dashboard/history/history_series.h"
#include "dashboard/history/history_view.h"
#include "dashboard/http/problem.h"
#include "dashboard/server/sight.h"
#include "dashboard/server/usage_routes.h"
#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// Also those that the cluster has no more: their jobs are what a history is for.
std::vector<JobKind> AllKinds() { return {JobKind::kTrainingJob, JobKind::kTfJob}; }

absl::StatusOr<int64_t> ToNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return absl::InvalidArgumentError("\"" + std::string(text) + "\" is no whole number");
  }
  return number;
}

// "MS-UID", of the last row that the caller has.
std::string CursorText(const HistoryCursor& cursor) {
  return std::to_string(cursor.over_ms) + "-" + cursor.uid;
}

absl::StatusOr<HistoryCursor> ReadCursor(std::string_view text) {
  // The first one may be the sign of a time before 1970.
  const size_t dash = text.find('-', 1);
  if (dash == std::string_view::npos) {
    return absl::InvalidArgumentError("`before` is no `next` of an answer");
  }
  ASSIGN_OR_RETURN(const int64_t ms, ToNumber(text.substr(0, dash)));
  return HistoryCursor{.over_ms = ms, .uid = std::string(text.substr(dash + 1))};
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  const std::string lower = SearchText(text);
  constexpr const char* kSpaces = " \t\r\n";
  for (size_t begin = lower.find_first_not_of(kSpaces);
       begin != std::string::npos && words.size() < HistoryRoutes::kWordsMax;) {
    const size_t end = std::min(lower.find_first_of(kSpaces, begin), lower.size());
    words.push_back(lower.substr(begin, end - begin));
    begin = lower.find_first_not_of(kSpaces, end);
  }
  return words;
}

absl::StatusOr<HistoryQuery> ReadQuery(const WebRequest& request) {
  HistoryQuery query{.words = WordsOf(request.Query("text")),
                     .limit = HistoryRoutes::kLimitDefault};
  if (const std::string_view before = request.Query("before"); !before.empty()) {
    ASSIGN_OR_RETURN(query.before, ReadCursor(before));
  }
  if (const std::string_view limit = request.Query("limit"); !limit.empty()) {
    ASSIGN_OR_RETURN(const int64_t number, ToNumber(limit));
    if (number < 1) return absl::InvalidArgumentError("`limit` is 1 or more");
    query.limit = static_cast<int>(std::min<int64_t>(number, HistoryRoutes::kLimitMax));
  }
  return query;
}

// Of texts that the history wrote itself; a damaged one is as good as empty.
Json ReadObject(const std::string& text) {
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return object.is_object() ? object : Json::object();
}

Json ShownRow(const HistoryRow& row) {
  Json out = ReadObject(row.row);
  if (out.empty()) return out;
  if (row.deleted.has_value()) out["deleted"] = FormatRfc3339(*row.deleted);
  if (row.unseen) out["deletedUnseen"] = true;
  return out;
}

// A HistoryList.
std::string ListText(const HistoryPage& page, const std::string& message) {
  Json out = {{"jobs", Json::array()}};
  for (const HistoryRow& row : page.rows) {
    Json shown = ShownRow(row);
    if (!shown.empty()) out["jobs"].push_back(std::move(shown));
  }
  if (page.more) out["next"] = CursorText(page.rows.back().cursor);
  if (!message.empty()) out["message"] = message;
  return DumpJson(out);
}

Json LogsOf(const std::vector<HistoryTail>& tails) {
  Json out = Json::array();
  for (const HistoryTail& tail : tails) {
    Json lines = Json::array();
    for (const HistoryLine& line : tail.lines) lines.push_back({{"t", line.t}, {"l", line.l}});
    out.push_back({{"replica", tail.replica},
                   {"podNumber", tail.pod_number},
                   {"lines", std::move(lines)},
                   {"truncated", tail.truncated}});
  }
  return out;
}

// A HistoryDetail.
std::string DetailText(const HistoryRecord& record, const HistoryParts& parts) {
  Json out = ShownRow(record.row);
  out.update(ReadObject(record.detail));
  out["events"] = Json::array();
  for (const std::string& event : record.events) out["events"].push_back(ReadObject(event));
  out["logs"] = LogsOf(record.logs);
  if (!record.checkpoints.empty()) out["checkpoints"] = ReadObject(record.checkpoints);
  if (!record.usage.empty()) out["usage"] = ReadObject(record.usage);
  if (!record.manifest.empty()) out["manifest"] = ReadObject(record.manifest);
  Json withheld = Json::array();
  if (!parts.events) withheld.push_back("events");
  if (!parts.manifest) withheld.push_back("manifest");
  if (!parts.logs) withheld.push_back("logs");
  out["withheld"] = std::move(withheld);
  std::string text = DumpJson(out);
  text.back() = ',';
  return text + "\"series\":" + ArchivedAnswer(record.curves) + "}";
}

std::vector<AccessQuestion> PartsQuestions(const HistoryName& name) {
  const Dialect& dialect = DialectOf(name.place.kind);
  const std::string group(dialect.group());
  const std::string& ns = name.place.ns;
  return {{.verb = "list", .group = "", .resource = "events", .ns = ns},
          {.verb = "get", .group = group, .resource = std::string(dialect.plural), .ns = ns,
           .name = name.name},
          {.verb = "get", .group = "", .resource = "pods", .subresource = "log", .ns = ns},
          MetricsQuestion(ns)};
}

WebResponse NoSuchJob(const std::string& uid) {
  return ProblemResponse(404, "NotFound",
                         "job " + uid + ": the history has none of this uid that you may see");
}

}  // namespace

void HistoryRoutes::AddTo(RouteTable* table) {
  table->Add("GET", "history", [this](ApiCall call) { List(std::move(call)); });
  table->Add("GET", "history/*", [this](ApiCall call) { Detail(std::move(call)); });
}

void HistoryRoutes::List(ApiCall call) {
  const absl::StatusOr<HistoryQuery> query = ReadQuery(call.request);
  if (!query.ok()) {
    return call.respond(ProblemResponse(Annotate(query.status(), "list the history")));
  }
  const std::string ns(call.request.Query("namespace"));
  context_.store.Places(ns, [this, call, query = *query](const auto& places) {
    if (!places.ok()) return call.respond(ProblemResponse(places.status()));
    ListPlaces(call, query, *places);
  });
}

void HistoryRoutes::ListPlaces(const ApiCall& call, const HistoryQuery& query,
                               const std::vector<HistoryPlace>& places) {
  FindSight(context_.access, call.identity, AllKinds(), {},
            [this, call, query, places](const SightPtr& wide) {
              const bool all = std::all_of(wide->jobs.begin(), wide->jobs.end(),
                                           [](const auto& reach) { return reach.second.all; });
              if (all) return ListSeen(call, query, places, wide, /*all_asked=*/true);
              std::set<std::string> asked;
              bool all_asked = true;
              for (const HistoryPlace& place : places) {
                if (asked.count(place.ns) > 0) continue;
                all_asked = asked.size() < kNamespacesMax;
                if (!all_asked) break;
                asked.insert(place.ns);
              }
              FindSight(context_.access, call.identity, AllKinds(), asked,
                        [this, call, query, places, all_asked](const SightPtr& sight) {
                          ListSeen(call, query, places, sight, all_asked);
                        });
            });
}

void HistoryRoutes::ListSeen(const ApiCall& call, HistoryQuery query,
                             const std::vector<HistoryPlace>& places, const SightPtr& sight,
                             bool all_asked) {
  for (const HistoryPlace& place : places) {
    if (sight->MaySee(place.kind, place.ns)) query.places.push_back(place);
  }
  context_.store.Page(std::move(query), [this, call, all_asked](const auto& page) {
    if (!page.ok()) return call.respond(ProblemResponse(page.status()));
    std::string message = context_.store.Trouble();
    if (message.empty() && !all_asked) {
      message = "only the " + std::to_string(kNamespacesMax) +
                " namespaces that were used last are looked at; choose one to see another";
    }
    call.respond(JsonResponse(ListText(*page, message)));
  });
}

void HistoryRoutes::Detail(ApiCall call) {
  const std::string uid(call.Part(1));
  context_.store.Locate(uid, [this, call, uid](const auto& name) {
    if (!name.ok()) return call.respond(ProblemResponse(name.status()));
    if (!name->has_value()) return call.respond(NoSuchJob(uid));
    FindSight(context_.access, call.identity, AllKinds(), {(*name)->place.ns},
              [this, call, uid, name = **name](const SightPtr& sight) {
                if (!sight->MaySee(name.place.kind, name.place.ns)) {
                  return call.respond(NoSuchJob(uid));
                }
                DetailOf(call, uid, name);
              });
  });
}

void HistoryRoutes::DetailOf(ApiCall call, const std::string& uid, const HistoryName& name) {
  context_.access.Check(
      call.identity, PartsQuestions(name), [this, call, uid](const std::vector<bool>& may) {
        const HistoryParts parts{.events = may[0], .manifest = may[1], .logs = may[2],
                                  .usage = may[3]};
        context_.store.Load(uid, parts, [call, uid, parts](const auto& record) {
          if (!record.ok()) return call.respond(ProblemResponse(record.status()));
          if (!record->has_value()) return call.respond(NoSuchJob(uid));
          call.respond(JsonResponse(DetailText(**record, parts)));
        });
      });
}

}  // namespace taas::dashboard
