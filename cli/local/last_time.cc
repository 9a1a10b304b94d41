#include "cli/local/last_time.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using FakeGpus = localkube::LocalCluster::FakeGpus;

// A file of more is none of ours.
constexpr uint64_t kFileBytesMax = 1 << 20;

std::string FilePath(const std::string& dir) { return dir + "/up.json"; }

absl::StatusOr<std::string> ReadSmall(FileSystem& disk, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, disk.OpenRead(path));
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  if (size > kFileBytesMax) return absl::InvalidArgumentError("read " + path + ": too long");
  std::string text(size, '\0');
  ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, size, text.data()));
  text.resize(got);
  return text;
}

ClusterShape Decode(const Json& json) {
  ClusterShape out;
  if (json.contains("nodes")) out.nodes = std::clamp(json.at("nodes").get<int>(), 1, kNodesMax);
  if (json.contains("fakeGpus")) {
    const Json& gpus = json.at("fakeGpus");
    out.fake_gpus = FakeGpus{.count = std::clamp(gpus.at("count").get<int>(), 0, kFakeGpusMax),
                             .gibibytes = std::max(gpus.at("gibibytes").get<int>(), 0)};
  }
  if (json.contains("volumes")) {
    out.volumes = json.at("volumes").get<std::map<std::string, std::string>>();
  }
  return out;
}

bool IsDirectory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

ClusterShape LoadLastTime(FileSystem& disk, const std::string& dir) {
  const absl::StatusOr<std::string> text = ReadSmall(disk, FilePath(dir));
  if (absl::IsNotFound(text.status())) return {};
  std::string cause(text.status().message());
  if (text.ok()) {
    try {
      return Decode(Json::parse(*text));
    } catch (const Json::exception& error) {
      cause = error.what();
    }
  }
  Log(LogLevel::kWarning, "what the cluster was started with last time cannot be read",
      {{"file", FilePath(dir)}, {"cause", cause}});
  return {};
}

absl::Status SaveForNextTime(FileSystem& disk, const std::string& dir, const ClusterShape& shape) {
  Json out = Json::object();
  // What is as without flags need not be said next time.
  if (shape.nodes.value_or(1) != 1) out["nodes"] = *shape.nodes;
  if (shape.fake_gpus.has_value() && shape.fake_gpus->count > 0) {
    out["fakeGpus"] = {{"count", shape.fake_gpus->count},
                       {"gibibytes", shape.fake_gpus->gibibytes}};
  }
  for (const auto& [claim, path] : shape.volumes) {
    if (!path.empty()) out["volumes"][claim] = path;
  }
  return disk.WriteAtomically(FilePath(dir),
                              out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

ClusterShape TakeOver(const ClusterShape& last, const ClusterShape& given) {
  ClusterShape out = given;
  if (!out.nodes.has_value()) out.nodes = last.nodes;
  if (!out.fake_gpus.has_value()) out.fake_gpus = last.fake_gpus;
  out.volumes.insert(last.volumes.begin(), last.volumes.end());
  std::erase_if(out.volumes, [](const auto& volume) { return volume.second.empty(); });
  return out;
}

std::string TakenOverText(const ClusterShape& last, const ClusterShape& given) {
  std::string flags;
  std::string gone;
  if (last.nodes.has_value() && !given.nodes.has_value()) {
    flags += " --nodes " + std::to_string(*last.nodes);
  }
  if (last.fake_gpus.has_value() && !given.fake_gpus.has_value()) {
    flags += " --fake-gpus " + std::to_string(last.fake_gpus->count) + "x" +
             std::to_string(last.fake_gpus->gibibytes);
  }
  for (const auto& [claim, path] : last.volumes) {
    if (given.volumes.count(claim) > 0) continue;
    flags += " --volume " + claim + "=" + path;
    if (IsDirectory(path)) continue;
    gone += "  " + path + " is not there: pods with the claim " + claim +
            " fail until it is; --volume " + claim + "= forgets it\n";
  }
  if (flags.empty()) return "";
  return "As last time, since the command line does not say otherwise:" + flags + "\n" + gone +
         "\n";
}

void ApplyShape(const ClusterShape& shape, localkube::LocalCluster::Options* options) {
  options->nodes = shape.nodes.value_or(1);
  options->fake_gpus = shape.fake_gpus.value_or(FakeGpus());
  options->volume_bindings = shape.volumes;
  std::erase_if(options->volume_bindings,
                [](const auto& volume) { return volume.second.empty(); });
}

}  // namespace taas
