#include "compare/project_contents.hpp"

#include "base/text.hpp"
#include "plan/changes.hpp"
#include "plan/layers.hpp"

#include <fmt/format.h>

#include <vector>

namespace autopack::compare {

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
