#include "cli/completion.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <set>

#include "CLI/CLI.hpp"
#include "cli/job_ref.h"
#include "operator/kube/api_path.h"
#include "third_party/json.h"

namespace taas {
namespace {

constexpr char kBash[] = R"sh(# bash completion of taas: source <(taas completion bash)
_taas() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _taas taas
)sh";
constexpr char kZsh[] = R"sh(#compdef taas
# zsh completion of taas: source <(taas completion zsh)
_taas() {
  local -a offered
  offered=(${(f)"$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( ${#offered} )); then compadd -a offered; else _files; fi
}
compdef _taas taas
)sh";
constexpr char kFish[] = R"sh(# fish completion of taas: taas completion fish | source
function __taas_offered
  set -l words (commandline -opc) (commandline -ct)
  $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c taas -a '(__taas_offered)'
)sh";

bool BeginsWith(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

// The option that `word` names; null: none.
const CLI::Option* OptionOf(const CLI::App& app, const std::string& word) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (word == "--" + name) return option;
    }
    for (const std::string& name : option->get_snames()) {
      if (word == "-" + name) return option;
    }
  }
  return nullptr;
}

bool TakesValue(const CLI::Option* option) {
  return option != nullptr && option->get_items_expected_max() > 0;
}

// CLI11 tells the values of IsMember in the name of the type only: "TEXT:{json,yaml}".
std::vector<std::string> MembersOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.find('}', open == std::string::npos ? 0 : open);
  std::vector<std::string> members;
  if (open == std::string::npos || close == std::string::npos) return members;
  std::string member;
  for (size_t i = open + 1; i <= close; ++i) {
    if (type[i] == ',' || i == close) {
      members.push_back(std::move(member));
      member.clear();
    } else {
      member += type[i];
    }
  }
  return members;
}

struct Place {
  const CLI::App* verb = nullptr;
  const CLI::Option* option = nullptr;  // Whose value is to come; null: none's.
  ClusterFlags cluster;
  bool plain = false;  // After "--".
};

Place PlaceOf(const CLI::App& app, const std::vector<std::string>& words) {
  Place place{.verb = &app, .option = nullptr, .cluster = {}, .plain = false};
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") place.plain = true;
    if (place.plain) continue;
    if (place.option != nullptr) {
      if (OptionOf(*place.verb, "--namespace") == place.option) place.cluster.ns = word;
      if (OptionOf(*place.verb, "--kubeconfig") == place.option) place.cluster.kubeconfig = word;
      if (OptionOf(*place.verb, "--context") == place.option) place.cluster.context = word;
      place.option = nullptr;
      continue;
    }
    const CLI::Option* const option = OptionOf(*place.verb, word);
    if (TakesValue(option)) place.option = option;
    if (BeginsWith(word, "-")) continue;
    for (const CLI::App* verb : place.verb->get_subcommands([](const CLI::App*) { return true; })) {
      if (verb->get_name() == word) {
        place.verb = verb;
        break;
      }
    }
  }
  return place;
}

std::vector<std::string> Offered(const Place& place, const std::string& last,
                                 const ClusterNames& names) {
  if (place.plain) return {};
  if (place.option != nullptr) {
    if (place.option == OptionOf(*place.verb, "--namespace")) {
      return names(NameKind::kNamespace, place.cluster);
    }
    return MembersOf(*place.option);
  }
  std::vector<std::string> out;
  if (BeginsWith(last, "-")) {
    for (const CLI::Option* option : place.verb->get_options()) {
      for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    }
    return out;
  }
  for (const CLI::App* verb : place.verb->get_subcommands([](const CLI::App*) { return true; })) {
    if (!verb->get_group().empty()) out.push_back(verb->get_name());
  }
  for (const CLI::Option* option : place.verb->get_options()) {
    const std::string positional = option->get_positional() ? option->get_name(true) : "";
    std::vector<std::string> more;
    if (positional == "JOB") more = names(NameKind::kJob, place.cluster);
    if (positional == "NODE") more = names(NameKind::kNode, place.cluster);
    if (positional == "SHELL") more = MembersOf(*option);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::string NameIn(std::string_view json) {
  const auto object = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto name = nlohmann::json::json_pointer("/metadata/name");
  const bool good = object.is_object() && object.contains(name) && object.at(name).is_string();
  return good ? object.at(name).get<std::string>() : "";
}

std::vector<std::string> AskCluster(const CommandIo& io, NameKind kind, ClusterFlags flags) {
  std::vector<std::string> names;
  const absl::StatusOr<std::unique_ptr<ApiClient>> api = Connect(io, &flags);
  if (!api.ok()) return names;
  const auto add = [&](std::string_view json) {
    names.push_back(NameIn(json));
    return absl::OkStatus();
  };
  // A key was pressed: what does not answer has nothing to offer.
  if (kind == NameKind::kNode) {
    (*api)->List("/api/v1/nodes", "", "list nodes", add).IgnoreError();
  } else if (kind == NameKind::kNamespace) {
    (*api)->List(CollectionPath(Resource::kNamespaces, ""), "", "list namespaces", add)
        .IgnoreError();
  } else {
    ListJobs(**api, flags.ns, {std::begin(kJobKinds), std::end(kJobKinds)}, "",
             [&](JobKind, std::string_view json) { return add(json); })
        .IgnoreError();
  }
  return names;
}

}  // namespace

std::vector<std::string> Completions(const CLI::App& app, const std::vector<std::string>& words,
                                     const ClusterNames& names) {
  const std::string last = words.empty() ? "" : words.back();
  std::set<std::string> out;
  for (std::string& word : Offered(PlaceOf(app, words), last, names)) {
    if (!word.empty() && BeginsWith(word, last)) out.insert(std::move(word));
  }
  return {out.begin(), out.end()};
}

std::string CompletionScript(const std::string& shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
}

void AddCompletionCommand(CLI::App& app, const CommandIo& io) {
  CLI::App* const completion =
      app.add_subcommand("completion", "Print the completion script of a shell");
  auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&io, shell] { io.out << CompletionScript(*shell); });
}

void PrintCompletions(const CLI::App& app, const CommandIo& io,
                      const std::vector<std::string>& words) {
  const ClusterNames names = [&io](NameKind kind, const ClusterFlags& cluster) {
    return AskCluster(io, kind, cluster);
  };
  for (const std::string& word : Completions(app, words, names)) io.out << word << "\n";
}

}  // namespace taas
