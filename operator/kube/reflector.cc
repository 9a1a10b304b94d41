#include "operator/kube/reflector.h"

#include <algorithm>

#include "operator/api/kube_protobuf.h"
#include "operator/base/log.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status.h"
#include "operator/kube/api_error.h"
#include "operator/kube/api_path.h"
#include "operator/kube/json_slice.h"
#include "operator/kube/list_page.h"
#include "operator/kube/paging/list_skimmer.h"

namespace taas::reflector_internal {
namespace {

// The body of a refused watch is a metav1.Status; of anything longer the start is enough.
constexpr size_t kErrorBodyBytesMax = 64 << 10;
// A server that cannot start a watch says so as InternalError; after this many a list may help it.
constexpr uint32_t kInternalErrorsMax = 3;

absl::Status ReadJson(std::string_view object, Identity* who) {
  ASSIGN_OR_RETURN(const std::optional<std::string_view> meta, FindMember(object, "metadata"));
  if (!meta.has_value()) return absl::InvalidArgumentError("the object has no metadata");
  return ForEachMember(*meta, [who](std::string_view key, std::string_view value) {
    std::string* const field = key == "namespace"         ? &who->ns
                               : key == "name"            ? &who->name
                               : key == "resourceVersion" ? &who->version
                                                          : nullptr;
    if (field == nullptr) return absl::OkStatus();
    absl::StatusOr<std::string> text = StringOf(value);
    if (text.ok()) *field = *std::move(text);
    return text.status();
  });
}

absl::Status ReadProtobuf(std::string_view object, Identity* who) {
  constexpr int kMetadata = 1, kName = 1, kNamespace = 3, kResourceVersion = 6;
  ASSIGN_OR_RETURN(const std::string_view message, UnwrapKubeProtobuf(object));
  return ForEachField(message, [who](const ProtobufField& field) {
    if (field.number != kMetadata) return absl::OkStatus();
    return ForEachField(field.bytes, [who](const ProtobufField& meta) {
      std::string* const out = meta.number == kNamespace         ? &who->ns
                               : meta.number == kName            ? &who->name
                               : meta.number == kResourceVersion ? &who->version
                                                                 : nullptr;
      if (out != nullptr) *out = std::string(meta.bytes);
      return absl::OkStatus();
    });
  });
}

}  // namespace

absl::StatusOr<Identity> IdentityOf(std::string_view object) {
  Identity who;
  RETURN_IF_ERROR(IsKubeProtobuf(object) ? ReadProtobuf(object, &who) : ReadJson(object, &who));
  if (who.version.empty()) {
    return absl::InvalidArgumentError("the object has no metadata.resourceVersion");
  }
  return who;
}

// One watch, from sending the request on: some proxies hold the headers back until the first event.
struct Core::WatchState {
  Clock::Time started;
  int code = 0;  // 0: no reply yet.
  std::string error_body;
  WatchReader events;
  bool any_event = false;
  // What an error of an event leads to.
  Next next = Next::kRelist;
  std::chrono::seconds retry_after{0};
};

// A list of one object that is too long to be held.
struct Core::SkimState {
  int code = 0;
  ListSkimmer skimmer;
  absl::Status list;  // Of its text, as far as it came.
};

Core::Core(KubeTransport& transport, Executor& executor, Random& random, Sink& sink,
           ReflectorOptions options)
    : transport_(transport),
      executor_(executor),
      random_(random),
      sink_(sink),
      options_(std::move(options)),
      retry_(options_.retry),
      absent_retry_(options_.absent_retry),
      page_size_(options_.page_size) {}

Core::~Core() { Stop(); }

template <typename F>
auto Core::Guarded(F call) {
  return [round = std::weak_ptr<uint64_t>(round_), mine = *round_,
          call = std::move(call)](auto&&... args) {
    const std::shared_ptr<uint64_t> now = round.lock();
    if (now != nullptr && *now == mine) call(std::forward<decltype(args)>(args)...);
  };
}

void Core::Start() {
  Stop();
  List();
}

void Core::Stop() {
  ++*round_;
  if (timer_ != 0) executor_.Cancel(timer_);
  timer_ = 0;
  stream_.reset();
  watch_.reset();
  skim_.reset();
}

void Core::List() {
  ++counts_.lists;
  sink_.BeginList();
  AskPage("");
}

std::string Core::PagePath(const std::string& continue_token, int limit) const {
  return WithQuery(options_.path, {{"labelSelector", options_.label_selector},
                                   {"fieldSelector", options_.field_selector},
                                   {"limit", std::to_string(limit)},
                                   {"continue", continue_token}});
}

void Core::AskPage(const std::string& continue_token) {
  HttpRequest request;
  request.path = PagePath(continue_token, page_size_.limit());
  if (options_.protobuf) request.accept = kProtobufOrJson;
  request.timeout = options_.list_timeout;
  request.body_bytes_max = kPageBytesMax;
  transport_.Do(std::move(request),
                Guarded([this, continue_token](absl::StatusOr<HttpReply> reply) {
                  OnPage(continue_token, std::move(reply));
                }));
}

void Core::OnPage(const std::string& continue_token, absl::StatusOr<HttpReply> reply) {
  const std::string what = "list " + options_.path;
  if (absl::IsResourceExhausted(reply.status())) {
    return page_size_.Shrink() ? AskPage(continue_token) : SkimPage(continue_token);
  }
  if (!reply.ok()) {
    // It may take so long because it is long.
    if (absl::IsDeadlineExceeded(reply.status())) page_size_.Shrink();
    return Later(Next::kRelist, Annotate(reply.status(), what));
  }
  if (reply->code == 404 && options_.may_be_absent) return OnAbsent();
  // Also 410 for a token that has expired: a list from the start is the answer to everything here.
  if (const absl::Status status = StatusOfReply(*reply, what); !status.ok()) {
    return Later(Next::kRelist, status, ApiRetryAfter(status));
  }
  absl::StatusOr<ListPage> page = ReadListPage(reply->body, [this](std::string_view item) {
    if (const absl::Status added = sink_.AddItem(item); !added.ok()) Skip("object in list", added);
    return absl::OkStatus();
  });
  if (!page.ok()) return Later(Next::kRelist, Annotate(page.status(), what));
  page_size_.Read(reply->body.size());
  NextPage(continue_token, *page);
}

void Core::NextPage(const std::string& continue_token, const ListPage& page) {
  const std::string what = "list " + options_.path;
  if (page.resource_version.empty()) {
    return Later(Next::kRelist, absl::InvalidArgumentError(what + ": no metadata.resourceVersion"));
  }
  if (page.continue_token.empty()) return EndList(page.resource_version);
  if (page.continue_token == continue_token) {
    return Later(Next::kRelist, absl::InvalidArgumentError(what + ": the same page for ever"));
  }
  AskPage(page.continue_token);
}

void Core::SkimPage(const std::string& continue_token) {
  skim_ = std::make_unique<SkimState>();
  // In JSON, whatever else there is: it is read by its brackets.
  HttpRequest request{.path = PagePath(continue_token, 1), .timeout = options_.list_timeout};
  stream_ = transport_.Stream(
      std::move(request),
      {.opened = Guarded([this](int code) { skim_->code = code; }),
       .data = Guarded([this](std::string_view chunk) {
         if (skim_->list.ok()) skim_->list.Update(skim_->skimmer.Add(chunk));
       }),
       .ended = Guarded([this, continue_token](const absl::Status& status) {
         OnSkimmed(continue_token, status);
       })});
}

void Core::OnSkimmed(const std::string& continue_token, const absl::Status& status) {
  const std::string what = "list " + options_.path;
  stream_.reset();
  const std::unique_ptr<SkimState> skim = std::move(skim_);
  absl::Status read = status.ok() ? skim->list : status;
  if (read.ok() && skim->code != 200) {
    read = absl::UnavailableError("HTTP " + std::to_string(skim->code));
  }
  if (!read.ok()) return Later(Next::kRelist, Annotate(read, what));
  const absl::StatusOr<ListPage> page = skim->skimmer.Finish();
  if (!page.ok()) return Later(Next::kRelist, Annotate(page.status(), what));
  const ListSkimmer::Name object = skim->skimmer.object();
  sink_.AddKnown(object.ns, object.name);
  Skip("object in list", absl::ResourceExhaustedError(
                             object.ns + "/" + object.name + " has " +
                             std::to_string(skim->skimmer.bytes()) + " bytes, more than " +
                             std::to_string(kPageBytesMax) + ": it is not looked at"));
  NextPage(continue_token, *page);
}

// Objects of a kind that is no more are gone with it, and whatever comes is later than they were.
void Core::OnAbsent() {
  if (absences_ == 0) {
    Log(LogLevel::kInfo, "the API server does not have this kind; will look for it again",
        {{"path", options_.path}});
  }
  if (absences_ < UINT32_MAX) ++absences_;
  version_.clear();
  Sync("", /*restored=*/true);
  timer_ = executor_.PostAfter(absent_retry_.After(absences_), Guarded([this] {
                                 timer_ = 0;
                                 List();
                               }));
}

void Core::EndList(const std::string& version) {
  if (absences_ > 0) {
    Log(LogLevel::kInfo, "the API server has this kind now", {{"path", options_.path}});
  }
  absences_ = 0;
  const bool restored = IsLater(version_, version);
  if (restored) {
    Log(LogLevel::kWarning, "the API server went back in time: was etcd restored?",
        {{"path", options_.path}, {"known", version_}, {"listed", version}});
  }
  version_ = version;
  Sync(version, restored);
  Watch();
}

// In this order: whoever is told of an object while the first list comes in, and asks whether that
// is all, would take those that are still to come for deleted ones.
void Core::Sync(const std::string& version, bool restored) {
  sink_.EndList(version, restored);
  synced_ = true;
  sink_.Synced();
}

void Core::Watch() {
  ++counts_.watches;
  ++*round_;
  stream_.reset();
  watch_ = std::make_unique<WatchState>();
  watch_->started = executor_.clock().Now();
  const auto seconds =
      options_.watch_time_min.count() +
      random_.Below(static_cast<uint64_t>(options_.watch_time_spread.count()) + 1);
  HttpRequest request;
  request.path = WithQuery(options_.path, {{"labelSelector", options_.label_selector},
                                           {"fieldSelector", options_.field_selector},
                                           {"watch", "true"},
                                           {"allowWatchBookmarks", "true"},
                                           {"resourceVersion", version_},
                                           {"timeoutSeconds", std::to_string(seconds)}});
  if (options_.protobuf) request.accept = kProtobufOrJson;
  request.timeout = options_.idle_limit;
  stream_ = transport_.Stream(
      std::move(request),
      {.opened = Guarded([this](int code) { watch_->code = code; }),
       .data = Guarded([this](std::string_view chunk) { OnChunk(chunk); }),
       .ended = Guarded([this](const absl::Status& status) { OnEnded(status); })});
}

void Core::OnChunk(std::string_view chunk) {
  if (watch_->code != 200) {
    const size_t room = kErrorBodyBytesMax - watch_->error_body.size();
    watch_->error_body += chunk.substr(0, room);
    return;
  }
  const absl::Status status =
      watch_->events.Add(chunk, [this](const WatchEvent& event) { return OnEvent(event); });
  if (status.ok()) return;
  Later(watch_->next, Annotate(status, "watch " + options_.path), watch_->retry_after);
}

absl::Status Core::OnEvent(const WatchEvent& event) {
  switch (event.type) {
    case WatchType::kAdded:
    case WatchType::kModified:
      return OnObject(/*deleted=*/false, event.object);
    case WatchType::kDeleted:
      return OnObject(/*deleted=*/true, event.object);
    case WatchType::kBookmark: {
      ASSIGN_OR_RETURN(const Identity who, IdentityOf(event.object));
      watch_->any_event = true;
      RETURN_IF_ERROR(Advance(who.version));
      sink_.Seen(version_);
      return absl::OkStatus();
    }
    case WatchType::kError:
      return OnErrorEvent(event.object);
    case WatchType::kUnknown:
      break;
  }
  Skip("watch event", absl::UnimplementedError(std::string(event.type_name)));
  return absl::OkStatus();
}

absl::Status Core::OnObject(bool deleted, std::string_view object) {
  ASSIGN_OR_RETURN(const Identity who, IdentityOf(object));
  RETURN_IF_ERROR(Advance(who.version));
  ++counts_.events;
  watch_->any_event = true;
  internal_errors_ = 0;
  if (deleted) {
    sink_.Remove(who.ns, who.name, who.version);
    return absl::OkStatus();
  }
  if (sink_.Knows(who)) {
    sink_.Seen(who.version);
  } else if (const absl::Status status = sink_.Upsert(object); !status.ok()) {
    Skip("object in watch", status);
    sink_.Seen(who.version);
  }
  return absl::OkStatus();
}

absl::Status Core::Advance(const std::string& version) {
  if (IsLater(version_, version)) {
    return absl::DataLossError("version " + version + " came after " + version_);
  }
  version_ = version;
  return absl::OkStatus();
}

absl::Status Core::OnErrorEvent(std::string_view object) {
  const ApiError error = ParseApiError(object, 500);
  watch_->retry_after = error.retry_after;
  const bool again = error.code == 429 ||
                     (error.code == 500 && ++internal_errors_ < kInternalErrorsMax);
  watch_->next = again ? Next::kRewatch : Next::kRelist;
  return StatusOfApiError(error, "event of type ERROR");
}

void Core::OnEnded(const absl::Status& status) {
  const std::string what = "watch " + options_.path;
  // No reply says nothing about our version, so it is no reason to list again.
  if (watch_->code == 0) {
    return Later(Next::kRewatch, status.ok() ? absl::UnavailableError(what + ": no reply")
                                             : Annotate(status, what));
  }
  if (watch_->code != 200) return OnRefused();
  const Clock::Duration lasted = executor_.clock().Now() - watch_->started;
  if (watch_->any_event || lasted >= options_.short_watch) return Watch();
  Later(Next::kRelist, absl::UnavailableError(what + ": ended at once without an event"));
}

void Core::OnRefused() {
  const ApiError error = ParseApiError(watch_->error_body, watch_->code);
  const bool again =
      error.code == 429 || error.code == 503 || error.code == 504 || error.code == 500;
  Later(again ? Next::kRewatch : Next::kRelist,
        StatusOfApiError(error, "watch " + options_.path), error.retry_after);
}

void Core::Later(Next next, const absl::Status& why, std::chrono::seconds at_least) {
  Stop();
  const Clock::Time now = executor_.clock().Now();
  if (now - last_failure_ > options_.calm) failures_ = 0;
  ++failures_;
  last_failure_ = now;
  const Clock::Duration delay =
      std::max<Clock::Duration>(retry_.After(failures_, random_), at_least);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(delay).count();
  // The first failure in a row is ordinary: a server restarts, a version expires.
  Log(failures_ > 1 ? LogLevel::kWarning : LogLevel::kInfo,
      next == Next::kRelist ? "will list again" : "will watch again",
      {{"why", std::string(why.message())},
       {"in_ms", std::to_string(ms)}});
  timer_ = executor_.PostAfter(delay, Guarded([this, next] {
                                 timer_ = 0;
                                 next == Next::kRelist ? List() : Watch();
                               }));
  sink_.Failed(why);
}

void Core::Skip(const char* what, const absl::Status& why) {
  ++counts_.skipped;
  Log(LogLevel::kWarning, "skipped",
      {{"what", what}, {"path", options_.path}, {"why", std::string(why.message())}});
}

}  // namespace taas::reflector_internal
