#include "base/background.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/process.hpp"
#include "base/started_process.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>

namespace autopack::base_process_test {

namespace {

/// Changes the disposition of a signal during its lifetime.
class Disposition {
public:
  Disposition(int signal, sighandler_t handler)
      : signal_{signal}, old_{std::signal(signal, handler)} {}

  ~Disposition() { std::signal(signal_, old_); }

  Disposition(const Disposition&) = delete;
  Disposition& operator=(const Disposition&) = delete;

private:
  int signal_;
  sighandler_t old_;
};

/// Returns a child's signals: the mask `name` of its /proc/self/status, bit N - 1 for signal N.
/// Excludes 32 and 33, the C library's own, which posix_spawn ignores in every program.
std::uint64_t mask_of_child(const std::string& name) {
  constexpr std::uint64_t of_the_library = std::uint64_t{3} << 31U;
  const auto line = run_process({"grep", "^" + name + ":", "/proc/self/status"}, "")->output;
  return std::stoull(line.substr(name.size() + 1), nullptr, 16) & ~of_the_library;
}

}  // namespace

TEST_CASE("programs start with no signal blocked and none ignored") {
  const Disposition pipe{SIGPIPE, SIG_IGN};
  const Disposition user{SIGUSR1, SIG_IGN};
  {
    const Disposition hang_up{SIGHUP, SIG_DFL};
    CHECK(mask_of_child("SigIgn") == 0);
    auto blocked_by_helper = in_background([] { return mask_of_child("SigBlk"); });
    CHECK(blocked_by_helper.get() == 0);
  }
  // children must obey nohup(1), too
  const Disposition hang_up{SIGHUP, SIG_IGN};
  CHECK(mask_of_child("SigIgn") == 1U << (SIGHUP - 1U));
}

TEST_CASE("a program that does not read its input leaves this process's signals alone") {
  const Disposition pipe{SIGPIPE, SIG_DFL};
  const auto is_pending = [] {
    sigset_t pending{};
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
  };
  const std::string large(1'000'000, 'x');
  CHECK(run_process({"true"}, large)->status == 0);
  CHECK_FALSE(is_pending());
  auto pending_in_helper = in_background([&] {
    static_cast<void>(run_process({"true"}, large));
    return is_pending();
  });
  CHECK_FALSE(pending_in_helper.get());
}

TEST_CASE("processes are fed and read") {
  const auto result =
      run_process({"sh", "-c", "cat; echo $X >&2; exit 3"}, "input", {.environment = {{"X", "y"}}});
  REQUIRE(result);
  CHECK(result->status == 3);
  CHECK(result->output == "input");
  CHECK(result->errors == "y\n");
  CHECK(run_process({"true"}, std::string(1'000'000, 'x'))->status == 0);
  CHECK_FALSE(run_process({"autopack-no-such-program"}, ""));
  CHECK_THROWS_WITH(static_cast<void>(run_process({"sleep", "600"}, "",
                                                  {.timeout = std::chrono::milliseconds{20}})),
                    "`sleep` has not ended within 20 ms");
  CHECK_THROWS_WITH(static_cast<void>(run_process({"yes"}, "")), "`yes` printed too much");
  Cancellation stop{.requested = true};
  CHECK_THROWS_AS(static_cast<void>(run_process({"sleep", "600"}, "", {.cancellation = &stop})),
                  Interrupted);
}

namespace {

int status_of(StartedProcess& process) {
  for (int i = 0; i < 1000 && !process.status(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return process.status().value();
}

}  // namespace

TEST_CASE("a started program has a stream, and its messages are bounded") {
  StartedProcess quiet{{"cat"}, -1};
  CHECK(status_of(quiet) == 0);
  CHECK(quiet.last_errors().empty());
  StartedProcess wordy{{"sh", "-c", "seq 7 >&2; printf '\\033x\\n' >&2; exit 3"}, -1, true};
  CHECK(status_of(wordy) == 3);
  CHECK(wordy.last_errors() == "5; 6; 7; \\x1bx");
  StartedProcess endless{{"sh", "-c", "head -c 10000000 /dev/zero | tr '\\0' x >&2"}, -1};
  status_of(endless);
  CHECK(endless.last_errors().size() == 2000);
  StartedProcess killed{{"sh", "-c", "kill -9 $$"}, -1};
  CHECK(status_of(killed) == 128 + SIGKILL);
  CHECK_THROWS_WITH_AS((StartedProcess{{"/nowhere/program"}, -1}), "cannot run `/nowhere/program`",
                       Error);
  std::array<int, 2> ends{-1, -1};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const FileDescriptor ours{ends[0]};
  {
    const FileDescriptor theirs{ends[1]};
    StartedProcess echo{{"cat"}, theirs.get()};
    REQUIRE(::write(ours.get(), "hello", 5) == 5);
    std::string text(5, ' ');
    REQUIRE(::recv(ours.get(), text.data(), text.size(), MSG_WAITALL) == 5);
    CHECK(text == "hello");
    ::shutdown(ours.get(), SHUT_WR);
    CHECK(status_of(echo) == 0);
  }
}

}  // namespace autopack::base_process_test
