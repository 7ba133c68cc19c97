#include "pipeline/advice.hpp"

#include "base/process.hpp"
#include "base/text.hpp"
#include "build/wheels/wheel_image.hpp"
#include "executor/python_facts.hpp"
#include "packaging/packaging.hpp"
#include "pipeline/gpu_check.hpp"
#include "plan/advice.hpp"
#include "project/certain.hpp"
#include "project/program/notebook.hpp"
#include "state/cache_files.hpp"
#include "state/project_files.hpp"
#include "state/syntax_verdicts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace autopack::pipeline {

namespace {

/// Checks the `reached` files of `work` with a Python of this machine, of the executor image's
/// version or newer. It parses them and runs nothing. Checks each content once; without such a
/// Python, reports nothing. Uses no network and no engine.
plan::SyntaxFaults judge_syntax(const packaging::Packaging& work,
                                const std::vector<plan::ReachedFile>& reached);

namespace fs = std::filesystem;
using plan::ReachedFile;

constexpr std::size_t most_asked{4'000'000};  // bytes
constexpr std::uint64_t most_kept{32'000'000};
constexpr std::chrono::seconds longest{10};
constexpr unsigned oldest_minor{7};  // older ones have other keywords

/// Prints its version, then a line for each text: `ok`, `?`, or the line and the message of a
/// syntax error. A newer Python than requested also parses each text as the older one does.
/// Ends without the interpreter's own cleaning up, and imports little: an edit waits for it.
constexpr auto* script = R"(import sys
import posix
want = int(sys.argv[1])
version = sys.version_info
out = sys.stdout.buffer
texts = sys.stdin.buffer
out.write(b'%d.%d\n' % version[:2])
out.flush()
if version[0] != 3 or version[1] < want:
    posix._exit(0)
try:
    import _warnings
    _warnings.filters[:0] = [('ignore', None, Warning, None, 0)]
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
except Exception:
    pass
while True:
    size = texts.readline()
    if not size:
        break
    text = texts.read(int(size))
    try:
        compile(text, 'x', 'exec', 0, True)
        if version[1] > want:
            compile(text, 'x', 'exec', 1024, True, _feature_version=want)
        answer = 'ok'
    except SyntaxError as error:
        answer = '%d %s' % (error.lineno or 0, ' '.join(str(error.msg).split()))
    except BaseException:
        answer = '?'
    out.write(answer.encode('ascii', 'backslashreplace') + b'\n')
    out.flush()
posix._exit(0)
)";

/// A file to check.
struct Asked {
  const ReachedFile* file{nullptr};
  std::string text{};
};

std::optional<unsigned> number_in(std::string_view text) {
  unsigned number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? std::optional{number}
                                                                         : std::nullopt;
}

/// Returns 11 for `3.11.2`; nothing if it is not a usable Python 3.
std::optional<unsigned> minor_of(const std::string& version) {
  const auto parts = split(version, '.');
  const auto minor = parts.size() > 1 && parts[0] == "3" ? number_in(parts[1]) : std::nullopt;
  return minor && *minor >= oldest_minor ? minor : std::nullopt;
}

/// Returns false for a script such as those that select one of several Pythons, which start slowly.
bool is_compiled(const fs::path& program) {
  std::array<char, 4> first{};
  std::ifstream{program, std::ios::binary}.read(first.data(), first.size());
  return std::string_view{first.data(), first.size()} ==
         "\x7f"
         "ELF";
}

/// Returns `python3.11`, else `python3`, in PATH; excludes relative directories and the project's,
/// whose programs are not run.
std::optional<std::string> find_python(const packaging::Request& request, unsigned minor) {
  std::error_code code;
  const auto project = fs::weakly_canonical(request.project.directory, code).string() + "/";
  std::optional<std::string> other;
  for (const auto& name : {fmt::format("python3.{}", minor), std::string{"python3"}}) {
    for (const auto& directory : split(request.environment.get("PATH").value_or(""), ':')) {
      auto found = directory.starts_with('/') ? find_program(name, directory) : std::nullopt;
      if (!found || (fs::weakly_canonical(directory, code).string() + "/").starts_with(project)) {
        continue;
      }
      if (is_compiled(*found)) {
        return found;
      }
      if (!other) {
        other = std::move(found);
      }
    }
  }
  return other;
}

