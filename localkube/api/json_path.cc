#include "localkube/api/json_path.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

const json* Member(const json* value, std::string_view name) {
  if (!value->is_object()) return nullptr;
  const auto found = value->find(std::string(name));
  return found == value->end() ? nullptr : &*found;
}

std::string_view Unquote(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front()) {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

// `filter`: @.type=="Ready"
const json* Filtered(const json* value, std::string_view filter) {
  const size_t equals = filter.find("==");
  if (!value->is_array() || filter.substr(0, 2) != "@." || equals == std::string_view::npos) {
    return nullptr;
  }
  std::string_view name = filter.substr(2, equals - 2);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  std::string_view wanted = filter.substr(equals + 2);
  while (!wanted.empty() && wanted.front() == ' ') wanted.remove_prefix(1);
  wanted = Unquote(wanted);
  for (const json& item : *value) {
    const json* member = Member(&item, name);
    if (member != nullptr && member->is_string() && member->get<std::string>() == wanted) {
      return &item;
    }
  }
  return nullptr;
}

const json* Bracketed(const json* value, std::string_view inside) {
  if (inside.substr(0, 2) == "?(" && inside.back() == ')') {
    return Filtered(value, inside.substr(2, inside.size() - 3));
  }
  if (const std::string_view name = Unquote(inside); name.size() != inside.size()) {
    return Member(value, name);
  }
  // A slice: the first of what it holds is its beginning.
  if (inside.size() > 1 && inside.back() == ':') inside.remove_suffix(1);
  const bool from_end = inside.size() > 1 && inside.front() == '-';
  if (from_end) inside.remove_prefix(1);
  size_t index = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (error != std::errc() || end != inside.data() + inside.size()) return nullptr;
  if (!value->is_array()) return nullptr;
  if (from_end) index = value->size() - std::min(index, value->size());
  return index < value->size() ? &(*value)[index] : nullptr;
}

}  // namespace

const json* FindJsonPath(const json& object, std::string_view path) {
  if (path.size() >= 2 && path.front() == '{' && path.back() == '}') {
    path = path.substr(1, path.size() - 2);
  }
  const json* value = &object;
  while (!path.empty() && value != nullptr) {
    if (path.front() == '.') {
      path.remove_prefix(1);
      std::string name;  // A dot inside a name is written \.
      size_t i = 0;
      for (; i < path.size() && path[i] != '.' && path[i] != '['; ++i) {
        if (path[i] == '\\' && i + 1 < path.size()) ++i;
        name += path[i];
      }
      path.remove_prefix(i);
      value = Member(value, name);
    } else if (path.front() == '[') {
      const size_t end = path.find(']');
      if (end == std::string_view::npos || end == 1) return nullptr;
      value = Bracketed(value, path.substr(1, end - 1));
      path.remove_prefix(end + 1);
    } else {
      return nullptr;
    }
  }
  return value;
}

}  // namespace taas::localkube
