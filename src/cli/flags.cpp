#include "cli/flags.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/all_flags.hpp"
#include "cli/flag_words.hpp"
#include "job/candidates.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace autopack::cli {

namespace {

std::string first_long_name(const std::string& names) {
  for (const auto& name : split(names, ',')) {
    if (name.starts_with("--")) {
      return name;
    }
  }
  return split(names, ',').front();
}

/// `--bad` is not meant as `--man`.
constexpr std::size_t shortest_to_guess{7};

job::FlagValues as_typed(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

const std::vector<FlagSetting>& settings_of(
    const std::map<std::string, std::vector<FlagSetting>>& all, const std::string& name) {
  static const std::vector<FlagSetting> none;
  const auto found = all.find(name);
  return found == all.end() ? none : found->second;
}

}  // namespace

std::string variable_of(const std::string& flag) {
  const std::string name = flag.substr(flag.find_first_not_of('-'));
  return "AUTOPACK_" + to_upper(replace_all(name, "-", "_"));
}

FlagSet::FlagSet(std::string command)
    : command_{std::move(command)}, app_{std::make_unique<CLI::App>()} {
  app_->set_help_flag();
  app_->allow_extras();
}

FlagSet::~FlagSet() = default;

void FlagSet::section(std::string title, bool brief) {
  section_ = std::move(title);
  brief_ = brief;
}

void FlagSet::add(const std::string& names,
                  const std::optional<std::string>& label,
                  std::string help,
                  Flag flag) {
  flag.name = first_long_name(names);
  flag.names = split(names, ',');
  flag.values = label ? words_of(*label) : std::vector<std::string>{};
  flag.open = flag.values.empty() || label->ends_with("|...");
  // The values are read raw (Option::results), so that CLI11 neither converts nor counts them.
  flag.option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  const std::string shown =
      names.front() == '-' && names[1] != '-' ? names.substr(0, 2) + ", " + flag.name : flag.name;
  help_.push_back({.name = shown,
                   .label = label,
                   .text = std::move(help),
                   .section = section_,
                   .brief = brief_,
                   .kind = flag.kind,
                   .long_name = flag.name,
                   .spelled = flag.names,
                   .values = flag.values,
                   .open = flag.open});
  flags_.push_back(std::move(flag));
}

void FlagSet::text(const std::string& names,
                   const std::string& label,
                   std::string& into,
                   std::string help) {
  auto* option = app_->add_option(names)->expected(1)->allow_extra_args(false);
  add(names, label, std::move(help),
      {.option = option,
       .assign = [&into](const auto& values, const auto&) { into = values.back().text(); }});
}

void FlagSet::text(const std::string& names,
                   const std::string& label,
                   std::optional<std::string>& into,
                   std::string help) {
  auto* option = app_->add_option(names)->expected(1)->allow_extra_args(false);
  add(names, label, std::move(help),
      {.option = option, .assign = [&into](const auto& values, const auto&) {
         into = non_empty(values.back().text());
       }});
}

void FlagSet::number(const std::string& names,
                     const std::string& label,
                     std::optional<std::int64_t>& into,
                     std::string help) {
  auto* option = app_->add_option(names)->expected(1)->allow_extra_args(false);
  add(names, label, std::move(help),
      {.option = option,
       .assign = [&into](const auto& values,
                         const auto& origin) { into = to_number(values.back().text(), origin); },
       .kind = FlagKind::number});
}

void FlagSet::list(const std::string& names,
                   const std::string& label,
                   job::FlagValues& into,
                   std::string help) {
  auto* option = app_->add_option(names)->expected(1)->allow_extra_args(false);
  add(names, label, std::move(help),
      {.option = option,
       .assign = [&into](const auto& values, const auto&) { into = values; },
       .kind = FlagKind::list});
}

void FlagSet::list(const std::string& names,
                   const std::string& label,
                   std::vector<std::string>& into,
                   std::string help) {
  auto* option = app_->add_option(names)->expected(1)->allow_extra_args(false);
  add(names, label, std::move(help),
      {.option = option,
       .assign =
           [&into](const auto& values, const auto&) {
             into.clear();
             std::ranges::transform(values, std::back_inserter(into),
                                    [](const job::FlagValue& value) { return value.text(); });
           },
       .kind = FlagKind::list});
}

void FlagSet::toggle(const std::string& names, bool& into, std::string help) {
  add(names, std::nullopt, std::move(help),
      {.option = app_->add_flag(names),
       .assign = [&into](const auto& values,
                         const auto& origin) { into = to_bool(values.back().text(), origin); },
       .kind = FlagKind::toggle});
}

void FlagSet::toggle(const std::string& names,
                     const std::string& words,
                     std::string& into,
                     std::string help) {
  const auto all = words_of(words);
  add(names, std::nullopt, std::move(help),
      {.option = app_->add_flag(names),
       .assign =
           [&into, all](const auto& values, const auto& origin) {
             const auto value = values.back().text();
             const auto truth = truth_of(value);
             if (!truth) {
               check_word(value, all, origin);
             }
             into = truth ? (*truth ? "true" : "") : value;
           },
       .kind = FlagKind::toggle,
       .joins_word = true});
  help_.back().values = all;
}

void FlagSet::toggle(const std::string& names, std::vector<std::string>& into, std::string help) {
  add(names, std::nullopt, std::move(help),
      {.option = app_->add_flag(names),
       .assign =
           [&into](const auto& values, const auto&) {
             into.clear();
             for (const auto& value : values) {
               const auto truth = truth_of(value.text());
               if (truth.value_or(true)) {
                 into.push_back(truth ? "" : value.text());
               }
             }
           },
       .kind = FlagKind::toggle,
       .joins_word = true});
}

void FlagSet::choice(const std::string& names, std::optional<bool>& into, std::string help) {
  const std::string name = first_long_name(names);
  add(names, std::nullopt, std::move(help),
      {.option = app_->add_flag(names + ",!--no-" + name.substr(2)),
       .assign = [&into](const auto& values,
                         const auto& origin) { into = to_bool(values.back().text(), origin); },
       .kind = FlagKind::choice});
}

void FlagSet::count(const std::string& names, int& into, std::string help) {
  add(names, std::nullopt, std::move(help),
      {.option = app_->add_flag(names),
       .assign =
           [&into](const auto& values, const auto& origin) {
             const auto value = values.back().text();
             const bool word = value == "true" || value == "false";
             into = word ? static_cast<int>(values.size())
                         : static_cast<int>(to_number(value, origin));
           },
       .kind = FlagKind::count});
}

std::vector<std::string> FlagSet::parse(const std::vector<std::string>& tokens,
                                        const Environment& environment,
                                        const std::vector<FlagSetting>& settings) {
  refuse_flags_as_values(tokens);
  try {
    app_->parse(std::vector<std::string>{tokens.rbegin(), tokens.rend()});
  } catch (const CLI::ArgumentMismatch&) {
    // Only the last token can lack its value: any other text after a flag is its value.
    Error error{ErrorKind::usage, fmt::format("`{}` needs a value", printable(tokens.back()))};
    const auto flag = std::ranges::find_if(
        help_, [&](const FlagHelp& one) { return contains(one.spelled, tokens.back()); });
    if (flag != help_.end() && flag->label) {
      error.hint(fmt::format("`{}={}` gives it one", flag->long_name, *flag->label));
    }
    throw error;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, fmt::format("cannot read the command line: {}", error.what()));
  }
  for (const auto& flag : flags_) {
    settle(flag, environment, settings);
  }
  given_to_others_.clear();
  for (const auto& setting : settings) {
    if (!kind_of(setting.flag)) {
      given_to_others_[setting.flag].push_back(setting);
    }
  }
  auto positional = app_->remaining();
  for (const auto& rest : positional) {
    if (rest.size() > 1 && rest.front() == '-') {
      refuse_unknown(rest);
    }
  }
  return positional;
}

