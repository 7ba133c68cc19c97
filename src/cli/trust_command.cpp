#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/settings.hpp"
#include "cli/trust_records.hpp"

#include <fmt/format.h>

#include <string>

namespace autopack::cli {

namespace {

class TrustCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("Action");
    flags.toggle("--list", list_, "print the directories that are trusted");
    flags.toggle("--remove", remove_, "no longer trust this directory");
  }

  int run(Session& session) override {
    if (list_ && remove_) {
      throw Error(ErrorKind::usage, "`--list` and `--remove` exclude each other");
    }
    const auto& environment = session.services.environment;
    auto records = read_trust(environment);
    if (list_) {
      list(session, records);
    } else if (remove_) {
      remove(session, records, environment);
    } else {
      add(session, records, environment);
    }
    return 0;
  }

private:
  static void list(const Session& session, const TrustRecords& records) {
    std::string text;
    auto directories = nlohmann::json::array();
    for (const auto& [directory, fingerprints] : records) {
      text += printable(directory) + "\n";
      directories.push_back({{"directory", directory}, {"settings", fingerprints.size()}});
    }
    report_result(session, {{"directories", std::move(directories)}}, text);
  }

  static void remove(Session& session, TrustRecords& records, const Environment& environment) {
    const auto directory = trusted_directory();
    const bool was_there = records.erase(directory) > 0;
    if (was_there) {
      write_trust(records, environment);
    }
    session.console.done(
        was_there ? "Removed" : "Found",
        was_there ? "the trust in " + printable(directory) : "no trust in " + printable(directory));
  }

  /// Forgets settings that were trusted earlier and are no longer in the files.
  static void add(Session& session, TrustRecords& records, const Environment& environment) {
    const auto directory = trusted_directory();
    const auto settings =
        find_settings(environment, {.packages = true, .all_targets = true}).reaching;
    auto trusted = nlohmann::json::array();
    const bool was_there = records.erase(directory) > 0;
    for (const auto& setting : settings) {
      records[directory].insert(setting.fingerprint);
      session.console.done("Trusted",
                           fmt::format("`{}` is `{}` ({})", setting.flag.substr(2),
                                       printable(setting.value), to_string(setting.origin)));
      trusted.push_back({{"key", setting.flag.substr(2)},
                         {"value", setting.value},
                         {"file", setting.origin.name},
                         {"line", setting.origin.line.value_or(0)}});
    }
    if (was_there || !settings.empty()) {
      write_trust(records, environment);
    }
    if (settings.empty()) {
      session.console.done("Found", "no setting of this project that needs to be trusted");
    }
    if (session.format.kind != OutputFormat::Kind::text) {
      session.console.result(
          render(session, {{"directory", directory}, {"trusted", std::move(trusted)}}, ""));
    }
  }

  bool list_{false};
  bool remove_{false};
};

}  // namespace

std::unique_ptr<Command> make_trust_command() {
  return std::make_unique<TrustCommand>();
}

}  // namespace autopack::cli
