#include "build/wheels/local_files.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "index/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::build {

namespace {

const plan::ContextEntry* input_at(const packaging::Packaging& work, const std::string& path) {
  const auto& inputs = work.plan().dependencies.inputs;
  const auto found =
      std::ranges::find_if(inputs, [&](const auto& entry) { return entry.path == path; });
  return found == inputs.end() ? nullptr : &*found;
}

Error fault(const lock::LockedFile& file, const std::string& what) {
  return Error(ErrorKind::project, fmt::format("`{}` cannot be installed: {}",
                                               printable(file.path.value_or(file.name)), what));
}

}  // namespace

index::CachedFile cache_local_file(const packaging::Packaging& work,
                                   const index::WheelCache& wheels,
                                   const lock::LockedFile& file) {
  const auto* const input = input_at(work, *file.path);
  const auto& tree = work.plan().working_directory();
  if (input != nullptr && input->type != source::EntryType::file) {
    throw fault(file, "it is not a file");
  }
  if (input == nullptr && file.hashes.empty()) {
    throw fault(file, "it is reached by a symbolic link").hint("name the file itself");
  }
  if (const auto entry = tree.find(*file.path);
      input == nullptr && (!entry || entry->type != source::EntryType::file)) {
    throw fault(file, "there is no such file");
  }
  index::Verifier verifier{file.hashes};
  auto cached = wheels.add([&](const index::WheelCache::Take& out) {
    const auto take = [&](std::string_view bytes) {
      verifier.update(bytes);
      out(bytes);
    };
    if (input != nullptr) {
      work.plan().trees.at(input->tree).stream_as_planned(*input, take);
    } else {
      tree.stream(*file.path, take);
    }
  });
  if (const auto wrong = verifier.finish()) {
    wheels.forget(cached.sha256);
    throw fault(file, *wrong);
  }
  return cached;
}

std::optional<std::string> directory_identity(const packaging::Packaging& work,
                                              const std::string& directory) {
  Sha256 hash;
  bool found = false;
  for (const auto& entry : work.plan().dependencies.inputs) {
    if (!entry.path.starts_with(directory + "/")) {
      continue;
    }
    found = found || entry.type == source::EntryType::file;
    const auto path = entry.path.substr(directory.size() + 1);
    hash.update(fmt::format("{} {}:{} {}\n", entry.letter(), path.size(), path,
                            entry.content ? entry.content->str() : ""));
  }
  return found ? std::optional{hash.finish().hex()} : std::nullopt;
}

}  // namespace autopack::build
