#include "localkube/api/rules/json_patch.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;
using Tokens = std::vector<std::string>;

// Of a path or a value in a message.
constexpr size_t kShownBytesMax = 120;

absl::Status Malformed(const std::string& why) { return absl::InvalidArgumentError(why); }

std::string Shown(const std::string& text) {
  return "\"" + (text.size() <= kShownBytesMax ? text : text.substr(0, kShownBytesMax) + "…") +
         "\"";
}

absl::Status Missing(const std::string& pointer) {
  return Malformed("there is nothing at " + Shown(pointer));
}

// How deep a value is nested: 0 for one that holds no others. Of values that are not too deep.
size_t DepthOf(const json& value) {
  if (!value.is_structured()) return 0;
  size_t deepest = 0;
  for (const json& member : value) deepest = std::max(deepest, DepthOf(member));
  return deepest + 1;
}

absl::StatusOr<Tokens> ParsePointer(const std::string& text) {
  Tokens tokens;
  if (text.empty()) return tokens;
  if (text[0] != '/') return Malformed("the pointer " + Shown(text) + " does not begin with '/'");
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      tokens.emplace_back();
    } else if (text[i] != '~') {
      tokens.back() += text[i];
    } else {
      ++i;
      const bool known = i < text.size() && (text[i] == '0' || text[i] == '1');
      if (!known) return Malformed("in the pointer " + Shown(text) + " ~ is not ~0 or ~1");
      tokens.back() += text[i] == '0' ? '~' : '/';
    }
  }
  if (tokens.size() > kJsonPatchDepthMax) {
    return Malformed("the pointer " + Shown(text) + " is longer than " +
                     std::to_string(kJsonPatchDepthMax) + " levels");
  }
  return tokens;
}

// An index as RFC 6901 writes it: no sign, no leading zero.
std::optional<size_t> IndexOf(const std::string& token) {
  size_t index = 0;
  const char* const end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, index);
  const bool good = error == std::errc() && stop == end && (token[0] != '0' || token.size() == 1);
  return good ? std::optional<size_t>(index) : std::nullopt;
}

// Null: there is nothing.
json* Find(json* value, std::span<const std::string> tokens) {
  for (const std::string& token : tokens) {
    if (value->is_object()) {
      const auto found = value->find(token);
      if (found == value->end()) return nullptr;
      value = &*found;
    } else if (value->is_array()) {
      const auto index = IndexOf(token);
      if (!index.has_value() || *index >= value->size()) return nullptr;
      value = &(*value)[*index];
    } else {
      return nullptr;
    }
  }
  return value;
}

class Patcher {
 public:
  explicit Patcher(json object) : root_(std::move(object)), depth_bound_(DepthOf(root_)) {}

  absl::Status Run(const json& operation);
  json Take() && { return std::move(root_); }

 private:
  // A member of the operation that is a text.
  static absl::StatusOr<std::string> TextOf(const json& operation, const char* member);
  absl::Status Add(const std::string& pointer, json value, size_t depth);
  absl::Status Remove(const std::string& pointer, json* taken);
  absl::Status Replace(const std::string& pointer, const json& value);
  absl::Status Move(const std::string& from, const std::string& to);
  absl::Status Copy(const std::string& from, const std::string& to);
  absl::Status Test(const std::string& pointer, const json& value);
  absl::Status Shift(size_t elements);
  // A value so deep is about to stand below so many levels.
  absl::Status CheckDepth(size_t levels, size_t depth);

  json root_;
  // At least the depth of root_. It grows by estimates, and is measured when it is too large.
  size_t depth_bound_ = 0;
  size_t copied_ = 0;
  size_t shifted_ = 0;
};

absl::StatusOr<std::string> Patcher::TextOf(const json& operation, const char* member) {
  const auto found = operation.find(member);
  if (found == operation.end() || !found->is_string()) {
    return Malformed("the operation has no text \"" + std::string(member) + "\"");
  }
  return found->get<std::string>();
}

absl::Status Patcher::Shift(size_t elements) {
  shifted_ += elements;
  if (shifted_ <= kJsonPatchShiftsMax) return absl::OkStatus();
  return Malformed("the operations move elements of lists more than " +
                   std::to_string(kJsonPatchShiftsMax) +
                   " times; send the whole list as one value");
}

absl::Status Patcher::CheckDepth(size_t levels, size_t depth) {
  if (levels + depth > kJsonPatchDepthMax) {
    return Malformed("the value would be nested deeper than " +
                     std::to_string(kJsonPatchDepthMax) + " levels");
  }
  depth_bound_ = std::max(depth_bound_, levels + depth);
  return absl::OkStatus();
}

absl::Status Patcher::Add(const std::string& pointer, json value, size_t depth) {
  ASSIGN_OR_RETURN(const Tokens tokens, ParsePointer(pointer));
  RETURN_IF_ERROR(CheckDepth(tokens.size(), depth));
  if (tokens.empty()) {
    root_ = std::move(value);
    return absl::OkStatus();
  }
  json* const parent = Find(&root_, std::span(tokens).first(tokens.size() - 1));
  if (parent == nullptr || !parent->is_structured()) return Missing(pointer);
  const std::string& last = tokens.back();
  if (parent->is_object()) {
    (*parent)[last] = std::move(value);
    return absl::OkStatus();
  }
  auto& list = parent->get_ref<json::array_t&>();
  const auto index = last == "-" ? std::optional<size_t>(list.size()) : IndexOf(last);
  if (!index.has_value() || *index > list.size()) {
    return Malformed(Shown(last) + " in " + Shown(pointer) + " is no place in a list of " +
                     std::to_string(list.size()));
  }
  RETURN_IF_ERROR(Shift(list.size() - *index));
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return absl::OkStatus();
}

