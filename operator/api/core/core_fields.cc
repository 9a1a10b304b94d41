#include "operator/api/core/core_fields.h"

#include <optional>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/closest_name.h"

namespace taas {
namespace {

using Kind = CoreField::Kind;
using Many = CoreField::Many;

constexpr std::string_view kText =
#include "operator/api/core/core_v1_text.inc"
    ;
constexpr std::string_view kHead = "# core/v1 of Kubernetes ";

struct Table {
  std::map<std::string, CoreType, std::less<>> types;
  std::string version;
};

constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"string", Kind::kString},     {"boolean", Kind::kBoolean},
    {"int32", Kind::kInt32},       {"int64", Kind::kInt64},
    {"Quantity", Kind::kQuantity}, {"IntOrString", Kind::kIntOrString},
    {"Time", Kind::kTime},         {"object", Kind::kAny}};

std::vector<std::string> Split(std::string_view text, char between) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(between);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// True: `text` began with it, and does so no more.
bool TakePrefix(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// `line`: "name! []Type = A|B", with types that may stand further down.
void AddField(std::string_view line, Table* table, CoreType* owner) {
  const std::vector<std::string> words = Split(line, ' ');
  CHECK(words.size() == 2 || (words.size() == 4 && words[2] == "=")) << "core_v1: " << line;
  std::string_view name = words[0];
  CoreField field;
  field.required = name.ends_with("!");
  if (field.required) name.remove_suffix(1);
  std::string_view type = words[1];
  if (TakePrefix("[]", &type)) field.many = Many::kList;
  if (TakePrefix("map", &type)) field.many = Many::kMap;
  std::optional<Kind> plain;
  for (const auto& [word, kind] : kKinds) {
    if (type == word) plain = kind;
  }
  field.kind = plain.value_or(Kind::kStruct);
  if (field.kind == Kind::kStruct) field.type = &table->types[std::string(type)];
  if (words.size() == 4) field.words = Split(words[3], '|');
  CHECK(owner->fields.emplace(name, std::move(field)).second) << "core_v1: twice: " << line;
}

Table ReadTable() {
  Table table;
  CoreType* owner = nullptr;
  for (const std::string& line : Split(kText, '\n')) {
    std::string_view rest = line;
    if (line.empty()) continue;
    if (line[0] == '#') {
      if (!TakePrefix(kHead, &rest)) continue;
      table.version = std::string(rest.substr(0, rest.find(',')));
    } else if (TakePrefix(" ", &rest)) {
      CHECK(owner != nullptr) << "core_v1: a field without a type: " << line;
      AddField(rest, &table, owner);
    } else {
      owner = &table.types[line];
      owner->name = line;
    }
  }
  for (const auto& [name, type] : table.types) {
    CHECK(!type.fields.empty()) << "core_v1: " << name << " has no fields";
  }
  return table;
}

const Table& TheTable() {
  static const Table table = ReadTable();
  return table;
}

}  // namespace

std::vector<std::string> CoreType::Names() const {
  std::vector<std::string> names;
  for (const auto& [field, ignored] : fields) names.push_back(field);
  return names;
}

const CoreType& CoreTypeNamed(std::string_view name) {
  const auto found = TheTable().types.find(name);
  CHECK(found != TheTable().types.end()) << "core_v1 has no type " << name;
  return found->second;
}

const std::string& CoreVersion() { return TheTable().version; }

std::string GoTypeOf(const CoreField& field) {
  std::string type;
  switch (field.kind) {
    case Kind::kString: type = "string"; break;
    case Kind::kBoolean: type = "bool"; break;
    case Kind::kInt32: type = "int32"; break;
    case Kind::kInt64: type = "int64"; break;
    case Kind::kQuantity: type = "resource.Quantity"; break;
    case Kind::kIntOrString: type = "intstr.IntOrString"; break;
    case Kind::kTime: type = "v1.Time"; break;
    case Kind::kAny: type = "object"; break;
    case Kind::kStruct: type = "v1." + field.type->name; break;
  }
  if (field.many == Many::kList) return "[]" + type;
  return field.many == Many::kMap ? "map[string]" + type : type;
}

std::string HintForPodField(std::string_view path) {
  const CoreType* type = &CoreTypeNamed("PodTemplateSpec");
  const std::vector<std::string> steps = Split(path, '.');
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string name = steps[i].substr(0, steps[i].find('['));
    const CoreField* field = type->Find(name);
    if (field == nullptr) return i + 1 == steps.size() ? DidYouMean(name, type->Names()) : "";
    if (field->type == nullptr) return "";
    type = field->type;
  }
  return "";
}

}  // namespace taas
