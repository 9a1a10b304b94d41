#include "localkube/api/review_fields.h"

#include <algorithm>
#include <span>
#include <utility>

#include "operator/base/protobuf_slice.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

enum class Shape { kText, kTexts, kTextsByKey, kMessage, kMessages };

struct Message;
struct Field {
  const char* name;
  int number;  // In protobuf (generated.proto of the group).
  Shape shape;
  const Message* message = nullptr;
};
struct Message {
  const char* type;  // As Go calls it.
  std::span<const Field> fields;
};

constexpr Field kRequirement[] = {{"key", 1, Shape::kText},
                                  {"operator", 2, Shape::kText},
                                  {"values", 3, Shape::kTexts}};
constexpr Message kFieldRequirement{"FieldSelectorRequirement", kRequirement};
constexpr Message kLabelRequirement{"LabelSelectorRequirement", kRequirement};
constexpr Field kFieldSelector[] = {{"rawSelector", 1, Shape::kText},
                                    {"requirements", 2, Shape::kMessages, &kFieldRequirement}};
constexpr Field kLabelSelector[] = {{"rawSelector", 1, Shape::kText},
                                    {"requirements", 2, Shape::kMessages, &kLabelRequirement}};
constexpr Message kFieldSelectorAttributes{"FieldSelectorAttributes", kFieldSelector};
constexpr Message kLabelSelectorAttributes{"LabelSelectorAttributes", kLabelSelector};
constexpr Field kResource[] = {
    {"namespace", 1, Shape::kText},   {"verb", 2, Shape::kText},
    {"group", 3, Shape::kText},       {"version", 4, Shape::kText},
    {"resource", 5, Shape::kText},    {"subresource", 6, Shape::kText},
    {"name", 7, Shape::kText},        {"fieldSelector", 8, Shape::kMessage,
                                       &kFieldSelectorAttributes},
    {"labelSelector", 9, Shape::kMessage, &kLabelSelectorAttributes}};
constexpr Message kResourceAttributes{"ResourceAttributes", kResource};
constexpr Field kNonResource[] = {{"path", 1, Shape::kText}, {"verb", 2, Shape::kText}};
constexpr Message kNonResourceAttributes{"NonResourceAttributes", kNonResource};
constexpr Field kAccess[] = {
    {"resourceAttributes", 1, Shape::kMessage, &kResourceAttributes},
    {"nonResourceAttributes", 2, Shape::kMessage, &kNonResourceAttributes},
    {"user", 3, Shape::kText},
    {"groups", 4, Shape::kTexts},
    {"extra", 5, Shape::kTextsByKey},
    {"uid", 6, Shape::kText}};
constexpr Field kSelfAccess[] = {
    {"resourceAttributes", 1, Shape::kMessage, &kResourceAttributes},
    {"nonResourceAttributes", 2, Shape::kMessage, &kNonResourceAttributes}};
constexpr Field kSelfRules[] = {{"namespace", 1, Shape::kText}};
constexpr Field kToken[] = {{"token", 1, Shape::kText}, {"audiences", 2, Shape::kTexts}};

constexpr Message kAccessSpec{"SubjectAccessReviewSpec", kAccess};
constexpr std::pair<std::string_view, Message> kSpecs[] = {
    {"LocalSubjectAccessReview", kAccessSpec},
    {"SelfSubjectAccessReview", {"SelfSubjectAccessReviewSpec", kSelfAccess}},
    {"SelfSubjectRulesReview", {"SelfSubjectRulesReviewSpec", kSelfRules}},
    {"SubjectAccessReview", kAccessSpec},
    {"TokenReview", {"TokenReviewSpec", kToken}},
};
// Of ExtraValue, what is under a key of spec.extra, and of an entry of a map.
constexpr int kItems = 1;
constexpr int kEntryKey = 1, kEntryValue = 2;

const Message* SpecOf(std::string_view kind) {
  const auto* found = std::find_if(std::begin(kSpecs), std::end(kSpecs),
                                   [&](const auto& spec) { return spec.first == kind; });
  return found == std::end(kSpecs) ? nullptr : &found->second;
}

std::string TypeOf(const Field& field) {
  const std::string message = field.message == nullptr ? "" : field.message->type;
  switch (field.shape) {
    case Shape::kText: return "string";
    case Shape::kTexts: return "[]string";
    case Shape::kTextsByKey: return "map[string]v1.ExtraValue";
    case Shape::kMessage: return "v1." + message;
    case Shape::kMessages: return "[]v1." + message;
  }
  return "";
}

// "json: cannot unmarshal number into Go struct field TokenReviewSpec.spec.token of type string"
absl::Status WrongType(const json& value, const std::string& owner, std::string path,
                       const std::string& type) {
  // Go does not count the elements of a list.
  while (path.find('[') != std::string::npos) {
    path.erase(path.find('['), path.find(']') - path.find('[') + 1);
  }
  const std::string given = value.is_boolean() ? "bool" : value.type_name();
  return absl::InvalidArgumentError("json: cannot unmarshal " + given + " into Go struct field " +
                                    owner + "." + path + " of type " + type);
}

class SpecReader {
 public:
  explicit SpecReader(std::vector<std::string>* unknown) : unknown_(unknown) {}

