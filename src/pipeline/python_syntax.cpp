#include "pipeline/python_syntax.hpp"

#include "base/process.hpp"
#include "base/text.hpp"
#include "state/cache_files.hpp"
#include "state/project_files.hpp"
#include "state/syntax_verdicts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>

namespace autopack::pipeline {

namespace {

namespace fs = std::filesystem;
using plan::ReachedFile;

constexpr std::size_t most_asked{4'000'000};  // bytes
constexpr std::uint64_t most_kept{32'000'000};
constexpr std::chrono::seconds longest{10};
constexpr unsigned oldest_minor{7};  // older ones have other keywords

/// Prints its version, then a line for each text: `ok`, `?`, or the line and the message of a
/// syntax error. A newer Python than requested also parses each text as the older one does.
constexpr auto* script = R"(import sys
want = int(sys.argv[1])
version = sys.version_info
out = sys.stdout.buffer
texts = sys.stdin.buffer
out.write(b'%d.%d\n' % version[:2])
out.flush()
if version[0] != 3 or version[1] < want:
    sys.exit()
try:
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
      const auto place = fs::weakly_canonical(directory, code).string() + "/";
      if (!directory.starts_with('/') || place.starts_with(project)) {
        continue;
      }
      auto found = find_program(name, directory);
      if (found && is_compiled(*found)) {
        return found;
      }
      other = other ? other : std::move(found);
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
    const auto result =
        run_process({program, "-I", "-S", "-W", "ignore", "-c", script, std::to_string(minor)},
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

}  // namespace

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

}  // namespace autopack::pipeline
