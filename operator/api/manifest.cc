#include "operator/api/manifest.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "operator/base/status.h"
#include "operator/base/terminal_text.h"
#include "operator/base/utf8.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

std::string Where(const YAML::Mark& mark) {
  if (mark.is_null()) return "";
  return "line " + std::to_string(mark.line + 1) + ", column " + std::to_string(mark.column + 1) +
         ": ";
}

absl::Status ErrorAt(const YAML::Mark& mark, const std::string& what) {
  return absl::InvalidArgumentError("read YAML: " + Where(mark) + what);
}

// The words that stand for something else than themselves; kubectl's reader knows those of YAML
// 1.1.
const std::map<std::string, Json>& Words() {
  static const std::map<std::string, Json> words = [] {
    std::map<std::string, Json> out;
    for (const char* word : {"", "~", "null", "Null", "NULL"}) out[word] = nullptr;
    for (const char* word :
         {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}) {
      out[word] = true;
    }
    for (const char* word :
         {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}) {
      out[word] = false;
    }
    return out;
  }();
  return words;
}

// Digits in base 2, 8, 10 or 16 as their prefix says: 0x, 0o, 0 followed by more, 0b.
std::optional<Json> ParseInteger(std::string text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.erase(0, 1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(std::tolower(static_cast<unsigned char>(text[1])));
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.erase(0, mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  uint64_t magnitude = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, magnitude, base);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  constexpr uint64_t kLowest = uint64_t{1} << 63;
  if (!negative) {
    if (magnitude < kLowest) return Json(static_cast<int64_t>(magnitude));
    return Json(magnitude);
  }
  if (magnitude > kLowest) return std::nullopt;
  return Json(static_cast<int64_t>(~magnitude + 1));
}

// [-+]? (\.[0-9]+ | [0-9]+(\.[0-9]*)?) ([eE][-+]?[0-9]+)?
bool LooksLikeFloat(const std::string& text) {
  size_t at = 0;
  const auto sign = [&] {
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  };
  const auto digits = [&] {
    const size_t from = at;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]))) ++at;
    return at - from;
  };
  sign();
  const size_t whole = digits();
  size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits();
  }
  if (whole + fraction == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    sign();
    if (digits() == 0) return false;
  }
  return at == text.size();
}

std::optional<Json> ParseFloat(std::string text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text[0] == '+') text.erase(0, 1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return Json(value);
}

// What a scalar without quotes means.
Json PlainScalar(const std::string& text) {
  if (const auto word = Words().find(text); word != Words().end()) return word->second;
  const auto first = static_cast<unsigned char>(text[0]);
  if (!std::isdigit(first) && first != '-' && first != '+' && first != '.') return text;
  std::string plain;
  for (const char c : text) {
    if (c != '_' || first == '.') plain += c;
  }
  if (std::optional<Json> number = ParseInteger(plain)) return *std::move(number);
  if (std::optional<Json> number = ParseFloat(plain)) return *std::move(number);
  return text;
}

// What JSON cannot say; kubectl refuses these, too.
bool IsNotFinite(const std::string& text) {
  const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::string rest = text.substr(sign);
  if (rest == ".inf" || rest == ".Inf" || rest == ".INF") return true;
  return text == ".nan" || text == ".NaN" || text == ".NAN";
}

// As much of a text as a message needs to name it.
std::string Named(const std::string& text) {
  constexpr size_t kNamedBytesMax = 100;
  if (text.size() <= kNamedBytesMax) return text;
  return std::string(CutToCharacter(text, kNamedBytesMax)) + "…";
}

// How long it is as JSON: control characters get six bytes.
size_t JsonBytes(const std::string& text) {
  size_t bytes = 2;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    bytes += byte < 0x20 ? 6 : c == '"' || c == '\\' ? 2 : 1;
  }
  return bytes;
}

struct Size {
  size_t values = 0;
  size_t bytes = 0;
};

// Makes the documents' JSON while the text is read. Whatever an alias would repeat is counted
// before it is copied, so that a small text costs little whatever it says.
class Reader : public YAML::EventHandler {
 public:
  // Thrown through the parser, which knows exceptions only, and caught beside its own.
  struct Refusal {
    absl::Status status;
  };

  explicit Reader(std::function<void(const Json&)> on_document)
      : on_document_(std::move(on_document)) {}

