// Label and field selectors: which objects a list or a watch is about.
//
// Labels: "a=b", "a==b", "a!=b", "a in (x,y)", "a notin (x)", "a", "!a", joined by commas. Fields:
// "path=value", "path!=value". An empty selector matches everything.
//
// Ownership: values. Threads: const methods from any thread. Errors: InvalidArgument with what was
// not
// understood.
//
//   ASSIGN_OR_RETURN(const auto selector, Selector::Parse("app=a", "status.phase!=Running", kind));
//   if (selector.Matches(object)) …

#ifndef LOCALKUBE_API_SELECTORS_H_
#define LOCALKUBE_API_SELECTORS_H_

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "localkube/api/kinds.h"

namespace taas::localkube {

class Selector {
 public:
  Selector() = default;
  static absl::StatusOr<Selector> Parse(std::string_view labels, std::string_view fields,
                                        const Kind& kind);

  bool empty() const { return labels_.empty() && fields_.empty(); }
  bool Matches(const nlohmann::json& object) const;
  // metadata.name=NAME stands among the fields: NAME, else empty.
  std::string OnlyName() const;

 private:
  enum class Operator { kIn, kNotIn, kExists, kNotExists };
  struct LabelTerm {
    std::string key;
    Operator op = Operator::kExists;
    std::set<std::string> values;
  };
  struct FieldTerm {
    std::string path;
    std::string value;
    bool equal = true;
  };

  static absl::StatusOr<LabelTerm> ParseLabelTerm(std::string_view text);
  absl::Status ParseFields(std::string_view text, const Kind& kind);

  std::vector<LabelTerm> labels_;
  std::vector<FieldTerm> fields_;
};

// The value at a dotted path as a field selector sees it: numbers and booleans as text, absent as
// "".
std::string FieldText(const nlohmann::json& object, std::string_view path);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_SELECTORS_H_
