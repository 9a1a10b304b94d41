#include "tools/tidy/rules.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "tools/tidy/function_length.h"
#include "tools/tidy/includes.h"
#include "tools/tidy/source_text.h"

namespace taas::tidy {
namespace {

constexpr size_t kColumnsMax = 100;
constexpr size_t kFileLinesMax = 800;
// A folder's targets: a list that is looked into by name, not read.
constexpr size_t kBuildLinesMax = 1000;
constexpr int kFunctionLinesMax = 70;
// A library, its test and one more of each can be read from their headers. Where there are more
// parts, no header says how they belong together: a page does.
constexpr int kTargetsWithoutReadmeMax = 5;

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}
bool StartsWith(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}
bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string DirOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool IsHeader(const std::string& path) { return EndsWith(path, ".h"); }
bool IsKernels(const std::string& path) { return EndsWith(path, ".cu"); }
bool IsCpp(const std::string& path) {
  return IsHeader(path) || EndsWith(path, ".cc") || IsKernels(path);
}
bool IsBuild(const std::string& path) { return BaseName(path) == "BUILD"; }
bool IsMarkdown(const std::string& path) { return EndsWith(path, ".md"); }
bool IsCode(const std::string& path) {
  return IsCpp(path) || IsBuild(path) || EndsWith(path, ".bzl") || EndsWith(path, ".proto") ||
         EndsWith(path, ".py") || EndsWith(path, ".ts") || EndsWith(path, ".tsx") ||
         EndsWith(path, ".css");
}

// How many targets a BUILD file declares: calls that begin a line, or a list of one call, and have
// a name. What a macro makes of one call counts once.
int TargetsOf(const std::string& text) {
  static const std::regex call(R"(^\[?([a-z_]+)\()");
  static const std::regex name(R"(\bname = )");
  static const std::set<std::string> no_targets = {"package", "load", "exports_files", "licenses"};
  int targets = 0;
  bool in_call = false;  // Of one whose name has not come yet.
  for (const std::string_view line : SplitLines(text)) {
    std::match_results<std::string_view::const_iterator> match;
    if (std::regex_search(line.begin(), line.end(), match, call)) {
      in_call = no_targets.count(match[1].str()) == 0;
    }
    if (in_call && std::regex_search(line.begin(), line.end(), name)) {
      ++targets;
      in_call = false;
    }
  }
  return targets;
}

// What a heading's link is called where Markdown is shown: small letters, digits, - and _; a hyphen
// for each space; a number for one that stands twice. Letters beyond ASCII stay.
std::set<std::string> HeadingAnchors(const std::string& text) {
  std::set<std::string> anchors;
  std::map<std::string, int> seen;
  bool fenced = false;
  for (const std::string_view line : SplitLines(text)) {
    if (StartsWith(line, "```")) fenced = !fenced;
    const size_t level = line.find_first_not_of('#');
    if (fenced || level == 0 || level == std::string_view::npos || line[level] != ' ') continue;
    std::string anchor;
    for (const char c : line.substr(level + 1)) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == ' ') {
        anchor += '-';
      } else if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80) {
        anchor += static_cast<char>(std::tolower(byte));
      }
    }
    const int before = seen[anchor]++;
    anchors.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
  }
  return anchors;
}

class Checker {
 public:
  explicit Checker(const std::vector<SourceFile>& files) : files_(files) {
    for (const SourceFile& file : files) {
      for (std::string path = file.path; !path.empty(); path = DirOf(path)) paths_.insert(path);
    }
  }

  std::vector<Finding> Run() {
    for (const SourceFile& file : files_) {
      if (IsCode(file.path)) CheckCode(file);
      if (IsCpp(file.path)) CheckCpp(file);
      if (IsHeader(file.path)) CheckHeaderComment(file);
      if (IsMarkdown(file.path)) CheckMarkdown(file);
      if (IsBuild(file.path)) CheckReadme(file);
    }
    CheckHeadersStandAlone();
    CheckSourcesAreListed();
    CheckIncludes();
    std::ranges::stable_sort(findings_, [](const Finding& a, const Finding& b) {
      return std::tie(a.path, a.line) < std::tie(b.path, b.line);
    });
    return std::move(findings_);
  }

 private:
  void Report(const SourceFile& file, size_t line, const char* rule, std::string message) {
    findings_.push_back({file.path, static_cast<int>(line), rule, std::move(message)});
  }

