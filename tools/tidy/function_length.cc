#include "tools/tidy/function_length.h"

#include <regex>
#include <string>

namespace taas::tidy {
namespace {

// Whether the brace after `head`, the text since the last statement, opens a function. Namespaces,
// classes and initialisers are open ground in which functions are looked for.
bool OpensFunction(const std::string& head) {
  static const std::regex open_ground(
      R"(^\s*((public|private|protected):\s*)?(template\s*<.*>\s*)?(inline\s+)?)"
      R"((namespace|class|struct|union|enum|extern)\b)");
  static const std::regex initialiser(R"(=\s*$)");
  static const std::regex returns_struct(R"(^\s*struct\b[^;{]*\()");
  if (head.find('(') == std::string::npos) return false;
  if (std::regex_search(head, initialiser)) return false;
  return !std::regex_search(head, open_ground) || std::regex_search(head, returns_struct);
}

}  // namespace

std::vector<LongFunction> FunctionsLongerThan(std::string_view code, int lines_max) {
  std::vector<LongFunction> found;
  std::string head;
  int line = 1;
  int depth = 0;           // Of braces.
  int function_depth = 0;  // The depth inside the current function; 0: in none.
  int function_line = 0;
  bool directive = false;  // In a preprocessor line.
  char before = '\n';
  for (const char c : code) {
    if (c == '#' && (head.empty() || head.back() == ' ')) directive = true;
    if (c == '\n') {
      ++line;
      directive = directive && before == '\\';
    }
    before = c;
    if (directive) continue;
    if (c == '{') {
      ++depth;
      if (function_depth == 0 && OpensFunction(head)) {
        function_depth = depth;
        function_line = line;
      }
      head.clear();
    } else if (c == '}') {
      if (depth == function_depth && function_depth != 0) {
        const int lines = line - function_line + 1;
        if (lines > lines_max) found.push_back({function_line, lines});
        function_depth = 0;
      }
      --depth;
      head.clear();
    } else if (c == ';') {
      head.clear();
    } else if (function_depth == 0) {
      const bool space = c == ' ' || c == '\n';
      if (!space || (!head.empty() && head.back() != ' ')) head.push_back(space ? ' ' : c);
    }
  }
  return found;
}

}  // namespace taas::tidy