  void OnDocumentStart(const YAML::Mark&) override {
    anchors_.clear();
    document_ = nullptr;
  }
  void OnDocumentEnd() override { on_document_(document_); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Count(mark, {1, 4});
    Finish(mark, nullptr, anchor, {1, 4}, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const Size size{1, JsonBytes(text)};
    Count(mark, size);
    if (ExpectsKey() && tag == "?" && text == "<<") {
      open_.back().key_mark = mark;
      open_.back().key = Key{.merge = true};
      return;
    }
    Finish(mark, Scalar(mark, tag, text), anchor, size, 0);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Refuse(mark, "an alias inside of what it stands for");
    const Anchored& named = found->second;
    Count(mark, named.size);
    CheckDepth(mark, named.depth);
    Finish(mark, named.value, YAML::NullAnchor, named.size, named.depth);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, Json::array(), anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, Json::object(), anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Key {
    std::string text;
    bool merge = false;  // "<<": the value's members become this mapping's, unless it has them.
  };
  // A list or a mapping that has begun.
  struct Level {
    Json value;
    YAML::Mark mark;
    YAML::anchor_t anchor = YAML::NullAnchor;
    Size before;        // What had been counted when it began.
    size_t depth = 0;   // Of the deepest below.
    YAML::Mark key_mark;
    std::optional<Key> key;
    std::vector<Json> merged;
  };
  struct Anchored {
    Json value;
    Size size;
    size_t depth = 0;
  };

  [[noreturn]] static void Refuse(const YAML::Mark& mark, const std::string& what) {
    throw Refusal{ErrorAt(mark, what)};
  }

  bool ExpectsKey() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().key.has_value();
  }

  void Count(const YAML::Mark& mark, const Size& more) {
    made_.values += more.values;
    made_.bytes += more.bytes;
    CheckSize(mark);
    CheckDepth(mark, 0);
  }

  void CheckSize(const YAML::Mark& mark) const {
    if (made_.values + kept_.values > kMaxManifestValues) {
      Refuse(mark, "more than " + std::to_string(kMaxManifestValues) +
                       " values; anchors repeat too much");
    }
    if (made_.bytes + kept_.bytes > kMaxManifestExpandedBytes) {
      Refuse(mark, "its aliases expand to more than " +
                       std::to_string(kMaxManifestExpandedBytes) +
                       " bytes; write what they repeat less often");
    }
  }

  void CheckDepth(const YAML::Mark& mark, size_t below) const {
    if (open_.size() + below > kMaxManifestDepth) {
      Refuse(mark, "nested more than " + std::to_string(kMaxManifestDepth) + " levels deep");
    }
  }

  void Open(const YAML::Mark& mark, Json value, YAML::anchor_t anchor) {
    const Size before = made_;
    Count(mark, {1, 2});
    open_.push_back({.value = std::move(value), .mark = mark, .anchor = anchor, .before = before});
  }

  void Close() {
    Level level = std::move(open_.back());
    open_.pop_back();
    for (Json& source : level.merged) {
      // Own keys win, and earlier sources.
      for (auto& [key, value] : source.items()) level.value.emplace(key, std::move(value));
    }
    const Size size{made_.values - level.before.values, made_.bytes - level.before.bytes};
    Finish(level.mark, std::move(level.value), level.anchor, size, level.depth + 1);
  }

  // A value is whole: it goes to where it stands, and is kept if an alias may ask for it.
  void Finish(const YAML::Mark& mark, Json value, YAML::anchor_t anchor, const Size& size,
              size_t depth) {
    if (anchor != YAML::NullAnchor) {
      kept_.values += size.values;
      kept_.bytes += size.bytes;
      CheckSize(mark);
      anchors_[anchor] = {value, size, depth};
    }
    if (open_.empty()) {
      document_ = std::move(value);
      return;
    }
    Level& level = open_.back();
    level.depth = std::max(level.depth, depth);
    if (level.value.is_array()) {
      level.value.push_back(std::move(value));
    } else if (!level.key.has_value()) {
      level.key_mark = mark;
      level.key = Key{.text = KeyText(mark, value)};
    } else {
      AddMember(mark, std::move(value), &level);
    }
  }

  static void AddMember(const YAML::Mark& mark, Json value, Level* level) {
    const Key key = *std::exchange(level->key, std::nullopt);
    if (key.merge) {
      AddMerged(mark, std::move(value), &level->merged);
    } else if (!level->value.emplace(key.text, std::move(value)).second) {
      Refuse(level->key_mark, "key \"" + Named(key.text) + "\" stands twice in one mapping");
    }
  }

  static void AddMerged(const YAML::Mark& mark, Json value, std::vector<Json>* merged) {
    if (value.is_object()) return merged->push_back(std::move(value));
    if (!value.is_array()) Refuse(mark, "<< merges mappings only");
    for (Json& one : value) {
      if (!one.is_object()) Refuse(mark, "<< merges mappings only");
      merged->push_back(std::move(one));
    }
  }

  static std::string KeyText(const YAML::Mark& mark, const Json& value) {
    if (value.is_structured()) Refuse(mark, "a key is a text, not a list or a mapping");
    if (value.is_null()) Refuse(mark, "a key is a text, not null");
    return value.is_string() ? value.get<std::string>() : value.dump();  // As kubectl: 1:, true:.
  }

  static Json Scalar(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
    if (tag == "?") {
      if (IsNotFinite(text)) Refuse(mark, "JSON has no " + text);
      return PlainScalar(text);
    }
    if (tag == "!" || tag == "tag:yaml.org,2002:str" || tag.empty()) return text;
    Json value = PlainScalar(text);
    if (tag == "tag:yaml.org,2002:int" && value.is_number_integer()) return value;
    if (tag == "tag:yaml.org,2002:float" && value.is_number()) return value.get<double>();
    if (tag == "tag:yaml.org,2002:bool" && value.is_boolean()) return value;
    if (tag == "tag:yaml.org,2002:null" && value.is_null()) return value;
    Refuse(mark, "'" + Named(text) + "' is not a value of the tag " + Named(tag));
  }

  const std::function<void(const Json&)> on_document_;
  Json document_;
  std::vector<Level> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  Size made_;  // In all documents, aliases as what they stand for.
  Size kept_;  // For aliases.
};

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void AddDocument(const Json& document, std::vector<std::string>* out) {
  if (document.is_null()) return;
  const bool list = document.is_object() && document.value("kind", Json()) == "List" &&
                    document.contains("items") && document["items"].is_array();
  if (!list) {
    out->push_back(Dump(document));
    return;
  }
  for (const Json& item : document["items"]) out->push_back(Dump(item));
}

// A text that means itself when it is written without quotes.
bool IsPlainText(const std::string& text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (!PlainScalar(text).is_string()) return false;
  // The first characters of "<<", "---" and "..." are among these.
  if (std::string("-?:,[]{}#&*!|<>'\"%@`=+.0123456789").find(text.front()) != std::string::npos) {
    return false;
  }
  // Between quotes a character that is not to reach a terminal can be written as \u202e.
  if (TerminalCell(text) != text) return false;
  return text.find(": ") == std::string::npos && text.find(" #") == std::string::npos;
}

std::string ScalarYaml(const Json& value) {
  if (!value.is_string() || !IsPlainText(value.get_ref<const std::string&>())) return Dump(value);
  return value.get<std::string>();
}

void WriteYaml(const Json& value, size_t indent, std::string* out);

// Writes what follows "key:" or "-".
void WriteMember(const Json& value, size_t indent, bool in_list, std::string* out) {
  if (!value.is_structured() || value.empty()) {
    *out += " " + ScalarYaml(value) + "\n";
  } else if (in_list && value.is_object()) {
    // The first key stands on the line of the dash.
    std::string block;
    WriteYaml(value, indent + 2, &block);
    *out += " " + block.substr(indent + 2);
  } else {
    *out += "\n";
    WriteYaml(value, value.is_array() && !in_list ? indent : indent + 2, out);
  }
}

void WriteYaml(const Json& value, size_t indent, std::string* out) {
  const std::string margin(indent, ' ');
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, member] : value.items()) {
      *out += margin + ScalarYaml(Json(key)) + ":";
      WriteMember(member, indent, false, out);
    }
  } else if (value.is_array() && !value.empty()) {
    for (const Json& item : value) {
      *out += margin + "-";
      WriteMember(item, indent, true, out);
    }
  } else {
    *out += margin + ScalarYaml(value) + "\n";
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ManifestDocuments(std::string_view yaml) {
  if (yaml.size() > kMaxManifestBytes) {
    return absl::InvalidArgumentError("read YAML: " + std::to_string(yaml.size()) +
                                      " bytes; at most " + std::to_string(kMaxManifestBytes) +
                                      " are taken");
  }
  const auto marks = static_cast<size_t>(std::count_if(yaml.begin(), yaml.end(), [](char c) {
    return c == '[' || c == ']' || c == '{' || c == '}' || c == ',';
  }));
  if (marks > kMaxManifestMarks) {
    return absl::InvalidArgumentError("read YAML: " + std::to_string(marks) +
                                      " brackets, braces and commas; at most " +
                                      std::to_string(kMaxManifestMarks) +
                                      " are taken: write long lists with a line for each item");
  }
  std::vector<std::string> out;
  Reader reader([&out](const Json& document) { AddDocument(document, &out); });
  try {
    std::istringstream text{std::string(yaml)};
    YAML::Parser parser(text);
    while (parser.HandleNextDocument(reader)) {
    }
  } catch (const Reader::Refusal& refusal) {
    return refusal.status;
  } catch (const YAML::Exception& error) {
    return ErrorAt(error.mark, error.msg);
  }
  return out;
}

absl::StatusOr<std::string> JsonToYaml(std::string_view json) {
  const Json value = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return absl::InvalidArgumentError("write YAML: the text is not JSON");
  std::string out;
  WriteYaml(value, 0, &out);
  return out;
}

}  // namespace taas
