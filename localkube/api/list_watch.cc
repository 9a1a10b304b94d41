#include "localkube/api/list_watch.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <exception>
#include <mutex>
#include <utility>

#include "localkube/api/kube_status.h"
#include "operator/api/field_error.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

// A watch is started anew once a day at the latest, whatever its client asks for.
constexpr uint64_t kTimeoutSecondsMax = 86'400;

std::string Dump(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

absl::StatusOr<uint64_t> ParseRevision(const std::string& text) {
  uint64_t revision = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (error != std::errc() || end != text.data() + text.size()) {
    return BadRequest("resourceVersion: Invalid value: \"" + text + "\": not a revision");
  }
  return revision;
}

absl::Status RevisionError(const Store& store, uint64_t revision) {
  if (revision > store.revision()) return RevisionTooLarge(revision, store.revision());
  return Expired("too old resource version: " + std::to_string(revision) + " (" +
                 std::to_string(store.revision()) + ")");
}

// "REVISION:NAMESPACE:NAME" of the last object of the page.
struct Continue {
  uint64_t revision = 0;
  StoreKey after;
};

absl::StatusOr<Continue> ParseContinue(const Kind& kind, const std::string& token) {
  const size_t first = token.find(':');
  const size_t second = first == std::string::npos ? first : token.find(':', first + 1);
  if (second == std::string::npos) return BadRequest("continue key is not valid: " + token);
  Continue result;
  ASSIGN_OR_RETURN(result.revision, ParseRevision(token.substr(0, first)));
  result.after = {kind.resource(), token.substr(first + 1, second - first - 1),
                  token.substr(second + 1)};
  return result;
}

// As a kube-apiserver checks the options of a list.
absl::Status CheckRevisionMatch(const Kind& kind, const ReadOptions& options) {
  const std::string& match = options.resource_version_match;
  if (match.empty()) return absl::OkStatus();
  std::string why;
  if (match != "Exact" && match != "NotOlderThan") {
    why = "Unsupported value: \"" + match + "\": supported values: \"Exact\", \"NotOlderThan\"";
  } else if (!options.continue_token.empty()) {
    why = "Forbidden: resourceVersionMatch is forbidden when continue is provided";
  } else if (options.resource_version.empty()) {
    why = "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided";
  } else if (match == "Exact" && options.resource_version == "0") {
    why = "Forbidden: resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"";
  }
  if (why.empty()) return absl::OkStatus();
  return Invalid(kind, "", {{"resourceVersionMatch", std::string(kFieldInvalid), why}});
}

struct Page {
  std::vector<StoreEntry> entries;
  json metadata;
};

absl::StatusOr<Page> ReadPage(const Store& store, const Kind& kind, const std::string& ns,
                              const ReadOptions& options) {
  RETURN_IF_ERROR(CheckRevisionMatch(kind, options));
  Store::ListQuery query{.resource = kind.resource(), .ns = ns};
  if (!options.continue_token.empty()) {
    ASSIGN_OR_RETURN(Continue from, ParseContinue(kind, options.continue_token));
    query.at_revision = from.revision;
    query.after = std::move(from.after);
  } else if (!options.resource_version.empty()) {
    ASSIGN_OR_RETURN(const uint64_t revision, ParseRevision(options.resource_version));
    if (revision > store.revision()) return RevisionError(store, revision);
    if (options.resource_version_match == "Exact") query.at_revision = revision;
  }
  // With a selector the limit counts what matches.
  if (options.selector.empty()) query.limit = options.limit;
  auto list = store.List(query);
  if (!list.ok()) {
    if (!query.at_revision.has_value()) return list.status();
    return Expired(
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter.");
  }
  Page page;
  size_t remaining = list->remaining;
  if (options.selector.empty()) {
    page.entries = std::move(list->entries);
  } else {
    for (StoreEntry& entry : list->entries) {
      if (!options.selector.Matches(json::parse(*entry.text))) continue;
      if (options.limit != 0 && page.entries.size() == options.limit) {
        ++remaining;
      } else {
        page.entries.push_back(std::move(entry));
      }
    }
  }
  page.metadata = {{"resourceVersion", std::to_string(list->revision)}};
  if (remaining > 0) {
    const StoreKey& last = page.entries.back().key;
    page.metadata["continue"] = std::to_string(list->revision) + ":" + last.ns + ":" + last.name;
    if (options.selector.empty()) page.metadata["remainingItemCount"] = remaining;
  }
  return page;
}

json OneRowTable(const Kind& kind, const json& object, Clock::WallTime now,
                 const ReadOptions& options) {
  json table =
      EmptyTable(kind, {{"resourceVersion", MetaText(object, "resourceVersion")}});
  table["rows"].push_back(TableRow(kind, object, now, options.include));
  return table;
}

// A watch as lines of {"type":…,"object":…}.
class WatchStream : public ApiStream {
 public:
  WatchStream(Store& store, const Clock& clock, const Kind& kind, Store::WatchQuery query,
              ReadOptions options)
      : store_(store),
        clock_(clock),
        kind_(kind),
        query_(std::move(query)),
        options_(std::move(options)),
        deadline_(clock.Now() + (options_.timeout.count() > 0
                                     ? std::chrono::nanoseconds(options_.timeout)
                                     : std::chrono::nanoseconds(kWatchTimeout))),
        next_bookmark_(clock.Now() + kBookmarkInterval) {}

  void Start(Calls calls) override {
    calls_ = std::move(calls);
    Store::WatchQuery query = query_;
    query.ready = calls_.ready;
    auto watch = store_.Watch(std::move(query), [this](const StoreEvent& event) { Take(event); });
    if (watch.ok()) {
      watch_ = *std::move(watch);
    } else {
      SendError(RevisionError(store_, query_.after_revision.value_or(0)));
    }
  }

  void Resume() override {
    if (watch_ != nullptr) watch_->Resume();
  }

  void Tick() override {
    const Clock::Time now = clock_.Now();
    if (now >= deadline_ || broken_) {
      End();
    } else if (options_.bookmarks && now >= next_bookmark_ && watch_ != nullptr) {
      next_bookmark_ = now + kBookmarkInterval;
      watch_->RequestBookmark();
    }
  }

  std::chrono::milliseconds tick_interval() const override { return std::chrono::seconds(1); }

 private:
  // What cannot be read was never seen by this watch either. Any other failure is our own: the
  // client would miss the event, so the watch ends, and the next one begins before it.
  void Take(const StoreEvent& event) {
    if (broken_) return;
    try {
      OnEvent(event);
    } catch (const json::exception&) {
      throw;
    } catch (const std::exception&) {
      broken_ = true;
      throw;
    }
  }

  void OnEvent(const StoreEvent& event) {
    switch (event.type) {
      case StoreEventType::kAdded:
      case StoreEventType::kModified:
      case StoreEventType::kDeleted:
        OnChange(event);
        break;
      case StoreEventType::kInitialEnd:
        if (options_.send_initial_events == "true") SendBookmark(event.revision, true);
        break;
      case StoreEventType::kBookmark:
        SendBookmark(event.revision, false);
        break;
      case StoreEventType::kGone:
        SendError(Expired("too old resource version: the watch fell behind"));
        break;
    }
  }

  // What no longer matches is deleted as far as this watch is concerned, and the other way round.
  void OnChange(const StoreEvent& event) {
    const char* type = event.type == StoreEventType::kAdded      ? "ADDED"
                       : event.type == StoreEventType::kModified ? "MODIFIED"
                                                                 : "DELETED";
    if (options_.selector.empty() && !options_.table) {
      Send(type, *event.text);
      return;
    }
    const json object = json::parse(*event.text);
    if (!options_.selector.empty()) {
      const bool matched = event.previous != nullptr &&
                           options_.selector.Matches(json::parse(*event.previous));
      const bool matches =
          event.type != StoreEventType::kDeleted && options_.selector.Matches(object);
      if (!matched && !matches) return;
      type = matched && matches ? "MODIFIED" : matches ? "ADDED" : "DELETED";
    }
    if (!options_.table) {
      Send(type, *event.text);
    } else {
      Send(type, Dump(OneRowTable(kind_, object, clock_.WallNow(), options_)));
    }
  }

  void SendBookmark(uint64_t revision, bool initial_end) {
    json metadata = {{"resourceVersion", std::to_string(revision)},
                     {"creationTimestamp", nullptr}};
    if (initial_end) metadata["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    Send("BOOKMARK", Dump({{"kind", kind_.kind},
                           {"apiVersion", kind_.api_version()},
                           {"metadata", std::move(metadata)}}));
  }

  void SendError(const absl::Status& status) {
    int code = 0;
    Send("ERROR", StatusBody(status, &code));
    End();
  }

  void Send(const char* type, const std::string& object) {
    std::string line;
    line.reserve(object.size() + 40);
    line += "{\"type\":\"";
    line += type;
    line += "\",\"object\":";
    line += object;
    line += "}\n";
    std::lock_guard lock(mutex_);
    if (!ended_) calls_.data(std::move(line));
  }

  void End() {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = true;
    calls_.ended();
  }

  Store& store_;
  const Clock& clock_;
  const Kind& kind_;
  const Store::WatchQuery query_;
  const ReadOptions options_;
  const Clock::Time deadline_;
  Clock::Time next_bookmark_;
  Calls calls_;
  std::mutex mutex_;  // Events come from the store's thread, ticks from the owner's.
  bool ended_ = false;
  std::atomic<bool> broken_ = false;
  std::unique_ptr<StoreWatch> watch_;  // Last: gone before what its callback uses.
};

}  // namespace

