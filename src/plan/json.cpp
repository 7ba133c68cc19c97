#include "base/json.hpp"

#include "base/text.hpp"
#include "plan/plan.hpp"

namespace autopack::plan {

namespace {

using nlohmann::json;

std::string to_string(project::EntryKind kind) {
  switch (kind) {
    case project::EntryKind::python_script: return "python-script";
    case project::EntryKind::shell_script: return "shell-script";
    case project::EntryKind::module: return "module";
    case project::EntryKind::installed_module: return "installed-module";
    case project::EntryKind::program: return "program";
  }
  return {};
}

/// Names of files may be arbitrary bytes; JSON requires UTF-8.
json texts(const std::vector<std::string>& values) {
  json list = json::array();
  for (const std::string& value : values) {
    list.push_back(printable(value));
  }
  return list;
}

json to_json(const std::vector<Copy>& copies) {
  json list = json::array();
  for (const Copy& copy : copies) {
    list.push_back({{"source", printable(copy.source.empty() ? "." : copy.source)},
                    {"destination", printable(copy.destination.empty() ? "." : copy.destination)},
                    {"directory", copy.is_directory}});
  }
  return list;
}

json to_json(const std::vector<ContextEntry>& entries) {
  json list = json::array();
  for (const ContextEntry& entry : entries) {
    json one{{"path", printable(entry.path)}};
    switch (entry.type) {
      case source::EntryType::directory: one["type"] = "directory"; break;
      case source::EntryType::symlink:
        one["type"] = "symlink";
        one["target"] = printable(entry.link_target);
        break;
      default:
        one["type"] = "file";
        one["size"] = entry.size;
        one["executable"] = entry.executable;
    }
    if (entry.content) {
      one["digest"] = entry.content->str();
    }
    list.push_back(std::move(one));
  }
  return list;
}

json to_json(const Dependencies& dependencies) {
  json edits = json::array();
  for (const project::LineEdit& edit : dependencies.requirement_edits) {
    edits.push_back({{"file", printable(edit.file)},
                     {"first_line", edit.first_line},
                     {"last_line", edit.last_line},
                     {"text", printable(edit.text)}});
  }
  json all{{"apt_packages", texts(dependencies.apt_packages)},
           {"requirement_files", texts(dependencies.requirement_files)},
           {"requirement_edits", std::move(edits)},
           {"requirements", texts(dependencies.requirements)},
           {"packages", texts(dependencies.packages)},
           {"hashed", dependencies.hashed},
           {"install", dependencies.install},
           {"isolated", dependencies.isolated},
           {"resolves", dependencies.resolves},
           {"package_requirements", texts(dependencies.package_requirements)},
           {"build_requirements", texts(dependencies.build_requirements)},
           {"package_extras", texts(dependencies.package_extras)},
           {"members", texts(dependencies.members)},
           {"build_environment", dependencies.build_environment},
           {"package_files", to_json(dependencies.package_files)},
           {"requirement_copies", to_json(dependencies.requirement_copies)},
           {"inputs", to_json(dependencies.inputs)}};
  if (const auto& lock = dependencies.lock) {
    all["lock"] = {{"file", printable(lock->file)},
                   {"extras", texts(lock->extras)},
                   {"groups", texts(lock->groups)}};
  }
  if (!dependencies.pip_options.empty()) {
    all["pip_options"] = texts(dependencies.pip_options);
  }
  if (dependencies.version) {
    all["version"] = printable(*dependencies.version);
  }
  if (!dependencies.install_environment.empty()) {
    all["install_environment"] = dependencies.install_environment;
  }
  return all;
}

json to_json(const Problems& warnings) {
  json list = json::array();
  for (const Problem& warning : warnings) {
    list.push_back({{"message", printable(warning.message)},
                    {"origin", printable(warning.origin.value_or(""))},
                    {"hints", texts(warning.hints)}});
  }
  return list;
}

}  // namespace

std::string to_json(const Plan& plan) {
  json all{{"base", parse_json(image::to_json_line(plan.base))},
           {"entry",
            {{"kind", to_string(plan.entry.kind)},
             {"value", printable(plan.entry.value)},
             {"file", printable(plan.entry.file.value_or(""))}}},
           {"entrypoint", texts(plan.entrypoint)},
           {"python", plan.python.value_or("")},
           {"platform", plan.platform},
           {"user", printable(plan.user)},
           {"remove_sitecustomize", plan.remove_sitecustomize},
           {"dependencies", to_json(plan.dependencies)},
           {"copies", to_json(plan.copies)},
           {"code", to_json(plan.code)},
           {"dockerfile", plan.dockerfile},
           {"user_dockerfile", printable(plan.user_dockerfile.value_or(""))},
           {"ignore", plan.ignore_text},
           {"warnings", to_json(plan.warnings)}};
  const auto keys = plan.keys.value_or(Keys{});
  all["dependency_key"] = keys.dependencies;
  all["image_key"] = keys.image;
  if (plan.notebook) {
    all["entry"]["notebook"] = printable(*plan.notebook);
  }
  if (plan.compile_bytecode) {
    all["compile_bytecode"] = true;
  }
  return print_json(all, 2) + "\n";
}

}  // namespace autopack::plan
