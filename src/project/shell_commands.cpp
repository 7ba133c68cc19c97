#include "project/shell_commands.hpp"

#include "base/text.hpp"
#include "project/shell_variables.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

constexpr std::size_t most_commands{5000};
constexpr std::size_t longest_value{4096};

bool is_variable_character(char c) {
  return is_alphanumeric({&c, 1}, "_");
}

ShellWord known_word(const std::string& word) {
  return word.find(unknown_part) == std::string::npos ? ShellWord{word} : std::nullopt;
}

bool is_keyword(const std::string& word) {
  static constexpr std::array<std::string_view, 12> words{
      "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

class ShellReader {
public:
  ShellReader(std::string_view text, const std::string& directory)
      : text_{text}, variables_{directory} {}

  std::vector<ShellCommand> read() {
    while (at_ < text_.size() && commands_.size() < most_commands) {
      step();
    }
    end_word();
    end_command();
    return std::move(commands_);
  }

private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void step() {
    const char c = here();
    if (c == '\\') {
      escape();
    } else if (c == '\n') {
      end_word();
      end_command();
      ++at_;
      ++line_;
      skip_documents();
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
      ++at_;
    } else if (c == '#' && !in_word_) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
      separator(c);
    } else if (c == '<' || c == '>') {
      redirection();
    } else {
      word_part();
    }
  }

  void escape() {
    if (next() == '\n') {
      ++line_;
    } else if (next() != '\0') {
      add(next());
    }
    at_ += 2;
  }

  void separator(char c) {
    if (c == '&' && next() == '>') {
      end_word();
      ++at_;
      redirection();
      return;
    }
    end_word();
    end_command();
    depth_ += c == '(' ? 1 : c == ')' && depth_ > 0 ? -1 : 0;
    ++at_;
  }

  /// Leaves out the redirection and its target.
  void redirection() {
    if (!word_.empty() && word_.find_first_not_of("0123456789") == std::string::npos) {
      in_word_ = false;
      word_.clear();
    }
    end_word();
    const bool is_document = here() == '<' && next() == '<' && text_.substr(at_, 3) != "<<<";
    at_ = std::min(text_.find_first_not_of("<>&|", at_), text_.size());
    if (is_document && here() == '-') {
      ++at_;
    }
    skips_word_ = true;
    reads_delimiter_ = is_document;
  }

  void word_part() {
    in_word_ = true;
    switch (here()) {
      case '\'':
        is_quoted_ = true;
        read_single_quotes();
        break;
      case '"':
        is_quoted_ = true;
        read_double_quotes();
        break;
      case '$': expansion(false); break;
      case '`': read_backquotes(); break;
      default: add(text_[at_++]);
    }
  }

  void read_single_quotes() {
    const auto end = std::min(text_.find('\'', at_ + 1), text_.size());
    add(text_.substr(at_ + 1, end - at_ - 1));
    skip_to(std::min(end + 1, text_.size()));
  }

  void read_double_quotes() {
    for (++at_; at_ < text_.size() && here() != '"';) {
      if (here() == '\\' && at_ + 1 < text_.size()) {
        line_ += next() == '\n' ? 1 : 0;
        if (next() != '\n') {
          add(next());
        }
        at_ += 2;
      } else if (here() == '$') {
        expansion(true);
      } else if (here() == '`') {
        read_backquotes();
      } else {
        line_ += here() == '\n' ? 1 : 0;
        add(text_[at_++]);
      }
    }
    ++at_;
  }

  void read_backquotes() {
    const auto end = std::min(text_.find('`', at_ + 1), text_.size());
    add(variables_.substitute(trim(text_.substr(at_ + 1, end - at_ - 1))));
    skip_to(std::min(end + 1, text_.size()));
  }

  /// `$NAME`, `${NAME...}`, `$(command)`, `$((...))`, `$@`.
  void expansion(bool quoted) {
    if (next() == '(') {
      const auto end = closing('(', ')', at_ + 1);
      add(variables_.substitute(trim(text_.substr(at_ + 2, end - at_ - 2))));
      skip_to(std::min(end + 1, text_.size()));
      return;
    }
    if (next() == '{') {
      const auto end = closing('{', '}', at_ + 1);
      const auto value = variables_.expand_braces(text_.substr(at_ + 2, end - at_ - 2));
      disappears_ = disappears_ || !value;
      add(value.value_or(""));
      skip_to(std::min(end + 1, text_.size()));
      return;
    }
    if (next() == '@' || next() == '*') {
      at_ += 2;
      disappears_ = true;
      return;
    }
    auto end = at_ + 1;
    while (end < text_.size() && is_variable_character(text_[end])) {
      ++end;
    }
    if (end == at_ + 1) {
      // `$?`, `$#`, or a dollar that stands for itself.
      quoted ? add('$') : lose();
      at_ += quoted ? 1 : 2;
      return;
    }
    add(variables_.value(std::string{text_.substr(at_ + 1, end - at_ - 1)}));
    at_ = end;
  }

  std::size_t closing(char open, char close, std::size_t from) const {
    int depth = 0;
    char quote = '\0';
    for (auto at = from; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '\\') {
        ++at;
      } else if (quote == '\'') {
        quote = c == '\'' ? '\0' : quote;
      } else if (c == '\'') {
        quote = c;
      } else if (c == open) {
        ++depth;
      } else if (c == close && --depth == 0) {
        return at;
      }
    }
    return text_.size();
  }

  void skip_to(std::size_t end) {
    end = std::min(end, text_.size());
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void add(char c) { add(std::string_view{&c, 1}); }

  void lose() { add(unknown_part); }

  void add(std::string_view text) {
    in_word_ = true;
    word_ +=
        word_.size() + text.size() <= longest_value ? text : std::string_view{&unknown_part, 1};
  }

  void end_word() {
    const bool vanishes = disappears_ && word_.empty();
    if (in_word_ && skips_word_) {
      if (reads_delimiter_) {
        documents_.push_back(word_);
      }
      skips_word_ = reads_delimiter_ = false;
    } else if (in_word_ && !vanishes) {
      take_word();
    }
    in_word_ = disappears_ = is_quoted_ = false;
    word_.clear();
  }

  void take_word() {
    if (command_.words.empty()) {
      const auto equals = word_.find('=');
      if (equals != std::string::npos && is_variable_name(word_.substr(0, equals))) {
        command_.assignments[word_.substr(0, equals)] = word_.substr(equals + 1);
        note_line();
        return;
      }
      if (is_keyword(word_)) {
        return;
      }
    }
    note_line();
    if (is_quoted_ || word_.find_first_of(" \t\n") == std::string::npos) {
      command_.words.push_back(known_word(word_));
      return;
    }
    // A variable without quotes around it is split: `CMD="torchrun --standalone"; $CMD train.py`.
    for (const auto& part : split(replace_all(replace_all(word_, "\n", " "), "\t", " "), ' ')) {
      if (!part.empty()) {
        command_.words.push_back(known_word(part));
      }
    }
  }

  void note_line() { command_.line = command_.line == 0 ? line_ : command_.line; }

  void end_command() {
    skips_word_ = false;
    if (command_.line > 0) {
      variables_.settle(command_);
      command_.in_subshell = depth_ > 0;
      commands_.push_back(std::move(command_));
    }
    command_ = {};
  }

  void skip_documents() {
    for (const auto& delimiter : documents_) {
      while (at_ < text_.size()) {
        const auto end = std::min(text_.find('\n', at_), text_.size());
        const bool is_end = trim(text_.substr(at_, end - at_)) == delimiter;
        skip_to(std::min(end + 1, text_.size()));
        if (is_end) {
          break;
        }
      }
    }
    documents_.clear();
  }

  std::string_view text_;
  std::size_t at_{0};
  int line_{1};
  int depth_{0};
  std::string word_;
  bool in_word_{false};
  bool is_quoted_{false};
  bool disappears_{false};       ///< the word holds `"$@"`
  bool skips_word_{false};       ///< the next word is a redirection's
  bool reads_delimiter_{false};  ///< of a here-document
  std::vector<std::string> documents_;
  ShellCommand command_;
  ShellVariables variables_;
  std::vector<ShellCommand> commands_;
};

}  // namespace

bool is_variable_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) && is_alphanumeric(name, "_");
}

std::vector<ShellCommand> read_shell(std::string_view text, const std::string& directory) {
  return ShellReader{text, directory}.read();
}

}  // namespace autopack::project
