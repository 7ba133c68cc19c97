// Answers questions about package indexes, one JSON object per line:
//
//     {"page": {"url": ..., "type": ..., "body": ...}}       the files of a page
//     {"candidates": [PROJECT...]}                           the files that the indexes have of
//     each
//     {"metadata": PROJECT}                                  the metadata of each of its files
//     {"get": [{"name", "url", "hashes", "size"}...]}        verified files of the cache
//
// All but the first take `environment`, the variables that settings are read from, `lines`, the
// options of requirements files, and `cache`, a directory. An error is {"error": ..., "causes":
// ..., "hints": ...}.

#include "base/json.hpp"
#include "index/index_client.hpp"
#include "index/wheel_cache.hpp"
#include "support/recording_reporter.hpp"

#include <iostream>

using namespace autopack;
using namespace autopack::index;
using nlohmann::json;

namespace {

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json written(const std::vector<python::Hash>& hashes) {
  json all = json::object();
  for (const auto& hash : hashes) {
    all[hash.algorithm] = hash.hex;
  }
  return all;
}

std::vector<python::Hash> hashes_of(const json& all) {
  std::vector<python::Hash> hashes;
  for (const auto& [algorithm, digits] : all.items()) {
    hashes.push_back({algorithm, digits.get<std::string>()});
  }
  return hashes;
}

json written(const std::vector<Candidate>& files) {
  json all = json::array();
  for (const auto& file : files) {
    all.push_back({{"name", file.name},
                   {"url", file.url},
                   {"hashes", written(file.hashes)},
                   {"requires-python", file.requires_python.value_or("")},
                   {"metadata", file.metadata ? written(*file.metadata) : json{}},
                   {"yanked", or_null(file.yanked)},
                   {"size", or_null(file.size)},
                   {"uploaded", file.uploaded.value_or("")},
                   {"index", file.index}});
  }
  return all;
}

/// The inputs of a question.
class Surroundings {
public:
  explicit Surroundings(const json& question)
      : cache{question.value("cache", "")},
        client_{http::make_client({.user_agent = "index-facts"})},
        access{options(question)} {}

  std::filesystem::path cache;
  testing::RecordingReporter reporter{};

private:
  AccessOptions options(const json& question) {
    std::map<std::string, std::string, std::less<>> variables;
    const json given = question.value("environment", json::object());
    for (const auto& [name, value] : given.items()) {
      variables[name] = value.get<std::string>();
    }
    const Environment environment{variables};
    IndexSettings settings = find_index_settings(environment, std::nullopt, "/nowhere");
    for (const auto& line : question.value("lines", json::array())) {
      std::vector<std::pair<std::string, std::string>> all;
      for (const auto& option : line) {
        all.emplace_back(option.at(0), option.at(1));
      }
      add_line_options(settings, all, std::filesystem::current_path(), environment);
    }
    return {.client = client_.get(),
            .settings = std::move(settings),
            .reporter = &reporter,
            .sleep = [](std::chrono::milliseconds) {}};
  }

  std::unique_ptr<http::Client> client_;

public:
  Access access;
};

json candidates(Surroundings& with, const json& projects) {
  IndexClient indexes{with.access, with.cache};
  json answer = json::object();
  for (const auto& [project, files] :
       indexes.candidates_of(projects.get<std::vector<std::string>>())) {
    answer[project] = written(files);
  }
  return answer;
}

json metadata(Surroundings& with, const std::string& project) {
  IndexClient indexes{with.access, with.cache};
  json answer = json::object();
  for (const auto& candidate : indexes.candidates(project)) {
    const auto text = indexes.metadata(candidate);
    answer[candidate.name] = or_null(text);
  }
  return answer;
}

json get(Surroundings& with, const json& wanted) {
  std::vector<Download> downloads;
  for (const auto& one : wanted) {
    downloads.push_back({.name = one.at("name"),
                         .url = one.at("url"),
                         .hashes = hashes_of(one.value("hashes", json::object()))});
    if (one.contains("size")) {
      downloads.back().size = one.at("size").get<std::uint64_t>();
    }
  }
  WheelCache wheels{with.access, {.directory = with.cache}};
  json answer = json::array();
  for (const auto& file : wheels.get_all(downloads)) {
    answer.push_back({{"path", file.path.string()}, {"sha256", file.sha256}, {"size", file.size}});
  }
  return answer;
}

json page(const json& asked) {
  return written(
      read_simple_page(
          {.url = asked.at("url"), .content_type = asked.at("type"), .body = asked.at("body")})
          .files);
}

json answer(const json& question) {
  if (question.contains("page")) {
    return {{"answer", page(question.at("page"))}};
  }
  Surroundings with{question};
  json result;
  if (question.contains("candidates")) {
    result["answer"] = candidates(with, question.at("candidates"));
  } else if (question.contains("metadata")) {
    result["answer"] = metadata(with, question.at("metadata"));
  } else {
    result["answer"] = get(with, question.at("get"));
  }
  for (const auto& warning : with.reporter.warnings) {
    result["warnings"].push_back(warning.message);
  }
  return result;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    json said;
    try {
      said = answer(parse_json(line));
    } catch (const Error& error) {
      said = {{"error", error.message()}, {"causes", error.causes()}, {"hints", error.hints()}};
    }
    std::cout << print_json(said) << "\n" << std::flush;
  }
}