absl::Status Patcher::Remove(const std::string& pointer, json* taken) {
  ASSIGN_OR_RETURN(const Tokens tokens, ParsePointer(pointer));
  if (tokens.empty()) return Malformed("the whole object cannot be removed");
  json* const parent = Find(&root_, std::span(tokens).first(tokens.size() - 1));
  json* const value = parent == nullptr ? nullptr : Find(parent, std::span(tokens).last(1));
  if (value == nullptr) return Missing(pointer);
  if (taken != nullptr) *taken = std::move(*value);
  if (parent->is_object()) {
    parent->erase(tokens.back());
    return absl::OkStatus();
  }
  auto& list = parent->get_ref<json::array_t&>();
  const size_t index = *IndexOf(tokens.back());
  RETURN_IF_ERROR(Shift(list.size() - index));
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
  return absl::OkStatus();
}

absl::Status Patcher::Replace(const std::string& pointer, const json& value) {
  ASSIGN_OR_RETURN(const Tokens tokens, ParsePointer(pointer));
  json* const place = Find(&root_, tokens);
  if (place == nullptr) return Missing(pointer);
  RETURN_IF_ERROR(CheckDepth(tokens.size(), DepthOf(value)));
  *place = value;
  return absl::OkStatus();
}

absl::Status Patcher::Move(const std::string& from, const std::string& to) {
  if (from == to) {
    ASSIGN_OR_RETURN(const Tokens tokens, ParsePointer(from));
    return Find(&root_, tokens) == nullptr ? Missing(from) : absl::OkStatus();
  }
  json value;
  RETURN_IF_ERROR(Remove(from, &value));
  // Measuring each value would take as long as copying it: its place says how deep it can be.
  const auto levels = [](const std::string& pointer) {
    return static_cast<size_t>(std::count(pointer.begin(), pointer.end(), '/'));
  };
  size_t depth = depth_bound_ - std::min(depth_bound_, levels(from));
  if (levels(to) + depth > kJsonPatchDepthMax) {
    depth = DepthOf(value);
    depth_bound_ = DepthOf(root_);
  }
  return Add(to, std::move(value), depth);
}

absl::Status Patcher::Copy(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const Tokens tokens, ParsePointer(from));
  const json* const value = Find(&root_, tokens);
  if (value == nullptr) return Missing(from);
  copied_ += value->dump(-1, ' ', false, json::error_handler_t::replace).size();
  if (copied_ > kJsonPatchCopyBytesMax) {
    return Malformed("the copy operations of the JSON patch copy more than " +
                     std::to_string(kJsonPatchCopyBytesMax) + " bytes");
  }
  return Add(to, *value, DepthOf(*value));
}

absl::Status Patcher::Test(const std::string& pointer, const json& value) {
  ASSIGN_OR_RETURN(const Tokens tokens, ParsePointer(pointer));
  const json* const found = Find(&root_, tokens);
  if (found != nullptr && *found == value) return absl::OkStatus();
  return Malformed("the value at " + Shown(pointer) + " is another one");
}

absl::Status Patcher::Run(const json& operation) {
  if (!operation.is_object()) return Malformed("the operation is not an object");
  ASSIGN_OR_RETURN(const std::string name, TextOf(operation, "op"));
  ASSIGN_OR_RETURN(const std::string path, TextOf(operation, "path"));
  if (name == "remove") return Remove(path, nullptr);
  if (name == "move" || name == "copy") {
    ASSIGN_OR_RETURN(const std::string from, TextOf(operation, "from"));
    return name == "move" ? Move(from, path) : Copy(from, path);
  }
  if (name != "add" && name != "replace" && name != "test") {
    return Malformed("there is no operation " + Shown(name));
  }
  const auto value = operation.find("value");
  if (value == operation.end()) return Malformed("the operation has no \"value\"");
  if (name == "add") return Add(path, *value, DepthOf(*value));
  return name == "replace" ? Replace(path, *value) : Test(path, *value);
}

}  // namespace

absl::StatusOr<json> ApplyJsonPatch(json object, const json& patch) {
  if (!patch.is_array()) return Malformed("a JSON patch is a list of operations");
  if (patch.size() > kJsonPatchOperationsMax) {
    return Malformed("the JSON patch has more than " + std::to_string(kJsonPatchOperationsMax) +
                     " operations");
  }
  Patcher patcher(std::move(object));
  for (size_t i = 0; i < patch.size(); ++i) {
    if (const absl::Status status = patcher.Run(patch[i]); !status.ok()) {
      return Annotate(status, "operation " + std::to_string(i) + " of the JSON patch");
    }
  }
  return std::move(patcher).Take();
}

}  // namespace taas::localkube
