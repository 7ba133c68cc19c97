#include "plan/advice.hpp"

#include "base/text.hpp"
#include "project/requirement.hpp"
#include "project/requirement_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace autopack::plan {

namespace {

constexpr std::uint64_t large_file{50'000'000};
constexpr std::uint64_t much_data{20'000'000};
constexpr std::size_t most_told{5};

constexpr std::array<std::string_view, 10> source_suffixes{".py", ".pyi", ".pyx", ".sh", ".c",
                                                           ".cc", ".cpp", ".cu",  ".h",  ".so"};

Problem warning(std::string message, std::string origin, std::vector<std::string> hints) {
  return {.severity = Problem::Severity::warning,
          .message = std::move(message),
          .origin = std::move(origin),
          .hints = std::move(hints)};
}

std::string ignore_hint(const std::string& path) {
  return fmt::format(
      "`{}` in `.dockerignore` leaves it out; a job reads data from Cloud Storage, "
      "`/gcs/BUCKET/...`",
      printable(path));
}

void tell_large_files(const Plan& plan, Problems& problems) {
  std::vector<const ContextEntry*> large;
  for (const auto& entry : plan.code) {
    if (entry.size > large_file) {
      large.push_back(&entry);
    }
  }
  std::sort(large.begin(), large.end(),
            [](const auto* a, const auto* b) { return a->size > b->size; });
  for (std::size_t i = 0; i < std::min(large.size(), most_told); ++i) {
    const auto& entry = *large[i];
    problems.push_back(warning(fmt::format("`{}` is {}, in every copy of the image",
                                           printable(entry.path), human_size(entry.size)),
                               "", {ignore_hint(entry.path)}));
  }
  if (large.size() > most_told) {
    problems.push_back(warning(
        fmt::format("{} more files are over {}", large.size() - most_told, human_size(large_file)),
        "", {}));
  }
}

struct DirectorySizes {
  std::uint64_t data{0};
  std::size_t files{0};
  bool has_code{false};
};

/// Directories that hold no code themselves or below, and much else.
void tell_data(const Plan& plan, Problems& problems) {
  std::map<std::string_view, DirectorySizes> directories;
  for (const auto& entry : plan.code) {
    if (entry.type != source::EntryType::file) {
      continue;
    }
    const std::string_view path{entry.path};
    const bool is_code = std::any_of(source_suffixes.begin(), source_suffixes.end(),
                                     [&](auto suffix) { return path.ends_with(suffix); });
    for (auto slash = path.rfind('/'); slash != std::string_view::npos && slash > 0;
         slash = path.rfind('/', slash - 1)) {
      auto& directory = directories[path.substr(0, slash)];
      directory.has_code = directory.has_code || is_code;
      if (!is_code && entry.size <= large_file) {
        directory.data += entry.size;
        ++directory.files;
      }
    }
  }
  std::string_view told;
  for (const auto& [path, sizes] : directories) {
    const bool is_inside = !told.empty() && path.starts_with(told) && path[told.size()] == '/';
    if (sizes.has_code || sizes.data < much_data || is_inside) {
      continue;
    }
    told = path;
    problems.push_back(
        warning(fmt::format("`{}/` holds {} of data in {} file{} and no code", printable(path),
                            human_size(sizes.data), sizes.files, sizes.files == 1 ? "" : "s"),
                "", {ignore_hint(std::string{path} + "/")}));
  }
}

/// A deep learning framework that an executor image brings; no version when it cannot be told.
struct Framework {
  std::string distribution{};
  std::vector<int> version{};
};

std::vector<int> version_in(std::string_view text, std::string_view separators) {
  std::vector<int> parts;
  for (std::size_t at = 0; at < text.size() && parts.size() < 3;) {
    const auto end = std::min(text.find_first_not_of("0123456789", at), text.size());
    if (end == at || end - at > 4) {
      break;
    }
    parts.push_back(std::stoi(std::string{text.substr(at, end - at)}));
    if (end >= text.size() || separators.find(text[end]) == std::string_view::npos) {
      break;
    }
    at = end + 1;
  }
  return parts;
}

std::string variable(const image::BaseFacts& base, const std::string& name) {
  for (const auto& pair : base.environment) {
    if (pair.starts_with(name + "=")) {
      return pair.substr(name.size() + 1);
    }
  }
  return {};
}

/// From the image's variables and name: `tf-gpu.2-12.py310`, `pytorch/pytorch:2.1.0-cuda12`.
std::optional<Framework> framework_of(const image::BaseFacts& base) {
  const auto reference = base.reference.substr(0, base.reference.find('@'));
  const auto name = reference.substr(reference.rfind('/') + 1);
  Framework framework;
  std::string version;
  if (reference.find("pytorch") != std::string::npos) {
    framework.distribution = "torch";
    version = variable(base, "PYTORCH_VERSION");
  } else if (reference.find("tensorflow") != std::string::npos || name.starts_with("tf-") ||
             name.starts_with("tf2-")) {
    framework.distribution = "tensorflow";
    version = variable(base, "TENSORFLOW_VERSION");
  } else {
    return std::nullopt;
  }
  framework.version = version_in(version, ".");
  if (framework.version.empty()) {
    const auto mark = name.find_first_of(base.vertex_prebuilt ? ".:" : ":");
    if (mark != std::string::npos) {
      framework.version = version_in(std::string_view{name}.substr(mark + 1), ".-");
    }
  }
  return framework;
}

/// True when the version that is there fits `rest` (`==2.1.*,<3`) as far as both are known.
bool fits(const std::vector<int>& version, const std::string& rest) {
  for (const auto& condition : split(rest, ',')) {
    const auto digits = condition.find_first_of("0123456789");
    if (digits == std::string::npos) {
      return false;
    }
    const std::string sign = condition.substr(0, digits);
    auto wanted = version_in(std::string_view{condition}.substr(digits), ".");
    auto there = version;
    const auto common = std::min(wanted.size(), there.size());
    wanted.resize(common);
    there.resize(common);
    const bool equal = there == wanted;
    const bool good = (sign == "==" || sign == "===") ? equal
                      : sign == ">="                  ? there >= wanted
                      : sign == "<="                  ? there <= wanted
                      : sign == ">"                   ? there > wanted
                      : sign == "<"                   ? there < wanted
                      : sign == "~="                  ? there >= wanted && there[0] == wanted[0]
                      : sign == "!="                  ? !equal
                                                      : false;
    if (version.empty() || !good) {
      return false;
    }
  }
  return true;
}

void tell_replaced(const Framework& framework,
                   const std::string& text,
                   const std::string& origin,
                   Problems& problems) {
  const auto requirement = project::parse_requirement(text);
  const bool same =
      requirement.name == framework.distribution ||
      (framework.distribution == "tensorflow" &&
       (requirement.name == "tensorflow-cpu" || requirement.name == "tensorflow-gpu"));
  if (!same) {
    return;
  }
  const bool stays = requirement.kind == project::Requirement::Kind::named &&
                     requirement.name == framework.distribution &&
                     (requirement.rest.empty() || fits(framework.version, requirement.rest));
  if (stays) {
    return;
  }
  std::string version;
  for (const int part : framework.version) {
    version += (version.empty() ? " " : ".") + std::to_string(part);
  }
  problems.push_back(warning(
      fmt::format("`{}` replaces the {}{} of the executor image, which was built for its CUDA",
                  printable(project::normalised(requirement)), framework.distribution, version),
      origin,
      {fmt::format("`{}` without a version keeps what the image brings", framework.distribution)}));
}

void tell_replaced_frameworks(const Plan& plan,
                              const project::Project& project,
                              Problems& problems) {
  const auto framework = framework_of(plan.base);
  if (!framework) {
    return;
  }
  for (const auto& file : project.requirement_inputs) {
    const auto entry = plan.trees.front().tree->find(file);
    const bool is_text = file.ends_with(".txt") || file.ends_with(".in");
    if (!entry || entry->type != source::EntryType::file || !is_text) {
      continue;
    }
    const auto text = project::decode_requirements(plan.trees.front().tree->read(file)).text;
    for (const auto& line : project::split_requirements(text)) {
      tell_replaced(*framework, line.requirement, fmt::format("{}:{}", printable(file), line.first),
                    problems);
    }
  }
  for (const auto& requirement : project.requirements) {
    tell_replaced(*framework, requirement, "`--requirements`", problems);
  }
}

}  // namespace

std::string framework_in(const image::BaseFacts& base) {
  const auto framework = framework_of(base);
  return framework ? framework->distribution : "";
}

Advice advice(const Plan& plan,
              const project::Project& project,
              ImportFindings imports,
              const BaseModules& in_base) {
  Advice advice = import_advice(plan, project, std::move(imports), in_base);
  tell_replaced_frameworks(plan, project, advice.warnings);
  tell_large_files(plan, advice.warnings);
  tell_data(plan, advice.warnings);
  return advice;
}

}  // namespace autopack::plan
