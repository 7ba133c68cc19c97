#include "packaging/settings.hpp"

#include "base/text.hpp"
#include "packaging/request.hpp"

namespace autopack::packaging {

namespace {

std::vector<std::string> all_of(const Settings::List& list) {
  return list.value_or(std::vector<std::string>{});
}

Settings::List list_of(const std::vector<std::string>& values) {
  return values.empty() ? Settings::List{} : values;
}

}  // namespace

bool Setting::is_given(const Settings& given) const {
  return std::visit([&](const auto where) { return (given.*where).has_value(); }, member);
}

void apply(const Settings& given, Request& request) {
  auto& project = request.project;
  request.executor_image = given.executor_image_uri.value_or("");
  request.options.system_packages = all_of(given.system_packages);
  project.script = non_empty(given.script.value_or(""));
  project.module = non_empty(given.python_module.value_or(""));
  project.command = all_of(given.command);
  project.launcher = non_empty(given.launcher.value_or(""));
  project.requirements = all_of(given.requirements);
  project.requirement_files = all_of(given.requirements_file);
  project.lock = non_empty(given.lock.value_or(""));
  project.package_extras = all_of(given.extra);
  project.groups = all_of(given.group);
  project.extra_packages = all_of(given.extra_packages);
  project.extra_dirs = all_of(given.extra_dirs);
  project.include = all_of(given.include);
  project.exclude = all_of(given.exclude);
}

Settings settings_of(const Request& request) {
  const auto& project = request.project;
  Settings all{.executor_image_uri = non_empty(request.executor_image),
               .script = project.script,
               .python_module = project.module,
               .requirements = list_of(project.requirements),
               .extra_packages = list_of(project.extra_packages),
               .extra_dirs = list_of(project.extra_dirs),
               .include = list_of(project.include),
               .exclude = list_of(project.exclude),
               .system_packages = list_of(request.options.system_packages),
               .launcher = project.launcher,
               .command = list_of(project.command),
               .requirements_file = list_of(project.requirement_files),
               .lock = project.lock,
               .extra = list_of(project.package_extras),
               .group = list_of(project.groups)};
  std::vector<std::string> variables;
  for (const auto& [name, value] : request.options.build_environment) {
    variables.push_back(name + "=" + value);
  }
  all.build_env = list_of(variables);
  return all;
}

}  // namespace autopack::packaging
