#include "build/wheels/dependency_labels.hpp"

#include "base/text.hpp"
#include "image/manifest.hpp"
#include "packaging/packaging.hpp"
#include "python/wheel_name.hpp"

#include <algorithm>
#include <utility>

namespace autopack::build {

std::vector<std::string> compiled_here(const std::vector<wheel::ChosenWheel>& wheels) {
  std::vector<std::string> names;
  for (const auto& wheel : wheels) {
    const auto name = python::WheelName::parse(wheel.file_name);
    if (name && std::ranges::any_of(name->platforms, [](const auto& platform) {
          return platform.starts_with("linux_");
        })) {
      names.push_back(wheel.name);
    }
  }
  std::ranges::sort(names);
  return names;
}

Configure configure_dependencies(const plan::Plan& plan,
                                 DependencyLabels labels,
                                 std::optional<std::int64_t> resolved_at) {
  return [key = plan.keys.value().dependencies, labels = std::move(labels), resolved_at,
          with_byte_code = plan.compile_bytecode](image::Configuration& configuration) {
    if (resolved_at) {
      configuration.add_empty_history(std::string{image::chosen_versions_step}, resolved_at);
    }
    configuration.set_working_directory("/usr/app");
    configuration.set_environment("HOME", "/home");
    configuration.set_label(packaging::dependency_key_label, key);
    if (!with_byte_code) {
      configuration.set_label(packaging::wheels_label, std::to_string(labels.wheels));
    }
    configuration.set_label(packaging::base_packages_label, join(labels.base_packages, ","));
    if (!labels.compiled.empty()) {
      configuration.set_label(packaging::compiled_label, join(labels.compiled, ","));
    }
  };
}

}  // namespace autopack::build
