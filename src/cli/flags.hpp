#pragma once

#include "base/environment.hpp"
#include "job/flag_value.hpp"
#include "job/origin.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace autopack::cli {

/// What a flag takes.
enum class FlagKind { text, number, list, toggle, choice, count };

/// What help, completions, manual page and schema say of one flag.
struct FlagHelp {
  std::string name{};  ///< `--region`, with its short form when it has one: `-o, --output`
  std::optional<std::string> label{};  ///< `REGION`, `auto|docker`; none for a switch
  std::string text{};
  std::string section{};
  bool brief{true};  ///< false: named, not described, in the short help
  FlagKind kind{FlagKind::text};
  std::string long_name{};             ///< `--output`
  std::vector<std::string> spelled{};  ///< every name it is typed by
  std::vector<std::string> values{};   ///< the words of the label; empty when it has none
  bool open{false};                    ///< other values than `values` are good too
};

/// What one place gives a flag.
struct FlagSetting {
  std::string flag{};        ///< `--region`
  job::FlagValues values{};  ///< one per time
  job::Origin origin{};
};

/// The flags of one command. A flag that is not typed takes its value from the environment variable
/// `AUTOPACK_<FLAG>`, then from the settings of files. A label `a|b` is the list of the values that
/// the flag takes, `a|b|...` of some of them.
class FlagSet {
public:
  explicit FlagSet(std::string command);
  ~FlagSet();
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;
  FlagSet(FlagSet&&) = delete;
  FlagSet& operator=(FlagSet&&) = delete;

  /// Heading of the flags that follow.
  void section(std::string title, bool brief = true);
  /// `names` as `-o,--output,--alias`; the first long name is the flag's name. The last value wins.
  void text(const std::string& names,
            const std::string& label,
            std::string& into,
            std::string help);
  /// The same; an empty value counts as none.
  void text(const std::string& names,
            const std::string& label,
            std::optional<std::string>& into,
            std::string help);
  void number(const std::string& names,
              const std::string& label,
              std::optional<std::int64_t>& into,
              std::string help);
  /// Every value in the order typed; in the environment one per line.
  void list(const std::string& names,
            const std::string& label,
            job::FlagValues& into,
            std::string help);
  /// The same for values that are not taken apart.
  void list(const std::string& names,
            const std::string& label,
            std::vector<std::string>& into,
            std::string help);
  void toggle(const std::string& names, bool& into, std::string help);
  /// The same; `--flag=WORD` takes a word of `words` (`a|b`) instead. `into` is then that word,
  /// else `true`, or empty when the flag is off.
  void toggle(const std::string& names,
              const std::string& words,
              std::string& into,
              std::string help);
  /// Also `--no-NAME`.
  void choice(const std::string& names, std::optional<bool>& into, std::string help);
  /// Counts how often it is typed.
  void count(const std::string& names, int& into, std::string help);

  /// Reads `tokens`, then the environment, then `settings` (the first of a flag wins), and returns
  /// the positional arguments. Throws Error(usage) for an unknown flag, with the nearest one, and
  /// for values that do not fit. Settings of flags that are not this command's are left alone.
  std::vector<std::string> parse(const std::vector<std::string>& tokens,
                                 const Environment& environment,
                                 const std::vector<FlagSetting>& settings = {});
  /// Tokens up to the first that is no known flag; `tokens` past them stay unread.
  std::size_t leading_flags(const std::vector<std::string>& tokens);

  /// Where the value came from; none when it was not given.
  std::optional<job::Origin> origin(const std::string& name) const;
  /// True when the value was typed.
  bool is_typed(const std::string& name) const;
  /// Every place that gives the flag a value, the one that wins first.
  const std::vector<FlagSetting>& given(const std::string& name) const;

  /// True when `name` takes a value (false for a switch and for an unknown flag).
  bool takes_value(const std::string& name) const;
  /// True for `--flag` that is given or not, `name` being as it is typed.
  bool is_switch(const std::string& name) const;

  const std::vector<FlagHelp>& help() const { return help_; }

private:
  using Assign = std::function<void(const job::FlagValues& values, const std::string& origin)>;

  struct Flag {
    std::string name{};
    std::vector<std::string> names{};  ///< itself, short form and aliases
    CLI::Option* option{nullptr};
    Assign assign{};
    FlagKind kind{FlagKind::text};
    std::vector<std::string> values{};
    bool open{true};
  };

  void add(const std::string& names,
           const std::optional<std::string>& label,
           std::string help,
           Flag flag);
  [[noreturn]] void refuse_unknown(const std::string& token) const;
  /// None when there is no such flag.
  std::optional<FlagKind> kind_of(const std::string& name) const;
  /// Throws Error(usage) for a flag where another's value belongs: it was forgotten.
  void refuse_flags_as_values(const std::vector<std::string>& tokens) const;
  void settle(const Flag& flag,
              const Environment& environment,
              const std::vector<FlagSetting>& settings);

  std::string command_;
  std::unique_ptr<CLI::App> app_;
  std::vector<Flag> flags_;
  std::vector<FlagHelp> help_;
  std::map<std::string, std::vector<FlagSetting>> given_;
  std::string section_;
  bool brief_{true};
};

/// `--worker-pool-spec` is `AUTOPACK_WORKER_POOL_SPEC`.
std::string variable_of(const std::string& flag);

}  // namespace autopack::cli
