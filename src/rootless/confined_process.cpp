#include "rootless/confined_process.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

// The new process runs between clone(2) and execve(2) with a copy of this one's memory, whose other
// threads do not exist in it. It may only make system calls: everything that needs memory is
// prepared before.
//
// It is the first process of its process namespace: the kernel kills all others with it, and it
// ignores the signals of a terminal, which its children get.

namespace autopack::rootless {

namespace {

enum class Step : int {
  parent,
  identity,
  terminal,
  mounts,
  processes,
  cgroups,
  overlay,
  streams,
  run
};

/// What the new process reports if it fails.
struct Failure {
  Step step{Step::run};
  int code{0};
};

const char* text_of(Step step) {
  switch (step) {
    case Step::parent: return "end with its parent";
    case Step::identity: return "become root of a user namespace";
    case Step::terminal: return "get its terminal";
    case Step::mounts: return "separate its mounts";
    case Step::processes: return "mount /proc";
    case Step::cgroups: return "change /sys/fs/cgroup";
    case Step::overlay: return "mount the image's layers with overlayfs";
    case Step::streams: return "get its streams";
    case Step::run: return "run it";
  }
  return "";
}

/// The page of options that mount(2) takes.
constexpr std::size_t longest_options{4095};

/// Everything that the new process needs, as C strings.
struct Prepared {
  explicit Prepared(const Confined& confined);

  std::vector<char*> words{};
  std::vector<char*> variables{};
  std::string users{};
  std::string groups{};
  std::string layers_directory{};
  std::string options{};
  std::string options_in_memory{};
  std::string root{};
  std::string changes{};
  std::string upper{};
  std::string work{};
};

Prepared::Prepared(const Confined& confined)
    : words{pointers_to(confined.words)},
      variables{pointers_to(confined.environment)},
      users{fmt::format("0 {} 1", ::geteuid())},
      groups{fmt::format("0 {} 1", ::getegid())} {
  if (!confined.overlay) {
    return;
  }
  const auto& overlay = *confined.overlay;
  layers_directory = overlay.directory.string();
  root = overlay.root().string();
  changes = (overlay.run / "changes").string();
  upper = changes + "/upper";
  work = changes + "/work";
  // Relative names: shorter, and without signs that separate options.
  const auto run = "../" + overlay.run.lexically_relative(overlay.directory.parent_path()).string();
  options = fmt::format("lowerdir={},upperdir={}/changes/upper,workdir={}/changes/work,userxattr",
                        join(overlay.layers, ":"), run, run);
  if (options.size() > longest_options) {
    throw Error(
        ErrorKind::environment,
        fmt::format("an image of {} layers cannot run without an engine", overlay.layers.size()))
        .cause("their names do not fit into the options of mount(2)");
  }
}

bool write_text(const char* path, const char* text, std::size_t size) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  const bool good = ::write(file, text, size) == static_cast<ssize_t>(size);
  const int code = errno;
  ::close(file);
  errno = code;
  return good;
}

/// Some file systems cannot hold the changes (NFS, another overlayfs); memory can.
bool mount_overlay(const Prepared& prepared) {
  const auto mount = [&] {
    return ::mount("overlay", prepared.root.c_str(), "overlay", MS_NODEV,
                   prepared.options.c_str()) == 0;
  };
  if (::chdir(prepared.layers_directory.c_str()) != 0) {
    return false;
  }
  return mount() ||
         (::mount("tmpfs", prepared.changes.c_str(), "tmpfs", MS_NODEV, "mode=0755") == 0 &&
          ::mkdir(prepared.upper.c_str(), 0755) == 0 && ::mkdir(prepared.work.c_str(), 0755) == 0 &&
          mount());
}

/// A machine without such a mount needs no change.
bool set_up_cgroups(Cgroups cgroups) {
  constexpr auto* directory = "/sys/fs/cgroup";
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  switch (cgroups) {
    case Cgroups::as_they_are: return true;
    case Cgroups::hidden:
      return ::mount("tmpfs", directory, "tmpfs", 0, "mode=0555") == 0 || errno == ENOENT;
    case Cgroups::read_only:
      return ::syscall(SYS_mount_setattr, AT_FDCWD, directory, AT_RECURSIVE, &attributes,
                       sizeof attributes) == 0 ||
             errno == ENOENT || errno == EINVAL;
  }
  return false;
}

bool put_stream(int from, int to) {
  if (from >= 0) {
    return ::dup2(from, to) == to;
  }
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  return nothing >= 0 && ::dup2(nothing, to) == to;
}

void reset_signals() {
  struct sigaction usual {};

  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) {
    ::sigaction(signal, &usual, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void fail(int report, Step step) {
  const Failure failure{step, errno};
  static_cast<void>(!::write(report, &failure, sizeof failure));
  ::_exit(127);
}

/// The new process. `alive` is readable once its parent has ended.
[[noreturn]] void become(const Confined& confined,
                         const Prepared& prepared,
                         int alive,
                         int report) {
  const auto need = [report](bool good, Step step) {
    if (!good) {
      fail(report, step);
    }
  };
  pollfd parent{alive, POLLIN, 0};
  need(::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, Step::parent);
  if (::poll(&parent, 1, 0) != 0) {
    ::_exit(127);  // nobody waits
  }
  ::setsid();
  // An old kernel has no such file, and needs none.
  need(write_text("/proc/self/setgroups", "deny", 4) || errno == ENOENT, Step::identity);
  need(write_text("/proc/self/uid_map", prepared.users.c_str(), prepared.users.size()) &&
           write_text("/proc/self/gid_map", prepared.groups.c_str(), prepared.groups.size()),
       Step::identity);
  need(!confined.has_terminal || ::ioctl(confined.input, TIOCSCTTY, 0) == 0, Step::terminal);
  need(::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0, Step::mounts);
  need(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0,
       Step::processes);
  need(set_up_cgroups(confined.cgroups), Step::cgroups);
  need(!confined.overlay || mount_overlay(prepared), Step::overlay);
  need(::chdir("/") == 0, Step::mounts);
  need(put_stream(confined.input, 0) && put_stream(confined.output, 1) &&
           put_stream(confined.errors, 2),
       Step::streams);
  // This process may itself have inherited descriptors, which are not the program's.
  need(::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0, Step::streams);
  need(confined.inherited < 0 || ::fcntl(confined.inherited, F_SETFD, 0) == 0, Step::streams);
  reset_signals();
  ::execve(prepared.words.front(), prepared.words.data(), prepared.variables.data());
  fail(report, Step::run);
}

/// Returns the setting that forbids user namespaces here, as a command that permits them.
std::optional<std::string> forbidding_setting() {
  const auto value = [](const char* name) {
    try {
      return std::string{
          trim(read_file_if_exists(std::string{"/proc/sys/"} + replace_all(name, ".", "/"))
                   .value_or(""))};
    } catch (const Error&) {
      return std::string{};
    }
  };
  if (value("kernel.apparmor_restrict_unprivileged_userns") == "1") {
    return "sysctl kernel.apparmor_restrict_unprivileged_userns=0";
  }
  if (value("kernel.unprivileged_userns_clone") == "0") {
    return "sysctl kernel.unprivileged_userns_clone=1";
  }
  if (value("user.max_user_namespaces") == "0") {
    return "sysctl user.max_user_namespaces=10000";
  }
  return std::nullopt;
}

Error refused(const std::string& program, const std::string& step, int code) {
  Error error{ErrorKind::environment,
              fmt::format("`{}` cannot start in namespaces of its own", printable(program))};
  error.cause(fmt::format("cannot {}: {}", step, std::strerror(code)));
  if (const auto setting = forbidding_setting()) {
    error.hint(*setting + "  # as root, permits user namespaces");
  }
  return error;
}

struct Ends {
  FileDescriptor read{-1};
  FileDescriptor write{-1};
};

Ends make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorKind::environment, "cannot make a pipe").cause(std::strerror(errno));
  }
  return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

/// Returns the processes whose parent is `pid`.
std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code code;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", pid);
  for (std::filesystem::directory_iterator task{tasks, code};
       !code && task != std::filesystem::directory_iterator{}; task.increment(code)) {
    try {
      for (const auto& word :
           split(read_file_if_exists(task->path() / "children").value_or(""), ' ')) {
        if (!word.empty() && is_digit(word.front())) {
          children.push_back(static_cast<pid_t>(std::stol(word)));
        }
      }
    } catch (const Error&) {
      continue;  // the task has ended
    }
  }
  return children;
}

}  // namespace

