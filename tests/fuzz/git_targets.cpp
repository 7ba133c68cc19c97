#include "base/environment.hpp"
#include "base/error.hpp"
#include "scratch.hpp"
#include "source/docker_rules.hpp"
#include "source/git.hpp"
#include "source/git_ignore_file.hpp"
#include "source/git_work_tree.hpp"
#include "source/ignore.hpp"
#include "source/selection.hpp"
#include "source/walk.hpp"
#include "support/memory_tree.hpp"
#include "target.hpp"

#include <libdeflate.h>
#include <openssl/sha.h>

#include <array>
#include <memory>

/// What a repository and the files that leave things out say.
namespace autopack::fuzz {

namespace {

namespace fs = std::filesystem;

const Environment& no_environment() {
  static const Environment environment{{{"HOME", scratch().string()}}};
  return environment;
}

/// Patterns, byte 0, a path.
void git_ignore(std::string_view bytes) {
  const auto text = next_part(bytes);
  const auto path = source::normalise(bytes);
  if (!path || path->empty() || path->size() > 500) {
    return;
  }
  const source::GitIgnoreFile file{text, ".gitignore", "", 0};
  for (const bool is_directory : {false, true}) {
    file.decide(*path, is_directory);
  }
  file.may_bring_back_below(*path);
  source::IgnoreRules rules;
  rules.add(source::docker_rules(file, "a"), ".dockerignore");
  rules.excludes(*path);
  rules = {};
  rules.add(source::docker_path(*path), ".dockerignore");
  if (!rules.excludes(*path)) {
    fail("a line for `" + *path + "` does not fit it");
  }
}

/// A `.gitignore`, a nested one, a `.dockerignore`, a path, with bytes 0 between: one question at a
/// time and a walk decide alike.
void selection(std::string_view bytes) {
  source::MemoryTree tree;
  tree.file(".gitignore", std::string{next_part(bytes)});
  tree.file("a/.gitignore", std::string{next_part(bytes)});
  const auto docker = next_part(bytes);
  if (!docker.empty()) {
    tree.file(".dockerignore", std::string{docker});
  }
  const auto path = source::normalise(bytes);
  if (path && !path->empty() && path->size() < 300 && *path != ".gitignore" &&
      !path->starts_with(".gitignore/") && !path->starts_with(".dockerignore") &&
      !path->starts_with("a/.gitignore")) {
    tree.file(*path, "x").file("a/b/c.py", "x").file("a/d", "x");
  }
  auto work_tree = std::make_shared<source::GitWorkTree>();
  work_tree->tracked = [](std::string_view) { return std::vector<std::string>{"a/d"}; };
  const source::Selection whole{tree, {.include = {"a/*.py"}, .exclude = {"d"}}, work_tree};
  source::SelectionWalk selected{whole};
  source::walk(
      tree, "",
      [&](const source::Entry& directory) {
        return !selected.excludes(directory) || whole.may_hold_exceptions(directory.path);
      },
      [&](std::string_view directory, const std::vector<source::Entry>& entries) {
        return !selected.enter(directory, entries);
      },
      [&](const source::Entry& entry) {
        if (selected.excludes(entry).has_value() != whole.excludes(entry.path).has_value()) {
          fail("a walk decides otherwise about `" + entry.path + "`");
        }
      });
  whole.text();
}

using Id = std::array<unsigned char, SHA_DIGEST_LENGTH>;

Id sha1(std::string_view bytes) {
  Id id{};
  ::SHA1(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), id.data());
  return id;
}

std::string deflated(std::string_view bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&::libdeflate_free_compressor)> compressor{
      ::libdeflate_alloc_compressor(1), ::libdeflate_free_compressor};
  std::string out(::libdeflate_zlib_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(::libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                        out.size()));
  return out;
}

std::string with_header(std::string_view kind, std::string_view content) {
  std::string text{kind};
  text += " " + std::to_string(content.size());
  text += '\0';
  text += content;
  return text;
}

