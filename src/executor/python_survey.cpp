#include "executor/python_survey.hpp"

#include "base/text.hpp"
#include "executor/base_distributions.hpp"
#include "executor/find_interpreter.hpp"
#include "executor/programs.hpp"

#include <fmt/format.h>

#include <set>

namespace autopack::executor {

namespace {

/// Returns the existing directories of the scheme and their parents.
std::vector<std::string> existing_directories(ImageView& view, const python::Scheme& scheme) {
  std::set<std::string> all;
  for (const auto& directory :
       {scheme.purelib, scheme.platlib, scheme.scripts, scheme.headers, scheme.data}) {
    for (auto end = directory.size(); end != std::string::npos && end > 0;
         end = directory.rfind('/', end - 1)) {
      all.insert(directory.substr(0, end));
    }
  }
  std::set<std::string> existing;
  for (const auto& [path, target] : view.look({all.begin(), all.end()})) {
    // All parents of an existing directory exist, with or without an excerpt.
    for (auto end = path.size(); end != std::string::npos && end > 0;
         end = path.rfind('/', end - 1)) {
      existing.insert(path.substr(0, end));
    }
  }
  return {existing.begin(), existing.end()};
}

/// In the order of pip: global, root's, the environment's.
std::vector<PipFile> find_pip_files(ImageView& view, const std::string& prefix) {
  std::vector<PipFile> files;
  for (const auto& path : {std::string{"/etc/xdg/pip/pip.conf"}, std::string{"/etc/pip.conf"},
                           std::string{"/root/.pip/pip.conf"},
                           std::string{"/root/.config/pip/pip.conf"}, prefix + "/pip.conf"}) {
    if (auto text = view.excerpt(path)) {
      files.push_back({.path = path, .text = Secret{std::move(*text)}});
    }
  }
  return files;
}

/// Returns the default index of the first pip on the search path.
std::optional<std::string> find_default_index(ImageView& view,
                                              const std::vector<std::string>& search_path) {
  for (const auto& directory : search_path) {
    const auto address = view.excerpt(directory + "/pip/_internal/models/index.py");
    if (address && address->ends_with('/')) {
      return *address + "simple";
    }
  }
  return std::nullopt;
}

std::vector<std::string> find_remarks(ImageView& view,
                                      const FoundInterpreter& found,
                                      const std::vector<std::string>& environment) {
  std::vector<std::string> remarks;
  if (variable(environment, "PYTHONPATH")) {
    remarks.emplace_back("the image sets `PYTHONPATH`");
  }
  std::vector<std::string> modules;
  for (const auto& directory : found.search_path) {
    modules.push_back(directory + "/sitecustomize.py");
    modules.push_back(directory + "/usercustomize.py");
  }
  for (const auto& [path, target] : view.look(modules)) {
    remarks.push_back(fmt::format("`{}` runs before each program", printable(path)));
  }
  return remarks;
}

}  // namespace

PythonSurvey survey_python(ImageView& view, const image::BaseFacts& base, std::size_t layers) {
  PythonSurvey survey{.facts = {.layers = layers}};
  auto& facts = survey.facts;
  auto found = find_interpreter(view, base.environment, base.platform);
  facts.obstacle = std::move(found.obstacle);
  facts.interpreter = std::move(found.interpreter);
  if (!facts.interpreter) {
    return survey;
  }
  const auto& scheme = facts.interpreter->scheme;
  auto distributions = find_distributions(view, found.search_path, found.site_directories, scheme);
  facts.installed = std::move(distributions.installed);
  facts.search_path = std::move(distributions.search_path);
  facts.directories = existing_directories(view, scheme);
  facts.pip_files = find_pip_files(view, found.prefix);
  facts.default_index = find_default_index(view, facts.search_path);
  facts.remarks = find_remarks(view, found, base.environment);
  survey.files = std::move(distributions.files);
  survey.requirements = std::move(distributions.requirements);
  return survey;
}

}  // namespace autopack::executor
