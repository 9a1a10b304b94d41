#include "operator/api/core/every_field.h"

#include <utility>

namespace taas {
namespace {

using Json = nlohmann::json;
using Kind = CoreField::Kind;

Json ValueOf(const CoreField& field) {
  switch (field.kind) {
    case Kind::kString:
      return field.words.empty() ? "name" : field.words.front();
    case Kind::kBoolean:
      return true;
    case Kind::kInt32:
    case Kind::kInt64:
      return 1;
    case Kind::kQuantity:
      return "1Gi";
    case Kind::kIntOrString:
      return 8080;
    case Kind::kTime:
      return "2026-01-31T12:00:00Z";
    case Kind::kAny:
      return Json::object();
    case Kind::kStruct:
      break;
  }
  return EveryField(*field.type);
}

}  // namespace

Json EveryField(const CoreType& type) {
  Json out = Json::object();
  for (const auto& [name, field] : type.fields) {
    Json value = ValueOf(field);
    if (field.many == CoreField::Many::kList) value = Json::array({std::move(value)});
    if (field.many == CoreField::Many::kMap) value = Json({{"key", std::move(value)}});
    out[name] = std::move(value);
  }
  return out;
}

}  // namespace taas
