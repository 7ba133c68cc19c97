#include "build/docker/build_error.hpp"

#include "base/line.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "build/docker/step_names.hpp"
#include "engine/dockerfile_steps.hpp"
#include "engine/images.hpp"
#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::build {

namespace {

/// Returns the requirement between the last `sign` and the end of its line, without its origin;
/// nothing if there is none.
std::optional<std::string> requirement_behind(std::string_view log, std::string_view sign) {
  const auto at = log.rfind(sign);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = log.substr(at + sign.size());
  const auto line = rest.substr(0, rest.find('\n'));
  return non_empty(std::string{trim(line.substr(0, line.find(" (from ")))});
}

/// Returns the requirement without a matching version: `nosuch==1`; nothing if the log does not
/// name one.
std::optional<std::string> missing_requirement(std::string_view log) {
  auto missing = requirement_behind(log, "No matching distribution found for ");
  return missing ? missing : requirement_behind(log, "satisfies the requirement ");
}

/// Returns the rest of the line after the first `sign`, up to a comma or a bracket; nothing if it
/// is empty.
std::optional<std::string> word_behind(std::string_view log, std::string_view sign) {
  const auto at = log.find(sign);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = log.substr(at + sign.size());
  return non_empty(std::string{trim(rest.substr(0, rest.find_first_of("\n,(")))});
}

/// Returns the distribution's name in a requirement, normalised by PEP 503.
std::string distribution(std::string_view requirement) {
  const auto end = requirement.find_first_of("<>=!~;[@( \t#");
  std::string name = to_lower(trim(requirement.substr(0, end)));
  for (char& c : name) {
    c = c == '_' || c == '.' ? '-' : c;
  }
  return name;
}

struct RequirementLine {
  std::string text{};
  std::string place{};  ///< "`requirements.txt` line 2"
};

/// Returns the lines of the requirement files of `plan`.
std::vector<RequirementLine> requirement_lines(const plan::ReadablePlan& plan) {
  std::vector<RequirementLine> found;
  for (const auto& entry : plan.dependencies.inputs) {
    const bool text = entry.path.ends_with(".txt") || entry.path.ends_with(".in");
    if (!text || entry.type != source::EntryType::file || entry.tree >= plan.trees.size()) {
      continue;
    }
    const auto lines = split(plan.read(entry), '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
      found.push_back(
          {std::string{trim(lines[i])}, fmt::format("`{}` line {}", entry.path, i + 1)});
    }
  }
  return found;
}

/// Returns the project's place that lists `requirement`; nothing if it is only a dependency.
std::optional<std::string> asked_in(const std::string& requirement,
                                    const plan::ReadablePlan& plan) {
  const std::string name = distribution(requirement);
  for (const auto& line : requirement_lines(plan)) {
    if (distribution(line.text) == name) {
      return line.place;
    }
  }
  for (const auto& given : plan.dependencies.requirements) {
    if (distribution(given) == name) {
      return "`requirements`";
    }
  }
  return std::nullopt;
}

/// Returns true if `option`, a line of a requirements file, makes pip ignore files of
/// `requirement`.
bool hides_files(std::string_view option, const std::string& requirement) {
  for (const std::string_view name : {"--only-binary", "--no-binary"}) {
    if (!option.starts_with(name)) {
      continue;
    }
    const auto value = option.substr(name.size(), option.find(" #") - name.size());
    const auto names =
        split(value.substr(std::min(value.find_first_not_of(" ="), value.size())), ',');
    return std::ranges::any_of(names, [&](const auto& one) {
      return trim(one) == ":all:" || distribution(one) == distribution(requirement);
    });
  }
  return false;
}

/// Returns the project's place of `requirement` as the end of a sentence.
std::string place_text(const std::string& requirement, const plan::ReadablePlan* plan) {
  const auto place = plan == nullptr ? std::nullopt : asked_in(requirement, *plan);
  return place ? fmt::format(", asked for in {}", *place) : "";
}

/// Returns the package that pip processed last before a build program failed; nothing for a local
/// project, or if the log has no such failure.
std::optional<std::string> built_before_end(std::string_view log) {
  const auto at = log.find("subprocess-exited-with-error");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto before = log.substr(0, at);
  std::string_view last;
  std::size_t place = 0;
  for (const std::string_view sign : {"Collecting ", "Processing ", "Obtaining "}) {
    const auto found = before.rfind(sign);
    if (found != std::string_view::npos && (last.empty() || found > place)) {
      last = sign;
      place = found;
    }
  }
  return last.empty() || last == "Obtaining " ? std::nullopt : requirement_behind(before, last);
}

/// Returns the module that the build of a source distribution failed to import; nothing if the log
/// does not name one.
std::optional<std::string> module_missing_in_build(std::string_view log) {
  constexpr std::string_view sign{"ModuleNotFoundError: No module named '"};
  const auto at = log.rfind(sign);
  if (log.find("subprocess-exited-with-error") == std::string_view::npos ||
      at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = log.substr(at + sign.size());
  return non_empty(std::string{rest.substr(0, rest.find_first_of("'.\n"))});
}

/// Returns the leading numbers of a version: 1, 11 and 0 of `1.11.0+cu113`.
std::vector<int> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  for (const auto& part : split(version.substr(0, version.find_first_not_of("0123456789.")), '.')) {
    int number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

/// Returns a hint with the versions of the index if all are newer than `missing`, else nothing.
std::optional<std::string> newer_versions_hint(std::string_view log,
                                               const std::string& missing,
                                               const plan::ReadablePlan& plan) {
  const auto equals = missing.find("==");
  const auto listed = word_behind(log, "(from versions: ");  // the first one
  if (equals == std::string::npos || !listed || !plan.base.python_version) {
    return std::nullopt;
  }
  const auto oldest = printable(listed->substr(0, listed->find(')')));
  if (oldest == "none" ||
      numbers_of(std::string_view{missing}.substr(equals + 2)) >= numbers_of(oldest)) {
    return std::nullopt;
  }
  return fmt::format(
      "for Python {} the index has {} and newer only: take an executor image with an older Python, "
      "or a newer version",
      *plan.base.python_version, oldest);
}

/// Returns pip's failure in `log`, with the requirement and, if there is a `plan`, its place in the
/// project; nothing if the log does not contain one.
std::optional<std::string> pip_complaint(std::string_view log, const plan::ReadablePlan* plan) {
  if (const auto missing = missing_requirement(log)) {
    return fmt::format("pip finds no version of `{}`{}", printable(*missing),
                       place_text(*missing, plan));
  }
  for (const std::string_view sign :
       {"ERROR: Failed building wheel for ", "ERROR: Could not build wheels for "}) {
    if (const auto name = word_behind(log, sign)) {
      return fmt::format("pip cannot build `{}`{}", printable(*name), place_text(*name, plan));
    }
  }
  for (const std::string_view sign : {"ERROR: Cannot find command 'git'", " git clone "}) {
    if (log.find(sign) == std::string_view::npos) {
      continue;
    }
    // The package that pip processed last. Its errors may arrive before what it printed.
    if (const auto name = requirement_behind(log, "Collecting ")) {
      return fmt::format("git cannot fetch `{}`{}", printable(redact_credentials(*name)),
                         place_text(*name, plan));
    }
  }
  if (const auto name = built_before_end(log)) {
    return fmt::format("pip cannot build `{}`{}", printable(redact_credentials(*name)),
                       place_text(*name, plan));
  }
  if (const auto invalid = word_behind(log, "ERROR: Invalid requirement: ")) {
    return fmt::format("pip cannot read the requirement {}", printable(*invalid));
  }
  return std::nullopt;
}

/// Returns the last line of a build backend's output, which pip quotes in `log`: `ValueError:
/// Unknown classifier`; nothing if the log quotes none.
std::optional<std::string> backend_complaint(std::string_view log) {
  const auto written = trim(log.substr(0, log.find("[end of output]")));
  if (written.size() == trim(log).size()) {
    return std::nullopt;
  }
  const auto line = trim(written.substr(written.rfind('\n') + 1));
  return non_empty(std::string{line});
}

/// Returns the project's option that may hide the missing requirement from pip; nothing if there is
/// none, or pip missed nothing.
std::optional<std::string> pip_hint(std::string_view log, const plan::ReadablePlan* plan) {
  if (const auto module = module_missing_in_build(log)) {
    return fmt::format(
        "the build imports `{0}`, which pip's isolated build does not see: name a wheel by its "
        "URL, "
        "or take an executor image that has `{0}` and pass `--build-env=PIP_NO_BUILD_ISOLATION=0`",
        printable(*module));
  }
  const auto missing = plan == nullptr ? std::nullopt : missing_requirement(log);
  for (const auto& line : missing ? requirement_lines(*plan) : std::vector<RequirementLine>{}) {
    if (hides_files(line.text, *missing)) {
      return fmt::format("`{}` in {} leaves files of the index out", printable(line.text),
                         line.place);
    }
  }
  return missing ? newer_versions_hint(log, *missing, *plan) : std::nullopt;
}

constexpr std::size_t shown_lines = 20;
constexpr std::size_t shown_line_length = 400;

/// A common failure: a text in the engine's message or the step's output, who can fix it, and how.
/// Engines and programs report text and no codes; only messages depend on this text.
struct Known {
  std::string_view sign{};
  ErrorKind kind{ErrorKind::remote};
  std::string_view hint{};
};

constexpr std::string_view no_keys{
    "a build has no SSH keys: name the commit in full, pin all other requirements, install no "
    "system packages and pass no `--engine=docker`: git of this machine fetches it then, with your "
    "keys"};

constexpr std::array known_failures{
    Known{"no space left on device", ErrorKind::environment, "docker system df"},
    Known{"No space left on device", ErrorKind::environment, "docker system df"},
    Known{"disk quota exceeded", ErrorKind::environment, "docker system df"},
    Known{"exec format error", ErrorKind::environment,
          "the base is for another platform than this machine: pass `--platform`, or install "
          "qemu-user-static"},
    Known{"max depth exceeded", ErrorKind::project, engine::fewer_layers},
    Known{"no active sessions", ErrorKind::remote, "docker pull the base image first"},
    Known{"exit code: 137", ErrorKind::environment,
          "the step was killed, most often because memory ran out: give the engine more"},
    Known{"externally-managed-environment", ErrorKind::project,
          "the base's Python does not accept packages from pip: pass `--break-system-packages` to "
          "pip"},
    Known{"Temporary failure resolving", ErrorKind::environment,
          "build steps cannot resolve names; `--build-network host` gives them this machine's "
          "network"},
    Known{"Temporary failure in name resolution", ErrorKind::environment,
          "build steps cannot resolve names; `--build-network host` gives them this machine's "
          "network"},
    Known{"Failed to establish a new connection", ErrorKind::environment,
          "build steps cannot reach the index; one on loopback needs `--build-network host`"},
    Known{"Network is unreachable", ErrorKind::environment,
          "build steps have no network; `--build-network host` gives them this machine's"},
    Known{"THESE PACKAGES DO NOT MATCH THE HASHES", ErrorKind::project,
          "the index serves other files than the hashes name: renew the hashes"},
    Known{"Unable to locate package", ErrorKind::project,
          "no such package in the base's distribution: check `system-packages`"},
    Known{"Cannot find command 'git'", ErrorKind::project, "--system-packages=git"},
    Known{"Host key verification failed", ErrorKind::project, no_keys},
    Known{"Permission denied (publickey", ErrorKind::project, no_keys},
    Known{"cannot run ssh", ErrorKind::project, no_keys},
    Known{"401 Error, Credentials not correct", ErrorKind::project,
          "the index refuses the credentials of PIP_INDEX_URL, pip.conf or .netrc"},
};

constexpr std::array base_signs{
    std::string_view{"not found"},
    std::string_view{"manifest unknown"},
    std::string_view{"pull access denied"},
    std::string_view{"failed to resolve source metadata"},
    std::string_view{"no match for platform"},
    std::string_view{"failed to authorize"},
    std::string_view{"initializing source"},
};

std::string dockerfile_name(const ContextParts& parts) {
  const bool own = parts.plan != nullptr && parts.plan->user_dockerfile;
  return own ? fmt::format("`{}`", *parts.plan->user_dockerfile) : "the generated Dockerfile";
}

std::string last_lines(std::string_view log) {
  auto lines = split(trim(log), '\n');
  std::erase_if(
      lines, [](const auto& line) { return trim(line).starts_with("WARNING: Retrying (Retry("); });
  if (lines.size() > shown_lines) {
    lines.erase(lines.begin(), lines.end() - shown_lines);
  }
  for (auto& line : lines) {
    // A progress bar redraws its line: only the last state matters.
    const auto redrawn = trim(line).rfind('\r');
    line = redrawn == std::string::npos ? line : std::string{trim(line).substr(redrawn + 1)};
    line =
        "| " + printable(redact_credentials(std::string{trim(line).substr(0, shown_line_length)}));
  }
  return join(lines, "\n");
}

/// Returns the number after the last `line ` in `message`; 0 if there is none.
int line_in(std::string_view message) {
  const auto at = message.find("parse error");
  const auto word = message.find("line ", at == std::string_view::npos ? 0 : at);
  int line = 0;
  if (word != std::string_view::npos) {
    std::from_chars(message.data() + word + 5, message.data() + message.size(), line);
  }
  return line;
}

Error parse_error(const engine::BuildFailure& failure, const ContextParts& parts) {
  const int line = line_in(failure.message);
  const auto at = failure.message.find("parse error");
  const std::string words = failure.message.substr(at == std::string::npos ? 0 : at);
  const std::string place = line > 0 ? fmt::format(" line {}", line) : "";
  return Error(ErrorKind::project, fmt::format("{}{} is not valid", dockerfile_name(parts), place))
      .cause(printable(words));
}

bool is_base_failure(const engine::BuildFailure& failure,
                     const std::optional<engine::Instruction>& instruction) {
  if (failure.step && failure.step->find("load metadata for") != std::string::npos) {
    return true;
  }
  const bool at_from = !instruction || instruction->keyword == "FROM";
  return at_from && std::ranges::any_of(base_signs, [&](std::string_view sign) {
           return failure.message.find(sign) != std::string::npos;
         });
}

std::string reason_of(const engine::BuildFailure& failure) {
  // BuildKit and the classic builder repeat the whole command before the reason.
  for (const std::string_view sign :
       {"]: exit code: ", "did not complete successfully: exit code: ",
        "returned a non-zero code: ", "exit status "}) {
    const auto at = failure.message.rfind(sign);
    if (at != std::string::npos) {
      return "it exited with status " + failure.message.substr(at + sign.size());
    }
  }
  return printable(redact_credentials(failure.message));
}

std::string shown_step(const ContextParts& parts, const std::string& step) {
  return printable(single_spaced(redact_credentials(step_for_people(parts, step))));
}

void add_known(Error& error, const engine::BuildFailure& failure, ErrorKind& kind) {
  for (const auto& known : known_failures) {
    if (failure.message.find(known.sign) != std::string::npos ||
        failure.last_log.find(known.sign) != std::string::npos) {
      kind = known.kind;
      error.hint(std::string{known.hint});
      return;
    }
  }
}

}  // namespace

Error build_error(const engine::BuildFailure& failure, const ContextParts& parts) {
  if (failure.message.find("parse error") != std::string::npos ||
      failure.message.find("nknown instruction") != std::string::npos) {
    return parse_error(failure, parts);
  }
  const auto instruction =
      failure.step ? engine::instruction_of_step(parts.dockerfile, *failure.step) : std::nullopt;
  if (is_base_failure(failure, instruction)) {
    const auto base = parts.plan == nullptr ? std::nullopt : non_empty(parts.plan->base.reference);
    return Error(ErrorKind::remote, base ? fmt::format("base image `{}` is not available", *base)
                                         : "the base image is not available")
        .cause(printable(redact_credentials(failure.message)))
        .hint(base ? "docker pull " + shell_quote(*base) : "docker login");
  }
  ErrorKind kind = ErrorKind::project;
  Error details{kind, ""};
  add_known(details, failure, kind);
  const auto complaint = pip_complaint(failure.last_log, parts.plan);
  Error error{kind, complaint      ? *complaint
                    : failure.step ? fmt::format("the image build failed at `{}`",
                                                 shown_step(parts, *failure.step))
                                   : std::string{"the image build failed"}};
  if (instruction) {
    error.cause(fmt::format("line {} of {}", instruction->line, dockerfile_name(parts)));
  }
  if (const auto words = backend_complaint(failure.last_log)) {
    error.cause(printable(redact_credentials(words->substr(0, shown_line_length))));
  }
  error.cause(reason_of(failure));
  if (!trim(failure.last_log).empty()) {
    error.cause(std::string{engine::last_output_cause} + "\n" + last_lines(failure.last_log));
  }
  for (const auto& hint : details.hints()) {
    error.hint(hint);
  }
  if (auto hint = pip_hint(failure.last_log, parts.plan)) {
    error.hint(std::move(*hint));
  }
  return error;
}

}  // namespace autopack::build
