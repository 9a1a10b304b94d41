#include "trainer/export/saved_model.h"

#include <set>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "operator/base/status.h"
#include "trainer/checkpoint/bundle_writer.h"
#include "trainer/checkpoint/tensor.h"
#include "trainer/export/graph_nodes.h"
#include "trainer/export/tensorflow_graph.h"

namespace taas {
namespace {

constexpr int kSchemaVersion = 1;
// As in tensorflow_graph.cc.
constexpr int kGraphProducer = 808;
constexpr char kTag[] = "serve";
constexpr char kSignature[] = "serving_default";
constexpr char kMethod[] = "tensorflow/serving/predict";
// TensorFlow's default: of no use here, but readers expect a number.
constexpr int kMaxToKeep = 5;
constexpr float kKeepHours = 10'000;

struct ServedVariable {
  std::string name;
  const Node* node;
  std::span<const float> values;
};

// Of the variables that the graph really has: a loss may have more.
std::vector<ServedVariable> ServedVariables(const ServedModel& model, const tf::GraphDef& graph) {
  std::set<std::string> names;
  for (const tf::NodeDef& node : graph.node()) {
    if (node.op() == "VarHandleOp") names.insert(node.name());
  }
  std::vector<ServedVariable> served;
  const std::vector<Value> variables = model.graph->Variables();
  for (size_t i = 0; i < variables.size(); ++i) {
    const Node& node = model.graph->node(variables[i]);
    if (names.contains(node.name)) served.push_back({node.name, &node, model.values[i]});
  }
  return served;
}

// The ops by which a loader fills the variables, and saves them again.
void AddSaver(const std::vector<ServedVariable>& variables, NodeAdder* nodes,
              tf::SaverDef* saver) {
  const std::string filename = nodes->AddTexts("save/filename/input", Shape(), {"model"});
  const NodeAdder::Attributes scalar = {{"dtype", TextType()}, {"shape", ShapeAttr(Shape())}};
  nodes->Add("save/filename", "PlaceholderWithDefault", {filename}, scalar);
  nodes->Add("save/Const", "PlaceholderWithDefault", {"save/filename"}, scalar);

  std::vector<std::string> names, reads;
  for (const ServedVariable& variable : variables) {
    names.push_back(variable.name);
    reads.push_back(variable.name + "/Read/ReadVariableOp");
  }
  const Shape list({std::ssize(names)});
  const std::vector<std::string> wholes(names.size());  // "": not a slice.
  const tf::AttrValue types = TypesAttr(std::vector<tf::DataType>(names.size(), tf::DT_FLOAT));
  std::vector<std::string> inputs = {
      "save/Const", nodes->AddTexts("save/SaveV2/tensor_names", list, names),
      nodes->AddTexts("save/SaveV2/shape_and_slices", list, wholes)};
  inputs.insert(inputs.end(), reads.begin(), reads.end());
  nodes->Add("save/SaveV2", "SaveV2", inputs, {{"dtypes", types}});
  nodes->Add("save/control_dependency", "Identity", {"save/Const", "^save/SaveV2"},
             {{"T", TextType()}});

  nodes->Add("save/RestoreV2", "RestoreV2",
             {"save/Const", nodes->AddTexts("save/RestoreV2/tensor_names", list, names),
              nodes->AddTexts("save/RestoreV2/shape_and_slices", list, wholes)},
             {{"dtypes", types}});
  std::vector<std::string> assigned;
  for (size_t i = 0; i < variables.size(); ++i) {
    const std::string restored =
        i == 0 ? std::string("save/RestoreV2") : "save/RestoreV2:" + std::to_string(i);
    assigned.push_back("^" + nodes->Add(nodes->UniqueName("save/AssignVariableOp"),
                                        "AssignVariableOp", {variables[i].name, restored},
                                        {{"dtype", FloatType()}}));
  }
  nodes->Add("save/restore_all", "NoOp", assigned, {});
  saver->set_filename_tensor_name("save/Const:0");
  saver->set_save_tensor_name("save/control_dependency:0");
  saver->set_restore_op_name("save/restore_all");
  saver->set_max_to_keep(kMaxToKeep);
  saver->set_keep_checkpoint_every_n_hours(kKeepHours);
  saver->set_version(tf::SaverDef::V2);
}

void AddCollections(const std::vector<ServedVariable>& variables, tf::MetaGraphDef* meta) {
  for (const char* collection : {"variables", "trainable_variables"}) {
    for (const ServedVariable& variable : variables) {
      const bool trainable = variable.node->trainable;
      if (!trainable && collection == std::string_view("trainable_variables")) continue;
      tf::VariableDef def;
      def.set_variable_name(variable.name + ":0");
      def.set_initializer_name(variable.name + "/Assign");
      def.set_snapshot_name(variable.name + "/Read/ReadVariableOp:0");
      def.set_initial_value_name(variable.name + "/Initializer/zeros:0");
      def.set_is_resource(true);
      def.set_trainable(trainable);
      (*meta->mutable_collection_def())[collection].mutable_bytes_list()->add_value(
          def.SerializeAsString());
    }
  }
}

tf::TensorInfo InfoOf(const std::string& tensor, tf::DataType type, const Shape& shape) {
  tf::TensorInfo info;
  info.set_name(tensor + ":0");
  info.set_dtype(type);
  *info.mutable_tensor_shape() = ShapeProtoOf(shape);
  return info;
}

absl::Status AddGraph(const ServedModel& model, NodeAdder* nodes, tf::SignatureDef* signature) {
  const Graph& graph = *model.graph;
  std::vector<Value> ends;
  for (const auto& [name, value] : model.inputs) ends.push_back(value);
  for (const auto& [name, value] : model.outputs) ends.push_back(value);
  ASSIGN_OR_RETURN(const std::vector<std::string> tensors,
                   Translate(graph, ends, nodes, model.scaled));
  for (size_t i = 0; i < ends.size(); ++i) {
    const bool input = i < model.inputs.size();
    const std::string& name =
        input ? model.inputs[i].first : model.outputs[i - model.inputs.size()].first;
    const TensorType& type = graph.type(ends[i]);
    auto& side = input ? *signature->mutable_inputs() : *signature->mutable_outputs();
    side[name] = InfoOf(tensors[i], DataTypeOf(type.dtype), type.shape);
    if (input || name != model.logits) continue;
    const std::string probabilities = nodes->Add(nodes->UniqueName("probabilities"), "Softmax",
                                                 {tensors[i]}, {{"T", FloatType()}});
    side["probabilities"] = InfoOf(probabilities, tf::DT_FLOAT, type.shape);
    const std::string axis =
        nodes->AddInts(nodes->UniqueName("classes/dimension"), Shape(), {-1});
    const std::string classes =
        nodes->Add(nodes->UniqueName("classes"), "ArgMax", {tensors[i], axis},
                   {{"T", FloatType()},
                    {"Tidx", IntType()},
                    {"output_type", TypeAttr(tf::DT_INT64)}});
    side["classes"] = InfoOf(classes, tf::DT_INT64, Shape({Shape::kBatch}));
  }
  signature->set_method_name(kMethod);
  return absl::OkStatus();
}

absl::Status WriteVariables(FileSystem& files, const std::string& dir,
                            const std::vector<ServedVariable>& variables) {
  RETURN_IF_ERROR(files.MakeDirs(dir));
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Open(files, dir + "/variables"));
  for (const ServedVariable& variable : variables) {
    RETURN_IF_ERROR(writer->Add(FloatTensor(variable.name, variable.node->outputs[0].shape.dims(),
                                            variable.values)));
  }
  RETURN_IF_ERROR(writer->Finish());
  return files.SyncDir(dir);
}

// The same model always gives the same bytes: maps are written by their keys' order.
std::string DeterministicBytes(const tf::SavedModel& saved) {
  std::string bytes;
  google::protobuf::io::StringOutputStream target(&bytes);
  google::protobuf::io::CodedOutputStream coded(&target);
  coded.SetSerializationDeterministic(true);
  saved.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

struct Parts {
  std::string graph;      // A file.
  std::string variables;  // A directory.
};

absl::Status WriteParts(FileSystem& files, const Parts& to, const tf::SavedModel& saved,
                        const std::vector<ServedVariable>& variables) {
  RETURN_IF_ERROR(files.RemoveAll(to.variables));
  RETURN_IF_ERROR(WriteVariables(files, to.variables, variables));
  return files.WriteAtomically(to.graph, DeterministicBytes(saved));
}

// Without a graph there is no model: it goes first and comes last.
absl::Status Replace(FileSystem& files, const std::string& dir, const Parts& next,
                     const Parts& model) {
  RETURN_IF_ERROR(files.Remove(model.graph));
  RETURN_IF_ERROR(files.SyncDir(dir));
  RETURN_IF_ERROR(files.RemoveAll(model.variables));
  RETURN_IF_ERROR(files.Rename(next.variables, model.variables));
  RETURN_IF_ERROR(files.SyncDir(dir));
  RETURN_IF_ERROR(files.Rename(next.graph, model.graph));
  return files.SyncDir(dir);
}

absl::Status Write(FileSystem& files, const std::string& dir, const ServedModel& model) {
  tf::SavedModel saved;
  saved.set_saved_model_schema_version(kSchemaVersion);
  tf::MetaGraphDef* const meta = saved.add_meta_graphs();
  meta->mutable_meta_info_def()->add_tags(kTag);
  meta->mutable_graph_def()->mutable_versions()->set_producer(kGraphProducer);
  NodeAdder nodes(meta->mutable_graph_def());
  RETURN_IF_ERROR(AddGraph(model, &nodes, &(*meta->mutable_signature_def())[kSignature]));
  const std::vector<ServedVariable> variables = ServedVariables(model, meta->graph_def());
  AddSaver(variables, &nodes, meta->mutable_saver_def());
  AddCollections(variables, meta);

  const Parts next{dir + "/saved_model.pb.next", dir + "/variables.next"};
  RETURN_IF_ERROR(files.MakeDirs(dir));
  const absl::Status written = WriteParts(files, next, saved, variables);
  if (!written.ok()) {
    // Room that nobody else would give back.
    files.Remove(next.graph).IgnoreError();
    files.RemoveAll(next.variables).IgnoreError();
    return written;
  }
  return Replace(files, dir, next, {dir + "/saved_model.pb", dir + "/variables"});
}

}  // namespace

absl::Status WriteSavedModel(FileSystem& files, const std::string& dir, const ServedModel& model) {
  const std::string what = "write SavedModel " + dir;
  if (model.values.size() != model.graph->Variables().size()) {
    return absl::InvalidArgumentError(what + ": got values of " +
                                      std::to_string(model.values.size()) + " variables, want " +
                                      std::to_string(model.graph->Variables().size()));
  }
  return Annotate(Write(files, dir, model), what);
}

}  // namespace taas
