#include "trainer/model/gpt2_published.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "operator/base/check.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/json_text.h"

namespace taas {
namespace {

using Json = nlohmann::ordered_json;

// Of models with this one on top of the decoder, which others begin the names with.
constexpr std::string_view kDecoder = "transformer.";

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// What a block has, each with a weight and a bias.
constexpr std::array<std::string_view, 6> kBlockLayers = {
    "ln_1", "attn/c_attn", "attn/c_proj", "ln_2", "mlp/c_fc", "mlp/c_proj"};

const Node* FirstOf(const Graph& graph, std::string_view op) {
  const auto found = std::ranges::find(graph.nodes(), op, &Node::op);
  return found == graph.nodes().end() ? nullptr : &*found;
}

int64_t Rows(const Graph& graph, std::string_view variable) {
  const auto value = graph.Find(variable);
  CHECK(value.ok()) << "a gpt2 has " << variable;
  return graph.type(*value).shape.dim(0);
}

absl::Status OtherModel(const std::string& field, const nlohmann::json& value,
                        const std::string& ours) {
  return absl::UnimplementedError("config.json: " + field + " is " + value.dump() + ", and gpt2 " +
                                  ours + " here");
}

// A whole number that the model needs.
absl::StatusOr<int64_t> Size(const nlohmann::json& json, const char* field) {
  const auto found = json.find(field);
  constexpr int64_t kSizeMax = int64_t{1} << 31;
  if (found == json.end() || !found->is_number_integer() || *found < 1 || *found > kSizeMax) {
    return absl::InvalidArgumentError(
        std::string("config.json: ") + field + " must be a whole number from 1, " +
        (found == json.end() ? "and is missing" : "is " + found->dump()));
  }
  return found->get<int64_t>();
}

// What a file leaves out is as GPT2Config has it, which is as ours is.
absl::Status CheckComputedAsOurs(const nlohmann::json& json, int64_t width) {
  const auto is = [&](const char* field, const nlohmann::json& wanted) {
    return !json.contains(field) || json[field] == wanted;
  };
  if (!is("activation_function", "gelu_new") &&
      !is("activation_function", "gelu_pytorch_tanh")) {
    return OtherModel("activation_function", json["activation_function"],
                      "has gelu by tanh (gelu_new)");
  }
  if (!is("n_inner", nullptr) && !is("n_inner", 4 * width)) {
    return OtherModel("n_inner", json["n_inner"], "has 4 * n_embd");
  }
  const auto epsilon = json.find("layer_norm_epsilon");
  if (epsilon != json.end() &&
      !(epsilon->is_number() && std::abs(epsilon->get<double>() - 1e-5) < 1e-9)) {
    return OtherModel("layer_norm_epsilon", *epsilon, "has 1e-05");
  }
  for (const auto& [field, ours] : {std::pair{"tie_word_embeddings", true},
                                    {"scale_attn_weights", true},
                                    {"scale_attn_by_inverse_layer_idx", false},
                                    {"add_cross_attention", false}}) {
    if (!is(field, ours)) return OtherModel(field, json[field], ours ? "has it" : "has it not");
  }
  return absl::OkStatus();
}

}  // namespace

std::string PublishedName(std::string_view own) {
  std::vector<std::string> parts = absl::StrSplit(std::string(own), '/');
  if (parts.size() == 1) return parts[0] + ".weight";  // wte and wpe.
  parts.back() = parts.back() == "b" ? "bias" : "weight";
  if (parts[0][0] == 'h') parts[0].insert(1, ".");
  return absl::StrJoin(parts, ".");
}

std::optional<std::string> OwnName(std::string_view published) {
  if (published.starts_with(kDecoder)) published.remove_prefix(kDecoder.size());
  if (published == "wte.weight") return "wte";
  if (published == "wpe.weight") return "wpe";
  const size_t dot = published.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view kind = published.substr(dot + 1);
  if (kind != "weight" && kind != "bias") return std::nullopt;
  const auto named = [&](const std::string& layer, std::string_view last) {
    if (kind == "bias") return layer + "/b";
    return layer + (last.starts_with("ln_") ? "/g" : "/w");
  };
  std::string_view layer = published.substr(0, dot);
  if (layer == "ln_f") return named("ln_f", layer);
  if (!layer.starts_with("h.")) return std::nullopt;
  layer.remove_prefix(2);
  const size_t end = layer.find('.');
  if (end == std::string_view::npos || !IsNumber(layer.substr(0, end))) return std::nullopt;
  std::string part(layer.substr(end + 1));
  if (part.find('/') != std::string::npos) return std::nullopt;
  std::ranges::replace(part, '.', '/');
  if (std::ranges::find(kBlockLayers, part) == kBlockLayers.end()) return std::nullopt;
  return named("h" + std::string(layer.substr(0, end)) + "/" + part, part);
}

std::string PublishedConfig(const Graph& graph) {
  const Node* const attention = FirstOf(graph, "Attention");
  const Node* const norm = FirstOf(graph, "LayerNorm");
  CHECK(attention != nullptr && norm != nullptr) << "not a graph of BuildGpt2";
  const auto table = graph.Find("wte");
  CHECK(table.ok()) << "a gpt2 has wte";
  const Json json = {
      {"model_type", "gpt2"},
      {"architectures", Json::array({"GPT2LMHeadModel"})},
      {"vocab_size", Rows(graph, "wte")},
      {"n_positions", Rows(graph, "wpe")},
      {"n_embd", graph.type(*table).shape.dim(1)},
      {"n_layer", std::ranges::count(graph.nodes(), "Attention", &Node::op)},
      {"n_head", attention->attributes.Int("heads")},
      {"activation_function", "gelu_new"},
      {"layer_norm_epsilon", norm->attributes.Number("epsilon")},
      {"tie_word_embeddings", true},
      {"resid_pdrop", 0.0},
      {"embd_pdrop", 0.0},
      {"attn_pdrop", 0.0},
      // No token begins or ends a text.
      {"bos_token_id", nullptr},
      {"eos_token_id", nullptr}};
  return json.dump(2) + "\n";
}

absl::StatusOr<std::string> ModelOfPublishedConfig(std::string_view text) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJsonText(text, "config.json"));
  if (!json.is_object() || json.value("model_type", nlohmann::json()) != "gpt2") {
    return absl::UnimplementedError(
        "config.json: it must be an object with \"model_type\": \"gpt2\"; of other models say "
        "which it is with --config FILE (spec.trainer)");
  }
  ASSIGN_OR_RETURN(const int64_t blocks, Size(json, "n_layer"));
  ASSIGN_OR_RETURN(const int64_t heads, Size(json, "n_head"));
  ASSIGN_OR_RETURN(const int64_t width, Size(json, "n_embd"));
  RETURN_IF_ERROR(CheckComputedAsOurs(json, width));
  return Json{{"name", "gpt2"}, {"blocks", blocks}, {"heads", heads}, {"width", width}}.dump();
}

}  // namespace taas
