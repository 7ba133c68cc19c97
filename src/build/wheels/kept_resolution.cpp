#include "build/wheels/kept_resolution.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "build/wheels/package_index.hpp"
#include "lock/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace autopack::build {

namespace {

constexpr std::string_view time_comment{"# resolved at "};
constexpr std::string_view key_of_last{"last-resolution"};

bool is_lock_for(const python::Interpreter& interpreter, const std::string& text) {
  try {
    lock::read_pylock(text, "the facts that the repository remembers",
                      {.interpreter = interpreter});
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

KeptResolution::KeptResolution(Services& services,
                               const packaging::Packaging& work,
                               const executor::PythonFacts& facts,
                               const FoundOwnPackage& own)
    : services_{services}, given_{work.request().resolution} {
  const PackageIndex index{services, work, facts.default_index};
  name_ =
      fmt::format("resolution {} {} {}", work.plan().keys.value().dependencies,
                  work.plan().base.digest ? work.plan().base.digest->str() : "", index.identity());
  if (own.package && !own.package->requirements.empty()) {
    name_ += " " + sha256(join(own.package->requirements, "\n")).hex();
  }
  has_login_ = std::ranges::any_of(index.settings().indexes,
                                   [](const auto& place) { return place.user.has_value(); });
  std::error_code ignored;
  const auto directory =
      std::filesystem::weakly_canonical(work.request().project.directory, ignored);
  last_ = "resolution of " + directory.string();
}

void KeptResolution::take_remembered(RepositoryFacts& facts,
                                     const python::Interpreter& interpreter) {
  if (text() && last()) {
    return;
  }
  for (const auto& [key, text] : facts.texts({key_of_text(), std::string{key_of_last}})) {
    const auto& name = key == key_of_last ? last_ : name_;
    if (!services_.wheel_records.get(name) && is_lock_for(interpreter, text)) {
      services_.wheel_records.put(name, text);
    }
  }
}

std::string KeptResolution::keep(const std::string& lock, std::int64_t seconds) {
  auto text = fmt::format("{}{}\n{}", time_comment, seconds, lock);
  services_.wheel_records.put(name_, text);
  services_.wheel_records.put(last_, text);
  return text;
}

std::map<std::string, std::string> KeptResolution::as_remembered(const std::string& text) const {
  std::map<std::string, std::string> facts;
  if (!has_login_) {
    facts = {{key_of_text(), text}, {std::string{key_of_last}, text}};
  }
  return facts;
}

std::optional<std::int64_t> KeptResolution::time_of(std::string_view text) {
  std::int64_t seconds = 0;
  if (!text.starts_with(time_comment)) {
    return std::nullopt;
  }
  text.remove_prefix(time_comment.size());
  return std::from_chars(text.data(), text.data() + text.size(), seconds).ec == std::errc{}
             ? std::optional{seconds}
             : std::nullopt;
}

std::string KeptResolution::key_of_text() const {
  return "resolution-" + sha256(name_).hex();
}

}  // namespace autopack::build
