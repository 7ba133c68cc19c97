#include "cli/explanation_page.hpp"

#include "base/json.hpp"
#include "base/misleading.hpp"
#include "base/text.hpp"
#include "cli/explanation_text.hpp"
#include "cli/hint_text.hpp"

namespace autopack::cli {

nlohmann::json explanation_object(const pipeline::Explanation& explanation,
                                  const plan::Plan& plan) {
  auto object = parse_json(plan::to_json(plan));
  object.update(explanation_json(explanation));
  for (const auto& warning : explanation.advice) {
    object["warnings"].push_back({{"message", printable(warning.message)},
                                  {"origin", printable(warning.origin.value_or(""))},
                                  {"hints", hint_texts(warning.hints)}});
  }
  return object;
}

std::string explanation_page(const nlohmann::json& shown) {
  // `</script>` in a file's name would end the data.
  const std::string data =
      replace_all(escape_misleading(write_json(shown), R"(\\u)"), "<", "\\u003c");
  return replace_all(std::string{explanation_template()}, "@EXPLANATION@", data);
}

}  // namespace autopack::cli
