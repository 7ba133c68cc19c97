#include "compare/contents.hpp"

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "image/archive_reader.hpp"
#include "image/file_image.hpp"
#include "plan/changes.hpp"
#include "plan/layers.hpp"
#include "python/name.hpp"
#include "services/registry_image.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace autopack::compare {

namespace {

/// Returns nothing if there is no engine, or it lacks the image.
std::optional<std::string> id_in_engine(Services& services, const image::Reference& reference) {
  try {
    const auto held = services.docker().inspect(reference.text);
    return held ? std::optional{held->id} : std::nullopt;
  } catch (const Error& error) {
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

/// Uses an unlinked file in the cache.
image::Source from_engine(Services& services,
                          const image::Reference& reference,
                          const std::string& platform) {
  const auto place = services.environment.cache_directory() / "saved.tar";
  sweep_leftovers(place);
  NewFile file{place, FileMode::secret};
  const std::string step = "save " + reference.text;
  std::uint64_t count = 0;
  services.docker().save(reference.text, [&](std::string_view bytes) {
    services.cancellation->throw_if_requested();
    file.write(bytes);
    count += bytes.size();
    services.reporter->step(
        {.id = step, .name = step, .state = StepEvent::State::progress, .current = count});
  });
  services.reporter->step({.id = step, .name = step, .state = StepEvent::State::completed});
  return image::open_files(
      {.kind = image::FileReference::Kind::archive, .path = file.path(), .text = reference.text},
      platform);
}

image::Source from_registry(Services& services,
                            const image::Reference& reference,
                            const std::string& platform) {
  std::shared_ptr<registry::Repository> repository =
      open_repository(services, reference, registry::Access::pull);
  const auto stored = repository->image_manifest(
      reference.digest ? reference.digest->str() : reference.tag.value_or("latest"), platform);
  if (!stored) {
    throw Error(ErrorKind::remote,
                fmt::format("the registry has no `{}`", printable(reference.text)));
  }
  auto exact = image::Reference::parse(reference.with_digest(stored->digest));
  exact.text = reference.text;
  return registry_image(services, std::move(repository), exact, platform);
}

}  // namespace

image::Source find_image(Services& services, const std::string& name, const std::string& platform) {
  if (const auto files = image::FileReference::parse(name)) {
    return image::open_files(*files, platform);
  }
  // This is an image id, not a reference.
  const auto reference =
      name.starts_with("sha256:") ? image::Reference{.text = name} : image::Reference::parse(name);
  if (!reference.names_registry()) {
    if (id_in_engine(services, reference)) {
      return from_engine(services, reference, platform);
    }
    if (reference.path.empty()) {
      throw Error(ErrorKind::usage, fmt::format("the engine has no image `{}`", printable(name)));
    }
  }
  try {
    return from_registry(services, reference, platform);
  } catch (const Error&) {
    if (!id_in_engine(services, reference)) {
      throw;
    }
  }
  return from_engine(services, reference, platform);
}

namespace {

using image::ArchiveEntry;

/// OCI image specification, layer.md: names of whiteouts.
constexpr std::string_view whiteout{".wh."};
constexpr std::string_view opaque{".wh..wh..opq"};

Error too_much(const std::string& what, const std::string& why) {
  return Error(ErrorKind::environment, fmt::format("{} is too large to be compared", what))
      .cause(why);
}

/// Applies layers on top of each other.
class Overlay {
public:
  Overlay(Contents& contents, const ReadingLimits& limits) : contents_{contents}, limits_{limits} {}

  void take(const ArchiveEntry& entry, const image::Reader& content, const std::string& what) {
    const auto path = image::normal_path(entry.path);
    if (++entries_ > limits_.entries) {
      throw too_much(what, fmt::format("it has more than {} files", limits_.entries));
    }
    if (path.empty()) {
      return;
    }
    const auto slash = path.rfind('/');
    const auto parent = slash == std::string::npos ? "" : path.substr(0, slash);
    const auto name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    if (name == opaque) {
      erase_below(parent);
    } else if (name.starts_with(whiteout)) {
      const auto gone = (parent.empty() ? "" : parent + "/") + name.substr(whiteout.size());
      erase_below(gone);
      contents_.files.erase(gone);
      contents_.removed.insert(gone);
    } else {
      add(entry, path, content, what);
    }
  }

  /// Deletions apply before additions, wherever they are in a layer's tar.
  void finish_layer() {
    for (auto& [path, facts] : added_) {
      contents_.removed.erase(path);
      contents_.files.insert_or_assign(path, std::move(facts));
    }
    added_.clear();
  }

private:
  void erase_below(const std::string& directory) {
    const auto prefix = directory + "/";
    auto first = contents_.files.lower_bound(prefix);
    while (first != contents_.files.end() && first->first.starts_with(prefix)) {
      first = contents_.files.erase(first);
    }
  }

  void add(const ArchiveEntry& entry,
           const std::string& path,
           const image::Reader& content,
           const std::string& what) {
    FileFacts facts{.kind = 'o'};
    switch (entry.type) {
      case ArchiveEntry::Type::directory: facts.kind = 'd'; break;
      case ArchiveEntry::Type::symlink:
        facts.kind = 'l';
        facts.content = entry.link;
        break;
      case ArchiveEntry::Type::hard_link: facts = linked(image::normal_path(entry.link)); break;
      case ArchiveEntry::Type::file:
        facts.kind = (entry.mode & 0100U) != 0 ? 'x' : 'f';
        facts.content = hash(content, facts.size, what);
        break;
      case ArchiveEntry::Type::other: break;
    }
    if (facts.kind != 'd') {
      erase_below(path);
    }
    added_.insert_or_assign(path, std::move(facts));
  }

  /// Returns the target of a hard link; unread if it is in a layer below.
  FileFacts linked(const std::string& target) const {
    if (const auto here = added_.find(target); here != added_.end()) {
      return here->second;
    }
    const auto below = contents_.files.find(target);
    return below != contents_.files.end() ? below->second : FileFacts{.content = "= " + target};
  }

  std::string hash(const image::Reader& content, std::uint64_t& size, const std::string& what) {
    Sha256 sum;
    image::read_all(content, [&](std::string_view bytes) {
      size += bytes.size();
      bytes_ += bytes.size();
      if (bytes_ > limits_.bytes) {
        throw too_much(what, fmt::format("its files have more than {}", human_size(limits_.bytes)));
      }
      sum.update(bytes);
    });
    return sum.finish().hex();
  }

  Contents& contents_;
  const ReadingLimits& limits_;
  std::map<std::string, FileFacts> added_{};
  std::size_t entries_{0};
  std::uint64_t bytes_{0};
};

/// Returns name and version of `.../site-packages/NAME-VERSION.dist-info`; nothing for another
/// path.
std::optional<std::pair<std::string, std::string>> distribution_at(std::string_view path) {
  const auto slash = path.rfind('/');
  const auto end = path.rfind(".dist-info");
  const bool is_one = slash != std::string_view::npos && path.ends_with(".dist-info") &&
                      (path.substr(0, slash).ends_with("/site-packages") ||
                       path.substr(0, slash).ends_with("/dist-packages"));
  const auto dash = is_one ? path.substr(0, end).find('-', slash) : std::string_view::npos;
  if (dash == std::string_view::npos || dash == slash + 1) {
    return std::nullopt;
  }
  return std::pair{python::normalise_name(path.substr(slash + 1, dash - slash - 1)),
                   std::string{path.substr(dash + 1, end - dash - 1)}};
}

void find_packages(Contents& contents) {
  for (const auto& [path, facts] : contents.files) {
    // A layer need not list the directory itself.
    const auto at = path.find(".dist-info/");
    if (at == std::string::npos || !path.ends_with(".dist-info/METADATA")) {
      continue;
    }
    if (auto found = distribution_at(std::string_view{path}.substr(0, at + 10))) {
      contents.packages.insert(*std::move(found));
    }
  }
  for (const auto& path : contents.removed) {
    constexpr std::string_view metadata{"/METADATA"};
    const std::string_view whole{path};
    if (auto gone = distribution_at(
            whole.ends_with(metadata) ? whole.substr(0, whole.size() - metadata.size()) : whole)) {
      contents.removed_packages.insert(*std::move(gone));
    }
  }
}

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : print_json(value);
}

/// Returns true for a value that is equivalent to its absence: tools differ in which of them they
/// write.
bool is_nothing(const nlohmann::json& value) {
  const auto* text = value.get_ptr<const std::string*>();
  return value.is_null() || value == false || (text != nullptr && text->empty()) ||
         (value.is_structured() && value.empty());
}

/// Returns `Env PATH`, `Entrypoint`, `Labels x`: one row for each value that can differ.
std::map<std::string, std::string> configuration_rows(const std::string& text) {
  std::map<std::string, std::string> rows;
  const auto document = parse_json(text);
  if (!document.is_object()) {
    return rows;
  }
  for (const auto* key : {"architecture", "os", "variant", "created"}) {
    if (document.contains(key)) {
      rows[key] = text_of(document.at(key));
    }
  }
  const auto config = document.find("config");
  if (config == document.end() || !config->is_object()) {
    return rows;
  }
  for (const auto& [key, value] : config->items()) {
    // Unused fields that the classic builder copies from its build container.
    if (key == "Image" || key == "Hostname") {
      continue;
    }
    if (key == "Env" && value.is_array()) {
      for (const auto& variable : value) {
        const auto line = text_of(variable);
        const auto mark = std::min(line.find('='), line.size());
        rows["Env " + line.substr(0, mark)] = line.substr(std::min(mark + 1, line.size()));
      }
    } else if (value.is_object()) {
      for (const auto& [inner, one] : value.items()) {
        rows[key + " " + inner] = text_of(one);
      }
    } else if (!is_nothing(value)) {
      rows[key] = text_of(value);
    }
  }
  return rows;
}

}  // namespace

std::vector<LayerFacts> layers_of(const image::Source& source) {
  const auto digests = image::check_layers(source);
  std::vector<LayerFacts> layers;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    layers.push_back({.digest = digests[i], .size = source.manifest.layers[i].size});
  }
  return layers;
}

