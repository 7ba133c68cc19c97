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

/// The kind of a flag's value.
enum class FlagKind { text, number, list, toggle, choice, count };

/// The description of one flag for help, completions, manual page and schema.
struct FlagHelp {
  std::string name{};  ///< `--region`, with its short form if there is one: `-o, --output`
  std::optional<std::string> label{};  ///< `REGION`, `auto|docker`; absent for a switch
  std::string text{};
  std::string section{};
  bool brief{true};  ///< false: listed without description in the short help
  FlagKind kind{FlagKind::text};
  std::string long_name{};             ///< `--output`
  std::vector<std::string> spelled{};  ///< every name of it
  std::vector<std::string> values{};   ///< the words of the label; may be empty
  bool open{false};                    ///< other values than `values` are valid too
};

/// The values of a flag from one place.
struct FlagSetting {
  std::string flag{};        ///< `--region`
  job::FlagValues values{};  ///< one for each occurrence
  job::Origin origin{};
};

/// The flags of one command. A flag that is not typed gets its value from the environment variable
/// `AUTOPACK_<FLAG>`, then from settings files. A label `a|b` lists all values of the flag,
/// `a|b|...` some of them.
class FlagSet {
public:
  explicit FlagSet(std::string command);
  ~FlagSet();
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;
  FlagSet(FlagSet&&) = delete;
  FlagSet& operator=(FlagSet&&) = delete;

  /// Starts a section with this heading.
  void section(std::string title, bool brief = true);
  /// `names` is `-o,--output,--alias`; the first long name is the flag's name. The last value wins.
  void text(const std::string& names,
            const std::string& label,
            std::string& into,
            std::string help);
  /// The same; an empty value counts as absent.
  void text(const std::string& names,
            const std::string& label,
            std::optional<std::string>& into,
            std::string help);
  void number(const std::string& names,
              const std::string& label,
              std::optional<std::int64_t>& into,
              std::string help);
  /// Collects every value in the order typed; in the environment, one per line.
  void list(const std::string& names,
            const std::string& label,
            job::FlagValues& into,
            std::string help);
  /// The same for values that are not split.
  void list(const std::string& names,
            const std::string& label,
            std::vector<std::string>& into,
            std::string help);
  void toggle(const std::string& names, bool& into, std::string help);
  /// The same; `--flag=WORD` accepts a word of `words` (`a|b`) instead. `into` becomes that word,
  /// else `true`, or empty if the flag is off.
  void toggle(const std::string& names,
              const std::string& words,
              std::string& into,
              std::string help);
  /// The same; each `--flag=WORD` adds a word instead, and `--flag` alone an empty one.
  void toggle(const std::string& names, std::vector<std::string>& into, std::string help);
  /// Also `--no-NAME`.
  void choice(const std::string& names, std::optional<bool>& into, std::string help);
  /// Counts its occurrences.
  void count(const std::string& names, int& into, std::string help);

  /// Parses `tokens`, then the environment, then `settings` (the first of a flag wins), and returns
  /// the positional arguments. Throws Error(usage) for an unknown flag, with the nearest one, and
  /// for invalid values. Ignores settings of other commands' flags.
  std::vector<std::string> parse(const std::vector<std::string>& tokens,
                                 const Environment& environment,
                                 const std::vector<FlagSetting>& settings = {});
  /// Returns the number of tokens up to the first that is not a known flag; does not read the rest.
  std::size_t leading_flags(const std::vector<std::string>& tokens);

  /// Returns the source of the value; nothing if it was not given.
  std::optional<job::Origin> origin(const std::string& name) const;
  /// Returns true if the value was typed.
  bool is_typed(const std::string& name) const;
  /// Returns every place that sets the flag, the winning one first.
  const std::vector<FlagSetting>& given(const std::string& name) const;

  /// Returns the names in the value of a flag that may be a list: `a,b`, or a list in a file.
  std::vector<std::string> listed(const std::string& name) const;

  /// Returns the settings of files for a flag that this command does not have, the winning one
  /// first.
  const std::vector<FlagSetting>& given_to_others(const std::string& name) const;

  /// Returns true if `name` takes a value (false for a switch and for an unknown flag).
  bool takes_value(const std::string& name) const;
  /// Returns true for a switch; `name` is as typed.
  bool is_switch(const std::string& name) const;
  /// Returns true for a switch that also accepts `--flag=WORD`.
  bool takes_joined_word(const std::string& name) const;

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
    bool joins_word{false};  ///< a switch that accepts `--flag=WORD`
  };

  void add(const std::string& names,
           const std::optional<std::string>& label,
           std::string help,
           Flag flag);
  [[noreturn]] void refuse_unknown(const std::string& token) const;
  /// Return nothing if there is no such flag.
  const Flag* find(const std::string& name) const;
  std::optional<FlagKind> kind_of(const std::string& name) const;
  /// Throws Error(usage) if a flag is in the place of another one's forgotten value.
  void refuse_flags_as_values(const std::vector<std::string>& tokens) const;
  void settle(const Flag& flag,
              const Environment& environment,
              const std::vector<FlagSetting>& settings);

  std::string command_;
  std::unique_ptr<CLI::App> app_;
  std::vector<Flag> flags_;
  std::vector<FlagHelp> help_;
  std::map<std::string, std::vector<FlagSetting>> given_;
  std::map<std::string, std::vector<FlagSetting>> given_to_others_;
  std::string section_;
  bool brief_{true};
};

/// Returns `AUTOPACK_WORKER_POOL_SPEC` for `--worker-pool-spec`.
std::string variable_of(const std::string& flag);

}  // namespace autopack::cli
