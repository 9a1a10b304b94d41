#include "localkube/api/selectors.h"

#include <algorithm>
#include <cctype>

#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

// Splits at commas that are not inside parentheses.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (const auto term = Trim(text.substr(start, i - start)); !term.empty()) {
        terms.push_back(term);
      }
      start = i + 1;
    }
  }
  return terms;
}

bool IsLabelKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '/';
  });
}

absl::Status NotUnderstood(std::string_view term) {
  return absl::InvalidArgumentError("unable to parse requirement: \"" + std::string(term) +
                                    "\"; write key=value, key!=value, key in (a,b), key or !key");
}

}  // namespace

absl::StatusOr<Selector::LabelTerm> Selector::ParseLabelTerm(std::string_view text) {
  LabelTerm term;
  if (text.front() == '!') {
    term.op = Operator::kNotExists;
    term.key = std::string(Trim(text.substr(1)));
  } else if (text.back() == ')') {
    const size_t open = text.find('(');
    if (open == std::string_view::npos) return NotUnderstood(text);
    const std::string_view head = Trim(text.substr(0, open));
    const size_t space = head.find_last_of(" \t");
    if (space == std::string_view::npos) return NotUnderstood(text);
    const std::string_view word = head.substr(space + 1);
    if (word != "in" && word != "notin") return NotUnderstood(text);
    term.op = word == "in" ? Operator::kIn : Operator::kNotIn;
    term.key = std::string(Trim(head.substr(0, space)));
    for (std::string_view value : SplitTerms(text.substr(open + 1, text.size() - open - 2))) {
      term.values.insert(std::string(value));
    }
  } else if (const size_t at = text.find('='); at != std::string_view::npos) {
    const bool negated = at > 0 && text[at - 1] == '!';
    const bool twice = at + 1 < text.size() && text[at + 1] == '=';
    term.op = negated ? Operator::kNotIn : Operator::kIn;
    term.key = std::string(Trim(text.substr(0, negated ? at - 1 : at)));
    term.values.insert(std::string(Trim(text.substr(at + (twice ? 2 : 1)))));
  } else {
    term.key = std::string(text);
  }
  if (!IsLabelKey(term.key)) return NotUnderstood(text);
  return term;
}

absl::Status Selector::ParseFields(std::string_view text, const Kind& kind) {
  for (std::string_view term : SplitTerms(text)) {
    const size_t at = term.find('=');
    if (at == std::string_view::npos || at == 0) {
      return absl::InvalidArgumentError("invalid field selector \"" + std::string(term) +
                                        "\"; write path=value or path!=value");
    }
    FieldTerm field;
    field.equal = term[at - 1] != '!';
    field.path = std::string(Trim(term.substr(0, field.equal ? at : at - 1)));
    const bool twice = at + 1 < term.size() && term[at + 1] == '=';
    field.value = std::string(Trim(term.substr(at + (twice ? 2 : 1))));
    const bool known = field.path == "metadata.name" || field.path == "metadata.namespace" ||
                       std::find(kind.selectable.begin(), kind.selectable.end(), field.path) !=
                           kind.selectable.end();
    if (!known) return absl::InvalidArgumentError("field label not supported: " + field.path);
    fields_.push_back(std::move(field));
  }
  return absl::OkStatus();
}

absl::StatusOr<Selector> Selector::Parse(std::string_view labels, std::string_view fields,
                                         const Kind& kind) {
  Selector selector;
  for (std::string_view text : SplitTerms(labels)) {
    ASSIGN_OR_RETURN(LabelTerm term, ParseLabelTerm(text));
    selector.labels_.push_back(std::move(term));
  }
  RETURN_IF_ERROR(selector.ParseFields(fields, kind));
  return selector;
}

bool Selector::Matches(const json& object) const {
  static const json kNone = json::object();
  const auto metadata = object.find("metadata");
  const json* labels = &kNone;
  if (metadata != object.end() && metadata->contains("labels")) labels = &(*metadata)["labels"];
  for (const LabelTerm& term : labels_) {
    const auto found = labels->find(term.key);
    const bool exists = found != labels->end() && found->is_string();
    const bool listed = exists && term.values.count(found->get_ref<const std::string&>()) > 0;
    switch (term.op) {
      case Operator::kExists:
        if (!exists) return false;
        break;
      case Operator::kNotExists:
        if (exists) return false;
        break;
      case Operator::kIn:
        if (!listed) return false;
        break;
      case Operator::kNotIn:  // True where the label is absent, as in Kubernetes.
        if (listed) return false;
        break;
    }
  }
  for (const FieldTerm& term : fields_) {
    if ((FieldText(object, term.path) == term.value) != term.equal) return false;
  }
  return true;
}

std::string Selector::OnlyName() const {
  for (const FieldTerm& term : fields_) {
    if (term.equal && term.path == "metadata.name") return term.value;
  }
  return "";
}

std::string FieldText(const json& object, std::string_view path) {
  const json* value = &object;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
    if (!value->is_object()) return "";
    const auto found = value->find(key);
    if (found == value->end()) return "";
    value = &*found;
  }
  if (value->is_string()) return value->get<std::string>();
  return value->is_null() || value->is_structured() ? "" : value->dump();
}

}  // namespace taas::localkube
