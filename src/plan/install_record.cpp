#include "plan/install_record.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "plan/layers.hpp"
#include "plan/templates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace autopack::plan {

namespace {

using nlohmann::json;

constexpr int record_format{1};
constexpr std::string_view app{"usr/app"};

/// Looks up the code in the image by its path below /usr/app.
class CodeView {
public:
  explicit CodeView(const Plan& plan) : code_{placed_code(plan)} {}

  const PlacedCode& code() const { return code_; }

  /// Returns `-` for a missing path; includes directories that only contain others.
  char letter(const std::string& path) const {
    const auto found = at(path);
    if (found != nullptr) {
      const char letter = found->entry->letter();
      return letter == 'x' ? 'f' : letter;
    }
    const std::string inside = below(path);
    const auto next = lower_bound(inside);
    return next != code_.entries.end() && next->path.starts_with(inside) ? 'd' : '-';
  }

  /// Returns the hash of a file or of a link's target; empty for anything else.
  std::string content(const std::string& path) const {
    const auto* const found = at(path);
    return found != nullptr && found->entry->content ? found->entry->content->hex() : "";
  }

  /// Returns the names in a directory; without `every`, only those that determine the packages.
  std::string names(const std::string& directory, bool every) const {
    std::set<std::string> names;
    const std::string inside = below(directory);
    for (auto item = lower_bound(inside);
         item != code_.entries.end() && item->path.starts_with(inside);) {
      const auto rest = item->path.substr(inside.size());
      const auto slash = rest.find('/');
      const std::string name{rest.substr(0, slash)};
      const bool is_file =
          slash == std::string_view::npos && item->entry->type == source::EntryType::file;
      const bool reports =
          !is_file || name == "__init__.py" || (directory.empty() && name.ends_with(".py"));
      if (every || reports) {
        names.insert(name);
      }
      // The contents of one directory are consecutive.
      item = slash == std::string_view::npos ? item + 1
                                             : lower_bound(inside + name + "0");  // after the slash
    }
    return join(std::vector<std::string>{names.begin(), names.end()}, "\n");
  }

private:
  using Iterator = std::vector<LayerEntry>::const_iterator;

  static std::string below(const std::string& directory) {
    return directory.empty() ? fmt::format("{}/", app) : fmt::format("{}/{}/", app, directory);
  }

  Iterator lower_bound(std::string_view path) const {
    return std::lower_bound(
        code_.entries.begin(), code_.entries.end(), path,
        [](const LayerEntry& item, std::string_view p) { return item.path < p; });
  }

  const LayerEntry* at(const std::string& path) const {
    const std::string whole = fmt::format("{}/{}", app, path);
    const auto found = lower_bound(whole);
    return found != code_.entries.end() && found->path == whole ? &*found : nullptr;
  }

  PlacedCode code_;
};

std::string digest_of(const PlacedCode& code) {
  Sha256 hash;
  for (const LayerEntry& item : code.entries) {
    hash.update(item.path);
    hash.update(std::string{'\0', item.entry->letter()});
    if (item.entry->content) {
      hash.update(item.entry->content->view());
    }
  }
  return hash.finish().hex();
}

InstallRecord::Fact fact_of(const std::string& path, const json& value) {
  return {
      .path = path, .state = value.at(0).get<std::string>(), .by = value.at(1).get<std::string>()};
}

InstallRecord record_of(const json& all) {
  InstallRecord record;
  for (const auto& [path, value] : all.at("reads").items()) {
    record.reads.push_back(fact_of(path, value));
  }
  for (const auto& [path, value] : all.at("asks").items()) {
    record.asks.push_back(fact_of(path, value));
  }
  for (const auto& value : all.at("lists")) {
    record.lists.push_back({.path = value.at(0).get<std::string>(),
                            .state = value.at(2).get<std::string>(),
                            .by = value.at(3).get<std::string>(),
                            .every = value.at(1).get<bool>()});
  }
  if (const auto& whole = all.at("whole"); !whole.is_null()) {
    record.whole = InstallRecord::Fact{.state = whole.at(0).get<std::string>(),
                                       .by = whole.at(1).get<std::string>()};
  }
  all.at("tree").get_to(record.tree);
  all.at("written").get_to(record.written);
  std::ranges::sort(record.written);
  return record;
}

/// Returns `setup.py reads VERSION, which changed`.
std::string because(const InstallRecord::Fact& fact, const char* verb, const std::string& what) {
  const std::string path = fact.path.empty() ? "." : fact.path;
  return fact.by == path
             ? fmt::format("{} {}", printable(path), what)
             : fmt::format("{} {} {}, which {}", printable(fact.by), verb, printable(path), what);
}

}  // namespace

std::optional<InstallRecord> parse_install_record(std::string_view text) {
  const json all = parse_json(text);
  try {
    if (!all.is_object() || all.at("format").get<int>() != record_format) {
      return std::nullopt;
    }
    return record_of(all);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string write_install_record(const Plan& plan,
                                 const project::LookedAt& looked,
                                 const std::string& backend) {
  const CodeView view{plan};
  const auto by = backend.substr(0, backend.find('.'));
  json reads = json::object();
  for (const auto& path : looked.read) {
    reads[path] = {view.content(path), "pyproject.toml"};
  }
  json asks = json::object();
  for (const auto& path : looked.asked) {
    if (!looked.read.contains(path)) {
      asks[path] = {std::string{view.letter(path)}, by};
    }
  }
  json lists = json::array();
  for (const auto& path : looked.listed) {
    lists.push_back({path, false, sha256(view.names(path, false)).hex(), by});
  }
  const json record{{"format", record_format},  {"reads", std::move(reads)},
                    {"asks", std::move(asks)},  {"lists", std::move(lists)},
                    {"whole", nullptr},         {"tree", digest_of(view.code())},
                    {"written", json::array()}, {"removed", json::array()}};
  return write_json(record);
}

std::string code_digest(const Plan& plan) {
  return digest_of(placed_code(plan));
}

std::optional<std::string> why_outdated(const InstallRecord& record, const Plan& plan) {
  const CodeView view{plan};
  for (const auto& fact : record.reads) {
    if (const auto now = view.content(fact.path); now != fact.state) {
      return because(fact, "reads", now.empty() ? "is gone" : "changed");
    }
  }
  for (const auto& fact : record.asks) {
    const char now = view.letter(fact.path);
    if (std::string{now} != fact.state) {
      return because(fact, "looks for",
                     now == '-'          ? "is gone"
                     : fact.state == "-" ? "is new"
                                         : "is another kind of file now");
    }
  }
  for (const auto& fact : record.lists) {
    if (sha256(view.names(fact.path, fact.every)).hex() != fact.state) {
      return because(fact, "lists", "holds other names now");
    }
  }
  if (record.whole && digest_of(view.code()) != record.tree) {
    return fmt::format("{} starts `{}`, which may read any file, and one changed",
                       printable(record.whole->by), printable(record.whole->state));
  }
  return std::nullopt;
}

std::string observer_text() {
  return load_templates({}).at("observe.py");
}

}  // namespace autopack::plan
