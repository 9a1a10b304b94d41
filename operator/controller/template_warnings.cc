#include "operator/controller/template_warnings.h"

#include "operator/kube/http/warning_header.h"

namespace taas {

bool TemplateWarnings::Hear(const Job& job, Role role, const std::string& header) {
  const auto [found, is_new] = roles_.try_emplace(role);
  Heard& heard = found->second;
  // All pods of a role are told the same: it is read once.
  if (!is_new && heard.header == header) return false;
  heard.header = header;
  heard.warning = TellWarnings(job, role, ReadWarnings(header));
  return !heard.warning.text.empty();
}

std::optional<TemplateWarning> TemplateWarnings::KnownOf(const Job& job) const {
  TemplateWarning first;
  for (const auto& [role, heard] : roles_) {
    const bool better = !heard.warning.text.empty() &&
                        (first.text.empty() || (heard.warning.of_fields && !first.of_fields));
    if (better) first = heard.warning;
  }
  const bool all = roles_.size() >= job.spec.roles.size();
  return all || !first.text.empty() ? std::optional(first) : std::nullopt;
}

}  // namespace taas
