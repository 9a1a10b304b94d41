#include "dashboard/server/session_routes.h"

#include <algorithm>
#include <utility>

#include "dashboard/http/problem.h"
#include "dashboard/server/request_guard.h"
#include "dashboard/http/secret_text.h"
#include "dashboard/server/sight.h"
#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/base/version.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

std::string CookieText(const WebRequest& request, std::string_view value,
                       std::chrono::seconds life) {
  std::string cookie = SessionCookie(request) + "=" + std::string(value) +
                       "; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(life.count());
  // Behind a proxy that ends TLS the browser speaks HTTPS though we do not.
  if (request.Header("x-forwarded-proto") == "https") cookie += "; Secure";
  return cookie;
}

}  // namespace

void SessionRoutes::AddTo(ApiRoutes* routes) {
  routes->table().Add("GET", "session", [this](ApiCall call) {
    // The page was opened: its cookie lives on. One that was not needed is left alone.
    const bool by_cookie = call.request.Header("authorization").empty();
    const std::string key(CookieValue(call.request.Header("cookie"), SessionCookie(call.request)));
    Tell(std::move(call), by_cookie ? key : "", "");
  });
  routes->open_table().Add("POST", "session", [this](ApiCall call) { LogIn(std::move(call)); });
  routes->open_table().Add("DELETE", "session", [](ApiCall call) {
    WebResponse response{.code = 204, .content_type = ""};
    response.headers.emplace_back("Set-Cookie", CookieText(call.request, "", {}));
    call.respond(std::move(response));
  });
  routes->open_table().Add("GET", "login", [this](ApiCall call) {
    call.respond(JsonResponse(context_.help.Json()));
  });
  if (context_.local_token.empty()) return;
  routes->table().Add("POST", "session/codes", [this](ApiCall call) {
    if (call.token != context_.local_token) {
      return call.respond(ProblemResponse(403, "Forbidden", "a code is for the cluster's owner"));
    }
    call.respond(JsonResponse(DumpJson({{"code", MakeCode()}}), 201));
  });
}

std::string SessionRoutes::MakeCode() {
  const Clock::Time now = context_.executor.clock().Now();
  std::erase_if(codes_, [now](const auto& code) { return code.second <= now; });
  if (codes_.size() >= kCodesMax) {
    codes_.erase(std::min_element(codes_.begin(), codes_.end(), [](const auto& a, const auto& b) {
      return a.second < b.second;
    }));
  }
  std::string code = context_.local_token.empty() ? "" : RandomSecret();
  if (!code.empty()) codes_[Sha256Hex(code)] = now + kCodeLife;
  return code;
}

bool SessionRoutes::Redeem(const std::string& code) {
  const auto found = codes_.find(Sha256Hex(code));
  if (found == codes_.end()) return false;
  const bool good = context_.executor.clock().Now() < found->second;
  codes_.erase(found);
  return good;
}

void SessionRoutes::LogIn(ApiCall call) {
  if (call.request.body.size() > kLogInBytesMax) {
    return call.respond(ProblemResponse(413, "TooLarge", "log in: this is longer than any token"));
  }
  const absl::StatusOr<Json> body = ParseJsonObject(call.request.body);
  if (!body.ok()) {
    return call.respond(ProblemResponse(Annotate(body.status(), "log in: read the body")));
  }
  std::string token = TextOf(*body, "token");
  if (const std::string code = TextOf(*body, "code"); token.empty() && !code.empty()) {
    if (!Redeem(code)) {
      return call.respond(ProblemResponse(
          401, "Unauthenticated",
          "the link has been used or is too old; print a new one with `" +
              (context_.help.link_command.empty() ? "taas open"
                                                  : context_.help.link_command) + "`"));
    }
    token = context_.local_token;
  }
  context_.authenticator.Authenticate(
      token, [this, call, token](const auto& who) { OnLogIn(call, token, who); });
}

void SessionRoutes::OnLogIn(ApiCall call, const std::string& token,
                            const absl::StatusOr<IdentityPtr>& who) {
  if (!who.ok()) return call.respond(ProblemResponse(Annotate(who.status(), "log in")));
  const std::string key = RandomSecret();
  if (key.empty()) {
    return call.respond(ProblemResponse(500, "Internal",
                                        "log in: this machine has no random bytes"));
  }
  call.identity = *who;
  call.token = token;
  Tell(std::move(call), key, Sealed(key, token));
}

void SessionRoutes::Tell(ApiCall call, const std::string& key, const std::string& half) {
  const auto kinds = context_.board.cache().Kinds();
  FindSight(
      context_.access, call.identity, kinds, context_.board.Namespaces(),
      [this, call, kinds, key, half](const SightPtr& sight) {
        Json names = Json::array();
        for (const JobKind kind : kinds) names.push_back(DialectOf(kind).kind_name);
        Json namespaces = Json::array();
        for (const std::string& ns : context_.board.Namespaces()) {
          const bool seen = std::any_of(kinds.begin(), kinds.end(), [&](JobKind kind) {
            return sight->MaySee(kind, ns);
          });
          if (seen) namespaces.push_back(ns);
        }
        Json session = {{"user", call.identity->user},
                        {"groups", call.identity->groups},
                        {"readOnly", context_.read_only},
                        {"local", !context_.local_token.empty()},
                        {"version", kVersion},
                        {"gpuResource", context_.board.cache().options().gpu_resource},
                        {"kinds", names},
                        {"namespaces", namespaces},
                        {"historyDays", context_.history_days}};
        if (!half.empty()) session["half"] = half;
        WebResponse response = JsonResponse(DumpJson(session));
        if (!key.empty()) {
          response.headers.emplace_back("Set-Cookie",
                                        CookieText(call.request, key, kSessionLife));
        }
        call.respond(std::move(response));
      });
}

}  // namespace taas::dashboard
