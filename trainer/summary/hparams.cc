#include "trainer/summary/hparams.h"

#include <chrono>
#include <map>

#include "third_party/json.h"
#include "trainer/formats/tensorflow.pb.h"
#include "trainer/summary/hparams.pb.h"

namespace taas {
namespace {

constexpr char kPlugin[] = "hparams";
constexpr char kExperimentTag[] = "_hparams_/experiment";
constexpr char kStartTag[] = "_hparams_/session_start_info";
constexpr char kEndTag[] = "_hparams_/session_end_info";

double Seconds(Clock::WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

hparams::Value ValueOf(const nlohmann::json& leaf) {
  hparams::Value value;
  if (leaf.is_boolean()) value.set_bool_value(leaf.get<bool>());
  else if (leaf.is_number()) value.set_number_value(leaf.get<double>());
  else if (leaf.is_string()) value.set_string_value(leaf.get<std::string>());
  else value.set_string_value(leaf.dump());
  return value;
}

void AddLeaves(const nlohmann::json& object, const std::string& path,
               std::map<std::string, hparams::Value>* leaves) {
  for (const auto& [key, part] : object.items()) {
    const std::string name = path.empty() ? key : path + "." + key;
    if (part.is_object()) {
      AddLeaves(part, name, leaves);
    } else {
      (*leaves)[name] = ValueOf(part);
    }
  }
}

// TensorBoard wants a tensor beside the metadata: the number 0.
void AddTo(summary::Summary* summary, const char* tag, const hparams::HParamsPluginData& data) {
  summary::Summary::Value* const value = summary->add_value();
  value->set_tag(tag);
  auto* const plugin = value->mutable_metadata()->mutable_plugin_data();
  plugin->set_plugin_name(kPlugin);
  plugin->set_content(data.SerializeAsString());
  tf::TensorProto zero;
  zero.set_dtype(tf::DT_FLOAT);
  zero.mutable_tensor_shape()->add_dim()->set_size(1);
  zero.add_float_val(0);
  value->set_tensor(zero.SerializeAsString());
}

}  // namespace

summary::Event HparamsExperiment(const TrainingParameters& what) {
  std::map<std::string, hparams::Value> leaves;
  AddLeaves(*what.parameters, "", &leaves);
  hparams::HParamsPluginData data;
  hparams::Experiment* const experiment = data.mutable_experiment();
  experiment->set_name(what.name);
  experiment->set_time_created_secs(Seconds(what.started));
  for (const auto& [name, value] : leaves) {
    hparams::HParamInfo* const info = experiment->add_hparam_infos();
    info->set_name(name);
    info->set_type(value.kind_case() == hparams::Value::kBoolValue ? hparams::DATA_TYPE_BOOL
                   : value.kind_case() == hparams::Value::kNumberValue
                       ? hparams::DATA_TYPE_FLOAT64
                       : hparams::DATA_TYPE_STRING);
  }
  for (const std::string& metric : what.metrics) {
    hparams::MetricName* const name = experiment->add_metric_infos()->mutable_name();
    const size_t slash = metric.find('/');
    if (slash != std::string::npos) name->set_group(metric.substr(0, slash));
    name->set_tag(slash == std::string::npos ? metric : metric.substr(slash + 1));
  }
  summary::Event event;
  AddTo(event.mutable_summary(), kExperimentTag, data);
  return event;
}

summary::Event HparamsStart(const TrainingParameters& what) {
  std::map<std::string, hparams::Value> leaves;
  AddLeaves(*what.parameters, "", &leaves);
  hparams::HParamsPluginData data;
  hparams::SessionStartInfo* const start = data.mutable_session_start_info();
  start->mutable_hparams()->insert(leaves.begin(), leaves.end());
  start->set_start_time_secs(Seconds(what.started));
  summary::Event event;
  AddTo(event.mutable_summary(), kStartTag, data);
  return event;
}

summary::Summary HparamsEnd(bool success, Clock::WallTime ended) {
  hparams::HParamsPluginData data;
  hparams::SessionEndInfo* const end = data.mutable_session_end_info();
  end->set_status(success ? hparams::STATUS_SUCCESS : hparams::STATUS_FAILURE);
  end->set_end_time_secs(Seconds(ended));
  summary::Summary summary;
  AddTo(&summary, kEndTag, data);
  return summary;
}

}  // namespace taas