Contents read_image(const Cancellation& cancellation,
                    const image::Source& source,
                    const std::set<Digest>& unread,
                    const ReadingLimits& limits) {
  Contents contents{.name = source.name, .layers = layers_of(source)};
  contents.configuration = configuration_rows(source.configuration);
  Overlay overlay{contents, limits};
  for (std::size_t i = 0; i < contents.layers.size(); ++i) {
    const auto& layer = source.manifest.layers[i];
    contents.size += layer.size;
    if (unread.contains(contents.layers[i].digest)) {
      ++contents.unread_layers;
      continue;
    }
    const auto what = fmt::format("layer {} of `{}`", i + 1, printable(source.name));
    const auto digest = image::read_contents(
        source.open(layer), what, [&](const ArchiveEntry& entry, const image::Reader& content) {
          cancellation.throw_if_requested();
          overlay.take(entry, content, what);
        });
    if (digest != contents.layers[i].digest) {
      throw image::broken_image(source, what + " does not match its configuration");
    }
    overlay.finish_layer();
  }
  find_packages(contents);
  return contents;
}

namespace {

void add_configuration(const plan::Plan& plan, Contents& contents) {
  auto& rows = contents.configuration;
  std::vector<std::string> words;
  for (const auto& word : plan.entrypoint) {
    words.push_back(shell_quote(word));
  }
  rows["Executor image"] = plan.base.reference;
  rows["Platform"] = plan.platform;
  rows["Entrypoint"] = join(words, " ");
  rows["System packages"] = join(plan.dependencies.apt_packages, " ");
  for (const auto& [name, value] : plan.labels) {
    rows["Labels " + name] = value;
  }
}

}  // namespace

Contents contents_of(const packaging::Packaging& work, const std::string& name) {
  const auto& plan = work.plan();
  Contents contents{.name = name, .is_image = false};
  const auto placed = plan::placed_code(plan);
  for (const auto& [path, entry] : placed.entries) {
    FileFacts facts{.kind = 'd'};
    if (entry != nullptr) {
      facts.kind = entry->letter();
      facts.size = entry->size;
      facts.content = facts.kind == 'l' ? entry->link_target
                      : entry->content  ? entry->content->hex()
                                        : "";
    }
    contents.size += facts.size;
    contents.files.insert_or_assign(std::string{path}, std::move(facts));
  }
  add_configuration(plan, contents);
  return contents;
}

std::vector<std::string> installation_changes(const packaging::Packaging& before,
                                              const packaging::Packaging& after) {
  return plan::changes(plan::record_of(before.plan(), before.scanned().project),
                       plan::record_of(after.plan(), after.scanned().project))
      .dependencies;
}

}  // namespace autopack::compare
