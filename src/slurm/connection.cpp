#include "slurm/connection.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/process.hpp"
#include "base/started_process.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

// A script arrives on the standard input of a shell, so that no command line shows it and no login
// shell reads it. The shell may read it while it arrives: it is one command in braces, so that a
// connection that ends early leaves a syntax error, and nothing was done.

namespace autopack::slurm {

namespace {

using namespace std::chrono_literals;

/// How long a script may take. A busy controller answers late.
constexpr auto longest_script = 180s;
constexpr auto shared_login_idle = 60s;
constexpr int no_connection{255};  // of ssh
constexpr std::size_t most_error_lines{4};

/// Many clusters add Slurm's directory to PATH for login shells alone.
constexpr auto* find_commands = R"(
if ! command -v sbatch >/dev/null 2>&1; then
  if [ -r /etc/profile ]; then . /etc/profile >/dev/null 2>&1; fi
  PATH=$PATH:/opt/slurm/bin:/usr/local/slurm/bin:/usr/local/bin
fi
)";

std::string new_mark() {
  std::random_device random;
  return fmt::format("autopack-{:08x}{:08x}", random(), random());
}

std::string with_marks(const std::string& script, const std::string& mark) {
  return fmt::format(
      "{{\nprintf '%s\\n' '{0} begin'\n(\n{1}\n{2}\n)\nprintf '%s\\n' \"{0} end $?\"\nexit 0\n}}\n",
      mark, find_commands, script);
}

std::string last_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto& line : split(text, '\n')) {
    if (!trim(line).empty()) {
      lines.push_back(printable(trim(line)));
    }
  }
  if (lines.size() > most_error_lines) {
    lines.erase(lines.begin(), lines.end() - most_error_lines);
  }
  return join(lines, "; ");
}

/// Both ends of a stream that a program has as its standard input and output.
std::pair<FileDescriptor, FileDescriptor> open_stream() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(ErrorKind::environment, "cannot make a socket").cause(std::strerror(errno));
  }
  return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

/// Returns false if the other end is closed.
bool write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
  return true;
}

std::string read_to_end(int from) {
  constexpr std::size_t most{65'536};
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return text;
    }
    if (count > 0 && text.size() < most) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
}

/// Thrown inside of `send` if the reader has closed the pipe.
struct ClosedByOther {};

}  // namespace

Answer between_marks(const std::string& output, const std::string& mark) {
  Answer answer;
  const auto begin_line = mark + " begin\n";
  const auto begin = output.find(begin_line);
  if (begin == std::string::npos) {
    return answer;
  }
  const auto from = begin + begin_line.size();
  const auto end = output.rfind(mark + " end ");
  if (end == std::string::npos || end < from) {
    answer.output = output.substr(from);
    return answer;
  }
  const auto status = end + mark.size() + 5;
  const auto line_end = output.find('\n', status);
  const auto digits = output.substr(status, line_end == std::string::npos ? 0 : line_end - status);
  answer.output = output.substr(from, end - from);
  if (digits.empty() || digits.size() > 3 || !std::ranges::all_of(digits, is_digit)) {
    return answer;
  }
  answer.status = std::stoi(digits);
  answer.is_whole = true;
  return answer;
}

Connection::Connection(std::optional<SshAddress> login, const Cancellation* cancellation)
    : login_{std::move(login)}, cancellation_{cancellation} {}

Connection::~Connection() {
  if (directory_) {
    try {
      end_shared_login(*login_, {.directory = directory_->path()});
    } catch (const std::exception&) {  // it ends by itself
    }
  }
}

std::string Connection::name() const {
  if (!login_) {
    return "-";
  }
  return (login_->user ? *login_->user + "@" : "") +
         (login_->host.find(':') == std::string::npos ? login_->host : "[" + login_->host + "]") +
         (login_->port ? ":" + std::to_string(*login_->port) : "");
}

std::string Connection::place() const {
  return login_ ? "`" + printable(name()) + "`" : "this machine";
}

std::vector<std::string> Connection::words(const std::string& command) {
  if (!login_) {
    return {"/bin/sh", "-c", "trap '' INT QUIT; exec " + command};
  }
  if (ssh_.empty()) {
    directory_ = std::make_unique<ScratchDirectory>("ssh");
    ssh_ = ssh_command(*login_, {.directory = directory_->path(), .idle = shared_login_idle});
  }
  auto all = ssh_;
  all.push_back("exec " + command);
  return all;
}

Answer Connection::attempt(const std::string& script, Stops stops) {
  const auto mark = new_mark();
  const auto result = run_process(
      words("/bin/sh -s"), with_marks(script, mark),
      {.timeout = longest_script, .cancellation = stops == Stops::yes ? cancellation_ : nullptr});
  if (!result) {
    throw Error(ErrorKind::environment, "there is no `/bin/sh` here");
  }
  auto answer = between_marks(result->output, mark);
  answer.errors = last_lines(result->errors);
  if (!answer.is_whole && answer.errors.empty()) {
    answer.errors = fmt::format("{} ended with status {}", login_ ? "ssh" : "the shell",
                                result->status == no_connection ? no_connection : result->status);
  }
  return answer;
}

Answer Connection::run(const std::string& script) {
  auto answer = attempt(script);
  if (!answer.is_whole) {
    throw lost(answer);
  }
  return answer;
}

Error Connection::lost(const Answer& answer) const {
  if (!login_) {
    return Error(ErrorKind::environment, "a script for Slurm was cut off").cause(answer.errors);
  }
  return Error(ErrorKind::remote, fmt::format("no answer from `{}` by ssh", printable(name())))
      .cause(answer.errors)
      .hint(fmt::format("try the login: {} true", ssh_text(*login_)));
}

std::string Connection::by_hand(const std::string& command) const {
  return login_ ? ssh_text(*login_) + " " + command : command;
}

void Connection::send(const std::string& program, const BytePipe::Write& input) {
  auto stream = open_stream();
  const int ours = stream.first.get();
  StartedProcess process{words("/bin/sh " + shell_quote(program)), stream.second.get()};
  stream.second = FileDescriptor{-1};
  try {
    input([&](std::string_view bytes) {
      if (cancellation_ != nullptr) {
        cancellation_->throw_if_requested();
      }
      if (!write_all(ours, bytes)) {
        throw ClosedByOther{};
      }
    });
  } catch (const ClosedByOther&) {  // its output has the reason
  }
  ::shutdown(ours, SHUT_WR);
  const auto printed = read_to_end(ours);
  while (!process.status()) {
    sleep_unless_cancelled(20ms, cancellation_);
  }
  if (("\n" + printed).find("\ndone\n") == std::string::npos) {
    auto reason = process.last_errors();
    throw Error(ErrorKind::remote, fmt::format("the image arrived incomplete on {}", place()))
        .cause(reason.empty() ? fmt::format("status {}", *process.status()) : reason)
        .hint(
            "check the free space and the quota of the shared directory, and that `tar` is "
            "installed there");
  }
}

SshAddress read_login(const std::string& text) {
  auto address = parse_ssh_address(text.starts_with("ssh://") ? text : "ssh://" + text);
  if (!address || address->socket) {
    throw Error(ErrorKind::usage,
                fmt::format("`--login={}` is not `[USER@]HOST[:PORT]`", printable(text)))
        .hint("it may be an alias of `~/.ssh/config`");
  }
  return *address;
}

}  // namespace autopack::slurm
