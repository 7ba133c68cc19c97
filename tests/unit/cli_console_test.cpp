#include "base/json.hpp"
#include "cli/console.hpp"
#include "cli/error_text.hpp"
#include "cli/shortened.hpp"
#include "cli/steps.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>
#include <tuple>

namespace autopack::cli::cli_console_test {

namespace {

const Paint plain{false};

struct Screen {
  std::string out{};
  std::string errors{};

  Streams streams() {
    return {.out = [this](std::string_view bytes) { out += bytes; },
            .errors = [this](std::string_view bytes) { errors += bytes; }};
  }
};

using State = StepEvent::State;

}  // namespace

TEST_CASE("an error is printed from outer to inner, remedies last") {
  const auto error = Error(ErrorKind::remote, "could not push `host/app:1`")
                         .cause("PUT https://host/v2/app/manifests/1: 403 DENIED")
                         .cause("no role\nin project `p`")
                         .hint("docker login host");
  CHECK(error_text(error, plain) ==
        "error: could not push `host/app:1`\n"
        "  caused by: PUT https://host/v2/app/manifests/1: 403 DENIED\n"
        "  caused by: no role\n"
        "    in project `p`\n"
        "\n"
        "hint: docker login host\n");
}

TEST_CASE("several findings are printed together, each with its origin and remedy") {
  const Error error{ErrorKind::usage,
                    Problems{{.message = "key `machine-type` is missing",
                              .origin = "`--worker-pool-spec`",
                              .hints = {"machine-type=n1-standard-4"}},
                             {.severity = Problem::Severity::warning, .message = "told too"},
                             {.message = "no script `train.py`"}}};
  CHECK(error_text(error, plain) ==
        "error: key `machine-type` is missing\n"
        "  from: `--worker-pool-spec`\n"
        "  hint: machine-type=n1-standard-4\n"
        "warning: told too\n"
        "error: no script `train.py`\n"
        "\n"
        "2 errors\n");
  CHECK(warning_text({.message = "old image"}, plain) == "warning: old image\n");
}

TEST_CASE("a bug is reported as one") {
  const auto text = error_text(Error(ErrorKind::internal, "vector::at"), plain);
  CHECK(text.starts_with("error: internal: vector::at\n"));
  CHECK(text.find("bug in autopack") != std::string::npos);
}

TEST_CASE("a system error is not a bug") {
  const auto code = std::make_error_code(std::errc::io_error);
  const auto file = as_error(std::filesystem::filesystem_error("canonical", "/a", code));
  CHECK(file.kind() == ErrorKind::environment);
  CHECK(file.message() == "cannot use `/a`");
  CHECK(file.causes() == std::vector{code.message()});
  CHECK(as_error(std::system_error(code)).kind() == ErrorKind::environment);
  CHECK(as_error(std::bad_alloc()).message() == "no memory is left");
  CHECK(as_error(std::out_of_range("vector::at")).kind() == ErrorKind::internal);
}

TEST_CASE("a long name in a message is cut in its middle, a command in a hint is not") {
  const std::string name = std::string(150, 'a') + std::string(500, 'b') + std::string(50, 'c');
  const auto text = error_text(Error(ErrorKind::project, "`" + name + "` and `short` do not fit")
                                   .cause("see `" + name + "`")
                                   .hint("`rm " + name + "`"),
                               plain);
  const auto cut = "`" + std::string(150, 'a') + "..." + std::string(50, 'c') + "`";
  CHECK(text == "error: " + cut + " and `short` do not fit\n  caused by: see " + cut +
                    "\n\nhint: `rm " + name + "`\n");
  std::string accents;
  for (int i = 0; i < 300; ++i) {
    accents += "\u00e9";
  }
  CHECK(with_short_names("x`" + accents + "`").find("\u00e9...\u00e9") != std::string::npos);
  CHECK(with_short_names("` odd " + name) == "` odd " + name);
}

TEST_CASE("text from elsewhere cannot steer the terminal") {
  const auto text = error_text(Error(ErrorKind::project, "no `\x1b[2J\x07`"), plain);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\x07') == std::string::npos);
  CHECK(harmless_lines("10%\r50%\rdone\x1b[1m\r\nnext\thttp://me:word@host/") ==
        "done\\x1b[1m\nnext    http://***@host/\n");
}

TEST_CASE("a command in a hint can be pasted, whatever the terminal shows") {
  const auto wide = [](std::string_view hint) { return hint_text(hint, Charset::utf8); };
  const auto narrow = [](std::string_view hint) { return hint_text(hint, Charset::ascii); };
  CHECK(wide("echo 'sch\u00fctz \\x' >> f") == "echo 'sch\u00fctz \\x' >> f");
  CHECK(narrow("echo 'sch\u00fctz \\x' >> f") == "echo $'sch\\xc3\\xbctz \\\\x' >> f");
  CHECK(narrow("--extra-dirs='a'\"'\"'\u00fc'") == "--extra-dirs='a'\"'\"$'\\xc3\\xbc'");
  CHECK(narrow("echo 'a b' >> 'c d'") == "echo 'a b' >> 'c d'");
  CHECK(wide("echo 'a\nb\xff' >> f") == "echo $'a\\x0ab\\xff' >> f");
  CHECK(narrow("Hub's \u00fc isn't\nthere") == "Hub's \\xc3\\xbc isn't\nthere");
  CHECK(wide("a ' alone, \x1b") == "a ' alone, \\x1b");
  const Problem problem{.message = "no `\u00fc`", .hints = {"rm '\u00fc'"}};
  CHECK(warning_text(problem, plain, Charset::ascii) ==
        "warning: no `\u00fc`\n  hint: rm $'\\xc3\\xbc'\n");
}

TEST_CASE("colour adds codes and changes no word") {
  const Error error{ErrorKind::usage, "x"};
  CHECK(error_text(error, Paint{true}) == "\x1b[1;31merror:\x1b[0m x\n");
}

TEST_CASE("an error as JSON has kind, message, causes and hints") {
  const auto error = Error(ErrorKind::project, "no \xff").cause("c").hint("h");
  const auto json = autopack::parse_json(error_json(error));
  CHECK(json.at("error").size() == 4);
  CHECK(json.at("error").at("kind") == "project");
  CHECK(json.at("error").at("causes").at(0) == "c");
  CHECK(json.at("error").at("hints").at(0) == "h");
}

TEST_CASE("results go to standard output, all else to standard error") {
  Screen screen;
  Console console{screen.streams(), {}};
  console.done("Built", "sha256:1 in 3 s");
  console.warn({.message = "old"});
  console.detail("hidden");
  console.trace("hidden");
  console.result("sha256:1\n");
  CHECK(screen.out == "sha256:1\n");
  CHECK(screen.errors == "     Built  sha256:1 in 3 s\nwarning: old\n");
}

TEST_CASE("a program's output that cannot be written is reported once") {
  Screen screen;
  auto streams = screen.streams();
  streams.out = [](std::string_view) {
    throw Error(ErrorKind::environment, "cannot write the result").cause("No space left on device");
  };
  Console console{streams, {}};
  console.program_output("1\n");
  console.program_output("2\n");
  CHECK(screen.errors.starts_with("warning: the program's output is lost"));
  CHECK(screen.errors.find("No space left on device") != std::string::npos);
  CHECK(screen.errors.find("warning:") == screen.errors.rfind("warning:"));
}

TEST_CASE("what failed is red, what is done green") {
  Screen screen;
  Console console{screen.streams(), {.color = true}};
  console.done("Ended", "with status 0");
  console.failed("Ended", "with status 1");
  CHECK(screen.errors ==
        "\x1b[1;32m     Ended\x1b[0m  with status 0\n\x1b[1;31m     Ended\x1b[0m  with status 1\n");
}

TEST_CASE("quiet leaves errors, -v and -vv add") {
  Screen quiet;
  Console{quiet.streams(), {.verbosity = -1}}.done("Built", "x");
  CHECK(quiet.errors.empty());
  Console{quiet.streams(), {.verbosity = -1}}.error(Error(ErrorKind::usage, "x"));
  CHECK(quiet.errors == "error: x\n");

  Screen loud;
  Console console{loud.streams(), {.verbosity = 2}};
  console.detail("request");
  console.trace("answer");
  CHECK(loud.errors == "request\nanswer\n");
}

TEST_CASE("the log of a failing step is shown in full, that of others not") {
  Screen screen;
  Console console{screen.streams(), {}};
  console.step({.id = "1", .name = "RUN a"});
  console.step({.id = "1", .state = State::log, .text = "fine\n"});
  console.step({.id = "1", .state = State::completed});
  console.step({.id = "2", .name = "RUN pip"});
  console.step({.id = "2", .state = State::log, .text = "ERROR: no "});
  console.step({.id = "2", .state = State::log, .text = "wheel\nend"});
  console.step({.id = "2", .state = State::failed});
  CHECK(screen.errors == "ERROR: no wheel\nend\n    Failed  RUN pip (0.0 s)\n");
}

TEST_CASE("a finished step is named by its result, whatever its previous name") {
  for (const auto& [name, verb, object] :
       {std::tuple{"install a.txt (2 packages)", "Installed", "a.txt (2 packages) in 2.0 s"},
        std::tuple{"look into base", "Read", "base in 2.0 s"},
        std::tuple{"[2/3] RUN make", "Step", "[2/3] RUN make (2.0 s)"}}) {
    Steps steps;
    const Clock::time_point start{};
    steps.take({.id = "1", .name = name, .state = State::started}, start, false);
    const auto told =
        steps.take({.id = "1", .state = State::completed}, start + std::chrono::seconds{2}, false);
    REQUIRE(told);
    CHECK(told->verb == verb);
    CHECK(told->object == object);
  }
}

TEST_CASE("with -v logs come line by line as they are written, once") {
  Screen screen;
  Console console{screen.streams(), {.verbosity = 1}};
  console.step({.id = "1", .name = "RUN a", .state = State::log, .text = "one\ntw"});
  CHECK(screen.errors == "one\n");
  console.step({.id = "1", .state = State::log, .text = "o\n"});
  CHECK(screen.errors == "one\ntwo\n");
  console.step({.id = "1", .state = State::failed});
  CHECK(screen.errors == "one\ntwo\n    Failed  RUN a (0.0 s)\n");
}

TEST_CASE("a step that takes long leaves a line, a cached one none") {
  Steps steps;
  const Clock::time_point start{};
  steps.take({.id = "1", .name = "RUN long"}, start, false);
  const auto told =
      steps.take({.id = "1", .state = State::completed}, start + std::chrono::seconds{75}, false);
  REQUIRE(told);
  CHECK(told->object == "RUN long (75 s)");
  CHECK_FALSE(steps.take({.id = "2", .name = "RUN x", .state = State::cached}, start, false));
  CHECK(steps.empty());
}

TEST_CASE("running steps fit the terminal and show sizes and rates") {
  Steps steps;
  const Clock::time_point start{};
  steps.take({.id = "1", .name = "RUN " + std::string(200, 'x')}, start, false);
  steps.take({.id = "2", .name = "layer 1"}, start, false);
  steps.take({.id = "2", .state = State::progress, .current = 4'000'000, .total = 8'000'000}, start,
             false);
  const auto lines = steps.live_lines(start + std::chrono::seconds{2}, 80, 8);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].size() < 80);
  CHECK(lines[0].ends_with("... (2.0 s)"));
  CHECK(lines[1] == "            layer 1 (2.0 s, 4.0 MB of 8.0 MB, 2.0 MB/s, 2.0 s left)");
  CHECK(steps.live_lines(start, 80, 2).back() == "            and 1 more");
}

TEST_CASE("rows are below a line of a program as soon as it is written") {
  Screen screen;
  {
    Console console{screen.streams(), {.progress = Progress::live}};
    console.step({.id = "r", .name = "replica"});
    console.program_errors("replica | one\n");
  }
  CHECK(screen.errors.find("replica | one\n            replica (") != std::string::npos);
}

TEST_CASE("a silent step is mentioned once in a while") {
  Steps steps;
  const Clock::time_point start{};
  steps.take({.id = "1", .name = "RUN pip"}, start, false);
  const std::chrono::seconds silence{30};
  CHECK(steps.silent_lines(start + std::chrono::seconds{29}, silence).empty());
  CHECK(steps.silent_lines(start + std::chrono::seconds{31}, silence).size() == 1);
  CHECK(steps.silent_lines(start + std::chrono::seconds{32}, silence).empty());
  CHECK(elapsed_text(std::chrono::milliseconds{400}) == "0.4 s");
  CHECK(elapsed_text(std::chrono::seconds{185}) == "3 min 5 s");
}

}  // namespace autopack::cli::cli_console_test
