#include "project/code/setup_py.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/code/python_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace autopack::project {

namespace {

using Strings = std::vector<std::string>;

/// Arguments of setup() that change only headers of METADATA, or nothing.
constexpr std::array<std::string_view, 24> without_effect{"author",
                                                          "author_email",
                                                          "maintainer",
                                                          "maintainer_email",
                                                          "url",
                                                          "download_url",
                                                          "project_urls",
                                                          "description",
                                                          "long_description",
                                                          "long_description_content_type",
                                                          "classifiers",
                                                          "keywords",
                                                          "license",
                                                          "license_file",
                                                          "license_files",
                                                          "platforms",
                                                          "provides",
                                                          "obsoletes",
                                                          "zip_safe",
                                                          "tests_require",
                                                          "test_suite",
                                                          "test_loader",
                                                          "install_requires",
                                                          "extras_require"};

/// Commands that pip does not run.
constexpr std::array<std::string_view, 6> commands_of_developers{"upload", "test",  "publish",
                                                                 "deploy", "clean", "lint"};

/// Functions that only return something, or change a list, and those of setuptools.
constexpr std::array<std::string_view, 40> harmless_calls{
    "setup",    "find_packages", "open",    "read",       "readlines", "read_text", "close",
    "join",     "dirname",       "abspath", "realpath",   "normpath",  "resolve",   "exists",
    "isfile",   "Path",          "strip",   "rstrip",     "lstrip",    "format",    "str",
    "decode",   "replace",       "split",   "splitlines", "get",       "insert",    "append",
    "search",   "match",         "compile", "group",      "findall",   "lower",     "startswith",
    "endswith", "exec",          "print",   "getenv",     "len"};

/// Words with an effect that is not a call.
constexpr std::array<std::string_view, 5> effects{"raise", "assert", "del", "global", "await"};

/// The mode of an open() that writes.
bool is_mode_of_writing(const Token& token) {
  return token.kind == Token::Kind::string && !token.text.empty() && token.text.size() < 4 &&
         token.text.find_first_not_of("rwaxbt+") == std::string::npos &&
         token.text.find_first_of("wax+") != std::string::npos;
}

class SetupEffects {
public:
  explicit SetupEffects(Tokens tokens) : tokens_{tokens} {
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      if (tokens_[i - 1].is_name("def")) {
        functions_.insert(tokens_[i].text);
      }
      const bool begins = i == 1 || tokens_[i - 2].kind == Token::Kind::line_end;
      if (begins && tokens_[i].is("=") && tokens_[i - 1].kind == Token::Kind::name) {
        variables_.insert(tokens_[i - 1].text);
      }
    }
  }

  bool run() const {
    int depth = 0;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      while (i < tokens_.size() && i == line_start && tokens_[i].is_name("class") &&
             !tokens_[i].indented) {
        i = line_start = end_of_block(i);
      }
      if (i == tokens_.size()) {
        break;
      }
      depth += depth_change(tokens_[i]);
      if (tokens_[i].kind == Token::Kind::line_end) {
        line_start = i + 1;
      } else if (has_effect(i) ||
                 (depth == 0 && is_assignment(tokens_[i]) && !is_of_variable(i, line_start))) {
        return false;
      }
    }
    return std::ranges::none_of(std::array{"setup", "find_packages"}, [&](const auto* name) {
      return functions_.contains(name) || variables_.contains(name);
    });
  }

