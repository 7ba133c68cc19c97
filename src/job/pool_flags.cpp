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
std::string assign(PoolFlags& pool, const Key& key, const KeyValue& value) {
  if (const auto* list = std::get_if<ListKey>(&key.member)) {
    auto items = to_list(value);
    std::erase_if(items, [](const std::string& item) { return trim(item).empty(); });
    pool.** list = std::move(items);
    return {};
  }
  const auto text = to_text(value);
  if (text.empty()) {
    return fmt::format("key `{}` has no value", key.name);
  }
  if (const auto* member = std::get_if<TextKey>(&key.member)) {
    pool.** member = text;
    return {};
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return fmt::format("key `{}` is not a whole number: `{}`", key.name, printable(text));
  }
  pool.*std::get<NumberKey>(key.member) = number;
  return {};
}

/// Reads one `--worker-pool-spec`, key by key.
class PoolReader {
public:
  PoolReader(const Origin& origin, Problems& problems)
      : pool_{.origin = origin}, origin_{to_string(origin)}, problems_{problems} {}

  void object(const KeyValues& given);
  void text(const std::string& text);

  PoolFlags pool() const { return pool_; }

private:
  void key(const std::string& name, const KeyValue& value);

  void fault(std::string message, std::vector<std::string> hints = {}) {
    problems_.push_back(
        {.message = std::move(message), .origin = origin_, .hints = std::move(hints)});
  }

  PoolFlags pool_;
  std::string origin_;
  Problems& problems_;
  std::vector<std::string> hints_{};
  std::set<std::string> seen_{};
};

void PoolReader::key(const std::string& name, const KeyValue& value) {
  const auto* const known = find_key(name);
  if (known == nullptr) {
    fault(fmt::format("unknown key `{}`{}", printable(name), did_you_mean_key(name)), hints_);
    return;
  }
  if (!seen_.insert(name).second) {
    fault(fmt::format("key `{}` is given twice", name));
  } else if (auto wrong = assign(pool_, *known, value); !wrong.empty()) {
    fault(std::move(wrong));
  }
}

void PoolReader::object(const KeyValues& given) {
  for (const auto& [name, value] : given) {
    key(name, value);
  }
}

void PoolReader::text(const std::string& text) {
  if (text.find(',') != std::string::npos && !text.starts_with('^')) {
    hints_ = {
        "a value with `,` needs another delimiter: "
        "--worker-pool-spec='^|^machine-type=...|requirements=a>=1,<2'"};
  }
  for (const auto& part : split_list(text, "--worker-pool-spec", problems_)) {
    const auto equals = part.find('=');
    if (equals == std::string::npos && find_key(part) == nullptr) {
      fault(fmt::format("`{}` is not KEY=VALUE", printable(part)), hints_);
    } else if (equals == std::string::npos) {
      fault(seen_.insert(part).second ? fmt::format("key `{}` has no value", part)
                                      : fmt::format("key `{}` is given twice", part));
    } else {
      key(part.substr(0, equals), part.substr(equals + 1));
    }
  }
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

PoolFlags parse_pool(const FlagValue& value, const Origin& origin, Problems& problems) {
  PoolReader reader{origin, problems};
  if (const auto* object = value.object()) {
    reader.object(*object);
  } else {
    reader.text(value.text());
  }
  return reader.pool();
}

}  // namespace autopack::job
