#include "operator/api/manifest.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "operator/base/status.h"
#include "operator/base/terminal_text.h"
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

class Converter {
 public:
  absl::StatusOr<Json> Convert(const YAML::Node& node, size_t depth) {
    if (++values_ > kMaxManifestValues) {
      return ErrorAt(node.Mark(), "more than " + std::to_string(kMaxManifestValues) +
                                      " values; anchors repeat too much");
    }
    if (depth > kMaxManifestDepth) {
      return ErrorAt(node.Mark(),
                     "nested more than " + std::to_string(kMaxManifestDepth) + " levels deep");
    }
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return Scalar(node);
      case YAML::NodeType::Sequence: {
        Json out = Json::array();
        for (const YAML::Node& item : node) {
          ASSIGN_OR_RETURN(Json value, Convert(item, depth + 1));
          out.push_back(std::move(value));
        }
        return out;
      }
      case YAML::NodeType::Map:
        return Mapping(node, depth);
      default:
        return Json(nullptr);
    }
  }

 private:
  static absl::StatusOr<Json> Scalar(const YAML::Node& node) {
    const std::string& tag = node.Tag();
    if (tag == "?") {
      if (IsNotFinite(node.Scalar())) return ErrorAt(node.Mark(), "JSON has no " + node.Scalar());
      return PlainScalar(node.Scalar());
    }
    if (tag == "!" || tag == "tag:yaml.org,2002:str" || tag.empty()) return Json(node.Scalar());
    const Json value = PlainScalar(node.Scalar());
    if (tag == "tag:yaml.org,2002:int" && value.is_number_integer()) return value;
    if (tag == "tag:yaml.org,2002:float" && value.is_number()) return Json(value.get<double>());
    if (tag == "tag:yaml.org,2002:bool" && value.is_boolean()) return value;
    if (tag == "tag:yaml.org,2002:null" && value.is_null()) return value;
    return ErrorAt(node.Mark(), "'" + node.Scalar() + "' is not a value of the tag " + tag);
  }

  static absl::StatusOr<std::string> Key(const YAML::Node& node) {
    if (!node.IsScalar()) return ErrorAt(node.Mark(), "a key is a text, not a list or a mapping");
    ASSIGN_OR_RETURN(const Json key, Scalar(node));
    if (key.is_string()) return key.get<std::string>();
    if (key.is_null()) return ErrorAt(node.Mark(), "a key is a text, not null");
    return key.dump();  // As kubectl does with 1: and true:.
  }

  absl::StatusOr<Json> Mapping(const YAML::Node& node, size_t depth) {
    Json out = Json::object();
    std::vector<Json> merged;
    for (const auto& entry : node) {
      const bool merge = entry.first.IsScalar() && entry.first.Tag() == "?" &&
                         entry.first.Scalar() == "<<";
      ASSIGN_OR_RETURN(const std::string key, merge ? std::string("<<") : Key(entry.first));
      ASSIGN_OR_RETURN(Json value, Convert(entry.second, depth + 1));
      if (merge) {
        RETURN_IF_ERROR(AddMerged(entry.second, std::move(value), &merged));
      } else if (!out.emplace(key, std::move(value)).second) {
        return ErrorAt(entry.first.Mark(), "key \"" + key + "\" stands twice in one mapping");
      }
    }
    for (const Json& source : merged) {
      for (const auto& [key, value] : source.items()) out.emplace(key, value);  // Own keys win.
    }
    return out;
  }

  static absl::Status AddMerged(const YAML::Node& node, Json value, std::vector<Json>* merged) {
    if (value.is_object()) {
      merged->push_back(std::move(value));
      return absl::OkStatus();
    }
    for (Json& one : value) {
      if (!one.is_object()) return ErrorAt(node.Mark(), "<< merges mappings only");
      merged->push_back(std::move(one));
    }
    return value.is_array() ? absl::OkStatus() : ErrorAt(node.Mark(), "<< merges mappings only");
  }

  size_t values_ = 0;
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
  std::vector<std::string> out;
  try {
    Converter converter;
    for (const YAML::Node& node : YAML::LoadAll(std::string(yaml))) {
      ASSIGN_OR_RETURN(const Json document, converter.Convert(node, 0));
      AddDocument(document, &out);
    }
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
