#include "operator/api/rule_twin.h"

#include <algorithm>
#include <utility>

namespace taas {
namespace {

using Json = nlohmann::json;

// A value that a rule is attached to, and its predecessor.
struct Place {
  std::string path;
  const Json* self;
  const Json* old;
};

const Json* Member(const Json* from, const std::string& key) {
  if (from == nullptr || !from->is_object()) return nullptr;
  const auto member = from->find(key);
  return member == from->end() ? nullptr : &*member;
}

std::vector<Place> Items(const Place& list) {
  std::vector<Place> places;
  if (!list.self->is_array()) return places;
  // No rule compares an item with an earlier one.
  for (size_t i = 0; i < list.self->size(); ++i) {
    places.push_back({list.path + "[" + std::to_string(i) + "]", &(*list.self)[i], nullptr});
  }
  return places;
}

std::vector<Place> Values(const Place& map) {
  std::vector<Place> places;
  if (!map.self->is_object()) return places;
  for (auto member = map.self->begin(); member != map.self->end(); ++member) {
    const std::string& key = member.key();
    places.push_back({map.path + "[" + key + "]", &*member, Member(map.old, key)});
  }
  return places;
}

// What a server shows in place of the value.
std::string TypeName(const Json& value) {
  return value.is_number_integer() ? "integer" : value.type_name();
}

// The values that `at` means.
std::vector<Place> Places(const std::string& at, const Json& object, const Json* old) {
  std::vector<Place> places = {{"", &object, old}};
  size_t from = 0;
  while (from < at.size()) {
    const size_t dot = std::min(at.find('.', from), at.size());
    std::string key = at.substr(from, dot - from);
    from = dot + 1;
    const std::string end = key.size() > 2 ? key.substr(key.size() - 2) : "";
    if (end == "[]" || end == "{}") key.resize(key.size() - 2);
    std::vector<Place> next;
    for (const Place& place : places) {
      const Json* self = Member(place.self, key);
      if (self == nullptr) continue;
      const Place child = {place.path.empty() ? key : place.path + "." + key, self,
                           Member(place.old, key)};
      const std::vector<Place> below = end == "[]"   ? Items(child)
                                       : end == "{}" ? Values(child)
                                                     : std::vector<Place>{child};
      next.insert(next.end(), below.begin(), below.end());
    }
    places = std::move(next);
  }
  return places;
}

}  // namespace

const Json& ValueAt(const Json& from, std::initializer_list<const char*> keys) {
  static const Json null;
  const Json* value = &from;
  for (const char* key : keys) {
    value = Member(value, key);
    if (value == nullptr) return null;
  }
  return *value;
}

int64_t NumberAt(const Json& from, std::initializer_list<const char*> keys) {
  const Json& value = ValueAt(from, keys);
  return value.is_number() ? value.get<int64_t>() : 0;
}

std::vector<FieldError> BrokenTwins(const std::vector<RuleTwin>& twins, const Json& object,
                                    const Json* old) {
  std::vector<FieldError> errors;
  for (const RuleTwin& twin : twins) {
    for (const Place& place : Places(twin.at, object, old)) {
      if (twin.holds(*place.self, place.old)) continue;
      std::string path = place.path + twin.field;
      if (!path.empty() && path.front() == '.') path.erase(0, 1);
      errors.push_back({path, std::string(kFieldInvalid),
                        "Invalid value: \"" + TypeName(*place.self) + "\": " +
                            (twin.says ? twin.says(*place.self) : twin.message)});
      if (twin.hint) errors.back().hint = twin.hint(*place.self);
    }
  }
  return errors;
}

}  // namespace taas
