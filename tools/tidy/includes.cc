#include "tools/tidy/includes.h"

#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "tools/tidy/source_text.h"

namespace taas::tidy {
namespace {

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "#include <vector>" → "vector"; "" for other lines. `code` is the same line without literals.
std::string_view Included(std::string_view line, std::string_view code) {
  const size_t hash = code.find_first_not_of(' ');
  if (hash == std::string_view::npos || code[hash] != '#') return "";
  const size_t word = code.find_first_not_of(' ', hash + 1);
  if (word == std::string_view::npos || !code.substr(word).starts_with("include")) return "";
  const size_t open = line.find_first_of("<\"", word);
  if (open == std::string_view::npos) return "";  // The name is a macro.
  const size_t close = line.find_first_of(">\"", open + 1);
  if (close == std::string_view::npos) return "";
  return line.substr(open + 1, close - open - 1);
}

// Calls `found` with each name in a line, with what qualifies it: "std::ranges::sort", "::close",
// "int64_t". Not with members, and not with what belongs to the result of a template.
template <typename Found>
void ForEachName(std::string_view code, Found found) {
  for (size_t at = 0; at < code.size();) {
    if (!IsWord(code[at])) {
      ++at;
      continue;
    }
    if (IsDigit(code[at])) {  // Its letters are no name.
      while (at < code.size() && (IsWord(code[at]) || code[at] == '\'')) ++at;
      continue;
    }
    const size_t word = at;
    const auto skip_word = [&] {
      while (at < code.size() && IsWord(code[at])) ++at;
    };
    skip_word();
    while (at + 2 < code.size() && code.substr(at, 2) == "::" && IsWord(code[at + 2])) {
      at += 2;
      skip_word();
    }
    const std::string_view before = code.substr(0, word);
    if (before.ends_with('.') || before.ends_with("->")) continue;
    if (!before.ends_with("::")) {
      found(code.substr(word, at - word));
    } else if (before.size() < 3 || before[before.size() - 3] != '>') {
      found(code.substr(word - 2, at - word + 2));
    }
  }
}

// "std::chrono::seconds" is found as "std::chrono", "::std::move" as "std::move"; `name` becomes
// what was found.
std::optional<size_t> FindGroup(const HeaderNames& names, std::string_view& name) {
  if (const auto group = names.Find(name)) return group;
  if (name.starts_with("::")) name.remove_prefix(2);
  for (;;) {
    if (const auto group = names.Find(name)) return group;
    const size_t last = name.rfind("::");
    if (last == std::string_view::npos) return std::nullopt;
    name = name.substr(0, last);
  }
}

}  // namespace

void IncludeGraph::Add(const std::string& path, std::string_view text, std::string_view code) {
  File file;
  std::set<size_t> seen;
  const std::vector<std::string_view> raw_lines = SplitLines(text);
  const std::vector<std::string_view> lines = SplitLines(code);
  for (size_t i = 0; i < lines.size() && i < raw_lines.size(); ++i) {
    if (const std::string_view header = Included(raw_lines[i], lines[i]); !header.empty()) {
      file.includes.emplace_back(header);
      continue;
    }
    ForEachName(lines[i], [&](std::string_view name) {
      const std::optional<size_t> group = FindGroup(names_, name);
      if (!group.has_value() || !seen.insert(*group).second) return;
      file.uses.push_back({*group, static_cast<int>(i + 1), std::string(name)});
    });
  }
  files_[path] = std::move(file);
}

std::set<size_t> IncludeGraph::GroupsReached(const std::string& path) const {
  std::set<size_t> groups;
  std::set<std::string_view> seen = {path};
  std::vector<std::string_view> open = {path};
  while (!open.empty()) {
    const auto file = files_.find(open.back());
    open.pop_back();
    if (file == files_.end()) continue;
    for (const std::string& header : file->second.includes) {
      if (!seen.insert(header).second) continue;
      const std::set<size_t>& brought = names_.BroughtBy(header);
      groups.insert(brought.begin(), brought.end());
      open.push_back(header);
    }
  }
  return groups;
}

std::vector<MissingInclude> IncludeGraph::Missing() const {
  std::vector<MissingInclude> missing;
  for (const auto& [path, file] : files_) {
    const std::set<size_t> reached = GroupsReached(path);
    std::set<std::string> named;  // Two groups can be of one header.
    for (const Use& use : file.uses) {
      const std::string& header = names_.HeaderOf(use.group);
      if (reached.contains(use.group) || !named.insert(header).second) continue;
      missing.push_back({path, use.line, use.name, header});
    }
  }
  return missing;
}

}  // namespace taas::tidy
