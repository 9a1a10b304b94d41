#include "dashboard/server/authenticator.h"

#include <algorithm>
#include <utility>

#include "dashboard/server/catching_executor.h"
#include "dashboard/http/secret_text.h"
#include "operator/api/json_field.h"
#include "operator/base/status.h"
#include "operator/kube/api_error.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

constexpr char kPath[] = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr char kWhat[] = "ask the API server whose token this is";

std::vector<std::string> Texts(const Json& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Json& text : list) {
    if (text.is_string()) out.push_back(text.get<std::string>());
  }
  return out;
}

std::string KeyOf(const Identity& identity) {
  return Sha256Hex(
      Json{identity.user, identity.uid, identity.groups, identity.extra}.dump(
          -1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

absl::StatusOr<IdentityPtr> ReadTokenReview(const HttpReply& reply) {
  if (reply.code == 403) {
    return absl::FailedPreconditionError(
        std::string(kWhat) + ": the dashboard's own account may not create tokenreviews; bind it " +
        "to the ClusterRole system:auth-delegator");
  }
  RETURN_IF_ERROR(StatusOfReply(reply, kWhat));
  ASSIGN_OR_RETURN(const Json review, ParseJsonObject(reply.body));
  const Json status = review.value("status", Json::object());
  if (!status.is_object() || !status.contains("authenticated") ||
      status["authenticated"] != Json(true)) {
    return absl::UnauthenticatedError("the API server does not know this token, or it has expired");
  }
  auto identity = std::make_shared<Identity>();
  const Json user = status.value("user", Json::object());
  if (!user.is_object()) return absl::UnauthenticatedError("the token belongs to nobody");
  identity->user = TextOf(user, "username");
  identity->uid = TextOf(user, "uid");
  identity->groups = Texts(user.value("groups", Json::array()));
  const Json extra = user.value("extra", Json::object());
  for (const auto& [name, values] : extra.items()) identity->extra[name] = Texts(values);
  // It names the one token, so two of one user would count as two users.
  identity->extra.erase("authentication.kubernetes.io/credential-id");
  identity->key = KeyOf(*identity);
  return IdentityPtr(std::move(identity));
}

Authenticator::Authenticator(KubeTransport& transport, Executor& executor)
    : transport_(transport), executor_(executor) {}

Authenticator::~Authenticator() = default;

void Authenticator::Authenticate(std::string_view token, Done done) {
  if (!IsBearerToken(token)) {
    return done(absl::UnauthenticatedError("this is no token: it has other characters"));
  }
  const Clock::Time now = executor_.clock().Now();
  const std::string digest = Sha256Hex(token);
  auto found = known_.find(digest);
  if (found != known_.end() && found->second.waiting.empty() && found->second.has_answer) {
    const Known& known = found->second;
    const auto believed = known.answer.ok() ? kFresh : kRefusedFor;
    if (now - known.asked < believed) return done(known.answer);
  }
  if (found == known_.end()) {
    if (!reviews_.Take(now)) {
      return done(absl::ResourceExhaustedError(
          "too many unknown tokens come at present; try again in a few seconds"));
    }
    MakeRoom();
    found = known_.emplace(digest, Known{}).first;
  }
  const bool asking = !found->second.waiting.empty();
  found->second.waiting.push_back(std::move(done));
  if (!asking) Ask(digest, token);
}

void Authenticator::Ask(const std::string& digest, std::string_view token) {
  Json review = {{"apiVersion", "authentication.k8s.io/v1"},
                 {"kind", "TokenReview"},
                 {"spec", {{"token", token}}}};
  transport_.Do({.verb = Verb::kPost, .path = kPath, .body = review.dump()},
                [this, digest, alive = std::weak_ptr<bool>(alive_)](auto reply) {
                  if (alive.lock() != nullptr) OnReply(digest, reply);
                });
}

void Authenticator::OnReply(const std::string& digest, const absl::StatusOr<HttpReply>& reply) {
  const auto found = known_.find(digest);
  if (found == known_.end()) return;
  Known& known = found->second;
  const Clock::Time now = executor_.clock().Now();
  absl::StatusOr<IdentityPtr> answer =
      reply.ok() ? ReadTokenReview(*reply) : absl::StatusOr<IdentityPtr>(reply.status());
  const std::vector<Done> waiting = std::exchange(known.waiting, {});
  if (answer.ok() || absl::IsUnauthenticated(answer.status())) {
    known.answer = answer;
    known.asked = now;
    known.has_answer = true;
  } else if (known.has_answer && known.answer.ok() && now - known.asked < kStale) {
    answer = known.answer;
  } else if (!known.has_answer) {
    known_.erase(found);
  }
  for (const Done& done : waiting) RunCaught("what waited for a login", [&] { done(answer); });
}

void Authenticator::MakeRoom() {
  if (known_.size() < kTokensMax) return;
  auto oldest = known_.end();
  for (auto at = known_.begin(); at != known_.end(); ++at) {
    if (!at->second.waiting.empty()) continue;
    if (oldest == known_.end() || at->second.asked < oldest->second.asked) oldest = at;
  }
  if (oldest != known_.end()) known_.erase(oldest);
}

}  // namespace taas::dashboard