std::size_t FlagSet::leading_flags(const std::vector<std::string>& tokens) {
  std::size_t at = 0;
  while (at < tokens.size() && tokens[at].size() > 1 && tokens[at].front() == '-') {
    const bool is_long = tokens[at][1] == '-';
    const std::string name =
        is_long ? tokens[at].substr(0, tokens[at].find('=')) : tokens[at].substr(0, 2);
    if (app_->get_option_no_throw(name) == nullptr) {
      break;
    }
    const bool separate = tokens[at].find('=') == std::string::npos;
    const bool glued = !is_long && tokens[at].size() > 2;
    at += takes_value(name) && separate && !glued ? 2U : 1U;
  }
  return std::min(at, tokens.size());
}

const FlagSet::Flag* FlagSet::find(const std::string& name) const {
  const auto* option = app_->get_option_no_throw(name);
  const auto found =
      std::ranges::find_if(flags_, [&](const Flag& flag) { return flag.option == option; });
  return option == nullptr || found == flags_.end() ? nullptr : &*found;
}

std::optional<FlagKind> FlagSet::kind_of(const std::string& name) const {
  const auto* const flag = find(name);
  return flag == nullptr ? std::nullopt : std::optional{flag->kind};
}

bool FlagSet::takes_value(const std::string& name) const {
  const auto kind = kind_of(name);
  return kind == FlagKind::text || kind == FlagKind::number || kind == FlagKind::list;
}

bool FlagSet::is_switch(const std::string& name) const {
  return kind_of(name) == FlagKind::toggle;
}

bool FlagSet::takes_joined_word(const std::string& name) const {
  const auto* const flag = find(name);
  return flag != nullptr && flag->joins_word;
}

