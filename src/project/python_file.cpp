#include "project/python_file.hpp"

#include "project/python_tokens.hpp"

#include <algorithm>

namespace autopack::project {

namespace {

using Statement = std::vector<const Token*>;

/// `a.b` from `at` on, which is left behind it.
std::string dotted_name(const Statement& statement, std::size_t& at) {
  std::string name;
  while (at < statement.size() && statement[at]->kind == Token::Kind::name &&
         !statement[at]->is_name("import") && !statement[at]->is_name("as")) {
    name += statement[at++]->text;
    if (at < statement.size() && statement[at]->is(".")) {
      name += '.';
      ++at;
    } else {
      break;
    }
  }
  return name;
}

void read_import(const Statement& statement, const Import& pattern, std::vector<Import>& all) {
  for (std::size_t at = 1; at < statement.size();) {
    Import one = pattern;
    one.module = dotted_name(statement, at);
    if (one.module.empty()) {
      return;
    }
    all.push_back(std::move(one));
    while (at < statement.size() && !statement[at]->is(",")) {
      ++at;
    }
    ++at;
  }
}

void read_from(const Statement& statement, const Import& pattern, std::vector<Import>& all) {
  Import one = pattern;
  std::size_t at = 1;
  for (; at < statement.size() && statement[at]->is("."); ++at) {
    ++one.level;
  }
  one.module = dotted_name(statement, at);
  if (at >= statement.size() || !statement[at]->is_name("import")) {
    return;
  }
  for (++at; at < statement.size(); ++at) {
    if (statement[at]->is_name("as")) {
      ++at;
    } else if (statement[at]->kind == Token::Kind::name) {
      one.names.push_back(statement[at]->text);
    }
  }
  all.push_back(std::move(one));
}

/// `if __name__ == "__main__":`
bool asks_for_main(const Statement& statement) {
  return std::any_of(statement.begin(), statement.end(),
                     [](const Token* token) { return token->is_name("__name__"); });
}

constexpr std::size_t longest_string{200};

bool may_fail(std::string_view block) {
  return block == "try" || block == "except" || block == "else" || block == "finally" ||
         block == "if" || block == "elif";
}

}  // namespace

PythonFile read_python_file(std::string_view text) {
  const auto tokens = tokenize_python(text);
  PythonFile file;
  Statement statement;
  std::string block;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    file.changes_path =
        file.changes_path ||
        (token.is_name("path") && i >= 2 && tokens[i - 1].is(".") && tokens[i - 2].is_name("sys"));
    if (token.kind == Token::Kind::string && !token.text.empty() &&
        token.text.size() <= longest_string) {
      file.strings.push_back({.text = token.text, .computed = token.computed, .line = token.line});
    }
    if (token.kind != Token::Kind::line_end) {
      statement.push_back(&token);
      continue;
    }
    if (statement.empty()) {
      continue;
    }
    const Token& first = *statement.front();
    if (!first.indented) {
      block = first.is_name("if") && asks_for_main(statement) ? "__name__" : first.text;
    }
    const bool when_main = first.indented && block == "__name__";
    const Import pattern{.line = first.line,
                         .nested = first.indented && !when_main,
                         .optional = first.indented && may_fail(block),
                         .when_main = when_main};
    if (file.python2_line == 0 && first.is_name("print") && statement.size() > 1 &&
        statement[1]->kind == Token::Kind::string) {
      file.python2_line = first.line;
    }
    if (first.is_name("import")) {
      read_import(statement, pattern, file.imports);
    } else if (first.is_name("from")) {
      read_from(statement, pattern, file.imports);
    }
    statement.clear();
  }
  return file;
}

}  // namespace autopack::project