  // `owner` is the type that `path` is a field of.
  absl::StatusOr<json> ReadMessage(const Message& message, const json& value,
                                   const std::string& owner, const std::string& path) {
    if (!value.is_object()) {
      return WrongType(value, owner, path, std::string("v1.") + message.type);
    }
    json out = json::object();
    for (const auto& [name, member] : value.items()) {
      const std::string at = path + "." + name;
      const auto field = std::find_if(message.fields.begin(), message.fields.end(),
                                      [&](const Field& f) { return name == f.name; });
      if (field == message.fields.end()) {
        unknown_->push_back(at);
        continue;
      }
      if (member.is_null()) continue;
      ASSIGN_OR_RETURN(json read, ReadField(*field, member, message.type, at));
      const bool shown = field->shape == Shape::kMessage || !IsEmpty(read);
      if (shown) out[name] = std::move(read);
    }
    return out;
  }

 private:
  static bool IsEmpty(const json& value) {
    return value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty();
  }

  absl::StatusOr<json> ReadField(const Field& field, const json& value, const std::string& owner,
                                 const std::string& path) {
    if (field.shape == Shape::kMessage) return ReadMessage(*field.message, value, owner, path);
    const bool right = field.shape == Shape::kText         ? value.is_string()
                       : field.shape == Shape::kTextsByKey ? value.is_object()
                                                           : value.is_array();
    if (!right) return WrongType(value, owner, path, TypeOf(field));
    if (field.shape == Shape::kText) return value;
    if (field.shape == Shape::kTexts) return ReadTexts(value, owner, path);
    if (field.shape == Shape::kTextsByKey) {
      json out = json::object();
      for (const auto& [key, texts] : value.items()) {
        if (!texts.is_array() && !texts.is_null()) {
          return WrongType(texts, owner, path, "v1.ExtraValue");
        }
        ASSIGN_OR_RETURN(out[key], ReadTexts(texts, owner, path));
      }
      return out;
    }
    json out = json::array();
    for (const json& element : value) {
      const std::string at = path + "[" + std::to_string(out.size()) + "]";
      ASSIGN_OR_RETURN(json read, ReadMessage(*field.message, element, owner, at));
      out.push_back(std::move(read));
    }
    return out;
  }

  static absl::StatusOr<json> ReadTexts(const json& value, const std::string& owner,
                                        const std::string& path) {
    json out = json::array();
    for (const json& text : value) {
      if (!text.is_string() && !text.is_null()) return WrongType(text, owner, path, "string");
      out.push_back(text.is_null() ? json("") : text);
    }
    return out;
  }

  std::vector<std::string>* const unknown_;
};

absl::StatusOr<json> MessageOfProtobuf(const Message& message, std::string_view bytes);

absl::Status AddExtra(std::string_view bytes, json* extra) {
  std::string key;
  json texts = json::array();
  RETURN_IF_ERROR(ForEachField(bytes, [&](const ProtobufField& entry) -> absl::Status {
    if (entry.number == kEntryKey) key = std::string(entry.bytes);
    if (entry.number != kEntryValue) return absl::OkStatus();
    return ForEachField(entry.bytes, [&](const ProtobufField& item) {
      if (item.number == kItems) texts.push_back(std::string(item.bytes));
      return absl::OkStatus();
    });
  }));
  (*extra)[key] = std::move(texts);
  return absl::OkStatus();
}

absl::Status AddField(const Field& field, std::string_view bytes, json* out) {
  json& member = (*out)[field.name];
  switch (field.shape) {
    case Shape::kText: member = std::string(bytes); break;
    case Shape::kTexts: member.push_back(std::string(bytes)); break;
    case Shape::kTextsByKey: return AddExtra(bytes, &member);
    case Shape::kMessage: {
      ASSIGN_OR_RETURN(member, MessageOfProtobuf(*field.message, bytes));
      break;
    }
    case Shape::kMessages: {
      ASSIGN_OR_RETURN(json element, MessageOfProtobuf(*field.message, bytes));
      member.push_back(std::move(element));
      break;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<json> MessageOfProtobuf(const Message& message, std::string_view bytes) {
  json out = json::object();
  RETURN_IF_ERROR(ForEachField(bytes, [&](const ProtobufField& sent) -> absl::Status {
    for (const Field& field : message.fields) {
      if (field.number == sent.number) return AddField(field, sent.bytes, &out);
    }
    return absl::OkStatus();
  }));
  return out;
}

}  // namespace

bool HasReviewSpec(std::string_view kind) { return SpecOf(kind) != nullptr; }

absl::StatusOr<json> ReadReviewSpec(std::string_view kind, const json& spec,
                                    std::vector<std::string>* unknown) {
  const Message* message = SpecOf(kind);
  if (message == nullptr || spec.is_null()) return json::object();
  return SpecReader(unknown).ReadMessage(*message, spec, std::string(kind), "spec");
}

absl::StatusOr<json> ReviewSpecOfProtobuf(std::string_view kind, std::string_view message) {
  const Message* spec = SpecOf(kind);
  if (spec == nullptr) return json::object();
  return MessageOfProtobuf(*spec, message);
}

}  // namespace taas::localkube
