#include "localkube/cluster/job_advice.h"

#include <filesystem>
#include <system_error>

#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

bool HasNothing(const std::string& dir) {
  std::error_code error;
  const bool there = std::filesystem::exists(dir, error);
  if (error) return false;
  const bool empty = !there || std::filesystem::is_empty(dir, error);
  return empty && !error;
}

// "text-data", as the examples' claims are called, wants `taas data fetch text DIR`.
std::string FetchAdvice(const std::string& claim, const std::string& dir) {
  for (const std::string set : {"cifar10", "clicks", "text"}) {
    if (claim == set + "-data") return "taas data fetch " + set + " " + dir;
  }
  return "MNIST: taas data fetch mnist " + dir;
}

}  // namespace

std::vector<std::string> EmptyClaims(
    const json& job, const std::function<std::string(const std::string& claim)>& dir_of) {
  std::vector<std::string> sentences;
  const json volumes = job.value("/spec/volumes"_json_pointer, json::array());
  for (size_t i = 0; volumes.is_array() && i < volumes.size(); ++i) {
    const json& volume = volumes[i];
    if (!volume.is_object() || !volume.value("readOnly", false)) continue;
    const std::string claim =
        volume.value("/source/persistentVolumeClaim/claimName"_json_pointer, "");
    if (claim.empty()) continue;
    const std::string dir = dir_of(claim);
    if (!HasNothing(dir)) continue;
    sentences.push_back("spec.volumes[" + std::to_string(i) + "]: the claim " + claim +
                        " has no data: on this cluster it is the directory " + dir +
                        ", which is empty; put the data there first (" +
                        FetchAdvice(claim, dir) + ")");
  }
  return sentences;
}

}  // namespace taas::localkube
