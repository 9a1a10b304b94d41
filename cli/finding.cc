#include "cli/finding.h"

#include <algorithm>

#include "third_party/json.h"

namespace taas {
namespace {

const char* LevelName(Finding::Level level) {
  switch (level) {
    case Finding::Level::kOk:
      return "ok";
    case Finding::Level::kWarn:
      return "warn";
    case Finding::Level::kFail:
      break;
  }
  return "fail";
}

}  // namespace

std::string FormatFindings(const std::vector<Finding>& findings) {
  size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.check.size());
  std::string text;
  for (const Finding& finding : findings) {
    std::string level = LevelName(finding.level);
    level.resize(6, ' ');
    std::string check = finding.check;
    check.resize(width + 2, ' ');
    text += level + check + finding.text + "\n";
    if (finding.todo.empty()) continue;
    text += std::string(level.size() + check.size(), ' ') + "-> " + finding.todo + "\n";
  }
  return text;
}

std::string FindingsJson(const std::vector<Finding>& findings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    out.push_back({{"check", finding.check},
                   {"level", LevelName(finding.level)},
                   {"text", finding.text},
                   {"todo", finding.todo}});
  }
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

bool AnyFails(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.level == Finding::Level::kFail;
  });
}

}  // namespace taas