  void CheckCode(const SourceFile& file) {
    const std::vector<std::string_view> lines = SplitLines(file.text);
    const size_t most = file.path == "BUILD" || EndsWith(file.path, "/BUILD") ? kBuildLinesMax
                                                                              : kFileLinesMax;
    if (lines.size() > most) {
      Report(file, lines.size(), "file-size",
             std::to_string(lines.size()) + " lines, want at most " + std::to_string(most) +
                 "; split it by concept");
    }
    static const std::regex todo(R"((//|#)\s*TODO\b(?!\(#[0-9]+\)))");
    for (size_t i = 0; i < lines.size(); ++i) {
      if (Columns(lines[i]) > kColumnsMax) {
        Report(file, i + 1, "line-length",
               std::to_string(Columns(lines[i])) + " columns, want at most 100");
      }
      if (Contains(lines[i], "TODO") &&
          std::regex_search(lines[i].begin(), lines[i].end(), todo)) {
        Report(file, i + 1, "todo-issue", "a TODO names its issue: TODO(#12)");
      }
    }
  }

  void CheckCpp(const SourceFile& file) {
    const std::string code = CodeOnly(file.text);
    includes_.Add(file.path, file.text, code);
    for (const LongFunction& found : FunctionsLongerThan(code, kFunctionLinesMax)) {
      Report(file, static_cast<size_t>(found.line), "function-length",
             std::to_string(found.lines) + " lines, want at most 70; split it");
    }
    const std::vector<std::string_view> lines = SplitLines(code);
    for (size_t i = 0; i < lines.size(); ++i) {
      CheckBanned(file, lines[i], i == 0 ? "" : lines[i - 1], i + 1);
    }
    CheckAdapters(file);
  }

