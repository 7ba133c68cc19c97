#include "pipeline/gpu_check.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "build/wheels/gpu_report.hpp"
#include "executor/gpu_code.hpp"
#include "project/certain.hpp"
#include "project/program/named_distributions.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace autopack::pipeline {

namespace {

constexpr std::size_t most_names{4};

/// Returns `a, b and 3 more`.
std::string some_of(const std::vector<std::string>& names) {
  const auto shown = std::min(names.size(), most_names);
  const auto text = printable(join(std::span{names}.first(shown), ", "));
  return shown < names.size() ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

std::string title_of(const gpu::Package& package) {
  return package.version.empty()
             ? fmt::format("`{}`", printable(package.name))
             : fmt::format("`{}` {}", printable(package.name), printable(package.version));
}

/// Returns the place of the requirement `name`, as far as a file or a flag names it.
std::optional<std::string> place_of(const project::Project& project, const std::string& name) {
  for (const auto& listed : project.listed_requirements) {
    if (!listed.constraint && listed.requirement.name == name) {
      return project.origin_of(listed.origin);
    }
  }
  const auto asked = std::ranges::find_if(project.requirements,
                                          [&](const auto& one) { return one.parts.name == name; });
  return asked == project.requirements.end() ? std::nullopt
                                             : std::optional{project.origin_of(asked->origin)};
}

/// Returns the first of `libraries` with its architectures, and how many others there are.
std::string libraries_text(const std::vector<const gpu::Library*>& libraries) {
  const auto& first = *libraries.front();
  const auto name = first.path.substr(first.path.rfind('/') + 1);
  const auto others = libraries.size() > 1
                          ? fmt::format(" (and {} more like it)", libraries.size() - 1)
                          : std::string{};
  return fmt::format("`{}`{} has code for {}", printable(name), others,
                     gpu::architectures_of(first.code));
}

/// Finds what would make a package fit.
class Remedies {
public:
  Remedies(Services& services, const gpu::Package& package, const gpu::Device& device)
      : services_{services}, package_{package}, device_{device} {}

  std::vector<std::string> hints() const {
    std::vector<std::string> hints;
    if (const auto version = other_version()) {
      hints.push_back(fmt::format("`{}=={}` has code for it", package_.name, *version));
    } else {
      hints.push_back(fmt::format("a version with code for {} to {}, or with PTX for at most {}",
                                  fmt::format("{}.0", capability().major), capability().str(),
                                  capability().str()));
    }
    if (const auto accelerators = fitting_accelerators(); !accelerators.empty()) {
      hints.push_back(fmt::format("it runs on {}", join(accelerators, ", ")));
    }
    return hints;
  }

private:
  gpu::Capability capability() const { return device_.capability.value(); }

  /// Returns the newest version seen on this machine that fits.
  std::optional<std::string> other_version() const {
    std::optional<std::string> found;
    for (const auto& wheel : build::wheels_with_known_code(services_, package_.name)) {
      auto libraries = build::cached_gpu_code(services_, wheel.digest);
      if (wheel.version != package_.version && libraries &&
          gpu::fit_of(
              gpu::Package{
                  .name = wheel.name, .version = wheel.version, .libraries = *std::move(libraries)},
              capability())
                  .fit == gpu::Fit::runs) {
        found = wheel.version;
      }
    }
    return found;
  }

  std::vector<std::string> fitting_accelerators() const {
    auto names = gpu::known_accelerators();
    std::erase_if(names, [&](const std::string& name) {
      return gpu::fit_of(package_, gpu::capability_of(name).value()).fit != gpu::Fit::runs;
    });
    return names;
  }

  Services& services_;
  const gpu::Package& package_;
  const gpu::Device& device_;
};

Problem failure(Services& services,
                const gpu::Package& package,
                const gpu::PackageFit& fit,
                const gpu::Device& device) {
  return {
      .severity = Problem::Severity::warning,
      .message = fmt::format("{} cannot run on {}, whose compute capability is {}",
                             title_of(package), printable(device.name), device.capability->str()),
      .hints = Remedies{services, package, device}.hints(),
      .reason = libraries_text(fit.libraries) +
                "; its first kernel would end with `no kernel image is available for "
                "execution on the device`"};
}

Problem slow_start(const gpu::Package& package,
                   const gpu::PackageFit& fit,
                   const gpu::Device& device) {
  return Problem::warning(
      {.message = fmt::format("{} has only PTX that fits {}, whose compute capability is {}",
                              title_of(package), printable(device.name), device.capability->str()),
       .hints = {fmt::format("a version with code for {} starts at once",
                             device.capability->str())},
       .reason = libraries_text(fit.libraries) +
                 "; the driver compiles it at the first start, which may take minutes"});
}

/// Names of distributions that the project requires.
std::vector<std::string> required_by_project(const packaging::Packaging& work) {
  return project::named_distributions(*work.scanned().tree, work.scanned().project).names;
}

/// The same without those that only a lock names: it also has what other packages require.
std::vector<std::string> required_by_name(const packaging::Packaging& work) {
  auto project = work.scanned().project;
  project.lock.reset();
  return project::named_distributions(*work.scanned().tree, project).names;
}

/// The names of packages that run on the CPU without their kernels, or whose kernels few programs
/// start, alone or before a `-`.
constexpr std::array<std::string_view, 11> with_fallback{
    "catboost", "jax",     "jaxlib",     "lightgbm",   "nvidia",     "onnxruntime",
    "tf",       "xgboost", "tensorflow", "torchaudio", "torchvision"};

bool can_fall_back(const gpu::Package& package) {
  return std::ranges::any_of(with_fallback, [&](std::string_view name) {
    return package.name == name || package.name.starts_with(std::string{name} + "-");
  });
}

std::string first_module(const plan::OpenImport& import) {
  return import.module.substr(0, import.module.find('.'));
}

/// Returns whether the module, in the uppermost directory, is a part of `package`.
bool has_module(const gpu::Package& package, const std::string& module) {
  return python::normalise_name(module) == package.name ||
         std::ranges::any_of(package.libraries, [&](const gpu::Library& library) {
           return library.path.starts_with(module + "/");
         });
}

/// What the program uses, found once it matters.
class Uses {
public:
  Uses(const packaging::Packaging& work, const OpenImports& imports)
      : work_{work}, imports_{imports} {}

  bool need(const gpu::Package& package) {
    if (!found_) {
      found_ = Found{.required = required_by_name(work_), .imports = imports_()};
    }
    return needs_gpu_code(package, found_->required, found_->imports);
  }

private:
  struct Found {
    std::vector<std::string> required{};
    std::vector<plan::OpenImport> imports{};
  };

  const packaging::Packaging& work_;
  const OpenImports& imports_;
  std::optional<Found> found_{};
};

/// TensorFlow cannot use TPU v6e. A program that also requires jax may use it only to read data.
std::optional<Problem> tpu_finding(const std::vector<std::string>& required,
                                   const packaging::Packaging& work,
                                   const gpu::Device& device) {
  if (device.name != "TPU v6e" || !contains(required, "tensorflow") || contains(required, "jax") ||
      contains(required, "torch")) {
    return std::nullopt;
  }
  return project::certain(
      {.severity = Problem::Severity::warning,
       .message = "`tensorflow` cannot use TPU v6e",
       .origin = place_of(work.scanned().project, "tensorflow"),
       .hints = {"`jax[tpu]` and PyTorch/XLA run on it",
                 "`--machine-type=ct5lp-hightpu-4t --tpu-topology=2x2` is a TPU v5e"}});
}

void report_unknown(Services& services, const GpuCode& code) {
  if (code.has_unknown_wheels) {
    services.reporter->detail("GPU code: which wheels the image will have is not known yet");
  }
  if (!code.unread.empty()) {
    services.reporter->detail(fmt::format("GPU code: nobody has read the wheel{} of {}",
                                          code.unread.size() == 1 ? "" : "s",
                                          some_of(code.unread)));
  }
  if (code.is_executor_unread) {
    services.reporter->detail("GPU code: nobody has read the layers of the executor image");
  }
}

}  // namespace

GpuCode find_gpu_code(Services& services, const packaging::Packaging& work) {
  GpuCode code;
  std::set<std::string> installed;
  if (work.needs_dependencies()) {
    const auto wheels = build::gpu_code_of_wheels(services, work);
    code.has_unknown_wheels = !wheels;
    for (const auto& [wheel, libraries] : wheels.value_or(std::vector<build::WheelGpuCode>{})) {
      installed.insert(wheel.name);
      if (!libraries) {
        code.unread.push_back(wheel.name);
      } else if (!libraries->empty()) {
        code.parts.push_back(
            {.package = {.name = wheel.name, .version = wheel.version, .libraries = *libraries}});
      }
    }
  }
  const auto& base = work.plan().base;
  const auto libraries = base.reference.empty() ? std::optional{std::vector<gpu::Library>{}}
                                                : executor::known_gpu_libraries(services, base);
  code.is_executor_unread = !libraries;
  if (libraries) {
    for (auto& package : executor::gpu_packages(services, base, *libraries)) {
      if (!installed.contains(package.name)) {
        code.parts.push_back({.package = std::move(package), .is_of_executor = true});
      }
    }
  }
  return code;
}

bool needs_gpu_code(const gpu::Package& package,
                    const std::vector<std::string>& required,
                    const std::vector<plan::OpenImport>& imports) {
  if (package.name.empty() || can_fall_back(package)) {
    return false;
  }
  const bool is_torch = package.name == "torch";
  const bool is_imported = std::ranges::any_of(imports, [&](const plan::OpenImport& import) {
    return is_torch ? import.certain && first_module(import) == "torch"
                    : import.sure && has_module(package, first_module(import));
  });
  return is_imported || (is_torch && contains(required, package.name));
}

Problems gpu_findings(Services& services,
                      const packaging::Packaging& work,
                      const GpuCode& code,
                      const OpenImports& imports) {
  Problems found;
  Uses uses{work, imports};
  for (const auto& device : work.request().devices) {
    if (!device.capability) {
      if (auto problem = tpu_finding(required_by_project(work), work, device)) {
        found.push_back(*std::move(problem));
      }
      continue;
    }
    for (const auto& part : code.parts) {
      const auto& package = part.package;
      const auto fit = gpu::fit_of(package, *device.capability);
      for (const auto* library : fit.failing) {
        services.reporter->detail(
            fmt::format("GPU code: {}, none of which runs on {}; another "
                        "library of {} does",
                        libraries_text({library}), printable(device.name), title_of(package)));
      }
      if (fit.fit == gpu::Fit::fails) {
        auto problem = failure(services, package, fit, device);
        problem.origin = place_of(work.scanned().project, package.name);
        found.push_back(uses.need(package) ? project::certain(std::move(problem))
                                           : std::move(problem));
      } else if (fit.fit == gpu::Fit::compiles) {
        found.push_back(slow_start(package, fit, device));
        found.back().origin = place_of(work.scanned().project, package.name);
      }
    }
  }
  if (!work.request().devices.empty()) {
    report_unknown(services, code);
  }
  return found;
}

}  // namespace autopack::pipeline
