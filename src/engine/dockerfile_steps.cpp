#include "engine/dockerfile_steps.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

namespace autopack::engine {

namespace {

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t"));
}

char escape_character(const std::vector<std::string>& lines) {
  for (const auto& line : lines) {
    const std::string directive = replace_all(to_lower(trim(line)), " ", "");
    if (!directive.starts_with('#') || directive.find('=') == std::string::npos) {
      return '\\';
    }
    if (directive == "#escape=`") {
      return '`';
    }
  }
  return '\\';
}

/// Returns the words that end here-documents opened in `text`: `<<EOF`, `<<-"EOF"`.
std::vector<std::string> here_documents(std::string_view text) {
  std::vector<std::string> ends;
  for (auto at = text.find("<<"); at != std::string_view::npos; at = text.find("<<", at + 2)) {
    auto word = text.substr(at + 2);
    word.remove_prefix(word.starts_with('-') ? 1 : 0);
    const char quote = word.empty() ? '\0' : word.front();
    if (quote == '"' || quote == '\'') {
      word.remove_prefix(1);
      word = word.substr(0, word.find(quote));
    }
    word = word.substr(0, word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvw"
                                                 "xyz0123456789_"));
    if (!word.empty()) {
      ends.emplace_back(word);
    }
  }
  return ends;
}

/// Finds the ends of here-documents without a search for each unterminated one.
class DocumentEnds {
public:
  explicit DocumentEnds(const std::vector<std::string>& lines) : lines_{lines} {}

  /// Returns the line that equals `word`, from `from` on; `from` if there is none.
  std::size_t find(std::string_view word, std::size_t from) {
    if (last_.empty()) {
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        last_[trim(lines_[i])] = i;
      }
    }
    const auto last = last_.find(word);
    if (last == last_.end() || last->second < from) {
      return from;
    }
    std::size_t at = from;
    while (trim(lines_[at]) != word) {
      ++at;
    }
    return at;
  }

private:
  const std::vector<std::string>& lines_;
  std::map<std::string_view, std::size_t> last_{};  ///< line with that text
};

bool is_comment_or_blank(std::string_view line) {
  line = trim(line);
  return line.empty() || line.front() == '#';
}

/// Returns the number after `text[at]`, and its end.
std::pair<std::size_t, std::size_t> number_at(std::string_view text, std::size_t at) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data() + std::min(at, text.size()), end, value);
  return {value, static_cast<std::size_t>(result.ptr - text.data())};
}

struct Stage {
  std::optional<std::string> name{};
  std::string base{};
  std::vector<const Instruction*> all{};
};

std::vector<Stage> stages_of(const std::vector<Instruction>& instructions) {
  std::vector<Stage> stages;
  for (const auto& instruction : instructions) {
    if (instruction.stage < 0) {
      continue;
    }
    if (instruction.keyword == "FROM") {
      std::vector<std::string> words;
      for (const auto& word : split(instruction.text, ' ')) {
        if (!word.empty() && !word.starts_with("--")) {
          words.push_back(to_lower(word));
        }
      }
      Stage& stage = stages.emplace_back();
      stage.base = words.size() > 1 ? words[1] : "";
      if (words.size() > 3 && words[2] == "as") {
        stage.name = words[3];
      }
    }
    stages.back().all.push_back(&instruction);
  }
  return stages;
}

/// BuildKit counts instructions that make a layer: FROM (unless it names a stage or scratch), RUN,
/// COPY, ADD, WORKDIR.
const Instruction* buildkit_step(const std::vector<Stage>& stages,
                                 std::string_view stage_name,
                                 std::size_t number) {
  std::set<std::string> known;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Stage& stage = stages[i];
    const bool from_stage = known.contains(stage.base);
    const std::string name = stage.name.value_or("stage-" + std::to_string(i));
    known.insert(name);
    if (stage_name != name && !(stage_name.empty() && stages.size() == 1)) {
      continue;
    }
    std::size_t count = 0;
    for (const Instruction* instruction : stage.all) {
      const std::string& word = instruction->keyword;
      const bool counts =
          word == "FROM" ? !from_stage && stage.base != "scratch"
                         : word == "RUN" || word == "COPY" || word == "ADD" || word == "WORKDIR";
      count += counts ? 1 : 0;
      if (counts && count == number) {
        return instruction;
      }
    }
  }
  return nullptr;
}

const Instruction* find_step(const std::vector<Instruction>& instructions, std::string_view step) {
  const auto stages = stages_of(instructions);
  const auto word = step.find("STEP ");
  if (step.starts_with("Step ")) {
    const std::size_t number = number_at(step, 5).first;
    return number >= 1 && number <= instructions.size() ? &instructions[number - 1] : nullptr;
  }
  if (word == 0 || (step.starts_with('[') && word == step.find("] ") + 2)) {
    const std::size_t stage = word == 0 ? 1 : number_at(step, 1).first;
    const std::size_t number = number_at(step, word + 5).first;
    const bool there = stage >= 1 && stage <= stages.size() && number >= 1 &&
                       number <= stages[stage - 1].all.size();
    return there ? stages[stage - 1].all[number - 1] : nullptr;
  }
  const auto slash = step.find('/');
  const auto close = step.find("] ");
  if (!step.starts_with('[') || slash == std::string_view::npos || slash > close) {
    return nullptr;
  }
  const auto space = step.substr(0, slash).rfind(' ');
  const std::string_view name =
      space == std::string_view::npos ? std::string_view{} : step.substr(1, space - 1);
  const std::size_t at = space == std::string_view::npos ? 1 : space + 1;
  return buildkit_step(stages, trim(name), number_at(step, step.find_first_not_of(' ', at)).first);
}

}  // namespace

std::vector<Instruction> instructions_of(std::string_view dockerfile) {
  const auto lines = split(dockerfile, '\n');
  const char escape = escape_character(lines);
  DocumentEnds ends{lines};
  std::vector<Instruction> instructions;
  int stage = -1;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_comment_or_blank(lines[i])) {
      continue;
    }
    Instruction instruction{.line = static_cast<int>(i) + 1};
    std::string text{trim(lines[i])};
    while (text.ends_with(escape) && i + 1 < lines.size()) {
      text.pop_back();
      ++i;
      text += is_comment_or_blank(lines[i]) ? std::string(1, escape) : std::string{trim(lines[i])};
    }
    instruction.keyword = to_upper(first_word(text));
    if (instruction.keyword == "RUN" || instruction.keyword == "COPY" ||
        instruction.keyword == "ADD") {
      for (const auto& end : here_documents(text)) {
        i = ends.find(end, i);
      }
    }
    stage += instruction.keyword == "FROM" ? 1 : 0;
    instruction.stage = stage;
    instruction.text = std::move(text);
    instructions.push_back(std::move(instruction));
  }
  return instructions;
}

std::optional<Instruction> instruction_of_step(std::string_view dockerfile, std::string_view step) {
  const auto instructions = instructions_of(dockerfile);
  const Instruction* found = find_step(instructions, step);
  return found == nullptr ? std::nullopt : std::optional{*found};
}

}  // namespace autopack::engine
