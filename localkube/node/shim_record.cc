#include "localkube/node/shim_record.h"

#include <functional>
#include <utility>

#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The one place where nlohmann's exceptions end.
absl::Status Decode(const std::string& path, const std::string& text,
                    const std::function<void(const Json&)>& read) {
  try {
    read(Json::parse(text));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError("decode " + path + ": " + error.what());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadRecord(FileSystem& disk, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, disk.OpenRead(path));
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  if (size > kRecordBytesMax) {
    return absl::InvalidArgumentError("read " + path + ": it has " + std::to_string(size) +
                                      " bytes, a record at most " +
                                      std::to_string(kRecordBytesMax));
  }
  std::string text(size, '\0');
  ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, size, text.data()));
  text.resize(got);
  return text;
}

// Nothing where the file does not exist.
template <typename T>
absl::StatusOr<std::optional<T>> ReadOptional(FileSystem& disk, const std::string& path,
                                              void (*read)(const Json&, T*)) {
  const absl::StatusOr<std::string> text = ReadRecord(disk, path);
  if (absl::IsNotFound(text.status())) return std::optional<T>();
  RETURN_IF_ERROR(text.status());
  T out;
  RETURN_IF_ERROR(Decode(path, *text, [&](const Json& json) { read(json, &out); }));
  return std::optional<T>(std::move(out));
}

// As ReadOptional, but what is no record counts as none.
template <typename T>
absl::StatusOr<std::optional<T>> ReadIfWhole(FileSystem& disk, const std::string& path,
                                             void (*read)(const Json&, T*)) {
  absl::StatusOr<std::optional<T>> out = ReadOptional<T>(disk, path, read);
  if (absl::IsInvalidArgument(out.status()) || absl::IsFailedPrecondition(out.status())) {
    return std::optional<T>();
  }
  return out;
}

Clock::WallTime ReadTime(const Json& json, const char* key) {
  Clock::WallTime time{};
  ParseRfc3339(json.at(key).get<std::string>(), &time);
  return time;
}

void FromJson(const Json& json, RunState* out) {
  out->pid = json.at("pid").get<int64_t>();
  out->started_at = ReadTime(json, "startedAt");
}

void FromJson(const Json& json, StopRequest* out) {
  out->grace = std::chrono::milliseconds(json.at("graceMilliseconds").get<int64_t>());
}

void FromJson(const Json& json, ExitRecord* out) {
  out->exit_code = json.at("exitCode").get<int>();
  out->reason = json.at("reason").get<std::string>();
  out->message = json.at("message").get<std::string>();
  out->started_at = ReadTime(json, "startedAt");
  out->finished_at = ReadTime(json, "finishedAt");
}

void FromJson(const Json& json, RunSpec* out) {
  out->argv = json.at("argv").get<std::vector<std::string>>();
  out->env = json.at("env").get<std::vector<std::string>>();
  out->cwd = json.at("cwd").get<std::string>();
  for (const Json& mount : json.at("mounts")) {
    out->mounts.push_back({mount.at("source").get<std::string>(),
                           mount.at("target").get<std::string>(),
                           mount.at("readOnly").get<bool>()});
  }
  out->grace = std::chrono::milliseconds(json.at("graceMilliseconds").get<int64_t>());
  out->message_from_log = json.at("messageFromLog").get<bool>();
  out->owner_lock = json.at("ownerLock").get<std::string>();
  out->memory_bytes_max = json.value("memoryBytesMax", int64_t{0});  // Earlier releases wrote none.
}

}  // namespace

RunFiles::RunFiles(std::string run_dir)
    : dir(std::move(run_dir)),
      spec(dir + "/spec.json"),
      lock(dir + "/lock"),
      started(dir + "/started"),
      state(dir + "/state.json"),
      stop(dir + "/stop.json"),
      exit(dir + "/exit.json"),
      log(dir + "/log"),
      termination_log(dir + "/termination-log"),
      shim_log(dir + "/shim.log") {}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().substr(0, kTerminationMessageBytesMax));
}

absl::Status WriteSpec(FileSystem& disk, const RunFiles& files, const RunSpec& spec) {
  Json mounts = Json::array();
  for (const RunMount& mount : spec.mounts) {
    mounts.push_back(
        {{"source", mount.source}, {"target", mount.target}, {"readOnly", mount.read_only}});
  }
  return disk.WriteAtomically(files.spec, Dump({{"argv", spec.argv},
                                                {"env", spec.env},
                                                {"cwd", spec.cwd},
                                                {"mounts", mounts},
                                                {"graceMilliseconds", spec.grace.count()},
                                                {"messageFromLog", spec.message_from_log},
                                                {"ownerLock", spec.owner_lock},
                                                {"memoryBytesMax", spec.memory_bytes_max}}));
}

absl::StatusOr<RunSpec> ReadSpec(FileSystem& disk, const RunFiles& files) {
  ASSIGN_OR_RETURN(const std::string text, ReadRecord(disk, files.spec));
  RunSpec out;
  RETURN_IF_ERROR(Decode(files.spec, text, [&](const Json& json) { FromJson(json, &out); }));
  if (out.argv.empty()) return absl::InvalidArgumentError(files.spec + ": argv is empty");
  return out;
}

absl::Status WriteState(FileSystem& disk, const RunFiles& files, const RunState& state) {
  return disk.WriteAtomically(
      files.state, Dump({{"pid", state.pid}, {"startedAt", FormatRfc3339Micro(state.started_at)}}));
}

absl::StatusOr<std::optional<RunState>> ReadState(FileSystem& disk, const RunFiles& files) {
  return ReadIfWhole<RunState>(disk, files.state, FromJson);
}

absl::Status WriteStop(FileSystem& disk, const RunFiles& files, const StopRequest& stop) {
  return disk.WriteAtomically(files.stop, Dump({{"graceMilliseconds", stop.grace.count()}}));
}

absl::StatusOr<std::optional<StopRequest>> ReadStop(FileSystem& disk, const RunFiles& files) {
  return ReadOptional<StopRequest>(disk, files.stop, FromJson);
}

absl::Status WriteExit(FileSystem& disk, const RunFiles& files, const ExitRecord& exit) {
  return disk.WriteAtomically(files.exit,
                              Dump({{"exitCode", exit.exit_code},
                                    {"reason", exit.reason},
                                    {"message", exit.message},
                                    {"startedAt", FormatRfc3339Micro(exit.started_at)},
                                    {"finishedAt", FormatRfc3339Micro(exit.finished_at)}}));
}

absl::StatusOr<std::optional<ExitRecord>> ReadExit(FileSystem& disk, const RunFiles& files) {
  return ReadIfWhole<ExitRecord>(disk, files.exit, FromJson);
}

}  // namespace taas::localkube
