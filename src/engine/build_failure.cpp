#include "engine/build_failure.hpp"

#include "base/line.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/dockerfile_steps.hpp"
#include "engine/step_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace autopack::engine {

namespace {

constexpr std::size_t shown_lines = 20;
constexpr std::size_t shown_line_length = 400;

/// A failure that many meet: what stands in the engine's message or the step's output, who can mend
/// it, and how. Engines and programs give words and no codes; nothing but what is told depends on
/// them.
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
    Known{"no active sessions", ErrorKind::remote, "docker pull the base image first"},
    Known{"exit code: 137", ErrorKind::environment,
          "the step was killed, most often for lack of memory: give the engine more"},
    Known{"externally-managed-environment", ErrorKind::project,
          "the base's Python takes no packages by pip: pass `--break-system-packages` to pip"},
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

std::string dockerfile_name(const BuildRequest& request) {
  const bool own = request.plan != nullptr && request.plan->user_dockerfile;
  return own ? fmt::format("`{}`", *request.plan->user_dockerfile) : "the generated Dockerfile";
}

std::string last_lines(std::string_view log) {
  auto lines = split(trim(log), '\n');
  std::erase_if(
      lines, [](const auto& line) { return trim(line).starts_with("WARNING: Retrying (Retry("); });
  if (lines.size() > shown_lines) {
    lines.erase(lines.begin(), lines.end() - shown_lines);
  }
  for (auto& line : lines) {
    // A progress bar redraws its line: only the last state is worth a line here.
    const auto redrawn = trim(line).rfind('\r');
    line = redrawn == std::string::npos ? line : std::string{trim(line).substr(redrawn + 1)};
    line =
        "| " + printable(redact_credentials(std::string{trim(line).substr(0, shown_line_length)}));
  }
  return join(lines, "\n");
}

/// The number after the last `line ` in `message`; 0 when there is none.
int line_in(std::string_view message) {
  const auto at = message.find("parse error");
  const auto word = message.find("line ", at == std::string_view::npos ? 0 : at);
  int line = 0;
  if (word != std::string_view::npos) {
    std::from_chars(message.data() + word + 5, message.data() + message.size(), line);
  }
  return line;
}

/// What pip found no version of: `nosuch==1`; none when the log does not say so.
std::optional<std::string> missing_requirement(std::string_view log) {
  for (const std::string_view sign :
       {"No matching distribution found for ", "satisfies the requirement "}) {
    const auto at = log.rfind(sign);
    if (at != std::string_view::npos) {
      const auto rest = log.substr(at + sign.size());
      const auto line = rest.substr(0, rest.find('\n'));
      return non_empty(std::string{trim(line.substr(0, line.find(" (from ")))});
    }
  }
  return std::nullopt;
}

/// The rest of the line behind the first `sign`, up to a comma or a bracket; none when nothing is
/// there.
std::optional<std::string> word_behind(std::string_view log, std::string_view sign) {
  const auto at = log.find(sign);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = log.substr(at + sign.size());
  return non_empty(std::string{trim(rest.substr(0, rest.find_first_of("\n,(")))});
}

/// The distribution's name of a requirement, as PEP 503 compares names.
std::string distribution(std::string_view requirement) {
  const auto end = requirement.find_first_of("<>=!~;[@( \t#");
  std::string name = to_lower(trim(requirement.substr(0, end)));
  for (char& c : name) {
    c = c == '_' || c == '.' ? '-' : c;
  }
  return name;
}

/// Where the project asks for `requirement`; none when something it depends on does.
std::optional<std::string> asked_in(const std::string& requirement,
                                    const plan::ReadablePlan& plan) {
  const std::string name = distribution(requirement);
  for (const auto& entry : plan.dependencies.inputs) {
    const bool text = entry.path.ends_with(".txt") || entry.path.ends_with(".in");
    if (!text || entry.type != source::EntryType::file || entry.tree >= plan.trees.size()) {
      continue;
    }
    const auto lines = split(plan.read(entry), '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (distribution(lines[i]) == name) {
        return fmt::format("`{}` line {}", entry.path, i + 1);
      }
    }
  }
  for (const auto& given : plan.dependencies.requirements) {
    if (distribution(given) == name) {
      return "`requirements`";
    }
  }
  return std::nullopt;
}

/// The project's place for `requirement` as it ends a sentence.
std::string place_text(const std::string& requirement, const plan::ReadablePlan* plan) {
  const auto place = plan == nullptr ? std::nullopt : asked_in(requirement, *plan);
  return place ? fmt::format(", asked for in {}", *place) : "";
}