private:
  /// Returns the start of the next line that is not indented.
  std::size_t end_of_block(std::size_t i) const {
    while (i < tokens_.size() && tokens_[i].kind != Token::Kind::line_end) {
      ++i;
    }
    while (i < tokens_.size() &&
           (tokens_[i].kind == Token::Kind::line_end || tokens_[i].indented)) {
      ++i;
    }
    return i;
  }

  /// Returns true for a call of an unknown function, a file that is opened for writing, and the
  /// like.
  bool has_effect(std::size_t i) const {
    static constexpr std::array<std::string_view, 4> operators{"in", "and", "or", "not"};
    const auto& token = tokens_[i];
    if (token.kind != Token::Kind::name) {
      return token.is("@");
    }
    const bool is_call = i + 1 < tokens_.size() && tokens_[i + 1].is("(");
    if (is_call && token.text == "open") {
      return std::ranges::any_of(
          split_arguments(bracketed(tokens_, i + 1)),
          [](const auto& argument) { return is_mode_of_writing(argument.back()); });
    }
    return contains(effects, token.text) ||
           (is_call && !contains(harmless_calls, token.text) && !contains(operators, token.text) &&
            !functions_.contains(token.text));
  }

  static bool is_assignment(const Token& token) {
    return token.kind == Token::Kind::sign && token.text.ends_with('=') && !token.is("==") &&
           !token.is("!=") && !token.is("<=") && !token.is(">=");
  }

  /// Returns true for `NAME =`, and for `NAME +=` and `NAME[...] =` of a variable that has `NAME
  /// =`.
  bool is_of_variable(std::size_t sign, std::size_t line_start) const {
    if (sign == line_start || tokens_[line_start].kind != Token::Kind::name) {
      return false;
    }
    const bool is_whole = sign == line_start + 1;
    return (is_whole && tokens_[sign].is("=")) || (variables_.contains(tokens_[line_start].text) &&
                                                   (is_whole || tokens_[line_start + 1].is("[")));
  }

  Tokens tokens_;
  std::set<std::string> functions_{};  ///< defined in the file
  std::set<std::string> variables_{};  ///< assigned in it
};

/// Returns true if no statement of a setup.py besides setup() changes more than a variable of the
/// file: it calls only functions that are known to be harmless, and assigns no attribute. Does not
/// judge what it imports.
bool only_setup_has_effect(Tokens tokens) {
  return SetupEffects{tokens}.run();
}

class SetupReader {
public:
  explicit SetupReader(std::string_view text) : tokens_{tokenize_python(text)} {}

