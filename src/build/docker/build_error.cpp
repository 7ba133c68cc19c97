#include "build/docker/build_error.hpp"

#include "base/line.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "build/docker/pip_failure.hpp"
#include "build/docker/step_names.hpp"
#include "engine/dockerfile_steps.hpp"
#include "engine/images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace autopack::build {

namespace {

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
          "the base is of another platform than this machine: pass `--platform`, or install "
          "qemu-user-static"},
    Known{"max depth exceeded", ErrorKind::project, engine::fewer_layers},
    Known{"no active sessions", ErrorKind::remote, "docker pull the base image first"},
    Known{"exit code: 137", ErrorKind::environment,
          "the step was killed, most often for lack of memory: give the engine more"},
    Known{"externally-managed-environment", ErrorKind::project,
          "the base's Python does not accept packages from pip: pass `--break-system-packages` to "
          "pip"},
    Known{"Temporary failure resolving", ErrorKind::environment,
          "build steps have no name service; `--build-network host` gives them this machine's "
          "network"},
    Known{"Temporary failure in name resolution", ErrorKind::environment,
          "build steps have no name service; `--build-network host` gives them this machine's "
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
    return Error(ErrorKind::remote, base ? fmt::format("base image `{}` cannot be had", *base)
                                         : "the base image cannot be had")
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
