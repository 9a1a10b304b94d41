#include "operator/api/core/core_check.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "operator/api/quantity.h"
#include "operator/base/clock.h"
#include "operator/base/closest_name.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using Kind = CoreField::Kind;
using Many = CoreField::Many;

// Longer values are cut in messages: the path says which one is meant.
constexpr size_t kShownMax = 120;
constexpr char kQuantityHint[] = "such as 2, 500m, 1G for 10^9 or 1Gi for 2^30, without a space";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string Shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kShownMax ? text : text.substr(0, kShownMax) + "…";
}

// As a schema names what a value is.
std::string TypeOf(const Json& value) {
  return value.is_number_integer() ? "integer" : value.type_name();
}

// As Go's decoder does.
std::string GoTypeOfValue(const Json& value) {
  return value.is_boolean() ? "bool" : value.type_name();
}

// As a schema names what a field is.
std::string WantedType(Kind kind) {
  switch (kind) {
    case Kind::kString:
    case Kind::kTime:
      return "string";
    case Kind::kBoolean:
      return "boolean";
    case Kind::kInt32:
    case Kind::kInt64:
      return "integer";
    case Kind::kQuantity:
      return "number,string";
    case Kind::kIntOrString:
      return "integer,string";
    case Kind::kAny:
    case Kind::kStruct:
      break;
  }
  return "object";
}

bool IsWhole(const Json& value, int64_t least, int64_t most) {
  if (value.is_number_unsigned()) return value.get<uint64_t>() <= static_cast<uint64_t>(most);
  if (!value.is_number_integer()) return false;
  return value.get<int64_t>() >= least && value.get<int64_t>() <= most;
}

bool IsInt32(const Json& value) {
  return IsWhole(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
}

bool HasKind(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::kString:
    case Kind::kTime:
      return value.is_string();
    case Kind::kBoolean:
      return value.is_boolean();
    case Kind::kInt32:
      return IsInt32(value);
    case Kind::kInt64:
      return IsWhole(value, std::numeric_limits<int64_t>::min(),
                     std::numeric_limits<int64_t>::max());
    case Kind::kQuantity:
      return value.is_string() || value.is_number();
    case Kind::kIntOrString:
      return value.is_string() || IsInt32(value);
    case Kind::kAny:  // Kept as it is.
      return true;
    case Kind::kStruct:
      break;
  }
  return value.is_object();
}

// How a value of another type came about, and what to write instead.
std::string TypeHint(const Json& value, Many many, Kind kind) {
  if (many == Many::kList) return "write a list, each item after a dash or all of them in [ ]";
  const bool map = many == Many::kMap || kind == Kind::kStruct || kind == Kind::kAny;
  if (map) return value.is_array() ? "write names with values, without dashes" : "";
  if (kind == Kind::kString || kind == Kind::kTime) {
    if (value.is_boolean()) {
      return "YAML reads yes, no, on, off, y, n, true and false as booleans: put quotes around it";
    }
    return value.is_number() ? "put quotes around it: \"" + Shown(value) + "\"" : "";
  }
  if (!value.is_string()) return "";
  const std::string& text = value.get_ref<const std::string&>();
  const bool numeral = !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
  const bool whole = kind == Kind::kInt32 || kind == Kind::kInt64;
  const bool flag = kind == Kind::kBoolean && (text == "true" || text == "false");
  return (whole && numeral) || flag ? "leave out the quotes: " + text : "";
}

// Which name was meant; or where one of this name belongs, if it was indented wrongly.
std::string HintFor(const std::string& name, const CoreType& type, const CoreType* parent) {
  for (const auto& [child, field] : type.fields) {
    if (field.type == nullptr || field.type->Find(name) == nullptr) continue;
    return "it is a field of " + child + (field.many == Many::kList ? "[]" : "");
  }
  if (parent != nullptr && parent->Find(name) != nullptr) return "it belongs one level up";
  const std::string near = DidYouMean(name, type.Names());
  // A later Kubernetes may have it: so it is said which one is meant.
  return near.empty() ? "Kubernetes " + CoreVersion() + " has no such field here" : near;
}

class Check {
 public:
  explicit Check(TypeWords words) : words_(words) {}
  std::vector<FieldError> Take() && { return std::move(errors_); }

  // `parent`: the type that holds it, if any.
  void Struct(const CoreType& type, const CoreType* parent, const Json& value,
              const std::string& path) {
    if (!value.is_null() && !value.is_object()) {
      CoreField field;
      field.kind = Kind::kStruct;
      field.type = &type;
      return WrongType(value, Many::kOne, field, path);
    }
    if (value.is_object()) {
      for (const auto& [name, member] : value.items()) {
        if (Full()) return;
        const std::string place = ChildOf(path, name);
        const CoreField* field = type.Find(name);
        if (field == nullptr) {
          Add(place, kFieldUnknown, "unknown field \"" + place + "\"",
              HintFor(name, type, parent));
        } else {
          Field(*field, type, member, place);
        }
      }
    }
    for (const auto& [name, field] : type.fields) {
      if (field.required && IsLeftOut(value, name, field)) {
        Add(ChildOf(path, name), kFieldRequired, "Required value", "");
      }
    }
  }