void FlagSet::refuse_flags_as_values(const std::vector<std::string>& tokens) const {
  for (std::size_t i = 0; i + 1 < tokens.size() && tokens[i] != "--"; ++i) {
    if (!takes_value(tokens[i])) {
      continue;
    }
    const auto& value = tokens[++i];
    const auto name = value.substr(0, value.find('='));
    const bool is_list = kind_of(tokens[i - 1]) == FlagKind::list;  // may be a program's arguments
    if (!is_list && name.starts_with("--") && kind_of(name)) {
      throw Error(ErrorKind::usage,
                  fmt::format("`{}` needs a value, and `{}` follows it", tokens[i - 1], name))
          .hint(fmt::format("a value that begins with `--` is joined by `=`: `{}=VALUE`",
                            tokens[i - 1]));
    }
  }
}

void FlagSet::settle(const Flag& flag,
                     const Environment& environment,
                     const std::vector<FlagSetting>& settings) {
  auto& given = given_[flag.name];
  given.clear();
  if (flag.option->count() > 0) {
    given.push_back({.flag = flag.name,
                     .values = as_typed(flag.option->results()),
                     .origin = job::Origin::flag(flag.name)});
  }
  const std::string variable = variable_of(flag.name);
  if (const auto value = environment.get(variable)) {
    std::vector<std::string> values{*value};
    if (flag.kind == FlagKind::list) {
      values = split(*value, '\n');
      std::erase(values, "");
    }
    given.push_back(
        {.flag = flag.name, .values = as_typed(values), .origin = job::Origin::variable(variable)});
  }
  std::ranges::copy_if(settings, std::back_inserter(given),
                       [&](const FlagSetting& setting) { return setting.flag == flag.name; });
  if (given.empty()) {
    return;
  }
  const auto& values = given.front().values;
  const auto origin = to_string(given.front().origin);
  if (!flag.open) {
    check_word(values.back().text(), flag.values, origin);
  }
  flag.assign(values, origin);
}

std::optional<job::Origin> FlagSet::origin(const std::string& name) const {
  const auto& all = given(name);
  return all.empty() ? std::nullopt : std::optional{all.front().origin};
}

bool FlagSet::is_typed(const std::string& name) const {
  const auto place = origin(name);
  return place && place->is_flag(name);
}

const std::vector<FlagSetting>& FlagSet::given(const std::string& name) const {
  return settings_of(given_, name);
}

std::vector<std::string> FlagSet::listed(const std::string& name) const {
  const auto& places = given(name);
  if (places.empty()) {
    return {};
  }
  const auto& place = places.front();
  std::vector<std::string> texts;
  for (const auto& value : place.values) {
    texts.push_back(value.text());
  }
  // Of a flag that is repeated, the last counts.
  return job::candidate_names(place.origin.kind == job::Origin::Kind::file
                                  ? texts
                                  : std::vector<std::string>{texts.back()});
}

const std::vector<FlagSetting>& FlagSet::given_to_others(const std::string& name) const {
  return settings_of(given_to_others_, name);
}

void FlagSet::refuse_unknown(const std::string& token) const {
  const std::string name = token.substr(0, token.find('='));
  Error error{ErrorKind::usage, command_.empty() ? fmt::format("unknown flag `{}`", printable(name))
                                                 : fmt::format("`autopack {}` has no flag `{}`",
                                                               command_, printable(name))};
  std::vector<std::string> names;
  for (const auto& flag : flags_) {
    names.insert(names.end(), flag.names.begin(), flag.names.end());
  }
  const auto has = [&](std::string_view flag) {
    return contains(names, flag.substr(0, flag.find('=')));
  };
  const auto instead = command_ == "run" ? instead_of_dockers(name) : std::nullopt;
  auto near = known_elsewhere(name);
  if (!near || !has(*near)) {
    near = name.starts_with("--") ? nearest(name, names) : std::nullopt;
    if (near && name.size() < shortest_to_guess && name[2] != (*near)[2]) {
      near.reset();  // so short a word is near to almost any other
    }
  }
  const auto owner = has(known_elsewhere(name).value_or("")) ? std::nullopt : command_with(name);
  if (instead) {
    error.hint(*instead);
  } else if (owner) {
    error.hint(fmt::format("`autopack {}` has it", *owner));
  } else if (near) {
    error.hint(fmt::format("did you mean `{}`?", *near));
  } else if (command_ == "run" || command_ == "submit" || command_ == "tune") {
    error.hint(fmt::format("`-- {}` gives it to the program", printable(shell_quote(token))));
  }
  error.hint(
      fmt::format("`autopack {}{}--help` lists the flags", command_, command_.empty() ? "" : " "));
  throw error;
}

}  // namespace autopack::cli
