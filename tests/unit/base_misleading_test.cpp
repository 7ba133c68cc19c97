#include "base/json.hpp"
#include "base/misleading.hpp"
#include "cli/explanation_page.hpp"

#include <doctest/doctest.h>

#include <string>

namespace autopack::base_misleading_test {

namespace {

// Written as escapes, they are visible.
const std::string turned{
    "a\xE2\x80\xAE"
    "b"};  // U+202E
const std::string hidden{
    "a\xE2\x80\x8B"
    "b"};  // U+200B

}  // namespace

TEST_CASE("characters that show a text otherwise than it is written are escaped") {
  CHECK(escape_misleading(turned, "\\u") == "a\\u202eb");
  CHECK(escape_misleading("a\xC2\x9B"
                          "b",
                          "\\u") == "a\\u009bb");
  CHECK(escape_misleading("caf\xC3\xA9 \xF0\x9F\x98\x80 \xE4\xB8\xAD", "\\u") ==
        "caf\xC3\xA9 \xF0\x9F\x98\x80 \xE4\xB8\xAD");
  CHECK(escape_misleading("\xFF", "\\u") == "\xFF");
}

TEST_CASE("JSON for people has them as JSON's own escapes, so that it stays the same") {
  const nlohmann::json object{{"displayName", turned}, {"b", hidden}};
  const auto text = print_json(object, 2);
  CHECK(text.find("a\\u202eb") != std::string::npos);
  CHECK(text.find("a\\u200bb") != std::string::npos);
  CHECK(parse_json(text) == object);
}

TEST_CASE("a page shows the escape, not the character") {
  const auto page = cli::explanation_page({{"name", turned}});
  CHECK(page.find(turned) == std::string::npos);
  CHECK(page.find(R"("a\\u202eb")") != std::string::npos);
}

}  // namespace autopack::base_misleading_test
