#include "job/pool_flags.hpp"

#include "base/text.hpp"
#include "job/flag_values.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <variant>

namespace autopack::job {

namespace {

using TextKey = Text PoolFlags::*;
using NumberKey = Number PoolFlags::*;
using ListKey = std::optional<std::vector<std::string>> PoolFlags::*;

struct Key {
  std::string_view name;
  std::variant<TextKey, NumberKey, ListKey> member;
};

constexpr std::array keys{
    Key{"accelerator-count", &PoolFlags::accelerator_count},
    Key{"accelerator-type", &PoolFlags::accelerator_type},
    Key{"build-env", &PoolFlags::build_env},
    Key{"container-image-uri", &PoolFlags::container_image_uri},
    Key{"exclude", &PoolFlags::exclude},
    Key{"executor-image-uri", &PoolFlags::executor_image_uri},
    Key{"extra", &PoolFlags::extra},
    Key{"extra-dirs", &PoolFlags::extra_dirs},
    Key{"extra-packages", &PoolFlags::extra_packages},
    Key{"group", &PoolFlags::group},
    Key{"include", &PoolFlags::include},
    Key{"launcher", &PoolFlags::launcher},
    Key{"local-package-path", &PoolFlags::local_package_path},
    Key{"machine-type", &PoolFlags::machine_type},
    Key{"output-image-uri", &PoolFlags::output_image_uri},
    Key{"python-module", &PoolFlags::python_module},
    Key{"replica-count", &PoolFlags::replica_count},
    Key{"requirements", &PoolFlags::requirements},
    Key{"requirements-file", &PoolFlags::requirements_file},
    Key{"script", &PoolFlags::script},
    Key{"system-packages", &PoolFlags::system_packages},
};

const Key* find_key(std::string_view name) {
  const auto* const found =
      std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  return found == keys.end() ? nullptr : found;
}

std::string did_you_mean_key(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(keys.size());
  for (const auto& key : keys) {
    names.push_back(key.name);
  }
  return tables::did_you_mean(name, names);
}

/// Sets one key of the pool; returns what is wrong with the value, empty when nothing is.
std::string assign(PoolFlags& pool, const Key& key, const std::string& value) {
  if (const auto* list = std::get_if<ListKey>(&key.member)) {
    auto items = split(value, ';');
    std::erase_if(items, [](const std::string& item) { return trim(item).empty(); });
    pool.** list = std::move(items);
    return {};
  }
  if (value.empty()) {
    return fmt::format("key `{}` has no value", key.name);
  }
  if (const auto* text = std::get_if<TextKey>(&key.member)) {
    pool.** text = value;
    return {};
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) {
    return fmt::format("key `{}` is not a whole number: `{}`", key.name, printable(value));
  }
  pool.*std::get<NumberKey>(key.member) = number;
  return {};
}

}  // namespace

bool PoolFlags::empty() const {
  return std::none_of(keys.begin(), keys.end(), [&](const Key& key) {
    return std::visit([&](const auto member) { return (this->*member).has_value(); }, key.member);
  });
}

std::vector<std::string_view> pool_keys() {
  std::vector<std::string_view> names;
  names.reserve(keys.size());
  for (const auto& key : keys) {
    names.push_back(key.name);
  }
  return names;
}

PoolFlags overlaid(PoolFlags base, const PoolFlags& top) {
  for (const auto& key : keys) {
    std::visit(
        [&](const auto member) {
          if ((top.*member).has_value()) {
            base.*member = top.*member;
          }
        },
        key.member);
  }
  base.origin = top.empty() ? base.origin : top.origin;
  return base;
}

PoolFlags parse_pool(std::string_view value, const Origin& place, Problems& problems) {
  PoolFlags pool{.origin = place};
  const auto origin = to_string(place);
  std::set<std::string> seen;
  std::vector<std::string> hints;
  if (value.find(',') != std::string_view::npos && !value.starts_with('^')) {
    hints.emplace_back(
        "a value with `,` needs another delimiter: "
        "--worker-pool-spec='^|^machine-type=...|requirements=a>=1,<2'");
  }
  for (const auto& part : split_list(value, "--worker-pool-spec", problems)) {
    const auto equals = part.find('=');
    const auto name = part.substr(0, equals);
    const auto* const key = find_key(name);
    if (equals == std::string::npos && key == nullptr) {
      problems.push_back({.message = fmt::format("`{}` is not KEY=VALUE", printable(part)),
                          .origin = origin,
                          .hints = hints});
      continue;
    }
    if (key == nullptr) {
      problems.push_back(
          {.message = fmt::format("unknown key `{}`{}", printable(name), did_you_mean_key(name)),
           .origin = origin,
           .hints = hints});
      continue;
    }
    if (!seen.insert(name).second) {
      problems.push_back({.message = fmt::format("key `{}` stands twice", name), .origin = origin});
      continue;
    }
    const auto fault = equals == std::string::npos ? fmt::format("key `{}` has no value", name)
                                                   : assign(pool, *key, part.substr(equals + 1));
    if (!fault.empty()) {
      problems.push_back({.message = fault, .origin = origin});
    }
  }
  return pool;
}

}  // namespace autopack::job
