#include "operator/controller/api_writer.h"

#include <utility>

#include "third_party/json.h"

namespace taas {
namespace {

using Kind = WriteResult::Kind;

}  // namespace

void ApiWriter::Send(HttpRequest request, OnReply done) {
  transport_.Do(std::move(request), [alive = std::weak_ptr<bool>(alive_),
                                     done = std::move(done)](absl::StatusOr<HttpReply> reply) {
    if (alive.lock() != nullptr) done(std::move(reply));
  });
}

void ApiWriter::Write(HttpRequest request, Attempt attempt) {
  Send(std::move(request), [attempt = std::move(attempt)](absl::StatusOr<HttpReply> reply) {
    using Next = Meaning::Next;
    Next next = Next::kReadBack;
    switch (Classify(reply)) {
      case Answer::kDone:
        if (attempt.take(*reply)) return attempt.done({.warning = reply->warning});
        break;
      case Answer::kUnknown:
        break;
      case Answer::kExists:
        next = attempt.meaning.exists;
        break;
      case Answer::kConflict:
        next = attempt.meaning.conflict;
        break;
      case Answer::kMissing:
        next = attempt.meaning.missing;
        break;
      case Answer::kLater:
        next = Next::kLater;
        break;
      case Answer::kRefused:
        next = Next::kRefused;
        break;
    }
    switch (next) {
      case Next::kReadBack:
        return attempt.read_back();
      case Next::kDone:
        return attempt.done({});
      case Next::kReplan:
        return attempt.done({.kind = Kind::kReplan, .message = Cause(reply, attempt.what)});
      case Next::kLater:
        return attempt.done(Later(reply, attempt.what));
      case Next::kRefused:
        return attempt.done(Refused(reply, attempt.what));
    }
  });
}

void ApiWriter::Change(HttpRequest request, std::string what,
                       std::function<bool(const HttpReply& reply)> take, WriteDone done) {
  request.verb = Verb::kPatch;
  Write(std::move(request),
        {.what = what,
         .meaning = {.exists = Meaning::Next::kReplan,
                     .conflict = Meaning::Next::kReplan,
                     .missing = Meaning::Next::kReplan},
         .take = std::move(take),
         .read_back = [what, done] { done({.kind = Kind::kReplan, .message = what}); },
         .done = done});
}

void ApiWriter::Read(HttpRequest request, const std::string& what, WriteDone done,
                     std::function<void(const HttpReply* found)> take) {
  Send(std::move(request),
       [what, done = std::move(done), take = std::move(take)](absl::StatusOr<HttpReply> reply) {
         const Answer answer = Classify(reply);
         if (answer == Answer::kMissing) return take(nullptr);
         // Of a right that is missing the user is told, as of any other refusal.
         if (answer == Answer::kRefused) return done(Refused(reply, what));
         if (answer != Answer::kDone) return done(Later(reply, what));
         take(&*reply);
       });
}

std::string RequestBody(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace taas
