#include "base/contains.hpp"
#include "base/text.hpp"
#include "plan/advice.hpp"
#include "project/program/named_distributions.hpp"
#include "project/requirements/conda_environment.hpp"
#include "project/tables/known_distributions.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::plan {

namespace {

/// Returns true for packages that come with any wheel of a framework, or with the executor image's.
bool belongs_to_framework(const std::string& package) {
  static constexpr std::array<std::string_view, 10> names{
      "cpuonly", "cuda", "cuda-runtime", "cuda-toolkit", "cudatoolkit",
      "cudnn",   "mkl",  "nccl",         "pytorch-cuda", "pytorch-mutex"};
  return contains(names, package);
}

/// Returns true for packages below Python: conda's own, and libraries that pip does not install.
bool is_of_conda(const std::string& package) {
  static constexpr std::array<std::string_view, 19> names{"blas",
                                                          "bzip2",
                                                          "ca-certificates",
                                                          "certifi",
                                                          "ld_impl_linux-64",
                                                          "libffi",
                                                          "libnsl",
                                                          "libsqlite",
                                                          "libuuid",
                                                          "libzlib",
                                                          "ncurses",
                                                          "nomkl",
                                                          "openssl",
                                                          "readline",
                                                          "setuptools",
                                                          "sqlite",
                                                          "tk",
                                                          "xz",
                                                          "zlib"};
  static constexpr std::array<std::string_view, 6> beginnings{"_",       "libgcc",    "libgfortran",
                                                              "libgomp", "libstdcxx", "python_abi"};
  return contains(names, package) || std::ranges::any_of(beginnings, [&](const auto beginning) {
           return package.starts_with(beginning);
         });
}

/// Returns conda's name of a distribution, if it differs from pip's.
std::string distribution_of(const std::string& package) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> others{
      {{"opencv", "opencv-python"},
       {"py-opencv", "opencv-python"},
       {"py-xgboost", "xgboost"},
       {"pytorch", "torch"}}};
  const auto* const found =
      std::ranges::find_if(others, [&](const auto& one) { return one.first == package; });
  return found == others.end() ? python::normalise_name(package) : std::string{found->second};
}

/// Determines who provides the requested conda packages: the base and the requirements.
class OtherProviders {
public:
  OtherProviders(const ReadablePlan& plan,
                 const project::Project& project,
                 const BaseModules& in_base)
      : named_{project::named_distributions(plan.working_directory(), project).names},
        framework_{framework_in(plan.base)} {
    std::vector<std::string> modules{"tensorflow", "torch"};
    for (const auto& package : project.conda.value().packages) {
      const auto more = project::modules_of(distribution_of(package));
      modules.insert(modules.end(), more.begin(), more.end());
    }
    if (in_base) {
      in_base_ = in_base(modules);
    }
  }

  bool provide(const std::string& package) const {
    if (belongs_to_framework(package)) {
      return framework_ || provides_module("torch") || provides_module("tensorflow");
    }
    const std::string distribution = distribution_of(package);
    const auto modules = project::modules_of(distribution);
    return distribution == framework_ || (framework_ == "torch" && distribution == "torchvision") ||
           contains(named_, distribution) || std::ranges::any_of(modules, [&](const auto& module) {
             return provides_module(module);
           });
  }

private:
  bool provides_module(const std::string& module) const {
    const auto found = in_base_.find(module);
    return (found != in_base_.end() && found->second) || project::is_brought_by(module, named_);
  }

  std::vector<std::string> named_;
  std::optional<std::string> framework_;
  std::map<std::string, bool> in_base_{};
};

}  // namespace

std::optional<Problem> conda_advice(const ReadablePlan& plan,
                                    const project::Project& project,
                                    const BaseModules& in_base) {
  auto packages = project.conda ? project.conda->packages : std::vector<std::string>{};
  if (packages.empty()) {
    return std::nullopt;
  }
  const OtherProviders providers{plan, project, in_base};
  std::erase_if(packages, [&](const auto& package) { return providers.provide(package); });
  // If Python packages are missing, the ones below them do not matter.
  const auto below = std::stable_partition(
      packages.begin(), packages.end(), [](const auto& package) { return !is_of_conda(package); });
  if (below != packages.begin()) {
    packages.erase(below, packages.end());
  }
  if (packages.empty()) {
    return std::nullopt;
  }
  constexpr std::size_t most_reported{6};
  std::string names =
      "`" + join(std::span{packages}.first(std::min(packages.size(), most_reported)), "`, `") + "`";
  if (packages.size() > most_reported) {
    names += fmt::format(" and {} more", packages.size() - most_reported);
  }
  return Problem::warning(
      {.message = fmt::format(
           "`{}` asks conda for {}: autopack installs with pip, so {} not installed",
           project.conda->file, printable(names), packages.size() == 1 ? "it is" : "they are"),
       .hints = {"packages that the executor image lacks go into a requirements.txt, or "
                 "`--requirements=NAME,...`"}});
}

std::optional<std::string> unread_conda_hint(const ReadablePlan& plan,
                                             const project::Project& project,
                                             const std::vector<std::string>& modules) {
  const project::Findings findings{plan.working_directory(), project.ignore};
  const auto file = project::find_conda_environment(findings);
  if (!file) {
    return std::nullopt;
  }
  std::vector<std::string> named;
  const auto text = findings.tree().read(findings.follow(*file).entry.path);
  for (const auto& [line, number] : project::read_conda_environment(text).pip) {
    if (auto name = python::parse_requirement(line).name) {
      named.push_back(std::move(*name));
    }
  }
  std::vector<std::string> found;
  for (const auto& module : modules) {
    if (project::is_brought_by(module, named)) {
      found.push_back("`" + printable(module) + "`");
    }
  }
  if (found.empty()) {
    return std::nullopt;
  }
  return fmt::format("the pip part of `{}` lists {}; it is not read, because {} the installation",
                     *file, join(found, ", "),
                     project.requirement_files.empty() ? "the project's own package determines"
                                                       : "the requirements file determines");
}

}  // namespace autopack::plan