std::optional<state::KnownPython> look_at(const std::string& program) {
  struct stat facts {};

  if (::stat(program.c_str(), &facts) != 0) {
    return std::nullopt;
  }
  constexpr std::int64_t ns_per_s{1'000'000'000};
  return state::KnownPython{.path = program,
                            .changed_ns = facts.st_mtim.tv_sec * ns_per_s + facts.st_mtim.tv_nsec,
                            .size = static_cast<std::uint64_t>(facts.st_size)};
}

/// Returns true if `known`, a cached result, is that program and older than `minor`.
bool is_too_old(const std::optional<state::KnownPython>& known,
                state::KnownPython now,
                unsigned minor) {
  if (!known) {
    return false;
  }
  now.version = known->version;
  const auto parts = split(known->version, '.');
  const auto own = parts.size() == 2 ? number_in(parts[1]) : std::nullopt;
  return *known == now && own && *own < minor;
}

/// Returns the script's output lines; nothing if the program fails.
std::vector<std::string> ask(const std::string& program,
                             unsigned minor,
                             const std::vector<Asked>& all) {
  std::string input;
  for (const auto& one : all) {
    input += fmt::format("{}\n{}", one.text.size(), one.text);
  }
  try {
    const auto result = run_process({program, "-I", "-S", "-c", script, std::to_string(minor)},
                                    input, {.timeout = longest});
    return result ? split(result->output, '\n') : std::vector<std::string>{};
  } catch (const Error&) {
    return {};
  }
}

state::SyntaxVerdict verdict_in(const std::string& answer, const std::string& python) {
  const auto blank = answer.find(' ');
  const auto line = number_in(std::string_view{answer}.substr(0, blank));
  if (answer == "ok") {
    return {.python = python};
  }
  if (blank == std::string::npos || !line) {
    return {};
  }
  return {.python = python, .line = static_cast<int>(*line), .message = answer.substr(blank + 1)};
}

/// Checks `all` and adds the results to `verdicts`.
void ask_about(const packaging::Request& request,
               const std::string& version,
               const std::vector<Asked>& all,
               state::SyntaxVerdicts& verdicts) {
  const auto minor = minor_of(version).value();
  const auto program = find_python(request, minor);
  auto python = program ? look_at(*program) : std::nullopt;
  if (!python || is_too_old(verdicts.python(), *python, minor)) {
    return;
  }
  const auto lines = ask(*program, minor, all);
  python->version = lines.empty() ? "" : lines.front();
  if (!minor_of(python->version)) {
    return;
  }
  verdicts.set_python(*python);
  if (*minor_of(python->version) < minor) {
    return;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_answered = i + 1 < lines.size() && !lines[i + 1].empty();
    verdicts.add(*all[i].file->entry->content, version,
                 is_answered ? verdict_in(lines[i + 1], python->version) : state::SyntaxVerdict{});
  }
}

plan::SyntaxFaults judge_syntax(const packaging::Packaging& work,
                                const std::vector<ReachedFile>& reached) {
  const auto& request = work.request();
  const auto minor = minor_of(work.plan().base.python_version.value_or(""));
  if (reached.empty() || !minor) {
    return {};
  }
  const auto version = fmt::format("3.{}", *minor);
  const auto kept = state::syntax_file(request.environment.cache_directory(),
                                       request.project.directory, request.is_from_git());
  state::SyntaxVerdicts verdicts{state::read_quietly(kept).value_or("")};
  std::vector<Asked> unknown;
  std::size_t size = 0;
  for (const auto& file : reached) {
    const auto& entry = *file.entry;
    if (!entry.content || verdicts.of(*entry.content, version)) {
      continue;
    }
    size += entry.size;
    if (size <= most_asked) {
      unknown.push_back({.file = &file, .text = work.plan().read(entry)});
    } else {
      verdicts.add(*entry.content, version, {});
    }
  }
  if (!unknown.empty()) {
    ask_about(request, version, unknown, verdicts);
  }
  plan::SyntaxFaults faults;
  for (const auto& file : reached) {
    const auto verdict =
        file.entry->content ? verdicts.of(*file.entry->content, version) : std::nullopt;
    if (verdict && !verdict->message.empty()) {
      faults[file.path] = {verdict->line, verdict->message, verdict->python};
    }
  }
  if (const auto text = verdicts.text_to_save()) {
    state::write_quietly(kept, *text, most_kept);
  }
  return faults;
}

using Severity = Problem::Severity;

constexpr auto* sends_anyway = "`--skip-checks=program` sends it anyway";

/// Returns `all` with the severity for `request`, without duplicate messages.
Problems settle(const packaging::Request& request, const Problems& all) {
  Problems settled;
  Problem* last_certain = nullptr;
  settled.reserve(all.size());
  for (const Problem& problem : all) {
    const auto is_same = [&](const Problem& other) { return other.message == problem.message; };
    if (std::ranges::any_of(settled, is_same)) {
      continue;
    }
    auto& added = settled.emplace_back(problem);
    if (added.severity == Severity::warning) {
      const bool is_refused = request.refuses_certain && project::is_certain(added);
      added.severity = is_refused || request.strict ? Severity::error : Severity::warning;
      last_certain = is_refused ? &added : last_certain;
    }
  }
  if (last_certain != nullptr) {
    last_certain->hints.emplace_back(sends_anyway);
  }
  return settled;
}

/// Returns the versions of the distributions in the executor image; nothing if it cannot be read.
std::optional<std::map<std::string, std::string>> installed_versions(
    Services& services, const packaging::Packaging& work, executor::LookInto look) {
  std::optional<executor::PythonFacts> facts;
  try {
    facts = look == executor::LookInto::engine
                ? executor::python_facts(services, work.plan().base,
                                         executor::image_places(work.request()))
                : executor::known_python(services, work.plan().base);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) {
      throw;
    }
    services.reporter->detail(error.what());
  }
  if (!facts || !facts->interpreter) {
    return std::nullopt;
  }
  std::map<std::string, std::string> versions;
  for (const auto& one : facts->installed) {
    versions.emplace(one.name, one.version.value_or(""));
  }
  return versions;
}

