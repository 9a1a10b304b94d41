#include "trainer/strategy/strategy.h"

#include <algorithm>
#include <string>

namespace taas {
namespace {

TrainerRole RoleBesideServers(const TrainerConfig&, const ClusterSpec& cluster) {
  if (cluster.alone()) return TrainerRole::kLocal;
  if (cluster.self == cluster.chief()) return TrainerRole::kChief;
  return cluster.self.role == "ps" ? TrainerRole::kParameterServer : TrainerRole::kWorker;
}

TrainerRole RoleOfRank(const TrainerConfig& config, const ClusterSpec& cluster) {
  // One that is elastic leads those who are to come.
  if (cluster.training_replicas().size() <= 1 && !config.elastic) return TrainerRole::kLocal;
  return cluster.self == cluster.chief() ? TrainerRole::kChief : TrainerRole::kWorker;
}

absl::Status CheckRanks(const Strategy& strategy, const ClusterSpec& cluster) {
  if (cluster.count("ps") == 0) return absl::OkStatus();
  return absl::InvalidArgumentError("strategy.type " + std::string(strategy.name) +
                                    ": every rank holds the model, but TF_CONFIG has " +
                                    std::to_string(cluster.count("ps")) +
                                    " ps: leave them out, or train by ParameterServer");
}

absl::Status CheckServers(const Strategy& strategy, const ClusterSpec& cluster) {
  if (cluster.alone() || cluster.count("ps") > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "strategy.type " + std::string(strategy.name) +
      ": the cluster in TF_CONFIG has no ps: give it one, or train by AllReduce, which needs none "
      "(--strategy=AllReduce)");
}

TrainerRole RoleOfOneProcess(const TrainerConfig&, const ClusterSpec&) {
  return TrainerRole::kLocal;
}

absl::Status CheckOneProcess(const Strategy& strategy, const ClusterSpec& cluster) {
  const size_t replicas = cluster.training_replicas().size();
  if (cluster.alone() || replicas <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError("strategy.type " + std::string(strategy.name) +
                                    ": one process trains, but TF_CONFIG has " +
                                    std::to_string(replicas) + " training replicas");
}

constexpr Strategy kStrategies[] = {
    {StrategyType::kParameterServer, "ParameterServer", RoleBesideServers, CheckServers},
    {StrategyType::kLocal, "Local", RoleOfOneProcess, CheckOneProcess},
    {StrategyType::kTowers, "Towers", RoleOfOneProcess, CheckOneProcess},
    {StrategyType::kAllReduce, "AllReduce", RoleOfRank, CheckRanks},
};

}  // namespace

const Strategy& StrategyOf(StrategyType type) {
  return *std::ranges::find(kStrategies, type, &Strategy::type);
}

Part PartOf(const TrainerConfig& config, const std::optional<ClusterSpec>& cluster) {
  Part part{.strategy = &StrategyOf(config.strategy)};
  if (!cluster) return part;
  part.role = cluster->self.role == "evaluator" ? TrainerRole::kEvaluator
                                                : part.strategy->role(config, *cluster);
  return part;
}

int64_t ExamplesPerStepOf(const Part& part, const TrainerConfig& config,
                          const std::optional<ClusterSpec>& cluster) {
  const bool alone = part.role == TrainerRole::kLocal || part.role == TrainerRole::kEvaluator;
  const bool ring = config.strategy == StrategyType::kAllReduce;
  if (alone || (config.mode != UpdateMode::kSync && !ring)) return ExamplesPerStep(config);
  const auto replicas = static_cast<int64_t>(cluster->training_replicas().size());
  if (ring) return ExamplesPerStep(config, replicas);
  return ExamplesPerStep(config, GradientsPerStep(config, replicas).value_or(1));
}

}  // namespace taas
