// One line of `taas doctor`: what was looked at, what was found, what to do about it.
//
// Ownership: values. Threads: any. Errors: none.
//
//   findings.push_back({Finding::Level::kFail, "operator", "none runs", "install the chart"});
//   io.out << FormatFindings(findings);

#ifndef CLI_FINDING_H_
#define CLI_FINDING_H_

#include <string>
#include <vector>

namespace taas {

struct Finding {
  enum class Level { kOk, kWarn, kFail };
  Level level = Level::kOk;
  std::string check;  // "kubeconfig"
  std::string text;
  std::string todo;   // Where level is not ok.

  bool operator==(const Finding&) const = default;
};

// "ok", "warn" or "fail", the check, the text; what to do stands below.
std::string FormatFindings(const std::vector<Finding>& findings);
std::string FindingsJson(const std::vector<Finding>& findings);
bool AnyFails(const std::vector<Finding>& findings);

}  // namespace taas

#endif  // CLI_FINDING_H_