ConfinedProcess::ConfinedProcess(const Confined& confined) {
  const Prepared prepared{confined};
  auto report = make_pipe();
  // Closed with this process; the new one keeps only the other end.
  static const Ends life = make_pipe();
  int descriptor = -1;
  const auto flags = static_cast<unsigned long>(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
                                                CLONE_PIDFD | SIGCHLD);
  const long pid = ::syscall(SYS_clone, flags, nullptr, &descriptor, nullptr, nullptr);
  if (pid == 0) {
    ::close(life.write.get());
    become(confined, prepared, life.read.get(), report.write.get());
  }
  if (pid < 0) {
    throw refused(confined.words.front(), "make a user namespace", errno);
  }
  pid_ = static_cast<pid_t>(pid);
  descriptor_ = FileDescriptor{descriptor};
  report.write = FileDescriptor{-1};
  Failure failure;
  ssize_t count = 0;
  do {
    count = ::read(report.read.get(), &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(sizeof failure)) {
    wait();
    throw refused(confined.words.front(), text_of(failure.step), failure.code);
  }
}

ConfinedProcess::~ConfinedProcess() {
  if (pid_ > 0) {
    kill();
    wait();
  }
}

void ConfinedProcess::signal_children(int signal) const {
  const auto children = children_of(pid_);
  if (children.empty()) {
    kill();
  }
  for (const auto child : children) {
    ::kill(child, signal);
  }
}

void ConfinedProcess::kill() const {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
  }
}

int ConfinedProcess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace autopack::rootless
