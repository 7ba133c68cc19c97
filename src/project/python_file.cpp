#include "project/python_file.hpp"

#include "base/text.hpp"
#include "project/path_texts.hpp"
#include "project/python_tokens.hpp"

#include <algorithm>

namespace autopack::project {

namespace {

using Statement = std::vector<Token>;

/// `a.b` from `at` on, which is left behind it.
std::string dotted_name(const Statement& statement, std::size_t& at) {
  std::string name;
  while (at < statement.size() && statement[at].kind == Token::Kind::name &&
         !statement[at].is_name("import") && !statement[at].is_name("as")) {
    name += statement[at++].text;
    if (at < statement.size() && statement[at].is(".")) {
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
    while (at < statement.size() && !statement[at].is(",")) {
      ++at;
    }
    ++at;
  }
}

void read_from(const Statement& statement, const Import& pattern, std::vector<Import>& all) {
  Import one = pattern;
  std::size_t at = 1;
  for (; at < statement.size() && statement[at].is("."); ++at) {
    ++one.level;
  }
  one.module = dotted_name(statement, at);
  if (at >= statement.size() || !statement[at].is_name("import")) {
    return;
  }
  for (++at; at < statement.size(); ++at) {
    if (statement[at].is_name("as")) {
      ++at;
    } else if (statement[at].kind == Token::Kind::name) {
      one.names.push_back(statement[at].text);
    }
  }
  all.push_back(std::move(one));
}

/// `if __name__ == "__main__":`
bool asks_for_main(const Statement& statement) {
  return std::any_of(statement.begin(), statement.end(),
                     [](const Token& token) { return token.is_name("__name__"); });
}

constexpr std::size_t longest_string{200};

bool may_hold_path(const Token& string) {
  const bool is_short = string.text.size() <= longest_string;
  return is_short &&
         (string.computed ? string.text.find('/') != std::string::npos : may_be_path(string.text));
}

bool may_fail(std::string_view block) {
  return block == "try" || block == "except" || block == "else" || block == "finally" ||
         block == "if" || block == "elif";
}

/// Statements whose tokens say more than the first one.
bool is_of_interest(const Token& first) {
  return first.is_name("import") || first.is_name("from") || first.is_name("if") ||
         first.is_name("print");
}

class PythonReader {
public:
  PythonFile run(std::string_view text) {
    PythonTokens tokens{text};
    for (Token token; tokens.next(token);) {
      note_path(token);
      if (token.kind == Token::Kind::string && may_hold_path(token)) {
        file_.strings.push_back(
            {.text = token.text, .computed = token.computed, .line = token.line});
      }
      if (token.kind == Token::Kind::line_end) {
        read_statement();
        statement_.clear();
      } else if (statement_.empty()) {
        is_read_ = is_of_interest(token);
        statement_.push_back(token);
      } else if (is_read_) {
        statement_.push_back(token);
      }
    }
    return std::move(file_);
  }

private:
  /// `sys.path`
  void note_path(const Token& token) {
    if (of_sys_path_ == 0 && token.kind != Token::Kind::name) {
      return;
    }
    const bool is_next = of_sys_path_ == 0   ? token.is_name("sys")
                         : of_sys_path_ == 1 ? token.is(".")
                                             : token.is_name("path");
    of_sys_path_ = is_next ? of_sys_path_ + 1 : token.is_name("sys") ? 1 : 0;
    if (of_sys_path_ == 3) {
      file_.changes_path = true;
      of_sys_path_ = 0;
    }
  }

  void read_statement() {
    const Token& first = statement_.front();
    if (!first.indented) {
      block_ = first.is_name("if") && asks_for_main(statement_) ? "__name__" : first.text;
    }
    const bool when_main = first.indented && block_ == "__name__";
    const Import pattern{.line = first.line,
                         .nested = first.indented && !when_main,
                         .optional = first.indented && may_fail(block_),
                         .when_main = when_main};
    if (!file_.python2_line && first.is_name("print") && statement_.size() > 1 &&
        statement_[1].kind == Token::Kind::string) {
      file_.python2_line = first.line;
    }
    if (first.is_name("import")) {
      read_import(statement_, pattern, file_.imports);
    } else if (first.is_name("from")) {
      read_from(statement_, pattern, file_.imports);
    }
  }

  PythonFile file_;
  Statement statement_;  ///< its first token alone where the others do not matter
  bool is_read_{false};  ///< they do
  std::string block_;
  int of_sys_path_{0};  ///< how much of `sys.path` the last tokens are
};

/// Reads the block of metadata in the comments of `text`.
void read_script_block(std::string_view text, PythonFile& file) {
  constexpr std::string_view mark{"# /// script"};
  if (text.find(mark) == std::string_view::npos) {
    return;
  }
  auto lines = split(text, '\n');
  for (auto& line : lines) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
  }
  const auto begin = std::find(lines.begin(), lines.end(), mark);
  if (begin == lines.end()) {
    return;
  }
  const auto past = std::find_if_not(begin + 1, lines.end(), [](const auto& line) {
    return line == "#" || line.starts_with("# ");
  });
  // The last mark of the comment ends the block.
  auto end = past;
  while (end != begin + 1 && *(end - 1) != "# ///") {
    --end;
  }
  if (end == begin + 1) {
    return;
  }
  file.script_block_line = static_cast<int>(begin - lines.begin()) + 1;
  for (auto line = begin + 1; line != end - 1; ++line) {
    file.script_block += (line->size() > 2 ? line->substr(2) : "") + "\n";
  }
}

}  // namespace

PythonFile read_python_file(std::string_view text) {
  auto file = PythonReader{}.run(text);
  read_script_block(text, file);
  return file;
}

}  // namespace autopack::project