/// A repository without git: what stands in it is written file by file.
class Repository {
public:
  Repository() : root_{scratch() / "repository"} {
    put(git() / "HEAD", "ref: refs/heads/main\n");
    put(git() / "config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
    fs::create_directories(git() / "objects" / "pack");
    fs::create_directories(git() / "refs" / "heads");
  }

  const fs::path& root() const { return root_; }

  fs::path git() const { return root_ / ".git"; }

  void set_head(const Id& id) const { put(git() / "refs" / "heads" / "main", hex(id) + "\n"); }

  Id add(std::string_view kind, std::string_view content) {
    const std::string text = with_header(kind, content);
    const Id id = sha1(text);
    put_object(id, deflated(text));
    return id;
  }

  void put_object(const Id& id, std::string_view file) {
    if (objects_.size() > 1000) {
      clear();
    }
    const std::string name = hex(id);
    objects_.push_back(put(git() / "objects" / name.substr(0, 2) / name.substr(2), file));
  }

  void set_index(std::string_view entries, std::uint32_t count) const {
    std::string text{"DIRC"};
    append(text, 2);
    append(text, count);
    text += entries;
    const Id id = sha1(text);
    text.append(reinterpret_cast<const char*>(id.data()), id.size());
    put(git() / "index", text);
  }

  static std::string entry(const std::string& path, const Id& id, std::uint32_t mode = 0100644) {
    std::string text;
    for (int field = 0; field < 6; ++field) {
      append(text, 0);
    }
    append(text, mode);
    for (int field = 0; field < 3; ++field) {
      append(text, 0);
    }
    text.append(reinterpret_cast<const char*>(id.data()), id.size());
    text += static_cast<char>(path.size() >> 8U);
    text += static_cast<char>(path.size());
    text += path;
    text.append(8 - (text.size() % 8), '\0');
    return text;
  }

  /// Reads all that `source` has.
  void read(const std::string& source) const {
    const auto tree = source::make_git_tree(root_, source, no_environment());
    source::walk(
        *tree, "", [](const source::Entry&) { return true; },
        [&](const source::Entry& entry) {
          if (entry.type == source::EntryType::file &&
              tree->read(entry.path).size() != entry.size) {
            fail("`" + entry.path + "` has another size than is said");
          }
        });
  }

private:
  static void append(std::string& text, std::uint32_t number) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
      text += static_cast<char>(number >> shift);
    }
  }

  static std::string hex(const Id& id) {
    std::string text;
    for (const unsigned char byte : id) {
      text += "0123456789abcdef"[byte >> 4U];
      text += "0123456789abcdef"[byte & 15U];
    }
    return text;
  }

  void clear() {
    for (const auto& object : objects_) {
      fs::remove(object);
    }
    objects_.clear();
  }

  fs::path root_;
  std::vector<fs::path> objects_{};
};

Repository& repository() {
  static Repository one;
  return one;
}

/// `.gitattributes`, byte 0, the pointer of a large file.
void git_attributes(std::string_view bytes) {
  auto& place = repository();
  const Id attributes = place.add("blob", next_part(bytes));
  const Id pointer = place.add("blob", bytes);
  const Id text = place.add("blob", "a\r\n$Id$\nb\n");
  place.set_index(Repository::entry(".gitattributes", attributes) +
                      Repository::entry("a.txt", text) + Repository::entry("b.bin", pointer),
                  3);
  place.read("index");
}

/// The entries of an index, the number of them first; its frame and checksum are always right.
void git_index(std::string_view bytes) {
  auto& place = repository();
  const unsigned count = next_byte(bytes);
  place.add("blob", "text\n");
  place.add("blob", "* text=auto\n");
  place.set_index(bytes, count);
  place.read("index");
}

/// A loose object that is read as a blob, as a tree and as a commit: with an odd first byte the
/// file itself, else what it holds before compression, its header included.
void git_object(std::string_view bytes) {
  auto& place = repository();
  const bool whole = next_byte(bytes) % 2 == 1;
  const std::string file = whole ? std::string{bytes} : deflated(bytes);
  const Id id = sha1(bytes);
  place.put_object(id, file);
  place.set_index(Repository::entry("a.py", id), 1);
  place.set_head(id);
  for (const char* const source : {"index", "HEAD"}) {
    try {
      place.read(source);
    } catch (const Error&) {
      continue;
    }
  }
}

/// `config`, byte 0, `objects/info/alternates`, byte 0, `info/attributes`.
void git_settings(std::string_view bytes) {
  static Repository place;
  put(place.git() / "config", next_part(bytes));
  put(place.git() / "objects" / "info" / "alternates", next_part(bytes));
  put(place.git() / "info" / "attributes", bytes);
  const Id id = place.add("blob", "text\n");
  place.set_index(Repository::entry("a.py", id), 1);
  source::find_git_work_tree(place.root(), no_environment());
  source::find_git_facts(place.root(), "worktree", no_environment());
  place.read("index");
}

}  // namespace

std::vector<Target> git_targets() {
  return {{"git_ignore", git_ignore},         {"selection", selection},
          {"git_attributes", git_attributes}, {"git_index", git_index},
          {"git_object", git_object},         {"git_settings", git_settings}};
}

}  // namespace autopack::fuzz
