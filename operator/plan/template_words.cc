#include "operator/plan/template_words.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "operator/api/core/core_fields.h"
#include "operator/api/dialect.h"
#include "operator/api/template_check.h"
#include "operator/base/utf8.h"

namespace taas {
namespace {

// Of one role; further ones are counted. A status and an event are to hold them.
constexpr size_t kToldMax = 6;
constexpr size_t kWordsBytesMax = 600;

std::string PathOf(const Job& job, Role role) {
  const char* roles = job.kind == JobKind::kTfJob ? "spec.tfReplicaSpecs." : "spec.roles.";
  return roles + std::string(RoleKeyIn(job, role));
}

// "spec.containers[3].env[0].name" as "spec.containers.env.name".
std::string WithoutIndices(std::string_view path) {
  std::string out;
  bool within = false;
  for (const char c : path) {
    if (c == '[') within = true;
    if (!within) out += c;
    if (c == ']') within = false;
  }
  return out;
}

// The path in `unknown field "PATH"`; empty: the words are others.
std::string UnknownIn(std::string_view words) {
  constexpr std::string_view kUnknown = "unknown field \"";
  if (!words.starts_with(kUnknown)) return "";
  words.remove_prefix(kUnknown.size());
  return std::string(words.substr(0, words.find('"')));
}

// "PATH: Invalid value: 2: should be …": a server's words say the path once more.
std::string WithItsPathOnce(const FieldError& error) {
  std::string text = FormatFieldError(error);
  const std::string again = error.path + " in body ";
  const size_t at = text.find(again, error.path.size());
  return at == std::string::npos ? text : text.erase(at, again.size());
}

// Texts one after the other, each once.
class Listed {
 public:
  void Add(const std::string& text) {
    if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) texts_.push_back(text);
  }
  bool empty() const { return texts_.empty(); }
  std::string Text() const {
    std::string out;
    for (size_t i = 0; i < texts_.size() && i < kToldMax; ++i) {
      out += (i == 0 ? "" : "; ") + texts_[i];
    }
    if (out.size() > kWordsBytesMax) {
      out = std::string(CutToCharacter(out, kWordsBytesMax)) + "…";
    }
    const size_t left = texts_.size() - std::min(texts_.size(), kToldMax);
    return left == 0 ? out : out + "; and " + std::to_string(left) + " more";
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

std::string TemplatePathOf(const Job& job, Role role) { return PathOf(job, role) + ".template"; }

TemplateWarning TellWarnings(const Job& job, Role role, const std::vector<std::string>& warnings) {
  TemplateWarning out;
  if (warnings.empty()) return out;
  const std::vector<FieldError> errors = CheckTemplate(job, role, TemplatePathOf(job, role));
  const std::string base = TemplatePathOf(job, role) + ".";
  Listed listed;
  for (const std::string& words : warnings) {
    const std::string path = UnknownIn(words);
    out.of_fields = out.of_fields || !path.empty() || words.starts_with("duplicate field");
    bool known = false;
    for (const FieldError& error : errors) {
      if (path.empty() || error.reason != kFieldUnknown) continue;
      if (WithoutIndices(error.path) != WithoutIndices(base + path)) continue;
      listed.Add(FormatFieldError(error));
      known = true;
    }
    if (known) continue;
    const std::string hint = path.empty() ? "" : HintForPodField(path);
    listed.Add(hint.empty() ? words : words + " (" + hint + ")");
  }
  out.text = "the API server warns of the pods made of " + TemplatePathOf(job, role) + ": " +
             listed.Text() + (out.of_fields ? "; unknown fields have no effect" : "");
  return out;
}

std::string TellRefusal(const Job& job, Role role, const std::string& refusal) {
  Listed listed;
  for (const FieldError& error : CheckTemplate(job, role, TemplatePathOf(job, role))) {
    if (error.reason != kFieldUnknown) listed.Add(WithItsPathOnce(error));
  }
  if (listed.empty()) {
    return refusal + " (the pod is made of " + TemplatePathOf(job, role) + ")";
  }
  return listed.Text() + " (so the API server refuses its pods: " + refusal + ")";
}

}  // namespace taas
