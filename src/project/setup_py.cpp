#include "project/setup_py.hpp"

#include "base/text.hpp"
#include "project/python_tokens.hpp"

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

/// The tokens inside the bracket that opens at `open`.
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

/// `tokens` split at commas that are in no bracket.
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

class Reader {
public:
  explicit Reader(std::string_view text) : tokens_{tokenize_python(text)} {}

  SetupPy run() {
    read_words();
    read_paths();
    read_imports();
    read_assignments();
    read_call();
    for (const auto& [keyword, value] : keywords_) {
      read_keyword(keyword, value);
    }
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
      } else if (looks_like_file(token.text)) {
        facts_.computes_file_name = true;
      }
    }
  }

  static bool looks_like_file(const std::string& text) {
    static const std::vector<std::string> endings{".py", ".txt", ".md", ".rst", ".toml", ".cfg"};
    return text.find_first_of(" \n:") == std::string::npos &&
           std::any_of(endings.begin(), endings.end(),
                       [&](const auto& e) { return text.ends_with(e); });
  }

  /// Strings with only `,` or `/` between them: the arguments of os.path.join, or a pathlib path.
  void read_paths() {
    std::vector<std::string> run;
    for (const auto& token : tokens_) {
      if (token.kind == Token::Kind::string && !token.computed && token.text.size() < 256) {
        run.push_back(token.text);
        for (std::size_t first = run.size() > 4 ? run.size() - 4 : 0; first + 1 < run.size();
             ++first) {
          facts_.paths.push_back(join(std::span{run}.subspan(first), "/"));
        }
      } else if (!token.is(",") && !token.is("/")) {
        run.clear();
      }
    }
  }

  void read_imports() {
    bool line_start = true;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const auto& token = tokens_[i];
      if (line_start && token.is_name("from") && i + 1 < tokens_.size()) {
        facts_.imports.insert(tokens_[i + 1].text);
      } else if (line_start && token.is_name("import")) {
        bool module_start = true;
        for (std::size_t j = i + 1; j < tokens_.size() && tokens_[j].kind != Token::Kind::line_end;
             ++j) {
          if (module_start && tokens_[j].kind == Token::Kind::name) {
            facts_.imports.insert(tokens_[j].text);
          }
          module_start = tokens_[j].is(",");
        }
      }
      line_start = token.kind == Token::Kind::line_end || token.is(":");
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
        // Assigned twice: which one holds is not ours to say.
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
      if (!tokens_[i].is_name("setup") || !tokens_[i + 1].is("(") ||
          (i > 0 && tokens_[i - 1].is_name("def"))) {
        continue;
      }
      for (const auto& argument : split_arguments(bracketed(tokens_, i + 1))) {
        if (argument.size() > 2 && argument[0].kind == Token::Kind::name && argument[1].is("=")) {
          keywords_[argument[0].text] = argument.subspan(2);
        } else if (argument.size() == 2 && argument[0].is("**")) {
          read_dictionary(argument[1].text);
        }
      }
    }
  }

  /// `setup(**settings)`.
  void read_dictionary(const std::string& variable) {
    const auto value = resolve(variable);
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

  /// `value`, or what it names when it is a variable assigned once.
  Tokens followed(Tokens value) const {
    return value.size() == 1 && value[0].kind == Token::Kind::name ? resolve(value[0].text) : value;
  }

  void read_keyword(const std::string& keyword, Tokens value) {
    value = followed(value);
    if (keyword == "name" && value.size() == 1 && value[0].kind == Token::Kind::string) {
      facts_.name = value[0].text;
    } else if (keyword == "packages") {
      facts_.packages = read_packages(value);
    } else if (keyword == "py_modules") {
      facts_.modules = strings_of(value);
      facts_.modules_computed = !facts_.modules.has_value();
    } else if (keyword == "package_dir") {
      read_package_directory(value);
    }
  }

  static std::optional<std::vector<std::string>> strings_of(Tokens value) {
    std::vector<std::string> strings;
    if (value.empty()) {
      return std::nullopt;
    }
    for (const auto& token : value) {
      if (token.kind == Token::Kind::string && !token.computed) {
        strings.push_back(token.text);
      } else if (token.kind != Token::Kind::sign || depth_change(token) + token.is(",") * 2 == 0) {
        return std::nullopt;
      }
    }
    return strings;
  }

  SetupPy::Packages read_packages(Tokens value) const {
    SetupPy::Packages packages;
    packages.computed = value.empty();
    for (std::size_t i = 0; i < value.size(); ++i) {
      const auto& token = value[i];
      const bool call = i + 1 < value.size() && value[i + 1].is("(");
      if (call && (token.is_name("find_packages") || token.is_name("find_namespace_packages"))) {
        packages.find = true;
        packages.namespaces = packages.namespaces || token.is_name("find_namespace_packages");
        const auto arguments = bracketed(value, i + 1);
        read_find(arguments, packages);
        i += arguments.size() + 2;
      } else if (token.kind == Token::Kind::string && !token.computed) {
        packages.listed.push_back(token.text);
      } else if (const bool named =
                     token.kind == Token::Kind::name && (call || !token.is_name("setuptools"));
                 named || token.kind == Token::Kind::string || token.is("%")) {
        packages.computed = true;
      }
    }
    return packages;
  }

  void read_find(Tokens arguments, SetupPy::Packages& packages) const {
    const auto parts = split_arguments(arguments);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool named = parts[i].size() > 2 && parts[i][1].is("=");
      if (named ? !parts[i][0].is_name("where") : i > 0) {
        continue;
      }
      const auto where = followed(named ? parts[i].subspan(2) : parts[i]);
      if (where.size() == 1 && where[0].kind == Token::Kind::string && !where[0].computed) {
        packages.where = where[0].text;
      } else {
        packages.computed = true;
      }
    }
  }

  void read_package_directory(Tokens value) {
    if (value.empty() || !value[0].is("{")) {
      facts_.package_directory_computed = true;
      return;
    }
    for (const auto& item : split_arguments(bracketed(value, 0))) {
      const auto directory = item.size() > 2 ? followed(item.subspan(2)) : Tokens{};
      if (item.size() < 3 || item[0].kind != Token::Kind::string || directory.size() != 1 ||
          directory[0].kind != Token::Kind::string) {
        facts_.package_directory_computed = true;
        continue;
      }
      facts_.package_directory[item[0].text] = directory[0].text;
    }
  }

  std::vector<Token> tokens_;
  std::map<std::string, Tokens> assignments_;
  std::map<std::string, Tokens> keywords_;
  SetupPy facts_;
};

}  // namespace

SetupPy read_setup_py(std::string_view text) {
  return Reader{text}.run();
}

bool assigns_literal(std::string_view text, std::string_view name) {
  const auto tokens = tokenize_python(text);
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    const bool line_start = i == 0 || tokens[i - 1].kind == Token::Kind::line_end;
    if (!line_start || tokens[i].indented || !tokens[i].is_name(name)) {
      continue;
    }
    std::size_t value = i + 1;
    while (value < tokens.size() && tokens[value].kind != Token::Kind::line_end &&
           !tokens[value].is("=")) {
      ++value;  // an annotation
    }
    for (++value; value < tokens.size() && tokens[value].kind != Token::Kind::line_end; ++value) {
      const auto& token = tokens[value];
      if (token.kind == Token::Kind::name || token.computed || token.is("%") || token.is("+")) {
        return false;
      }
    }
    return true;
  }
  return false;
}

}  // namespace autopack::project
