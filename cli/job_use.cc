#include "cli/job_use.h"

#include <cmath>
#include <utility>

#include "cli/table.h"
#include "operator/api/dialect.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

std::string Percent(double share) { return std::to_string(std::lround(100 * share)) + "%"; }

Json MeasuredJson(const Measured& used) {
  return {{"milliCpu", used.milli_cpu}, {"memoryBytes", used.memory}};
}

Json PodJson(const PodUse& pod) {
  Json out = {{"pod", pod.name},
              {"replica", pod.replica},
              {"state", pod.state},
              {"node", pod.node},
              {"gpus", pod.asked.gpus},
              {"asked", MeasuredJson({pod.asked.milli_cpu, pod.asked.memory})}};
  if (pod.used.has_value()) out["used"] = MeasuredJson(*pod.used);
  return out;
}

Json RankJson(const RankTime& time) {
  return {{"replica", time.name()},
          {"compute", time.compute},
          {"wait", time.wait},
          {"exchange", time.exchange},
          {"hiddenExchange", time.hidden},
          {"bytesPerStep", time.bytes_per_step}};
}

Json UseJson(const JobUse& use) {
  Json out = {{"namespace", use.job.meta.ns},
              {"name", use.job.meta.name},
              {"kind", DialectOf(use.job.kind).kind_name},
              {"state", use.job.StateName()},
              {"pods", {{"running", use.running}, {"all", use.pods}}},
              {"gpus", {{"asked", use.gpus_asked}, {"held", use.held.gpus}}},
              {"held", MeasuredJson({use.held.milli_cpu, use.held.memory})}};
  if (use.used.has_value()) out["used"] = MeasuredJson(*use.used);
  return out;
}

}  // namespace

JobUse UseOf(SeenJob job, const std::vector<PodUse>& pods) {
  JobUse use{.job = std::move(job), .held = {}, .used = {}};
  for (const PodUse& pod : pods) {
    if (pod.ended || pod.job_uid != use.job.meta.uid) continue;
    ++use.pods;
    use.gpus_asked += pod.asked.gpus;
    if (pod.node.empty()) continue;
    if (pod.state == "Running") ++use.running;
    use.held.gpus += pod.asked.gpus;
    use.held.milli_cpu += pod.asked.milli_cpu;
    use.held.memory += pod.asked.memory;
    AddMeasured(pod.used, &use.used);
  }
  return use;
}

std::string JobUseTable(const std::vector<JobUse>& jobs, bool with_namespace) {
  std::vector<std::vector<std::string>> rows(1);
  if (with_namespace) rows[0].emplace_back("NAMESPACE");
  rows[0].insert(rows[0].end(), {"NAME", "KIND", "STATE", "PODS", "GPUS(ASKED)", "GPUS(HELD)",
                                 "CPU(HELD)", "MEM(HELD)", "CPU(USED)", "MEM(USED)"});
  for (const JobUse& use : jobs) {
    std::vector<std::string> row;
    if (with_namespace) row.push_back(use.job.meta.ns);
    row.push_back(use.job.meta.name);
    row.emplace_back(DialectOf(use.job.kind).kind_name);
    row.push_back(use.job.StateName());
    row.push_back(std::to_string(use.running) + "/" + std::to_string(use.pods));
    row.push_back(std::to_string(use.gpus_asked));
    row.push_back(std::to_string(use.held.gpus));
    row.push_back(CpuText(use.held.milli_cpu));
    row.push_back(MemoryText(use.held.memory));
    for (std::string& cell : MeasuredCells(use.used)) row.push_back(std::move(cell));
    rows.push_back(std::move(row));
  }
  return FormatTable(rows);
}

std::string RankTable(const RankTimes& times) {
  std::vector<std::vector<std::string>> rows = {
      {"REPLICA", "COMPUTE", "WAIT", "EXCHANGE", "HIDDEN", "SENT/STEP"}};
  for (const RankTime& time : times.ranks) {
    rows.push_back({time.name(), Percent(time.compute), Percent(time.wait),
                    Percent(time.exchange), Percent(time.hidden),
                    MemoryText(time.bytes_per_step)});
  }
  const std::string said = times.slowest.empty()
                               ? "No rank is notably slower than the others.\n"
                               : times.slowest + " is the slowest: the others wait for it.\n";
  return FormatTable(rows) + said;
}

std::string JobUseJson(const std::vector<JobUse>& jobs, const JobUseDetail* detail) {
  Json out = {{"jobs", Json::array()}};
  for (const JobUse& use : jobs) out["jobs"].push_back(UseJson(use));
  if (detail != nullptr && !jobs.empty()) {
    Json& job = out["jobs"].back();
    job["replicas"] = Json::array();
    for (const PodUse& pod : detail->pods) job["replicas"].push_back(PodJson(pod));
    if (detail->times.has_value()) {
      job["ranks"] = Json::array();
      for (const RankTime& time : detail->times->ranks) job["ranks"].push_back(RankJson(time));
      if (!detail->times->slowest.empty()) job["slowest"] = detail->times->slowest;
    }
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace taas