  SetupPy run() {
    read_words();
    read_imports();
    read_assignments();
    read_call();
    for (const auto& [keyword, value] : keywords_) {
      read_keyword(keyword, value);
    }
    read_certain();
    facts_.certain_files = facts_.certain_requirements ? files() : std::nullopt;
    return std::move(facts_);
  }

private:
  void read_words() {
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      if (tokens_[i - 1].is_name("exec") && tokens_[i].is("(")) {
        executes_text_ |= split_arguments(bracketed(tokens_, i)).size() < 2;
      }
    }
    for (const auto& token : tokens_) {
      if (token.kind == Token::Kind::name) {
        facts_.words.insert(token.text);
      }
      if (token.kind != Token::Kind::string) {
        continue;
      }
      if (!token.computed) {
        facts_.literals.push_back(token.text);
      }
    }
  }

  void read_imports() {
    bool line_start = true;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const auto& token = tokens_[i];
      if (line_start && token.is_name("from") && i + 1 < tokens_.size()) {
        add_import(tokens_[i + 1], token.indented);
      } else if (line_start && token.is_name("import")) {
        bool module_start = true;
        for (; i + 1 < tokens_.size() && tokens_[i + 1].kind != Token::Kind::line_end; ++i) {
          if (module_start && tokens_[i + 1].kind == Token::Kind::name) {
            add_import(tokens_[i + 1], token.indented);
          }
          module_start = tokens_[i + 1].is(",");
        }
      }
      line_start = token.kind == Token::Kind::line_end || token.is(":");
    }
  }

  void add_import(const Token& module, bool guarded) {
    if (module.kind == Token::Kind::name) {
      facts_.imports.insert(module.text);
      if (!guarded) {
        facts_.certain_imports.insert(module.text);
      }
    }
  }

  void read_assignments() {
    bool line_start = true;
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (line_start && tokens_[i].kind == Token::Kind::name && tokens_[i + 1].is("=")) {
        std::size_t end = i + 2;
        while (end < tokens_.size() && tokens_[end].kind != Token::Kind::line_end) {
          ++end;
        }
        // Assigned twice: the valid one is unknown.
        const auto [place, fresh] =
            assignments_.emplace(tokens_[i].text, Tokens{tokens_}.subspan(i + 2, end - i - 2));
        if (!fresh) {
          place->second = {};
        }
      }
      line_start = tokens_[i].kind == Token::Kind::line_end;
    }
  }

  void read_call() {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (!tokens_[i].is_name("setup") || !tokens_[i + 1].is("(")) {
        continue;
      }
      if (i > 0 && tokens_[i - 1].is_name("def")) {
        ++calls_;  // another setup()
        continue;
      }
      const auto arguments = bracketed(tokens_, i + 1);
      ++calls_;
      is_plain_call_ = !tokens_[i].indented;
      i += arguments.size() + 1;  // a nested call is not the project's
      for (const auto& argument : split_arguments(arguments)) {
        if (argument.size() > 2 && argument[0].kind == Token::Kind::name && argument[1].is("=")) {
          keywords_[argument[0].text] = argument.subspan(2);
        } else {
          is_plain_call_ = false;
        }
        if (argument.size() == 2 && argument[0].is("**")) {
          read_dictionary(argument[1].text);
        }
      }
    }
  }

  /// Handles `setup(**settings)`.
  void read_dictionary(const std::string& variable) {
    const auto value = dictionaries_.insert(variable).second ? resolve(variable) : Tokens{};
    if (value.size() > 1 && value[0].is("{")) {
      for (const auto& item : split_arguments(bracketed(value, 0))) {
        if (item.size() > 2 && item[0].kind == Token::Kind::string && item[1].is(":")) {
          keywords_[item[0].text] = item.subspan(2);
        }
      }
    } else if (value.size() > 2 && value[0].is_name("dict") && value[1].is("(")) {
      for (const auto& item : split_arguments(bracketed(value, 1))) {
        if (item.size() > 2 && item[1].is("=")) {
          keywords_[item[0].text] = item.subspan(2);
        }
      }
    }
  }

  Tokens resolve(const std::string& variable) const {
    const auto found = assignments_.find(variable);
    return found == assignments_.end() ? Tokens{} : found->second;
  }

  /// Returns `value`, or the value of a variable that is assigned once.
  Tokens followed(Tokens value) const {
    return value.size() == 1 && value[0].kind == Token::Kind::name ? resolve(value[0].text) : value;
  }

  void read_keyword(const std::string& keyword, Tokens value) {
    value = followed(value);
    if (keyword == "name" && value.size() == 1 && value[0].kind == Token::Kind::string) {
      facts_.name = non_empty(value[0].text);
    } else if (keyword == "package_dir") {
      read_package_directory(value);
    } else if (keyword == "install_requires" || keyword == "setup_requires") {
      add_strings(value, facts_.requirements);
    } else if (keyword == "extras_require" && !value.empty() && value[0].is("{")) {
      for (const auto& item : split_arguments(bracketed(value, 0))) {
        if (item.size() > 2 && item[0].kind == Token::Kind::string) {
          add_strings(followed(item.subspan(2)), facts_.extras[item[0].text]);
        }
      }
    }
  }

  /// Adds the elements of a list, or the lines of a text, since setuptools accepts both; skips
  /// computed ones.
  static void add_strings(Tokens value, std::vector<std::string>& all) {
    const bool is_list = !value.empty() && (value[0].is("[") || value[0].is("("));
    const auto elements = is_list ? split_arguments(bracketed(value, 0)) : std::vector{value};
    for (const auto& element : elements) {
      if (element.size() != 1 || element[0].kind != Token::Kind::string || element[0].computed) {
        continue;
      }
      for (const auto& line : split(replace_all(element[0].text, "\\n", "\n"), '\n')) {
        if (!trim(line).empty()) {
          all.emplace_back(trim(line));
        }
      }
    }
  }

  /// Returns `value`, or the value of a variable that is assigned once and used nowhere else; empty
  /// for other variables.
  Tokens unchanged(Tokens value) const {
    if (value.size() != 1 || value[0].kind != Token::Kind::name) {
      return value;
    }
    if (executes_text_) {
      return {};
    }
    int depth = 0;
    int uses = 0;
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      depth += depth_change(tokens_[i]);
      const bool is_keyword = depth > 0 && tokens_[i + 1].is("=");
      uses += tokens_[i].is_name(value[0].text) && !is_keyword ? 1 : 0;
    }
    return uses == 2 ? resolve(value[0].text) : Tokens{};
  }

  /// Returns the strings of a list that nothing computes or changes; nothing for another value.
  std::optional<Strings> plain_strings(Tokens value) const {
    value = unchanged(value);
    const bool is_tuple = is_one_bracket(value, "(") &&
                          (value.size() == 2 || std::ranges::any_of(value, [](const auto& token) {
                             return token.is(",");
                           }));
    if (!is_tuple && !is_one_bracket(value, "[")) {
      return std::nullopt;
    }
    std::vector<std::string> strings;
    for (const auto& element : split_arguments(bracketed(value, 0))) {
      const bool is_plain = element.size() == 1 && element[0].kind == Token::Kind::string &&
                            !element[0].computed &&
                            element[0].text.find_first_of("\\\n") == std::string::npos;
      if (!is_plain) {
        return std::nullopt;
      }
      strings.emplace_back(trim(element[0].text));
    }
    return strings;
  }

  void read_certain() {
    constexpr std::size_t most_tokens{20'000};  // the time grows with their square
    if (calls_ != 1 || !is_plain_call_ || tokens_.size() > most_tokens) {
      return;
    }
    std::vector<std::string> all;
    if (const auto found = keywords_.find("install_requires"); found != keywords_.end()) {
      const auto strings = plain_strings(found->second);
      if (!strings) {
        return;
      }
      all = *strings;
    }
    if (const auto found = keywords_.find("extras_require"); found != keywords_.end()) {
      const auto value = unchanged(found->second);
      if (!is_one_bracket(value, "{")) {
        return;
      }
      for (const auto& item : split_arguments(bracketed(value, 0))) {
        const bool has_name = item.size() > 2 && item[0].kind == Token::Kind::string &&
                              !item[0].computed && is_alphanumeric(item[0].text, "-_.");
        const auto strings = has_name ? plain_strings(item.subspan(2)) : std::nullopt;
        if (!strings) {
          return;
        }
        for (const auto& text : *strings) {
          const auto end = std::min(text.find(';'), text.size());
          const auto marker = trim(std::string_view{text}.substr(std::min(end + 1, text.size())));
          all.push_back(text.substr(0, end) + "; " +
                        (marker.empty() ? "" : "(" + std::string{marker} + ") and ") +
                        "extra == '" + item[0].text + "'");
        }
      }
    }
    facts_.certain_requirements = std::move(all);
  }

  std::optional<std::string> plain_string(Tokens value) const {
    value = unchanged(value);
    const bool is_plain = value.size() == 1 && value[0].kind == Token::Kind::string &&
                          !value[0].computed && value[0].text.find('\\') == std::string::npos;
    return is_plain ? std::optional{value[0].text} : std::nullopt;
  }

  /// Returns the lists of a dictionary that nothing computes or changes.
  std::optional<std::map<std::string, Strings>> plain_lists(Tokens value) const {
    if (!is_one_bracket(value, "{")) {
      return std::nullopt;
    }
    std::map<std::string, Strings> lists;
    for (const auto& item : split_arguments(bracketed(value, 0))) {
      const bool has_key = item.size() > 2 && item[1].is(":");
      const auto key = has_key ? plain_string(item.first(1)) : std::nullopt;
      auto strings = key ? plain_strings(item.subspan(2)) : std::nullopt;
      if (!strings) {
        return std::nullopt;
      }
      lists[*key] = *std::move(strings);
    }
    return lists;
  }

  /// Returns the arguments of `find_packages(...)`.
  std::optional<PackageSearch> package_search(Tokens value) const {
    if (value.size() > 2 && value[0].is_name("setuptools") && value[1].is(".")) {
      value = value.subspan(2);
    }
    if (value.size() < 3 || !value[0].is_name("find_packages") ||
        !is_one_bracket(value.subspan(1), "(")) {
      return std::nullopt;
    }
    PackageSearch search;
    for (const auto& argument : split_arguments(bracketed(value, 1))) {
      const bool is_named = argument.size() > 2 && argument[1].is("=");
      const auto name = is_named ? argument[0].text : "where";
      const auto given = is_named ? argument.subspan(2) : argument;
      if (auto directory = name == "where" ? plain_string(given) : std::nullopt) {
        search.where = *std::move(directory);
      } else if (auto patterns =
                     name == "include" || name == "exclude" ? plain_strings(given) : std::nullopt) {
        (name == "include" ? search.include : search.exclude) = *std::move(patterns);
      } else {
        return std::nullopt;
      }
    }
    return search;
  }

  static bool is_word(Tokens value, const char* word) {
    return value.size() == 1 && value[0].is_name(word);
  }

  /// Takes one argument of setup() into `files`; returns false if its value is not certain.
  bool take(const std::string& keyword, Tokens value, SetupFiles& files) const {
    const auto keep = [](auto found, auto& place) {
      const bool is_certain = found.has_value();
      if (is_certain) {
        place = *std::move(found);
      }
      return is_certain;
    };
    if (keyword == "name" || keyword == "version" || keyword == "python_requires") {
      auto& place = keyword == "name"      ? files.name
                    : keyword == "version" ? files.version
                                           : files.requires_python;
      place = plain_string(value);
      place = place && place->find('\n') == std::string::npos ? place : std::nullopt;
      return true;  // PKG-INFO has it
    }
    if (keyword == "packages") {
      files.search = package_search(value);
      return files.search || keep(plain_strings(value), files.packages);
    }
    if (keyword == "package_dir") {
      const bool is_root = is_one_bracket(value, "{") && value.size() == 5 && value[2].is(":") &&
                           value[1].kind == Token::Kind::string && value[1].text.empty();
      return keep(is_root ? plain_string(value.subspan(3, 1)) : std::nullopt, files.root);
    }
    if (keyword == "py_modules" || keyword == "scripts") {
      return keep(plain_strings(value), keyword == "scripts" ? files.scripts : files.modules);
    }
    if (keyword == "package_data") {
      return keep(plain_lists(value), files.data);
    }
    if (keyword == "include_package_data") {
      files.has_listed_data = is_word(value, "True");
      return files.has_listed_data || is_word(value, "False");
    }
    if (keyword == "setup_requires") {
      const auto tools = plain_strings(value);
      return tools && tools->empty();
    }
    if (keyword == "entry_points") {
      return take_entry_points(value, files);
    }
    if (keyword == "cmdclass") {
      return are_of_developers(value);
    }
    return contains(without_effect, keyword);
  }

  static bool are_of_developers(Tokens commands) {
    return is_one_bracket(commands, "{") &&
           std::ranges::all_of(split_arguments(bracketed(commands, 0)), [](const auto& item) {
             return item.size() == 3 && item[0].kind == Token::Kind::string && item[1].is(":") &&
                    contains(commands_of_developers, item[0].text);
           });
  }

  bool take_entry_points(Tokens value, SetupFiles& files) const {
    if (auto text = plain_string(value)) {
      files.entry_points = *std::move(text);
      return true;
    }
    const auto groups = plain_lists(value);
    for (const auto& [group, entries] : groups.value_or(std::map<std::string, Strings>{})) {
      auto& text = files.entry_points ? *files.entry_points : files.entry_points.emplace();
      text += fmt::format("[{}]\n{}\n\n", group, join(entries, "\n"));
    }
    return groups.has_value();
  }

  std::optional<SetupFiles> files() const {
    if (!only_setup_has_effect(tokens_)) {
      return std::nullopt;
    }
    SetupFiles files;
    for (const auto& [keyword, value] : keywords_) {
      if (!take(keyword, value, files)) {
        return std::nullopt;
      }
    }
    const bool has_code = files.search || !files.packages.empty() || !files.modules.empty();
    return has_code ? std::optional{std::move(files)} : std::nullopt;
  }

  void read_package_directory(Tokens value) {
    if (value.empty() || !value[0].is("{")) {
      return;
    }
    for (const auto& item : split_arguments(bracketed(value, 0))) {
      const auto directory = item.size() > 2 ? followed(item.subspan(2)) : Tokens{};
      if (item.size() < 3 || item[0].kind != Token::Kind::string || directory.size() != 1 ||
          directory[0].kind != Token::Kind::string) {
        continue;
      }
      facts_.package_directory[item[0].text] = directory[0].text;
    }
  }

  std::vector<Token> tokens_;
  std::map<std::string, Tokens> assignments_;
  std::map<std::string, Tokens> keywords_;
  std::set<std::string> dictionaries_;  ///< already read
  bool executes_text_{false};           ///< in the file's own variables
  int calls_{0};                        ///< of setup
  bool is_plain_call_{false};           ///< the last one is unconditional and has plain keywords
  SetupPy facts_;
};

}  // namespace

SetupPy read_setup_py(std::string_view text) {
  return SetupReader{text}.run();
}

}  // namespace autopack::project
