#include "project/code/program_signs.hpp"

#include "base/contains.hpp"
#include "project/code/python_tokens.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

namespace {

template <typename Words>
bool is_word_among(const Words& words, std::string_view word) {
  return contains(words, word);
}

/// Words that begin a statement and are not calls.
bool is_statement_word(std::string_view word) {
  static constexpr auto words = std::to_array<std::string_view>(
      {"import", "from",   "def",     "class", "if",       "elif",   "else",
       "try",    "except", "finally", "pass",  "del",      "global", "assert",
       "raise",  "return", "async",   "match", "nonlocal", "yield"});
  return is_word_among(words, word);
}

/// Functions that start a program, from any module: `app.run(main)`, `sys.exit(main())`.
bool starts_program(std::string_view word) {
  static constexpr auto words = std::to_array<std::string_view>(
      {"main", "run", "exit", "Fire", "cli", "train", "fit", "backward", "launch", "learn"});
  return is_word_among(words, word);
}

/// Matches `optimizer`, `optim`, `Optimizer`, `adam_optimizer`.
bool names_optimiser(std::string_view word) {
  return word == "optim" || word == "optax" || word.find("ptimizer") != std::string_view::npos ||
         word.find("ptimiser") != std::string_view::npos;
}

bool is_of_training(std::string_view word) {
  static constexpr auto words = std::to_array<std::string_view>(
      {"GradientTape", "LightningCLI", "TrainingArguments", "train_one_epoch", "value_and_grad"});
  return names_optimiser(word) || word.ends_with("Trainer") || is_word_among(words, word);
}

/// Methods that train when called.
bool is_training_method(std::string_view word) {
  static constexpr auto words =
      std::to_array<std::string_view>({"apply_gradients", "backward", "fit", "fit_generator",
                                       "learn", "minimize", "partial_fit", "train_on_batch"});
  return is_word_among(words, word);
}

bool is_training_function(std::string_view word) {
  return word == "train" || word == "fit" || word == "finetune" || word.starts_with("train_") ||
         word.starts_with("finetune_");
}

bool is_tool_of_tests(std::string_view module) {
  static constexpr auto modules = std::to_array<std::string_view>(
      {"distutils", "doit", "fabric", "invoke", "nox", "pytest", "setuptools", "unittest"});
  return is_word_among(modules, module);
}

bool is_server_library(std::string_view module) {
  static constexpr auto modules = std::to_array<std::string_view>(
      {"fastapi", "flask", "gradio", "locust", "streamlit", "uvicorn"});
  return is_word_among(modules, module);
}

/// Collects the signs of a file from its tokens.
class SignReader {
public:
  ProgramSigns run(std::string_view text) {
    PythonTokens tokens{text};
    bool begins = true;
    for (Token token; tokens.next(token);) {
      take(token, begins);
      begins = token.kind == Token::Kind::line_end;
    }
    // A syntax error hides what the file does; running it shows the error.
    signs_.acts = signs_.acts || tokens.is_in_bracket();
    return signs_;
  }

private:
  enum class Word : std::uint8_t { other, defining, method, function };
  /// The possible meaning of the current statement.
  enum class Statement : std::uint8_t { other, call, condition, import };

  void take(const Token& token, bool begins);
  void begin_statement(const Token& token);
  void follow_call(const Token& token);
  void note_training(const Token& token);

  ProgramSigns signs_;
  std::vector<std::string> functions_;  ///< of the top level
  Statement statement_{Statement::other};
  bool is_function_{false};     ///< of a call: its last word is also its first
  bool names_function_{false};  ///< the next word is the name of a function
  bool acts_when_called_{false};
  bool after_dot_{false};
  Word last_{Word::other};
};

void SignReader::take(const Token& token, bool begins) {
  note_training(token);
  if (names_function_) {
    names_function_ = false;
    if (token.kind == Token::Kind::name) {
      functions_.push_back(token.text);
    }
  }
  if (begins) {
    begin_statement(token);
  } else if (statement_ == Statement::call) {
    follow_call(token);
  } else if (statement_ == Statement::condition) {
    signs_.guarded = signs_.guarded || token.is_name("__name__");
  } else if (statement_ == Statement::import) {
    signs_.tests = signs_.tests || is_tool_of_tests(token.text);
    signs_.serves = signs_.serves || is_server_library(token.text);
    statement_ = Statement::other;
  }
}

void SignReader::begin_statement(const Token& token) {
  statement_ = Statement::other;
  if (token.kind != Token::Kind::name || token.indented) {
    return;
  }
  if (token.text == "if") {
    statement_ = Statement::condition;
  } else if (token.text == "import" || token.text == "from") {
    statement_ = Statement::import;
  } else if (token.text == "for" || token.text == "while" || token.text == "with") {
    signs_.acts = true;
  } else if (token.text == "def" || token.text == "class") {
    signs_.defines = true;
    names_function_ = token.text == "def";
  } else if (token.text == "async") {
    signs_.defines = true;
  } else if (!is_statement_word(token.text)) {
    statement_ = Statement::call;
    is_function_ = true;
    acts_when_called_ = starts_program(token.text) || is_word_among(functions_, token.text);
  }
}

void SignReader::follow_call(const Token& token) {
  if (token.is("(")) {
    signs_.calls = true;
    signs_.acts = signs_.acts || acts_when_called_;
    statement_ = Statement::other;
  } else if (token.kind == Token::Kind::name && !is_function_) {
    acts_when_called_ = starts_program(token.text);
  } else if (token.is(".")) {
    is_function_ = false;
  } else {
    statement_ = Statement::other;
  }
}

void SignReader::note_training(const Token& token) {
  if (signs_.trains) {
    return;
  }
  if (token.kind != Token::Kind::name) {
    signs_.trains = (last_ == Word::method || last_ == Word::function) && token.is("(");
    after_dot_ = token.is(".");
    last_ = Word::other;
    return;
  }
  const std::string_view word{token.text};
  const bool is_defined = last_ == Word::defining;
  last_ = Word::other;
  if (is_of_training(word)) {
    signs_.trains = !is_defined;
  } else if (word == "def" || word == "class") {
    last_ = Word::defining;
  } else if (after_dot_ && is_training_method(word)) {
    last_ = Word::method;
  } else if (!is_defined && is_training_function(word)) {
    last_ = Word::function;
  }
  after_dot_ = false;
}

}  // namespace

ProgramSigns read_program_signs(std::string_view text) {
  return SignReader{}.run(text);
}

std::uint8_t to_byte(const ProgramSigns& signs) {
  unsigned byte = 0;
  unsigned bit = 1;
  for (const bool sign : {signs.guarded, signs.acts, signs.calls, signs.defines, signs.trains,
                          signs.tests, signs.serves}) {
    byte |= sign ? bit : 0;
    bit <<= 1U;
  }
  return static_cast<std::uint8_t>(byte);
}

ProgramSigns signs_of_byte(std::uint8_t byte) {
  const auto has = [byte](unsigned bit) { return ((byte >> bit) & 1U) != 0; };
  return {.guarded = has(0),
          .acts = has(1),
          .calls = has(2),
          .defines = has(3),
          .trains = has(4),
          .tests = has(5),
          .serves = has(6)};
}

}  // namespace autopack::project
