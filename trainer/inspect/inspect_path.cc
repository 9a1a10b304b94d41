#include "trainer/inspect/inspect_path.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/checkpoint/bundle_writer.h"
#include "trainer/checkpoint/checkpoint_list.h"
#include "trainer/checkpoint/owner_record.h"
#include "trainer/data/inspect.h"
#include "trainer/formats/safetensors.h"
#include "trainer/formats/tensorflow.pb.h"
#include "trainer/inspect/event_facts.h"
#include "trainer/inspect/tensor_table.h"
#include "trainer/summary/event_file.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr char kSavedModelFile[] = "/saved_model.pb";
constexpr char kSavedModelVariables[] = "/variables/variables";

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string Bytes(const std::vector<TensorFacts>& facts) {
  int64_t sum = 0;
  for (const TensorFacts& tensor : facts) sum += tensor.bytes;
  return Counted(facts.size(), "tensor") + ", " + Counted(static_cast<size_t>(sum), "byte");
}

absl::StatusOr<PathReport> InspectCheckpoint(FileSystem& files, const std::string& prefix,
                                             const InspectOptions& options) {
  ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(files, prefix));
  ASSIGN_OR_RETURN(const auto facts, FactsOfCheckpoint(*reader, options.values));
  std::set<int> shards;
  for (const auto& [name, entry] : reader->entries()) shards.insert(entry.shard);
  PathReport report;
  report.text = prefix + ": TensorFlow V2 checkpoint, " + Bytes(facts) + " in " +
                Counted(shards.size(), "data file") +
                (options.values ? ", checksums right" : "") + "\n" + TableOf(facts);
  report.json = {{"path", prefix},
                 {"format", "checkpoint"},
                 {"dataFiles", shards.size()},
                 {"tensors", JsonOf(facts)}};
  return report;
}

absl::StatusOr<PathReport> InspectSafetensors(FileSystem& files, const std::string& path,
                                              const InspectOptions& options) {
  ASSIGN_OR_RETURN(const auto reader, SafetensorsReader::Open(files, path));
  ASSIGN_OR_RETURN(const auto facts, FactsOfSafetensors(*reader, options.values));
  PathReport report;
  report.text = path + ": safetensors, " + Bytes(facts) + "\n" + TableOf(facts);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : reader->metadata()) rows.push_back({"metadata", key, value});
  report.text += TableOf(rows);
  report.json = {{"path", path},
                 {"format", "safetensors"},
                 {"metadata", reader->metadata()},
                 {"tensors", JsonOf(facts)}};
  return report;
}

absl::StatusOr<PathReport> InspectEvents(FileSystem& files, const std::string& path,
                                         const std::vector<std::string>& paths) {
  ASSIGN_OR_RETURN(const EventFacts facts, FactsOfEvents(files, paths));
  PathReport report;
  report.text = path + ": event file" + (paths.size() == 1 ? "" : "s") + ", " +
                Counted(static_cast<size_t>(facts.events), "event") +
                (paths.size() == 1 ? "" : " in " + std::to_string(paths.size()) + " files") +
                "\n" + TableOf(facts);
  report.json = JsonOf(facts);
  report.json.update({{"path", path}, {"format", "events"}, {"files", paths.size()}});
  return report;
}

absl::StatusOr<PathReport> InspectData(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const Inspection found, InspectFile(files, path));
  Json lines = Json::array();
  for (size_t at = 0; at < found.text.size();) {
    const size_t end = found.text.find('\n', at);
    lines.push_back(found.text.substr(at, end - at));
    at = end == std::string::npos ? found.text.size() : end + 1;
  }
  return PathReport{.text = found.text,
                    .json = {{"path", path}, {"format", "data"}, {"lines", std::move(lines)}},
                    .damaged = found.damaged};
}

// "features float32[-1,784] → logits …" of each signature, then the variables.
absl::StatusOr<PathReport> InspectSavedModel(FileSystem& files, const std::string& dir,
                                             const InspectOptions& options) {
  ASSIGN_OR_RETURN(const std::string bytes, files.ReadAll(dir + kSavedModelFile));
  tf::SavedModel model;
  if (!model.ParseFromString(bytes) || model.meta_graphs_size() == 0) {
    return absl::DataLossError("read " + dir + kSavedModelFile + ": it is no SavedModel");
  }
  const auto describe = [](const auto& ends) {
    std::set<std::string> sorted;
    for (const auto& [name, info] : ends) {
      std::vector<int64_t> shape;
      for (const auto& dim : info.tensor_shape().dim()) shape.push_back(dim.size());
      sorted.insert(name + " " + ElementTypeName(static_cast<ElementType>(info.dtype())) +
                    ShapeText(shape));
    }
    std::string text;
    for (const std::string& one : sorted) text += (text.empty() ? "" : ", ") + one;
    return text;
  };
  PathReport report;
  const tf::MetaGraphDef& graph = model.meta_graphs(0);
  report.text = dir + ": SavedModel, " + std::to_string(graph.graph_def().node_size()) +
                " nodes\n";
  report.json = {{"path", dir},
                 {"format", "savedModel"},
                 {"nodes", graph.graph_def().node_size()},
                 {"signatures", Json::object()}};
  for (const auto& [name, signature] : graph.signature_def()) {
    const std::string inputs = describe(signature.inputs());
    const std::string outputs = describe(signature.outputs());
    report.text += "  " + name + ": " + inputs + " → " + outputs + "\n";
    report.json["signatures"][name] = {{"inputs", inputs}, {"outputs", outputs}};
  }
  ASSIGN_OR_RETURN(const bool has_variables,
                   files.Exists(BundleIndexPath(dir + kSavedModelVariables)));
  if (!has_variables) return report;
  ASSIGN_OR_RETURN(const PathReport variables,
                   InspectCheckpoint(files, dir + kSavedModelVariables, options));
  report.text += variables.text;
  report.json["tensors"] = variables.json["tensors"];
  return report;
}

