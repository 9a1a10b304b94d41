#include "operator/api/core/pod_spec_check.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "operator/base/closest_name.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// Names that become names of directories, and of hosts.
constexpr size_t kLabelMax = 63;
constexpr char kLabelRule[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr size_t kSubdomainMax = 253;
constexpr char kSubdomainRule[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character";
constexpr char kEnvNameRule[] =
    "a valid environment variable name must consist only of printable ASCII characters other than "
    "'='";
constexpr int64_t kPortMax = 65535;

std::string Quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ItemOf(const std::string& path, const char* list, size_t index) {
  return path + "." + list + "[" + std::to_string(index) + "]";
}

// Empty where there is no text: what else is there has been told.
std::string TextIn(const Json& object, const char* field) {
  const auto found = object.is_object() ? object.find(field) : object.end();
  const bool text = object.is_object() && found != object.end() && found->is_string();
  return text ? found->get<std::string>() : "";
}

// Empty where there is no list.
const Json& ListIn(const Json& object, const char* field) {
  static const Json none = Json::array();
  if (!object.is_object()) return none;
  const auto found = object.find(field);
  return found != object.end() && found->is_array() ? *found : none;
}

bool IsLabelEdge(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsLabel(std::string_view name) {
  if (name.empty() || !IsLabelEdge(name.front()) || !IsLabelEdge(name.back())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return IsLabelEdge(c) || c == '-'; });
}

bool IsSubdomain(std::string_view name) {
  if (name.size() > kSubdomainMax) return false;
  for (size_t from = 0;;) {
    const size_t dot = name.find('.', from);
    if (!IsLabel(name.substr(from, dot - from))) return false;
    if (dot == std::string_view::npos) return true;
    from = dot + 1;
  }
}

bool IsEnvName(const std::string& name) {
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

// The values of one spec. What types and names already say of a path is not said twice.
class Values {
 public:
  Values(const PodSpecOptions& options, std::vector<FieldError> errors)
      : options_(options), errors_(std::move(errors)) {
    for (const FieldError& error : errors_) told_.insert(error.path);
  }

  std::vector<FieldError> Check(const Json& spec) && {
    volumes_ = options_.volumes;
    const Json& volumes = ListIn(spec, "volumes");
    for (size_t i = 0; i < volumes.size(); ++i) {
      CheckVolume(volumes[i], ItemOf(options_.path, "volumes", i));
    }
    for (const char* list : {"containers", "initContainers"}) {
      const Json& containers = ListIn(spec, list);
      for (size_t i = 0; i < containers.size(); ++i) {
        CheckContainer(containers[i], ItemOf(options_.path, list, i));
      }
    }
    CheckSeconds(spec, "terminationGracePeriodSeconds", 0, "must be greater than or equal to 0");
    CheckSeconds(spec, "activeDeadlineSeconds", 1,
                 "must be between 1 and 2147483647, inclusive");
    return std::move(errors_);
  }

 private:
  void Add(const std::string& path, std::string_view reason, std::string message,
           std::string hint = "") {
    if (errors_.size() >= kCoreErrorsMax || !told_.insert(path).second) return;
    errors_.push_back({path, std::string(reason), std::move(message), std::move(hint)});
  }
  void Require(const std::string& path) { Add(path, kFieldRequired, "Required value"); }
  void Refuse(const std::string& path, const std::string& shown, const std::string& why) {
    Add(path, kFieldInvalid, "Invalid value: " + shown + ": " + why);
  }
  void Twice(const std::string& path, const std::string& text) {
    Add(path, kFieldDuplicate, "Duplicate value: " + Quoted(text));
  }

  // A DNS label that none of `taken` has. That there is one is for the table to say.
  void CheckName(const Json& owner, const std::string& path, std::set<std::string>* taken) {
    const std::string name = TextIn(owner, "name");
    if (name.empty()) return;
    if (name.size() > kLabelMax) {
      Refuse(path + ".name", Quoted(name),
             "must be no more than " + std::to_string(kLabelMax) + " bytes");
    } else if (!IsLabel(name)) {
      Refuse(path + ".name", Quoted(name), kLabelRule);
    } else if (!taken->insert(name).second) {
      Twice(path + ".name", name);
    }
  }

  void CheckVolume(const Json& volume, const std::string& path) {
    // One of the template takes the place of the job's.
    CheckName(volume, path, &template_volumes_);
    volumes_.insert(TextIn(volume, "name"));
    if (!volume.is_object() || !volume.contains("persistentVolumeClaim")) return;
    const std::string claim = TextIn(volume["persistentVolumeClaim"], "claimName");
    if (claim.empty() || IsSubdomain(claim)) return;
    Refuse(path + ".persistentVolumeClaim.claimName", Quoted(claim), kSubdomainRule);
  }

  void CheckContainer(const Json& container, const std::string& path) {
    CheckName(container, path, &container_names_);
    const bool completed =
        options_.completed && TextIn(container, "name") == options_.container;
    if (TextIn(container, "image").empty() && !completed) Require(path + ".image");
    const Json& env = ListIn(container, "env");
    for (size_t i = 0; i < env.size(); ++i) CheckVariable(env[i], ItemOf(path, "env", i));
    CheckPorts(container, path);
    CheckMounts(container, path);
  }

  void CheckVariable(const Json& variable, const std::string& path) {
    const std::string name = TextIn(variable, "name");
    if (!IsEnvName(name)) Refuse(path + ".name", Quoted(name), kEnvNameRule);
    const bool both = !TextIn(variable, "value").empty() && variable.contains("valueFrom") &&
                      variable["valueFrom"].is_object();
    if (both) {
      Refuse(path + ".valueFrom", "\"\"", "may not be specified when `value` is not empty");
    }
  }

  void CheckPorts(const Json& container, const std::string& path) {
    std::set<std::string> names;
    const Json& ports = ListIn(container, "ports");
    for (size_t i = 0; i < ports.size(); ++i) {
      const std::string place = ItemOf(path, "ports", i);
      const std::string name = TextIn(ports[i], "name");
      if (!name.empty() && !names.insert(name).second) Twice(place + ".name", name);
      CheckPort(ports[i], "containerPort", place);
      CheckPort(ports[i], "hostPort", place);
    }
  }

  void CheckPort(const Json& port, const char* field, const std::string& path) {
    if (!port.is_object() || !port.contains(field) || !port[field].is_number_integer()) return;
    const Json& number = port[field];
    // 0 is what the decoder makes of nothing.
    const bool optional = std::string_view(field) == "hostPort";
    if (number == 0 && optional) return;
    if (number == 0) return Require(path + "." + field);
    if (number >= 1 && number <= kPortMax) return;
    Refuse(path + "." + field, number.dump(),
           "must be between 1 and " + std::to_string(kPortMax) + ", inclusive");
  }

  void CheckMounts(const Json& container, const std::string& path) {
    std::set<std::string> places;
    const Json& mounts = ListIn(container, "volumeMounts");
    for (size_t i = 0; i < mounts.size(); ++i) {
      CheckMount(mounts[i], ItemOf(path, "volumeMounts", i), &places);
    }
  }

  void CheckMount(const Json& mount, const std::string& path, std::set<std::string>* places) {
    const std::string name = TextIn(mount, "name");
    if (!name.empty() && !volumes_.contains(name)) {
      Add(path + ".name", kFieldNotFound, "Not found: " + Quoted(name),
          DidYouMean(name, {volumes_.begin(), volumes_.end()}));
    }
    const std::string place = TextIn(mount, "mountPath");
    if (!place.empty() && !places->insert(place).second) {
      Refuse(path + ".mountPath", Quoted(place), "must be unique");
    }
    const std::string sub_path = TextIn(mount, "subPath");
    if (!sub_path.empty() && sub_path.front() == '/') {
      Refuse(path + ".subPath", Quoted(sub_path), "must be a relative path");
    } else if (("/" + sub_path + "/").find("/../") != std::string::npos) {
      Refuse(path + ".subPath", Quoted(sub_path), "must not contain '..'");
    }
  }

  void CheckSeconds(const Json& spec, const char* field, int64_t least, const char* why) {
    if (!spec.is_object() || !spec.contains(field) || !spec[field].is_number_integer()) return;
    if (spec[field] >= least) return;
    Refuse(options_.path + "." + field, spec[field].dump(), why);
  }

  const PodSpecOptions& options_;
  std::vector<FieldError> errors_;
  std::set<std::string> told_;
  std::set<std::string> container_names_;
  std::set<std::string> template_volumes_;
  std::set<std::string> volumes_;
};

}  // namespace

std::vector<FieldError> CheckPodSpec(const Json& spec, const PodSpecOptions& options) {
  std::vector<FieldError> errors =
      CheckCore(CoreTypeNamed("PodSpec"), spec, options.path, options.words);
  if (options.completed) {
    std::erase_if(errors, [&options](const FieldError& error) {
      return error.reason == kFieldRequired && error.path == options.path + ".containers";
    });
  }
  return Values(options, std::move(errors)).Check(spec);
}

}  // namespace taas
