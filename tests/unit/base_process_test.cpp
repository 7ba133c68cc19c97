#include "base/background.hpp"
#include "base/error.hpp"
#include "base/process.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>

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

}  // namespace autopack::base_process_test
