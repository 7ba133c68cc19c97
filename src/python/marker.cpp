#include "python/marker.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "python/name.hpp"
#include "python/specifier.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace autopack::python {

namespace {

constexpr int deepest{50};

/// Names, and their older spellings.
constexpr std::array<std::pair<std::string_view, std::string_view>, 19> variables{{
    {"python_version", "python_version"},
    {"python_full_version", "python_full_version"},
    {"os_name", "os_name"},
    {"os.name", "os_name"},
    {"sys_platform", "sys_platform"},
    {"sys.platform", "sys_platform"},
    {"platform_release", "platform_release"},
    {"platform_system", "platform_system"},
    {"platform_version", "platform_version"},
    {"platform.version", "platform_version"},
    {"platform_machine", "platform_machine"},
    {"platform.machine", "platform_machine"},
    {"platform_python_implementation", "platform_python_implementation"},
    {"platform.python_implementation", "platform_python_implementation"},
    {"python_implementation", "platform_python_implementation"},
    {"implementation_name", "implementation_name"},
    {"implementation_version", "implementation_version"},
    {"extra", "extra"},
    {"extras", "extras"},
}};
constexpr std::string_view groups_variable{"dependency_groups"};

/// A variable, or quoted text.
struct Value {
  std::string text{};
  bool is_variable{false};
};

enum class Kind { compare, all_of, any_of };

}  // namespace

struct Marker::Node {
  Kind kind{Kind::compare};
  Value left{};
  std::string op{};
  Value right{};
  std::vector<std::shared_ptr<const Node>> children{};
};

namespace {

using Node = Marker::Node;
using NodePointer = std::shared_ptr<const Node>;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Returns null if the text is not a marker.
class Parser {
public:
  explicit Parser(std::string_view text) : rest_{text} {}

  NodePointer whole() {
    auto node = either();
    skip();
    return rest_.empty() ? node : nullptr;
  }

private:
  void skip() {
    while (!rest_.empty() && is_blank(rest_.front())) {
      rest_.remove_prefix(1);
    }
  }

  bool take(std::string_view sign) {
    skip();
    const bool there = rest_.starts_with(sign);
    rest_.remove_prefix(there ? sign.size() : 0);
    return there;
  }

  /// Accepts a word that no letter follows.
  bool take_word(std::string_view word) {
    skip();
    const bool ends =
        rest_.size() <= word.size() || !is_alphanumeric(rest_.substr(word.size(), 1), "_");
    return ends && take(word);
  }

  template <class Part>
  NodePointer chain(Kind kind, std::string_view word, Part part) {
    std::vector<NodePointer> children;
    do {
      children.push_back(part());
      if (!children.back()) {
        return nullptr;
      }
    } while (take_word(word));
    return children.size() == 1
               ? children.front()
               : std::make_shared<const Node>(Node{.kind = kind, .children = std::move(children)});
  }

  NodePointer either() {
    return chain(Kind::any_of, "or", [&] { return both(); });
  }

  NodePointer both() {
    return chain(Kind::all_of, "and", [&] { return term(); });
  }

  NodePointer term() {
    if (!take("(")) {
      return comparison();
    }
    if (++depth_ > deepest) {
      return nullptr;
    }
    auto node = either();
    --depth_;
    return node && take(")") ? node : nullptr;
  }

  NodePointer comparison() {
    Node node;
    auto left = value();
    auto op = left ? comparison_operator() : std::nullopt;
    auto right = op ? value() : std::nullopt;
    if (!right || left->is_variable == right->is_variable) {
      return nullptr;
    }
    node.left = std::move(*left);
    node.op = std::move(*op);
    node.right = std::move(*right);
    return std::make_shared<const Node>(std::move(node));
  }

  std::optional<std::string> comparison_operator() {
    for (const char* sign : {"===", "==", "~=", "!=", "<=", ">=", "<", ">"}) {
      if (take(sign)) {
        return sign;
      }
    }
    if (take_word("in")) {
      return "in";
    }
    return take_word("not") && take_word("in") ? std::optional<std::string>{"not in"}
                                               : std::nullopt;
  }

