#include "cli/job_facts.h"

#include <chrono>
#include <cmath>

#include "cli/job_table.h"
#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/api/rule_twin.h"
#include "operator/plan/memory_limit.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

Json Parsed(const std::string& text) { return Json::parse(text, nullptr, false); }

std::string ReplicaOf(const Job& job, const RestartRecord& record) {
  return std::string(RoleNameIn(job, record.role)) + "-" + std::to_string(record.index);
}

}  // namespace

bool LearnsTexts(const Job& job) {
  return job.spec.bundled_trainer &&
         TextOf(ValueAt(Parsed(job.spec.trainer.config), {"data"}), "format") == "text";
}

std::optional<double> PerplexityOf(const Job& job, const Evaluation& evaluation) {
  if (!evaluation.loss.has_value() || !LearnsTexts(job)) return std::nullopt;
  const double perplexity = std::exp(*evaluation.loss);
  return std::isfinite(perplexity) ? std::optional(perplexity) : std::nullopt;
}

std::string OutOfMemoryText(const Job& job, Clock::WallTime now) {
  const auto& history = job.status.history;
  if (history.empty() || history.back().cause != RestartCause::kOutOfMemory) return "";
  const RestartRecord& last = history.back();
  const auto counted = job.status.restarts.find(RestartCause::kOutOfMemory);
  const int32_t times = counted == job.status.restarts.end() ? 1 : counted->second;
  const std::string limit = MemoryLimitOf(job, last.role);
  return ReplicaOf(job, last) + " ran out of memory " +
         (times == 1 ? "once" : std::to_string(times) + " times") +
         (limit.empty() ? "" : " (limit " + limit + ")") + ", last " +
         FormatSince(last.time, now) + " ago";
}

std::string LastEndText(const Job& job, std::optional<Role> role, int index, Clock::WallTime now) {
  for (auto at = job.status.history.rbegin(); at != job.status.history.rend(); ++at) {
    if ((role.has_value() && *role != at->role) || (index >= 0 && index != at->index)) continue;
    std::string text = ReplicaOf(job, *at) + " ended " + FormatSince(at->time, now) + " ago (" +
                       std::string(RestartCauseName(at->cause));
    if (at->exit_code.has_value()) text += ", exit code " + std::to_string(*at->exit_code);
    text += ")";
    if (!job.ledger.has_value()) return text;
    const auto of_role = job.ledger->replicas.find(at->role);
    if (of_role == job.ledger->replicas.end()) return text;
    const auto entry = of_role->second.find(at->index);
    if (entry == of_role->second.end() || !entry->second.not_before.has_value()) return text;
    const auto left = std::chrono::ceil<std::chrono::seconds>(*entry->second.not_before - now);
    if (left.count() <= 0) return text;
    return text + "; its next pod comes in " + std::to_string(left.count()) + " s";
  }
  return "";
}

}  // namespace taas