  // Libraries that one file of ours stands before.
  void CheckAdapters(const SourceFile& file) {
    // Paths stand in literals, which code without them does not have.
    static const std::regex cpprest(R"(^\s*#include [<"](cpprest|pplx)/)");
    static const std::regex cli11(R"(^\s*#include [<"]CLI/)");
    const bool may_cpprest = StartsWith(file.path, "operator/kube/cpprest_") ||
                             StartsWith(file.path, "bench/operator/");  // Measures it alone.
    const bool may_cli11 = file.path == "operator/base/command_line.cc" ||
                           file.path == "operator/base/command_usage.cc";
    const std::vector<std::string_view> raw = SplitLines(file.text);
    for (size_t i = 0; i < raw.size(); ++i) {
      if (!Contains(raw[i], "#include")) continue;
      if (!may_cpprest && std::regex_search(raw[i].begin(), raw[i].end(), cpprest)) {
        Report(file, i + 1, "cpprest-include",
               "cpprest is used through operator/kube/transport.h only");
      }
      if (!may_cli11 && std::regex_search(raw[i].begin(), raw[i].end(), cli11)) {
        Report(file, i + 1, "cli11-include",
               "CLI11 takes seconds to compile: operator/base/command_line.h has it");
      }
    }
  }

  // Where printing to standard output is the point.
  static bool IsProgram(const std::string& path) {
    return EndsWith(path, "_test.cc") || BaseName(path) == "main.cc" || Contains(path, "/cmd/") ||
           StartsWith(path, "bench/") || StartsWith(path, "cli/") || Contains(path, "/bench/");
  }

  void CheckBanned(const SourceFile& file, std::string_view line, std::string_view before,
                   size_t number) {
    struct Banned {
      std::regex pattern;
      const char* rule;
      const char* message;
      const char* allowed_in;  // A path prefix; "" for nowhere.
    };
    static const std::vector<Banned> all = {
        {std::regex(R"(\bsleep_(for|until)\b)"), "banned-sleep",
         "waiting is Clock::SleepUntil, or a timer of an Executor", "operator/base/clock.cc"},
        {std::regex(R"(\bsystem_clock::now\b)"), "banned-system-clock",
         "the time comes from Clock::WallNow", "operator/base/clock.cc"},
        {std::regex(R"(\b(std::)?s?rand\s*\()"), "banned-rand", "random numbers come from Random",
         ""},
        {std::regex(R"(\bcatch\s*\(\s*\.\.\.\s*\))"), "banned-catch-all",
         "catch the library's own exception type in its adapter", "operator/kube/cpprest_"},
    };
    for (const Banned& banned : all) {
      const std::string_view allowed = banned.allowed_in;
      if (!allowed.empty() && StartsWith(file.path, allowed)) continue;
      if (std::regex_search(line.begin(), line.end(), banned.pattern)) {
        Report(file, number, banned.rule, banned.message);
      }
    }
    if (Contains(line, "std::cout") && !IsProgram(file.path)) {
      Report(file, number, "banned-cout", "a library logs through operator/base/log.h");
    }
    static const std::regex raw_new(R"((^|[^\w.>])new\s+[\w:(])");
    static const std::regex owner(R"(unique_ptr|shared_ptr|\.reset\()");
    if (Contains(line, "new ") && std::regex_search(line.begin(), line.end(), raw_new)) {
      // A class with a private constructor cannot be made by make_unique.
      const std::string both = std::string(before) + " " + std::string(line);
      if (!std::regex_search(both, owner)) {
        Report(file, number, "banned-new", "use make_unique, a container or a value");
      }
    }
  }

  void CheckHeaderComment(const SourceFile& file) {
    if (StartsWith(file.text, "// ")) return;
    Report(file, 1, "header-comment", "a header opens with a comment that says what it is");
  }

  // The first include of a file is compiled before all others: a header that is first somewhere
  // needs nothing before it.
  void CheckHeadersStandAlone() {
    std::set<std::string> first_includes;
    static const std::regex include(R"(#include "([^"]+)\")");
    for (const SourceFile& file : files_) {
      if (!EndsWith(file.path, ".cc")) continue;
      std::smatch match;
      if (std::regex_search(file.text, match, include)) {
        const std::string before = match.prefix();
        if (!Contains(before, "#include")) first_includes.insert(match[1]);
      }
    }
    for (const SourceFile& file : files_) {
      if (!IsHeader(file.path) || first_includes.count(file.path) != 0) continue;
      Report(file, 1, "header-alone",
             "no .cc includes it first and the compiler refuses it alone");
    }
  }

  void CheckSourcesAreListed() {
    // "dir/x.cc" → how many BUILD files and targets name it.
    std::map<std::string, int> listed;
    static const std::regex source(R"re("([\w./-]+\.(cc|cu))")re");
    for (const SourceFile& file : files_) {
      if (!IsBuild(file.path)) continue;
      const std::string dir = DirOf(file.path);
      for (std::sregex_iterator it(file.text.begin(), file.text.end(), source), end; it != end;
           ++it) {
        ++listed[dir.empty() ? (*it)[1].str() : dir + "/" + (*it)[1].str()];
      }
    }
    for (const SourceFile& file : files_) {
      if (!EndsWith(file.path, ".cc") && !IsKernels(file.path)) continue;
      const int count = listed[file.path];
      // Kernels are compiled for GPUs and for the emulator.
      if (count == 1 || (count > 1 && IsKernels(file.path))) continue;
      Report(file, 1, "build-once",
             count == 0 ? "no BUILD file lists it, so it is not compiled"
                        : "BUILD lists it " + std::to_string(count) + " times, want once");
    }
  }

  void CheckReadme(const SourceFile& build) {
    const int targets = TargetsOf(build.text);
    const std::string dir = DirOf(build.path);
    const std::string readme = dir.empty() ? "README.md" : dir + "/README.md";
    if (targets <= kTargetsWithoutReadmeMax || paths_.count(readme) != 0) return;
    Report(build, 1, "folder-readme",
           std::to_string(targets) + " targets, want at most " +
               std::to_string(kTargetsWithoutReadmeMax) + " without a page: write " + readme +
               " (what the folder is for, where to start, what a change must keep)");
  }

  void CheckIncludes() {
    for (MissingInclude& missing : includes_.Missing()) {
      findings_.push_back({std::move(missing.path), missing.line, "include-missing",
                           missing.name + " needs #include " + missing.header});
    }
  }

  void CheckMarkdown(const SourceFile& file) {
    static const std::regex link(R"(\]\(([^)\s]+)\))");
    const std::vector<std::string_view> lines = SplitLines(file.text);
    bool fenced = false;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (StartsWith(lines[i], "```")) fenced = !fenced;
      if (fenced) continue;
      const std::string line(lines[i]);
      for (std::sregex_iterator it(line.begin(), line.end(), link), end; it != end; ++it) {
        CheckLink(file, i + 1, (*it)[1]);
      }
    }
    if (StartsWith(file.path, "docs/") || !Contains(file.path, "/")) CheckGpuFigures(file);
  }

  void CheckLink(const SourceFile& file, size_t line, std::string target) {
    if (Contains(target, "://") || StartsWith(target, "mailto:")) return;
    const size_t hash = std::min(target.find('#'), target.size());
    const std::string anchor = target.substr(std::min(hash + 1, target.size()));
    target = target.substr(0, hash);
    if (target.empty()) return CheckAnchor(file, line, file.path, anchor);
    std::string path = StartsWith(target, "/") ? "" : DirOf(file.path);
    for (size_t begin = 0; begin <= target.size();) {
      const size_t end = std::min(target.find('/', begin), target.size());
      const std::string part = target.substr(begin, end - begin);
      if (part == "..") {
        path = DirOf(path);
      } else if (!part.empty() && part != ".") {
        path += (path.empty() ? "" : "/") + part;
      }
      begin = end + 1;
    }
    if (!path.empty() && paths_.count(path) == 0) {
      Report(file, line, "markdown-link", "the link leads to " + path + ", which is not there");
    } else if (EndsWith(path, ".md")) {
      CheckAnchor(file, line, path, anchor);
    }
  }

  void CheckAnchor(const SourceFile& file, size_t line, const std::string& page,
                   const std::string& anchor) {
    if (anchor.empty() || AnchorsOf(page).count(anchor) != 0) return;
    Report(file, line, "markdown-link", page + " has no heading for #" + anchor);
  }

  const std::set<std::string>& AnchorsOf(const std::string& page) {
    const auto [entry, is_new] = anchors_.try_emplace(page);
    if (!is_new) return entry->second;
    const auto file = std::ranges::find(files_, page, &SourceFile::path);
    if (file != files_.end()) entry->second = HeadingAnchors(file->text);
    return entry->second;
  }

  // Sections are what stands between two headings.
  void CheckGpuFigures(const SourceFile& file) {
    static const std::regex device(R"(\b(H100|H200|A100|B200|L4|T4|V100|RTX ?\d+)\b)");
    static const std::regex figure(
        R"(\d\s*(µs|us|ms|images/s|examples/s|tokens/s|TFLOP|GFLOP|GB/s)\b)");
    static const std::regex gpu(R"(\bGPUs?\b|\bCUDA\b)");
    static const std::regex clocks(R"(\d\s*MHz)");
    static const std::regex commit(R"(\bcommit\s+`?[0-9a-f]{7,40}\b)");
    std::string section;
    size_t first = 1;
    const auto check = [&] {
      const bool on_gpu =
          std::regex_search(section, device) || std::regex_search(section, gpu);
      if (on_gpu && std::regex_search(section, figure) &&
          !(std::regex_search(section, device) && std::regex_search(section, clocks) &&
            std::regex_search(section, commit))) {
        Report(file, first, "gpu-figure",
               "a figure measured on a GPU names the device, its clocks in MHz and the commit");
      }
    };
    const std::vector<std::string_view> lines = SplitLines(file.text);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (StartsWith(lines[i], "#")) {
        check();
        section.clear();
        first = i + 1;
      }
      section.append(lines[i]).push_back('\n');
    }
    check();
  }

  const std::vector<SourceFile>& files_;
  std::set<std::string> paths_;
  std::map<std::string, std::set<std::string>> anchors_;  // By page, once asked for.
  IncludeGraph includes_;
  std::vector<Finding> findings_;
};

}  // namespace

const std::vector<std::string>& RuleNames() {
  static const std::vector<std::string> names = {
      "line-length",  "function-length",     "file-size",      "todo-issue",
      "banned-sleep", "banned-system-clock", "banned-rand",    "banned-cout",
      "banned-new",   "banned-catch-all",    "cpprest-include", "header-comment",
      "header-alone", "build-once",          "markdown-link",  "gpu-figure",
      "include-missing", "cli11-include",    "folder-readme"};
  return names;
}

std::vector<Finding> CheckTree(const std::vector<SourceFile>& files) {
  return Checker(files).Run();
}

}  // namespace taas::tidy
