#include "base/error.hpp"
#include "cli/flags.hpp"
#include "cli/reading.hpp"

#include <doctest/doctest.h>

namespace autopack::cli::cli_flags_test {

namespace {

using Strings = std::vector<std::string>;

struct Options {
  std::string region{};
  std::vector<std::string> pools{};
  std::string kind{"auto"};
  std::optional<bool> web{};
  std::optional<std::int64_t> size{};
  bool dry{false};
  int verbose{0};
};

struct Parsed {
  Options options{};
  FlagSet flags{"submit"};

  Parsed() {
    flags.section("Job");
    flags.text("--region,--place", "REGION", options.region, "where");
    flags.list("--worker-pool-spec", "KEY=VALUE", options.pools, "pools");
    flags.choice("--enable-web-access", options.web, "shell");
    flags.number("--boot-disk-size", "GB", options.size, "disk");
    flags.toggle("-n,--dry-run", options.dry, "send nothing");
    flags.text("--kind", "auto|docker|direct", options.kind, "who");
    flags.count("-v,--verbose", options.verbose, "more");
  }

  Strings parse(const Strings& tokens,
                const std::map<std::string, std::string, std::less<>>& variables = {}) {
    return flags.parse(split_arguments(tokens).tokens, Environment{variables});
  }

  std::string failure(const Strings& tokens,
                      const std::map<std::string, std::string, std::less<>>& variables = {}) {
    try {
      parse(tokens, variables);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      std::string text = error.message();
      for (const auto& hint : error.hints()) {
        text += " / " + hint;
      }
      return text;
    }
    return "no failure";
  }
};

}  // namespace

TEST_CASE("a flag's value follows `=` or is the next word, even if it looks like a flag") {
  Parsed parsed;
  parsed.parse({"--region=--odd", "--worker-pool-spec", "--x=1", "--worker-pool-spec=", "-vv"});
  CHECK(parsed.options.region == "--odd");
  CHECK(parsed.options.pools == Strings{"--x=1", ""});
  CHECK(parsed.options.verbose == 2);
  CHECK(parsed.flags.is_typed("--region"));
  CHECK(to_string(parsed.flags.origin("--region").value()) == "`--region`");
}

TEST_CASE("values that CLI11 would take apart stay whole") {
  Parsed parsed;
  parsed.parse({"--worker-pool-spec=[a,b]", "--worker-pool-spec={}", "--region=", "--dry-run"});
  CHECK(parsed.options.pools == Strings{"[a,b]", "{}"});
  CHECK(parsed.options.region.empty());
  CHECK(parsed.options.dry);
}

TEST_CASE("the last value of a flag wins, its alias counts as the flag") {
  Parsed parsed;
  parsed.parse({"--region=a", "--place=b", "--enable-web-access", "--no-enable-web-access"});
  CHECK(parsed.options.region == "b");
  CHECK(parsed.options.web == false);
}

TEST_CASE("environment variables replace flags that are not typed") {
  Parsed parsed;
  parsed.parse({"--region=typed"}, {{"AUTOPACK_REGION", "variable"},
                                    {"AUTOPACK_WORKER_POOL_SPEC", "a=1\nb=2\n"},
                                    {"AUTOPACK_DRY_RUN", "yes"},
                                    {"AUTOPACK_ENABLE_WEB_ACCESS", "0"},
                                    {"AUTOPACK_BOOT_DISK_SIZE", "200"},
                                    {"AUTOPACK_VERBOSE", "2"}});
  CHECK(parsed.options.region == "typed");
  CHECK(parsed.options.pools == Strings{"a=1", "b=2"});
  CHECK(parsed.options.dry);
  CHECK(parsed.options.web == false);
  CHECK(parsed.options.size == 200);
  CHECK(parsed.options.verbose == 2);
  CHECK_FALSE(parsed.flags.is_typed("--dry-run"));
  CHECK(to_string(parsed.flags.origin("--dry-run").value()) == "`AUTOPACK_DRY_RUN`");
  CHECK_FALSE(parsed.flags.origin("--nothing"));
}

TEST_CASE("a flag that probably belongs to the program is reported with its place") {
  FlagSet flags{"run"};
  bool is_known = false;
  flags.toggle("--verbatim", is_known, "a flag");
  const auto hints = [&](const std::string& token) {
    try {
      flags.parse({token}, Environment{}, {});
    } catch (const Error& error) {
      return error.hints().front();
    }
    return std::string{};
  };
  CHECK(hints("--epochs=2") == "`-- --epochs=2` gives it to the program");
  CHECK(hints("--name=a b") == "`-- '--name=a b'` gives it to the program");
  CHECK(hints("--verbatin") == "did you mean `--verbatim`?");
}

TEST_CASE("an invalid value is reported with its flag or variable") {
  CHECK(Parsed{}.failure({"--regoin=x"}) ==
        "`autopack submit` has no flag `--regoin` / did you mean `--region`? / "
        "`autopack submit --help` lists the flags");
  CHECK(Parsed{}.failure({"--location", "x"}).find("did you mean `--region`?") !=
        std::string::npos);
  CHECK(Parsed{}.failure({"--zzz"}) ==
        "`autopack submit` has no flag `--zzz` / `-- --zzz` gives it to the program / "
        "`autopack submit --help` lists the flags");
  CHECK(Parsed{}.failure({"--region"}) ==
        "`--region` needs a value / `--region=REGION` gives it one");
  CHECK(Parsed{}.failure({"--region", "--region=r"}) ==
        "`--region` needs a value, and `--region` follows it / a value that begins with `--` is "
        "joined by `=`: `--region=VALUE`");
  CHECK(Parsed{}.failure({"--region", "--zzz"}) == "no failure");
  CHECK(Parsed{}.failure({"--boot-disk-size=1e3"}) ==
        "`1e3` of `--boot-disk-size` is not a whole number");
  CHECK(Parsed{}.failure({"--dry-run=perhaps"}) ==
        "`perhaps` of `--dry-run` is neither true nor false");
  CHECK(Parsed{}.failure({}, {{"AUTOPACK_DRY_RUN", "perhaps"}}) ==
        "`perhaps` of `AUTOPACK_DRY_RUN` is neither true nor false");
  CHECK(Parsed{}.failure({"-x"}).find("`-x`") != std::string::npos);
}

TEST_CASE("files replace missing flags and variables, the first file first") {
  Parsed parsed;
  parsed.flags.parse(
      {"--region=typed"}, Environment{{{"AUTOPACK_KIND", "docker"}}},
      {{.flag = "--region", .values = {"filed"}, .origin = job::Origin::file("a", 1)},
       {.flag = "--kind", .values = {"direct"}, .origin = job::Origin::file("a", 2)},
       {.flag = "--boot-disk-size", .values = {"5"}, .origin = job::Origin::file("a", 3)},
       {.flag = "--boot-disk-size", .values = {"6"}, .origin = job::Origin::file("b", 1)},
       {.flag = "--of-another-command", .values = {"x"}, .origin = job::Origin::file("b", 2)}});
  CHECK(parsed.options.region == "typed");
  CHECK(parsed.options.kind == "docker");
  CHECK(parsed.options.size == 5);
  CHECK(to_string(parsed.flags.origin("--boot-disk-size").value()) == "a:3");
  CHECK(parsed.flags.given("--boot-disk-size").size() == 2);
  CHECK(parsed.flags.given("--region").back().origin == job::Origin::file("a", 1));
}

TEST_CASE("an unknown value is reported with its origin and the nearest valid one") {
  CHECK(Parsed{}.failure({"--kind=dirct"}) ==
        "`dirct` is not a value of `--kind` / did you mean `direct`? / "
        "the values are `auto`, `docker`, `direct`");
  CHECK(Parsed{}.failure({}, {{"AUTOPACK_KIND", "x"}}) ==
        "`x` is not a value of `AUTOPACK_KIND` / the values are `auto`, `docker`, `direct`");
}

TEST_CASE("arguments of the program follow `--`") {
  const auto arguments = split_arguments({"run", "--gpu=", "--", "--epochs=1", "--", ""});
  CHECK(arguments.tokens == Strings{"run", "--gpu", ""});
  CHECK(arguments.program == Strings{"--epochs=1", "--", ""});
  CHECK(arguments.has_separator);
}

TEST_CASE("flags files expand to the flags in them, also when nested") {
  const auto expand = [](const std::string& file) {
    return file == "a" ? Strings{"--region=x", "--flags-file=b"} : Strings{"--labels="};
  };
  CHECK(expand_flags_files({"--dry-run", "--flags-file", "a", "-v"}, expand) ==
        Strings{"--dry-run", "--region=x", "--labels", "", "-v"});
  const auto circle = [](const std::string&) { return Strings{"--flags-file=a"}; };
  CHECK_THROWS_AS(expand_flags_files({"--flags-file=a"}, circle), Error);
}

TEST_CASE("flags before the command are separate from it") {
  Parsed parsed;
  CHECK(parsed.flags.leading_flags({"--region", "x", "-v", "submit", "-v"}) == 3);
  CHECK(parsed.flags.leading_flags({"--region=x", "submit"}) == 1);
  CHECK(parsed.flags.leading_flags({"--region"}) == 1);
  CHECK(parsed.flags.leading_flags({"submit"}) == 0);
}

}  // namespace autopack::cli::cli_flags_test
