#include "dashboard/server/login_help.h"

#include "absl/strings/escaping.h"
#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas::dashboard {

std::optional<ServiceAccount> ServiceAccountOf(std::string_view token) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  std::string claims;
  if (second == std::string_view::npos ||
      !absl::WebSafeBase64Unescape(std::string(token.substr(first + 1, second - first - 1)),
                                   &claims)) {
    return std::nullopt;
  }
  const auto read = ParseJsonObject(claims);
  const std::string subject = read.ok() ? TextOf(*read, "sub") : "";
  const size_t colon = subject.find(':', kPrefix.size());
  if (subject.rfind(kPrefix, 0) != 0 || colon == std::string::npos) return std::nullopt;
  return ServiceAccount{.ns = subject.substr(kPrefix.size(), colon - kPrefix.size()),
                        .name = subject.substr(colon + 1)};
}

std::string LoginHelp::Json() const {
  nlohmann::json out = {{"local", !link_command.empty()}};
  if (!link_command.empty()) out["link"] = link_command;
  if (account.has_value()) {
    out["account"] = {{"namespace", account->ns}, {"name", account->name}};
  }
  return DumpJson(out);
}

}  // namespace taas::dashboard