// The owner, one line for each checkpoint, and the tensors of the newest.
absl::Status AddCheckpoints(FileSystem& files, const std::string& dir,
                            const std::vector<int64_t>& steps, const InspectOptions& options,
                            PathReport* report) {
  report->text += dir + ": " + Counted(steps.size(), "checkpoint") + "\n";
  report->json = {{"path", dir}, {"format", "directory"}, {"checkpoints", Json::array()}};
  const auto owner_text = files.ReadAll(dir + "/.owner");
  if (owner_text.ok()) {
    const auto owner = ParseOwnerRecord(*owner_text);
    const std::string text =
        owner.ok() ? (owner->released ? "released by " : "") + DescribeOwner(owner->owner)
                   : "unreadable";
    report->text += "  owner: " + text + "\n";
    report->json["owner"] = text;
  }
  for (const int64_t step : steps) {
    std::string state = "not read";
    if (options.values) {
      const auto reader = BundleReader::Open(files, CheckpointPrefix(dir, step));
      const absl::Status status = reader.ok() ? (*reader)->VerifyAll() : reader.status();
      state = status.ok() ? "checksums right" : "damaged: " + std::string(status.message());
      report->damaged = report->damaged || !status.ok();
    }
    report->text += "  step " + std::to_string(step) + ": " + state + "\n";
    report->json["checkpoints"].push_back({{"step", step}, {"state", state}});
  }
  ASSIGN_OR_RETURN(PathReport newest,
                   InspectCheckpoint(files, CheckpointPrefix(dir, steps.back()), options));
  report->text += newest.text;
  report->json["newest"] = std::move(newest.json);
  return absl::OkStatus();
}

absl::StatusOr<PathReport> InspectDirectory(FileSystem& files, const std::string& dir,
                                            const std::vector<std::string>& names,
                                            const InspectOptions& options) {
  ASSIGN_OR_RETURN(const bool saved_model, files.Exists(dir + kSavedModelFile));
  if (saved_model) return InspectSavedModel(files, dir, options);
  PathReport report;
  ASSIGN_OR_RETURN(const std::vector<int64_t> steps, ListCheckpoints(files, dir));
  if (!steps.empty()) {
    RETURN_IF_ERROR(AddCheckpoints(files, dir, steps, options, &report));
  }
  std::vector<std::string> events;
  for (const std::string& name : names) {
    if (IsEventFile(name)) events.push_back(dir + "/" + name);
  }
  if (!events.empty()) {
    ASSIGN_OR_RETURN(PathReport found, InspectEvents(files, dir, events));
    report.text += found.text;
    if (report.json.is_null()) report.json = {{"path", dir}, {"format", "directory"}};
    report.json["events"] = std::move(found.json);
  }
  if (!report.text.empty()) return report;
  return absl::NotFoundError(dir +
                             ": there is no checkpoint (model.ckpt-STEP.index), no event file and "
                             "no saved_model.pb in this directory; name a file");
}

// "dir/model.ckpt-1000" of itself and of the names of its files.
std::string PrefixOf(const std::string& path) {
  if (path.ends_with(".index")) return path.substr(0, path.size() - 6);
  const size_t data = path.rfind(".data-");
  return data == std::string::npos ? path : path.substr(0, data);
}

// A header's length that is sensible, and the header's first byte.
bool BeginsAsSafetensors(FileSystem& files, const std::string& path) {
  const auto file = files.OpenRead(path);
  char head[9] = {};
  return file.ok() && (*file)->ReadAt(0, sizeof(head), head).value_or(0) == sizeof(head) &&
         head[8] == '{' && head[4] == 0 && head[5] == 0 && head[6] == 0 && head[7] == 0;
}

}  // namespace

absl::StatusOr<PathReport> InspectPath(FileSystem& files, const std::string& path,
                                       const InspectOptions& options) {
  if (const auto names = files.List(path); names.ok()) {
    const bool slash = path.size() > 1 && path.ends_with('/');
    return InspectDirectory(files, slash ? path.substr(0, path.size() - 1) : path, *names,
                            options);
  }
  ASSIGN_OR_RETURN(const bool checkpoint, files.Exists(BundleIndexPath(PrefixOf(path))));
  if (checkpoint) return InspectCheckpoint(files, PrefixOf(path), options);
  if (path.ends_with(".safetensors") || BeginsAsSafetensors(files, path)) {
    return InspectSafetensors(files, path, options);
  }
  if (IsEventFile(BaseName(path))) return InspectEvents(files, path, {path});
  return InspectData(files, path);
}

}  // namespace taas
