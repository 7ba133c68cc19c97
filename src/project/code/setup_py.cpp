#include "project/code/setup_py.hpp"

#include "base/text.hpp"
#include "project/code/python_tokens.hpp"

#include <algorithm>
#include <span>

namespace autopack::project {

namespace {

using Tokens = std::span<const Token>;

int depth_change(const Token& token) {
  if (token.is("(") || token.is("[") || token.is("{")) {
    return 1;
  }
  return token.is(")") || token.is("]") || token.is("}") ? -1 : 0;
}

/// Returns the tokens inside the bracket that opens at `open`.
Tokens bracketed(Tokens tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    depth += depth_change(tokens[i]);
    if (depth == 0) {
      return tokens.subspan(open + 1, i - open - 1);
    }
  }
  return tokens.subspan(open + 1);
}

/// Returns true if `tokens` are one pair of brackets, which `open` opens, and what is inside.
bool is_one_bracket(Tokens tokens, const char* open) {
  return tokens.size() > 1 && tokens[0].is(open) &&
         bracketed(tokens, 0).size() + 2 == tokens.size();
}

/// Splits `tokens` at commas outside of brackets.
std::vector<Tokens> split_arguments(Tokens tokens) {
  std::vector<Tokens> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    if (i == tokens.size() || (depth == 0 && tokens[i].is(","))) {
      if (i > begin) {
        parts.push_back(tokens.subspan(begin, i - begin));
      }
      begin = i + 1;
    } else {
      depth += depth_change(tokens[i]);
    }
  }
  return parts;
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
    return std::move(facts_);
  }

private:
  void read_words() {
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

  /// Returns the strings of a list that nothing computes or changes; nothing for another value.
  std::optional<std::vector<std::string>> plain_strings(Tokens value) const {
    if (value.size() == 1 && value[0].kind == Token::Kind::name) {
      const auto uses = std::ranges::count_if(
          tokens_, [&](const Token& token) { return token.is_name(value[0].text); });
      value = uses == 2 ? resolve(value[0].text) : Tokens{};
    }
    if (!is_one_bracket(value, "[")) {
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
    if (calls_ != 1 || !is_plain_call_) {
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
      const auto value = found->second;
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
  int calls_{0};                        ///< of setup
  bool is_plain_call_{false};           ///< the last one is unconditional and has plain keywords
  SetupPy facts_;
};

}  // namespace

SetupPy read_setup_py(std::string_view text) {
  return SetupReader{text}.run();
}

}  // namespace autopack::project
