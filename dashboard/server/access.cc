#include "dashboard/server/access.h"

#include <utility>

#include "dashboard/server/catching_executor.h"
#include "operator/api/json_field.h"
#include "operator/base/log.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

constexpr char kPath[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

std::string KeyOf(const Identity& identity, const AccessQuestion& question) {
  std::string key = identity.key;
  for (const std::string* part : {&question.verb, &question.group, &question.resource,
                                  &question.subresource, &question.ns, &question.name}) {
    key.append("\n").append(*part);
  }
  return key;
}

std::string ReviewOf(const Identity& identity, const AccessQuestion& question) {
  Json attributes = {{"verb", question.verb},
                     {"group", question.group},
                     {"version", "*"},
                     {"resource", question.resource}};
  if (!question.subresource.empty()) attributes["subresource"] = question.subresource;
  if (!question.ns.empty()) attributes["namespace"] = question.ns;
  if (!question.name.empty()) attributes["name"] = question.name;
  Json spec = {{"user", identity.user},
               {"groups", identity.groups},
               {"resourceAttributes", std::move(attributes)}};
  if (!identity.uid.empty()) spec["uid"] = identity.uid;
  if (!identity.extra.empty()) spec["extra"] = identity.extra;
  return DumpJson({{"apiVersion", "authorization.k8s.io/v1"},
                   {"kind", "SubjectAccessReview"},
                   {"spec", std::move(spec)}});
}

}  // namespace

Access::Access(KubeTransport& transport, Executor& executor)
    : transport_(transport), executor_(executor) {}

Access::~Access() = default;

void Access::Check(const IdentityPtr& identity, const std::vector<AccessQuestion>& questions,
                   Done done) {
  if (questions.empty()) return done({});
  struct Round {
    std::vector<bool> may;
    size_t missing;
    Done done;
  };
  auto round = std::make_shared<Round>(
      Round{std::vector<bool>(questions.size()), questions.size(), std::move(done)});
  for (size_t i = 0; i < questions.size(); ++i) {
    CheckOne(identity, questions[i], [round, i](bool may) {
      round->may[i] = may;
      if (--round->missing == 0) round->done(std::move(round->may));
    });
  }
}

void Access::CheckOne(const IdentityPtr& identity, const AccessQuestion& question,
                      std::function<void(bool)> done) {
  const Clock::Time now = executor_.clock().Now();
  const std::string key = KeyOf(*identity, question);
  auto found = answers_.find(key);
  if (found == answers_.end()) {
    MakeRoom(now);
    found = answers_.emplace(key, Answer{}).first;
  }
  Answer& answer = found->second;
  if (answer.known && now - answer.asked < kFresh) return done(answer.may);
  answer.waiting.push_back(std::move(done));
  if (std::exchange(answer.asking, true)) return;
  transport_.Do(
      {.verb = Verb::kPost, .path = kPath, .body = ReviewOf(*identity, question)},
      [this, key, alive = std::weak_ptr<bool>(alive_)](const absl::StatusOr<HttpReply>& reply) {
        if (alive.lock() != nullptr) OnReply(key, reply);
      });
}

void Access::OnReply(const std::string& key, const absl::StatusOr<HttpReply>& reply) {
  Answer& answer = answers_[key];
  answer.asking = false;
  const Clock::Time now = executor_.clock().Now();
  if (reply.ok() && reply->code / 100 == 2) {
    const Json review = Json::parse(reply->body, nullptr, /*allow_exceptions=*/false);
    const auto allowed = "/status/allowed"_json_pointer;
    answer.may = review.is_object() && review.contains(allowed) && review[allowed] == Json(true);
    answer.known = true;
    answer.asked = now;
  } else {
    const bool mine = reply.ok() && reply->code == 403;
    if (mine && !std::exchange(refused_logged_, true)) {
      Log(LogLevel::kError,
          "the dashboard's account may not create subjectaccessreviews, so nobody sees anything; "
          "bind it to the ClusterRole system:auth-delegator");
    }
    if (now - answer.asked >= kStale) answer.known = false;
  }
  const bool may = answer.known && answer.may;
  const auto waiting = std::exchange(answer.waiting, {});
  for (const auto& done : waiting) RunCaught("what waited for rights", [&] { done(may); });
}

// Old answers go all at once: to look for the oldest one each time would cost more than to ask
// again.
void Access::MakeRoom(Clock::Time now) {
  if (answers_.size() < kAnswersMax) return;
  std::erase_if(answers_, [now](const auto& entry) {
    return !entry.second.asking && now - entry.second.asked >= kFresh;
  });
  if (answers_.size() < kAnswersMax) return;
  std::erase_if(answers_, [](const auto& entry) { return !entry.second.asking; });
}

}  // namespace taas::dashboard
