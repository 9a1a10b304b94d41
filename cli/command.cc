#include "cli/command.h"

#include <charconv>
#include <ostream>

#include "cli/exit_code.h"
#include "operator/api/manifest.h"
#include "operator/base/command_line.h"
#include "operator/api/json_depth.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {

void AddClusterFlags(Command& verb, ClusterFlags* flags) {
  verb.AddOption("--kubeconfig", &flags->kubeconfig,
                 "Cluster to use (default: $KUBECONFIG, then ~/.kube/config)");
  verb.AddOption("--context", &flags->context, "Context of it (default: its current-context)");
  verb.AddOption("-n,--namespace", &flags->ns, "Namespace (default: that of the context)");
}

absl::StatusOr<std::unique_ptr<ApiClient>> Connect(const CommandIo& io, ClusterFlags* flags) {
  ASSIGN_OR_RETURN(std::unique_ptr<ApiClient> api,
                   ApiClient::Create(flags->kubeconfig, flags->context, io.env));
  // In kubectl's words.
  api->set_on_warning([&io](const std::string& text) { io.err << "Warning: " << text << "\n"; });
  if (flags->ns.empty()) flags->ns = api->ns();
  return api;
}

int Report(const CommandIo& io, const absl::Status& status) {
  if (!status.ok()) io.err << "taas: " << std::string(status.message()) << "\n";
  return ExitCodeOf(status);
}

std::optional<std::chrono::seconds> ParseDuration(const std::string& text) {
  // A year: far from where nanoseconds overflow.
  constexpr int64_t kLongest = 365 * 24 * 3600;
  int64_t total = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  do {
    int64_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0) return std::nullopt;
    int64_t factor = 1;
    at = rest;
    if (at != end) {
      factor = *at == 's' ? 1 : *at == 'm' ? 60 : *at == 'h' ? 3600 : *at == 'd' ? 86'400 : 0;
      ++at;
    }
    if (factor == 0 || number > (kLongest - total) / factor) return std::nullopt;
    total += number * factor;
  } while (at != end);
  return std::chrono::seconds(total);
}

void CheckIsDuration(Option option) {
  option.Check([](const std::string& text) {
    return ParseDuration(text).has_value() ? "" : "\"" + text + "\" is no time like 90s or 5m";
  });
}

absl::Status PrintObject(const CommandIo& io, const std::string& json, const std::string& output) {
  if (output == "yaml") {
    ASSIGN_OR_RETURN(const std::string yaml, JsonToYaml(json));
    io.out << yaml;
    return absl::OkStatus();
  }
  // It is written by recursion, and anybody may have stored it.
  if (IsNestedDeeper(json, kJsonDepthMax)) {
    return absl::InvalidArgumentError("the object is nested more than " +
                                      std::to_string(kJsonDepthMax) + " levels deep");
  }
  const auto object = nlohmann::ordered_json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return absl::InternalError("the server's reply is not JSON");
  io.out << object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  return absl::OkStatus();
}

}  // namespace taas
