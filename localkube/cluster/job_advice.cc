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

// Whether a file of the data lies below `mount`: of a volume that may be written to as well.
bool IsReadBelow(const json& job, const std::string& mount) {
  const json data = job.value("/spec/trainer/data"_json_pointer, json::object());
  if (mount.empty() || !data.is_object()) return false;
  const json flat = data.flatten();
  for (const auto& [field, value] : flat.items()) {
    const bool of_files = field.starts_with("/train/") || field.starts_with("/test/");
    if (of_files && value.is_string() && value.get<std::string>().starts_with(mount + "/")) {
      return true;
    }
  }
  return false;
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
    if (!volume.is_object()) continue;
    const std::string mount = volume.value("mountPath", "");
    if (!volume.value("readOnly", false) && !IsReadBelow(job, mount)) continue;
    const std::string claim =
        volume.value("/source/persistentVolumeClaim/claimName"_json_pointer, "");
    if (claim.empty()) continue;
    const std::string dir = dir_of(claim);
    if (!HasNothing(dir)) continue;
    sentences.push_back("spec.volumes[" + std::to_string(i) + "]: the claim " + claim +
                        " has no data: on this cluster it is the directory " + dir +
                        ", which is empty; put the data there first (" +
                        FetchAdvice(claim, dir) + "), or name the directory that has it: " +
                        "taas local up --volume " + claim + "=DIR");
  }
  return sentences;
}

}  // namespace taas::localkube