/// The requirement that pip took up last; none when it took up none.
std::optional<std::string> collected(std::string_view log) {
  constexpr std::string_view sign{"Collecting "};
  const auto at = log.rfind(sign);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = log.substr(at + sign.size());
  const auto line = rest.substr(0, rest.find('\n'));
  const auto name = trim(line.substr(0, line.find(" (from ")));
  return name.empty() ? std::nullopt : std::optional{std::string{name}};
}

/// What pip could not do, with the requirement first; none when the log does not tell.
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
    const auto at = log.find(sign);
    if (const auto name =
            at == std::string_view::npos ? std::nullopt : collected(log.substr(0, at))) {
      return fmt::format("git cannot fetch `{}`{}", printable(redact_credentials(*name)),
                         place_text(*name, plan));
    }
  }
  if (const auto invalid = word_behind(log, "ERROR: Invalid requirement: ")) {
    return fmt::format("pip cannot read the requirement {}", printable(*invalid));
  }
  return std::nullopt;
}

/// The last line of what a build backend wrote, which pip quotes: `ValueError: Unknown classifier`;
/// none when the log quotes none.
std::optional<std::string> backend_complaint(std::string_view log) {
  const auto written = trim(log.substr(0, log.find("[end of output]")));
  if (written.size() == trim(log).size()) {
    return std::nullopt;
  }
  const auto line = trim(written.substr(written.rfind('\n') + 1));
  return non_empty(printable(redact_credentials(std::string{line.substr(0, shown_line_length)})));
}

Error parse_error(const BuildFailure& failure, const BuildRequest& request) {
  const int line = line_in(failure.message);
  const auto at = failure.message.find("parse error");
  const std::string words = failure.message.substr(at == std::string::npos ? 0 : at);
  const std::string place = line > 0 ? fmt::format(" line {}", line) : "";
  return Error(ErrorKind::project,
               fmt::format("{}{} is not valid", dockerfile_name(request), place))
      .cause(printable(words));
}

bool is_base_failure(const BuildFailure& failure, const std::optional<Instruction>& instruction) {
  if (failure.step && failure.step->find("load metadata for") != std::string::npos) {
    return true;
  }
  const bool at_from = !instruction || instruction->keyword == "FROM";
  return at_from && std::any_of(base_signs.begin(), base_signs.end(), [&](std::string_view sign) {
           return failure.message.find(sign) != std::string::npos;
         });
}

std::string reason_of(const BuildFailure& failure) {
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

std::string shown_step(const BuildRequest& request, const std::string& step) {
  return printable(single_spaced(redact_credentials(step_for_people(request, step))));
}

void add_known(Error& error, const BuildFailure& failure, ErrorKind& kind) {
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

Error build_error(const BuildFailure& failure, const BuildRequest& request) {
  if (failure.message.find("parse error") != std::string::npos ||
      failure.message.find("nknown instruction") != std::string::npos) {
    return parse_error(failure, request);
  }
  const auto instruction =
      failure.step ? instruction_of_step(request.dockerfile, *failure.step) : std::nullopt;
  if (is_base_failure(failure, instruction)) {
    const auto base =
        request.plan == nullptr ? std::nullopt : non_empty(request.plan->base.reference);
    return Error(ErrorKind::remote, base ? fmt::format("base image `{}` cannot be had", *base)
                                         : "the base image cannot be had")
        .cause(printable(redact_credentials(failure.message)))
        .hint(base ? "docker pull " + shell_quote(*base) : "docker login");
  }
  ErrorKind kind = ErrorKind::project;
  Error details{kind, ""};
  add_known(details, failure, kind);
  const auto complaint = pip_complaint(failure.last_log, request.plan);
  Error error{kind, complaint      ? *complaint
                    : failure.step ? fmt::format("the image build failed at `{}`",
                                                 shown_step(request, *failure.step))
                                   : std::string{"the image build failed"}};
  if (instruction) {
    error.cause(fmt::format("line {} of {}", instruction->line, dockerfile_name(request)));
  }
  if (auto words = backend_complaint(failure.last_log)) {
    error.cause(std::move(*words));
  }
  error.cause(reason_of(failure));
  if (!trim(failure.last_log).empty()) {
    error.cause(std::string{last_output_cause} + "\n" + last_lines(failure.last_log));
  }
  for (const auto& hint : details.hints()) {
    error.hint(hint);
  }
  return error;
}

}  // namespace autopack::engine
