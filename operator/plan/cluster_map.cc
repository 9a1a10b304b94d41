#include "operator/plan/cluster_map.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "operator/plan/tf_config.h"

namespace taas {
namespace {

// FNV-1a (Fowler, Noll, Vo), 64 bits. It tells the sizes that one job has had from each other, and
// jobs of one name; it is no protection from those who may write in the namespace.
uint64_t Hash(std::string_view text) {
  constexpr uint64_t kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;
  uint64_t hash = kBasis;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

std::string Hex(uint64_t number) {
  constexpr size_t kDigits = 16;
  std::array<char, kDigits> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  const std::string text(digits.data(), end);
  return std::string(kDigits - text.size(), '0') + text;
}

}  // namespace

std::optional<CreateConfigMap> ClusterMapOf(const Job& job, const AddressBook& addresses) {
  std::string cluster = SharedCluster(job, addresses);
  if (cluster.empty()) return std::nullopt;
  const std::string hash = Hex(Hash(job.meta.uid + "/" + cluster));
  return CreateConfigMap{OwnedBy(job, job.meta.name + "-cluster-" + hash),
                         std::string(kClusterKey), std::move(cluster)};
}

bool Lacks(const Pod& pod, const std::string& cluster_map) {
  return pod.waiting_reason == "CreateContainerConfigError" && !cluster_map.empty() &&
         pod.waiting_message.str().find('"' + cluster_map + '"') != std::string::npos;
}

bool AnyLacks(const std::vector<Pod>& pods, const std::string& cluster_map) {
  return std::any_of(pods.begin(), pods.end(),
                     [&](const Pod& pod) { return Lacks(pod, cluster_map); });
}

bool IsThere(const Snapshot& snapshot, const std::string& cluster_map) {
  if (snapshot.cluster_map == cluster_map) return true;
  if (AnyLacks(snapshot.pods, cluster_map)) return false;
  return std::any_of(snapshot.pods.begin(), snapshot.pods.end(), [&](const Pod& pod) {
    // An evaluator may have a list of its own.
    return pod.owner_uid == snapshot.job.meta.uid && pod.role != Role::kEvaluator &&
           pod.cluster_map == cluster_map && pod.phase == PodPhase::kRunning;
  });
}

}  // namespace taas
