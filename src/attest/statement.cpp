#include "attest/statement.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

#include <fmt/format.h>

#include <optional>

namespace autopack::attest {

using nlohmann::json;

namespace {

constexpr auto* statement_type = "https://in-toto.io/Statement/v1";

/// Nobody makes a statement about so many images at once.
constexpr std::size_t most_subjects{10'000};

std::optional<Digest> subject_of(const json& subject) {
  if (!subject.is_object() || !subject.contains("digest")) {
    return std::nullopt;
  }
  return Digest::parse("sha256:" + text_at(subject["digest"], "sha256"));
}

}  // namespace

bool Statement::is_about(const Digest& image) const {
  return contains(subjects, image);
}

std::string statement_text(const std::string& name,
                           const Digest& digest,
                           const std::string& predicate_type,
                           const json& predicate) {
  json subject{{"digest", {{"sha256", digest.hex()}}}};
  if (!name.empty()) {
    subject["name"] = name;
  }
  return write_json(json{{"_type", statement_type},
                         {"subject", json::array({std::move(subject)})},
                         {"predicateType", predicate_type},
                         {"predicate", predicate}});
}

Statement parse_statement(std::string_view text, const std::string& what) {
  const auto document = parse_json(text);
  const auto refused = [&](const char* why) {
    return Error(ErrorKind::remote, fmt::format("{} is not an in-toto statement", what)).cause(why);
  };
  if (!document.is_object() || text_at(document, "_type") != statement_type) {
    throw refused("it is not a JSON object with that `_type`");
  }
  if (!document.contains("subject") || !document["subject"].is_array() ||
      document["subject"].size() > most_subjects) {
    throw refused("it has no list of subjects, or too many");
  }
  if (!document.contains("predicate") || !document["predicate"].is_object()) {
    throw refused("it has no predicate");
  }
  Statement statement{.predicate_type = text_at(document, "predicateType"),
                      .predicate = write_json(document["predicate"])};
  for (const auto& subject : document["subject"]) {
    if (auto digest = subject_of(subject)) {
      statement.subjects.push_back(*std::move(digest));
    }
  }
  return statement;
}

}  // namespace autopack::attest
