#include "cli/completion.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <set>

#include "cli/job_ref.h"
#include "operator/base/command_line.h"
#include "operator/kube/api_path.h"
#include "operator/api/json_field.h"
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

// The option that `word` names.
std::optional<Option> OptionOf(const Command& app, const std::string& word) {
  for (const Option& option : app.options()) {
    for (const std::string& name : option.long_names()) {
      if (word == "--" + name) return option;
    }
    for (const std::string& name : option.short_names()) {
      if (word == "-" + name) return option;
    }
  }
  return std::nullopt;
}

struct Place {
  Command verb;
  std::optional<Option> option;  // Whose value is to come.
  ClusterFlags cluster;
  bool plain = false;  // After "--".
};

Place PlaceOf(const Command& app, const std::vector<std::string>& words) {
  Place place{.verb = app, .option = std::nullopt, .cluster = {}, .plain = false};
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") place.plain = true;
    if (place.plain) continue;
    if (place.option.has_value()) {
      if (OptionOf(place.verb, "--namespace") == place.option) place.cluster.ns = word;
      if (OptionOf(place.verb, "--kubeconfig") == place.option) place.cluster.kubeconfig = word;
      if (OptionOf(place.verb, "--context") == place.option) place.cluster.context = word;
      place.option = std::nullopt;
      continue;
    }
    const std::optional<Option> option = OptionOf(place.verb, word);
    if (option.has_value() && option->takes_value()) place.option = option;
    if (BeginsWith(word, "-")) continue;
    for (const Command& verb : place.verb.commands()) {
      if (verb.name() == word) {
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
  if (place.option.has_value()) {
    if (place.option == OptionOf(place.verb, "--namespace")) {
      return names(NameKind::kNamespace, place.cluster);
    }
    return place.option->choices();
  }
  std::vector<std::string> out;
  if (BeginsWith(last, "-")) {
    for (const Option& option : place.verb.options()) {
      for (const std::string& name : option.long_names()) out.push_back("--" + name);
    }
    return out;
  }
  for (const Command& verb : place.verb.commands()) {
    if (!verb.hidden()) out.push_back(verb.name());
  }
  for (const Option& option : place.verb.options()) {
    const std::string positional = option.positional_name();
    std::vector<std::string> more;
    if (positional == "JOB") more = names(NameKind::kJob, place.cluster);
    if (positional == "NODE") more = names(NameKind::kNode, place.cluster);
    if (positional == "SHELL") more = option.choices();
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::string NameIn(std::string_view json) {
  const absl::StatusOr<nlohmann::json> object = ParseJsonObject(json);
  const auto name = nlohmann::json::json_pointer("/metadata/name");
  const bool good = object.ok() && object->contains(name) && object->at(name).is_string();
  return good ? object->at(name).get<std::string>() : "";
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

std::vector<std::string> Completions(const Command& app, const std::vector<std::string>& words,
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

void AddCompletionCommand(Command& app, const CommandIo& io) {
  Command completion =
      app.AddCommand({.name = "completion", .about = "Print the completion script of a shell"});
  auto shell = std::make_shared<std::string>();
  completion.AddOption("SHELL", shell.get(), "bash, zsh or fish")
      .Required()
      .OneOf({"bash", "zsh", "fish"});
  completion.OnRun([&io, shell] { io.out << CompletionScript(*shell); });
}

void PrintCompletions(const Command& app, const CommandIo& io,
                      const std::vector<std::string>& words) {
  const ClusterNames names = [&io](NameKind kind, const ClusterFlags& cluster) {
    return AskCluster(io, kind, cluster);
  };
  for (const std::string& word : Completions(app, words, names)) io.out << word << "\n";
}

}  // namespace taas