absl::StatusOr<ReadOptions> ParseReadOptions(const Route& route, const std::string& accept) {
  ReadOptions options;
  options.table = accept.find("as=Table") != std::string::npos;
  const std::string include = route.Get("includeObject");
  if (include == "None") options.include = IncludeObject::kNone;
  if (include == "Object") options.include = IncludeObject::kObject;
  auto selector =
      Selector::Parse(route.Get("labelSelector"), route.Get("fieldSelector"), *route.kind);
  if (!selector.ok()) return BadRequest(std::string(selector.status().message()));
  options.selector = *std::move(selector);
  options.resource_version = route.Get("resourceVersion");
  options.resource_version_match = route.Get("resourceVersionMatch");
  options.continue_token = route.Get("continue");
  options.bookmarks = route.Is("allowWatchBookmarks");
  options.send_initial_events = route.Get("sendInitialEvents");
  if (const std::string limit = route.Get("limit"); !limit.empty()) {
    ASSIGN_OR_RETURN(options.limit, ParseRevision(limit));
  }
  if (const std::string timeout = route.Get("timeoutSeconds"); !timeout.empty()) {
    ASSIGN_OR_RETURN(const uint64_t seconds, ParseRevision(timeout));
    options.timeout = std::chrono::seconds(std::min<uint64_t>(seconds, kTimeoutSecondsMax));
  }
  return options;
}