  std::optional<Value> value() {
    skip();
    if (rest_.empty()) {
      return std::nullopt;
    }
    if (const char quote = rest_.front(); quote == '"' || quote == '\'') {
      const auto end = rest_.find(quote, 1);
      if (end == std::string_view::npos) {
        return std::nullopt;
      }
      Value found{.text = std::string{rest_.substr(1, end - 1)}};
      rest_.remove_prefix(end + 1);
      return found;
    }
    std::size_t end = 0;
    while (end < rest_.size() && is_alphanumeric(rest_.substr(end, 1), "_.")) {
      ++end;
    }
    const auto name = rest_.substr(0, end);
    const auto* const known =
        std::ranges::find_if(variables, [&](const auto& one) { return one.first == name; });
    if (known == variables.end() && name != groups_variable) {
      return std::nullopt;
    }
    rest_.remove_prefix(end);
    return Value{.text = std::string{known == variables.end() ? groups_variable : known->second},
                 .is_variable = true};
  }

  std::string_view rest_;
  int depth_{0};
};

bool is_version_variable(std::string_view name) {
  return name == "python_version" || name == "python_full_version" ||
         name == "implementation_version" || name == "platform_version" ||
         name == "platform_release";
}

/// Returns nothing for an operator that does not apply to text.
std::optional<bool> compare_text(std::string_view left,
                                 std::string_view op,
                                 std::string_view right) {
  const bool equal = left == right;
  if (op == "in" || op == "not in") {
    return (right.find(left) != std::string_view::npos) == (op == "in");
  }
  if (op == "==" || op == "===" || op == "<=" || op == ">=") {
    return equal;
  }
  if (op == "!=") {
    return !equal;
  }
  return op == "<" || op == ">" ? std::optional{false} : std::nullopt;
}

std::optional<bool> compare(std::string_view variable,
                            const std::string& left,
                            const std::string& op,
                            const std::string& right) {
  if (is_version_variable(variable) && op != "in" && op != "not in") {
    const auto specifier = Specifier::parse(op + right);
    const auto version = Version::parse(left);
    if (specifier && version) {
      return specifier->holds_for(*version);
    }
  }
  return compare_text(left, op, right);
}

/// Evaluates `extra == "gpu"`, and `"gpu" in extras` of lock files.
std::optional<bool> is_member(const std::vector<std::string>& members, const Node& node) {
  const std::string name = normalise_name(node.left.is_variable ? node.right.text : node.left.text);
  const bool there = contains(members, name);
  if (node.op == "==" || node.op == "===" || node.op == "in") {
    return there;
  }
  return node.op == "!=" || node.op == "not in" ? std::optional{!there} : std::nullopt;
}

std::optional<bool> evaluate(const Node& node, const MarkerEnvironment& environment) {
  if (node.kind == Kind::compare) {
    const auto& variable = node.left.is_variable ? node.left.text : node.right.text;
    if (variable == "extra" || variable == "extras") {
      return is_member(environment.extras, node);
    }
    if (variable == groups_variable) {
      return is_member(environment.dependency_groups, node);
    }
    const auto known = environment.variables.find(variable);
    if (known == environment.variables.end()) {
      return std::nullopt;
    }
    return compare(variable, node.left.is_variable ? known->second : node.left.text, node.op,
                   node.right.is_variable ? known->second : node.right.text);
  }
  // One false part decides `and`, one true part decides `or`, even if other parts are unknown.
  const bool settling = node.kind == Kind::any_of;
  bool all_known = true;
  for (const auto& child : node.children) {
    const auto part = evaluate(*child, environment);
    if (part == settling) {
      return settling;
    }
    all_known = all_known && part.has_value();
  }
  return all_known ? std::optional{!settling} : std::nullopt;
}

}  // namespace

MarkerEnvironment environment_on_linux(const Version& python,
                                       std::optional<std::string_view> machine) {
  MarkerEnvironment environment{.variables = {{"os_name", "posix"},
                                              {"sys_platform", "linux"},
                                              {"platform_system", "Linux"},
                                              {"platform_python_implementation", "CPython"},
                                              {"implementation_name", "cpython"}}};
  const auto& numbers = python.release;
  if (numbers.size() > 1) {
    environment.variables["python_version"] =
        std::to_string(numbers[0]) + "." + std::to_string(numbers[1]);
  }
  if (numbers.size() > 2) {
    environment.variables["python_full_version"] = python.str();
    environment.variables["implementation_version"] = python.str();
  }
  if (machine) {
    environment.variables["platform_machine"] = *machine;
  }
  return environment;
}

std::optional<Marker> Marker::parse(std::string_view text) {
  auto root = Parser{text}.whole();
  return root ? std::optional{Marker{std::move(root)}} : std::nullopt;
}

std::optional<bool> Marker::holds_in(const MarkerEnvironment& environment) const {
  return evaluate(*root_, environment);
}

}  // namespace autopack::python