 private:
  static std::string ChildOf(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  // An empty text and an empty list are what the decoder makes of nothing.
  static bool IsLeftOut(const Json& owner, const std::string& name, const CoreField& field) {
    if (!owner.is_object()) return true;
    const auto found = owner.find(name);
    if (found == owner.end() || found->is_null()) return true;
    if (field.many == Many::kList) return found->is_array() && found->empty();
    return field.many == Many::kOne && field.kind == Kind::kString && *found == "";
  }

  bool Full() const { return errors_.size() >= kCoreErrorsMax; }

  void Add(const std::string& path, std::string_view reason, std::string message,
           std::string hint) {
    if (Full()) return;
    errors_.push_back({path, std::string(reason), std::move(message), std::move(hint)});
  }

  void WrongType(const Json& value, Many many, const CoreField& field, const std::string& path) {
    const std::string hint = TypeHint(value, many, field.kind);
    if (words_ == TypeWords::kDecoder) {
      CoreField as = field;
      as.many = many;
      Add(path, kMalformed,
          "json: cannot unmarshal " + GoTypeOfValue(value) + " into Go struct field " + path +
              " of type " + GoTypeOf(as),
          hint);
      return;
    }
    const std::string wanted = many == Many::kList  ? "array"
                               : many == Many::kMap ? "object"
                                                    : WantedType(field.kind);
    const std::string is = "\"" + TypeOf(value) + "\"";
    Add(path, kFieldTypeInvalid,
        "Invalid value: " + is + ": " + path + " in body must be of type " + wanted + ": " + is,
        hint);
  }

  void Field(const CoreField& field, const CoreType& of, const Json& value,
             const std::string& path) {
    if (value.is_null()) return;
    switch (field.many) {
      case Many::kOne:
        return One(field, of, value, path);
      case Many::kList:
        if (!value.is_array()) return WrongType(value, field.many, field, path);
        for (size_t i = 0; i < value.size() && !Full(); ++i) {
          One(field, of, value[i], path + "[" + std::to_string(i) + "]");
        }
        return;
      case Many::kMap:
        if (!value.is_object()) return WrongType(value, field.many, field, path);
        for (const auto& [key, member] : value.items()) {
          if (Full()) return;
          One(field, of, member, KeyPath(path, key));
        }
        return;
    }
  }

  // A null item is what the decoder makes of nothing.
  void One(const CoreField& field, const CoreType& of, const Json& value,
           const std::string& path) {
    if (field.kind == Kind::kStruct) return Struct(*field.type, &of, value, path);
    if (value.is_null()) return;
    if (!HasKind(value, field.kind)) return WrongType(value, Many::kOne, field, path);
    if (!value.is_string()) return;
    const std::string& text = value.get_ref<const std::string&>();
    if (field.kind == Kind::kQuantity) Quantity(text, path);
    if (field.kind == Kind::kTime) Time(text, path);
    if (field.kind == Kind::kString && !text.empty()) Word(field, text, path);
  }

  void Quantity(const std::string& text, const std::string& path) {
    const std::string flaw(QuantityFlaw(text));
    if (flaw.empty()) return;
    const std::string shown = Shown(text);
    if (words_ == TypeWords::kDecoder) {
      return Add(path, kMalformed, path + ": " + shown + ": " + flaw, kQuantityHint);
    }
    Add(path, kFieldInvalid, "Invalid value: " + shown + ": " + flaw, kQuantityHint);
  }

  void Time(const std::string& text, const std::string& path) {
    Clock::WallTime time;
    if (ParseRfc3339(text, &time)) return;
    const std::string shown = Shown(text);
    Add(path, words_ == TypeWords::kDecoder ? kMalformed : kFieldInvalid,
        (words_ == TypeWords::kDecoder ? path + ": " + shown : "Invalid value: " + shown) +
            ": must be a time such as \"2026-01-31T12:00:00Z\"",
        "");
  }

  void Word(const CoreField& field, const std::string& text, const std::string& path) {
    const std::vector<std::string>& words = field.words;
    if (words.empty() || std::find(words.begin(), words.end(), text) != words.end()) return;
    std::string supported;
    for (const std::string& word : words) {
      supported += (supported.empty() ? "\"" : ", \"") + word + "\"";
    }
    Add(path, kFieldNotSupported,
        "Unsupported value: " + Shown(text) + ": supported values: " + supported,
        DidYouMean(text, words));
  }

  const TypeWords words_;
  std::vector<FieldError> errors_;
};

}  // namespace

std::vector<FieldError> CheckCore(const CoreType& type, const Json& value, const std::string& path,
                                  TypeWords words) {
  Check check(words);
  check.Struct(type, /*parent=*/nullptr, value, path);
  return std::move(check).Take();
}

void PruneCore(const CoreType& type, Json* value) {
  if (!value->is_object()) return;
  for (auto member = value->begin(); member != value->end();) {
    const CoreField* field = type.Find(member.key());
    if (field == nullptr) {
      member = value->erase(member);
      continue;
    }
    if (field->kind == Kind::kStruct) {
      if (field->many == Many::kOne) {
        PruneCore(*field->type, &*member);
      } else if (member->is_structured()) {
        for (Json& item : *member) PruneCore(*field->type, &item);
      }
    }
    ++member;
  }
}

bool IsQuantity(const std::string& text) { return QuantityFlaw(text).empty(); }

std::string KeyPath(const std::string& path, const std::string& key) {
  const bool plain = key.find_first_of("./[] ") == std::string::npos && !key.empty();
  return plain ? path + "." + key : path + "[" + key + "]";
}

}  // namespace taas