absl::StatusOr<std::string> GetObject(const Rest& rest, const Clock& clock, const Target& target,
                                      const ReadOptions& options) {
  ASSIGN_OR_RETURN(const json object, rest.Read(target));
  if (target.subresource == "scale") return Dump(ScaleOf(*target.kind, object));
  if (!options.table) return Dump(object);
  return Dump(OneRowTable(*target.kind, object, clock.WallNow(), options));
}

absl::StatusOr<std::string> ListObjects(const Store& store, const Clock& clock, const Kind& kind,
                                        const std::string& ns, const ReadOptions& options) {
  ASSIGN_OR_RETURN(Page page, ReadPage(store, kind, ns, options));
  if (options.table) {
    json table = EmptyTable(kind, std::move(page.metadata));
    for (const StoreEntry& entry : page.entries) {
      table["rows"].push_back(
          TableRow(kind, json::parse(*entry.text), clock.WallNow(), options.include));
    }
    return Dump(table);
  }
  // The stored texts as they are: no document of the whole list is ever built.
  size_t size = 200;
  for (const StoreEntry& entry : page.entries) size += entry.text->size() + 1;
  std::string body;
  body.reserve(size);
  body += "{\"kind\":\"" + kind.kind + "List\",\"apiVersion\":\"" + kind.api_version() +
          "\",\"metadata\":" + Dump(page.metadata) + ",\"items\":[";
  for (size_t i = 0; i < page.entries.size(); ++i) {
    if (i > 0) body += ',';
    body += *page.entries[i].text;
  }
  body += "]}\n";
  return body;
}

absl::StatusOr<std::unique_ptr<ApiStream>> WatchObjects(Store& store, const Clock& clock,
                                                        const Kind& kind, const std::string& ns,
                                                        const ReadOptions& options) {
  Store::WatchQuery query{.resource = kind.resource(), .ns = ns};
  if (!options.resource_version.empty() && options.resource_version != "0" &&
      options.send_initial_events != "true") {
    ASSIGN_OR_RETURN(query.after_revision, ParseRevision(options.resource_version));
    // Nothing is listed: the store only says whether it still has that revision.
    if (!store.List({.resource = "-", .at_revision = query.after_revision}).ok()) {
      return RevisionError(store, *query.after_revision);
    }
  } else if (options.send_initial_events == "false") {
    query.after_revision = store.revision();
  }
  return std::unique_ptr<ApiStream>(
      std::make_unique<WatchStream>(store, clock, kind, std::move(query), options));
}

}  // namespace taas::localkube