project::Installation installation_of(const packaging::Packaging& work) {
  if (!build::obstacles_to_wheels(work).empty()) {
    return project::Installation::by_pip;
  }
  return work.request().resolver == packaging::Resolver::uv ? project::Installation::resolved
                                                            : project::Installation::pinned;
}

}  // namespace

Adviser::Adviser(Services& services, const packaging::Packaging& work, Problems secrets)
    : services_{services}, work_{work}, secrets_{std::move(secrets)} {
  if (!work_.request().is_from_git()) {
    following_ = in_background([&work] { return follow(work); });
  }
}

Adviser::Followed Adviser::follow(const packaging::Packaging& work) {
  Followed followed{.imports = plan::walk_imports(work.plan(), work.scanned().project)};
  followed.faults = judge_syntax(work, followed.imports.reached);
  append(followed.imports.problems,
         plan::path_advice(work.plan(), work.scanned().project, followed.imports.reached));
  if (auto workers = plan::data_worker_advice(work.plan(), followed.imports.reached)) {
    followed.imports.problems.push_back(*std::move(workers));
  }
  return followed;
}

const Adviser::Followed& Adviser::followed() {
  if (!followed_) {
    followed_ = following_.valid() ? following_.get() : follow(work_);
  }
  return *followed_;
}

const Problems& Adviser::early() {
  if (!early_) {
    const auto installation =
        installs_with_pip_ ? project::Installation::by_pip : installation_of(work_);
    early_ = plan::start_advice(
        work_.plan(), work_.scanned().project, installation, [&](const auto& names) {
          return executor::known_contents(services_, work_.plan().base, names,
                                          executor::LookInto::engine);
        });
    early_->insert(early_->begin(), secrets_.begin(), secrets_.end());
    append(*early_, find_in_gpu_code());
  }
  return *early_;
}

const Problems& Adviser::late(executor::LookInto look) {
  if (!late_) {
    const auto& plan = work_.plan();
    const auto& project = work_.scanned().project;
    auto advice = plan::advice(
        plan, project, followed().imports,
        [&](const auto& names) {
          return executor::known_contents(services_, plan.base, names, look);
        },
        followed().faults, [&] { return installed_versions(services_, work_, look); });
    for (const auto& detail : advice.details) {
      services_.reporter->detail(detail);
    }
    late_ = std::move(advice.warnings);
  }
  return *late_;
}

Problems Adviser::findings(executor::LookInto look) {
  Problems all = work_.plan().warnings;  // includes the project's
  append(all, early());
  append(all, late(look));
  return with_cells(settle(work_.request(), all));
}

Problems Adviser::advice(executor::LookInto look) {
  Problems all = early();
  append(all, late(look));
  return with_cells(settle(work_.request(), all));
}

Problems Adviser::with_cells(Problems found) const {
  project::name_cells(found, *work_.scanned().tree, work_.scanned().project);
  return found;
}

void Adviser::report(const Problems& found) const {
  for (const auto& problem : found) {
    if (problem.severity == Severity::warning) {
      services_.reporter->warn(problem);
    }
  }
  throw_if_errors(found, ErrorKind::project);
}

void Adviser::report_plan() {
  Problems known = work_.plan().warnings;
  append(known, early());
  known = with_cells(settle(work_.request(), known));
  report(has_errors(known) ? findings(executor::LookInto::engine) : known);
}

void Adviser::report_before_making() {
  const auto& request = work_.request();
  const bool takes_minutes =
      work_.comparison().is_first || !work_.comparison().changes.dependencies.empty();
  if (request.strict || request.refuses_certain || takes_minutes) {
    report_all(executor::LookInto::engine);
  } else {
    report_plan();
  }
}

void Adviser::report_after_making() {
  if (!reported_) {
    reported_ = true;
    Problems rest = settle(work_.request(), late(executor::LookInto::engine));
    const auto& before = work_.plan().warnings;
    std::erase_if(rest, [&](const Problem& one) {
      const auto is_same = [&](const Problem& other) { return other.message == one.message; };
      return std::ranges::any_of(before, is_same) || std::ranges::any_of(early(), is_same);
    });
    report(with_cells(std::move(rest)));
  }
}

Problems Adviser::find_in_gpu_code() {
  if (work_.request().devices.empty()) {
    return {};
  }
  return gpu_findings(services_, work_, find_gpu_code(services_, work_),
                      [this] { return followed().imports.open; });
}

void Adviser::report_gpu_code() {
  Problems found = settle(work_.request(), find_in_gpu_code());
  std::erase_if(found, [&](const Problem& one) {
    const auto is_same = [&](const Problem& other) { return other.message == one.message; };
    return early_ && std::ranges::any_of(*early_, is_same);
  });
  report(found);
}

void Adviser::report_all(executor::LookInto look) {
  reported_ = true;
  report(findings(look));
}

}  // namespace autopack::pipeline
