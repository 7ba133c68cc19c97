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

using Member = std::variant<TextKey, NumberKey, ListKey>;

PoolKey::Kind kind_of(const Member& member) {
  return std::holds_alternative<ListKey>(member)     ? PoolKey::Kind::list
         : std::holds_alternative<NumberKey>(member) ? PoolKey::Kind::number
                                                     : PoolKey::Kind::text;
}

struct Key : PoolKey {
  Member member;
};

Key key_of_machine(std::string_view name,
                   bool brief,
                   std::string_view label,
                   std::string_view help,
                   Member where) {
  return {{.name = name, .label = label, .help = help, .kind = kind_of(where), .brief = brief},
          where};
}

Key key_of(const packaging::Setting& setting) {
  const Member where = std::visit([](const auto member) { return Member{member}; }, setting.member);
  return {{.name = setting.key,
           .label = setting.label,
           .help = setting.help,
           .kind = kind_of(where),
           .brief = setting.use == packaging::Setting::Use::often},
          where};
}

std::vector<Key> every_key() {
  std::vector<Key> all{
      key_of_machine("machine-type", true, "TYPE", "machine; default: n1-standard-4",
                     &PoolFlags::machine_type),
      key_of_machine("accelerator-type", true, "TYPE", "GPU: NVIDIA_TESLA_T4; or several, in order",
                     &PoolFlags::accelerator_type),
      key_of_machine("accelerator-count", false, "N", "GPUs of the machine; default: 1",
                     &PoolFlags::accelerator_count),
      key_of_machine("replica-count", false, "N", "machines of the pool; the first pool has 1",
                     &PoolFlags::replica_count),
  };
  for (const auto& setting : packaging::settings) {
    if (setting.is_pool_key()) {
      all.push_back(key_of(setting));
    }
  }
  all.push_back(key_of_machine("container-image-uri", false, "IMAGE",
                               "existing image to run; nothing is packaged",
                               &PoolFlags::container_image_uri));
  return all;
}

const std::vector<Key>& keys() {
  static const auto all = every_key();
  return all;
}

const Key* find_key(std::string_view name) {
  const auto found = std::ranges::find(keys(), name, &Key::name);
  return found == keys().end() ? nullptr : &*found;
}

bool has(const PoolFlags& pool, const Key& key) {
  return std::visit([&](const auto member) { return (pool.*member).has_value(); }, key.member);
}

std::string did_you_mean_key(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(keys().size());
  for (const auto& key : keys()) {
    names.push_back(key.name);
  }
  return tables::did_you_mean(name, names);
}

/// Returns the flag that corresponds to this name in Google's API; nothing if there is none.
std::optional<std::string> flag_for_key(std::string_view name) {
  if (name == "args" || name == "arg") {
    return "`--args=ARG,...`, or `-- ARGS` at the end, gives the program its arguments";
  }
  if (name == "env") {
    return "`--env=NAME=VALUE,...` sets variables of the program";
  }
  if (name == "command") {
    return "`--command=WORD,...` replaces the program and its arguments";
  }
  return std::nullopt;
}

std::string names_of_keys() {
  std::string names;
  for (const auto& key : keys()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
  }
  return names;
}

/// Joins the value of a variable that to_list split: `ARCHS=8.0;9.0`.
std::vector<std::string> joined_variables(const std::vector<std::string>& items) {
  std::vector<std::string> joined;
  for (const auto& item : items) {
    if (joined.empty() || item.find('=') != std::string::npos) {
      joined.push_back(item);
    } else {
      joined.back() += ";" + item;
    }
  }
  return joined;
}

/// Sets one key of the pool; returns the error in the value, if any.
std::optional<std::string> assign(PoolFlags& pool, const Key& key, const KeyValue& value) {
  if (const auto* list = std::get_if<ListKey>(&key.member)) {
    auto items = to_list(value);
    if (key.name == "build-env" && std::holds_alternative<std::string>(value)) {
      items = joined_variables(items);
    }
    std::erase_if(items, [](const std::string& item) { return trim(item).empty(); });
    auto& into = pool.*(*list);
    into = std::move(items);
    return std::nullopt;
  }
  const auto text = to_text(value);
  if (text.empty()) {
    return fmt::format("key `{}` has no value", key.name);
  }
  if (const auto* member = std::get_if<TextKey>(&key.member)) {
    auto& into = pool.*(*member);
    into = text;
    return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return fmt::format("key `{}` is not a whole number: `{}`", key.name, printable(text));
  }
  pool.*std::get<NumberKey>(key.member) = number;
  return std::nullopt;
}

/// Reads one `--worker-pool-spec`, key by key.
class PoolReader {
public:
  PoolReader(const Origin& origin, Problems& problems)
      : origin_{to_string(origin)}, problems_{problems} {
    pool_.origin = origin;
  }

  void object(const KeyValues& given);
  void text(const std::string& text);

  PoolFlags pool() const { return pool_; }

private:
  void key(const std::string& name, const KeyValue& value);

  void fault(std::string message, std::vector<std::string> hints = {}) {
    problems_.push_back(
        {.message = std::move(message), .origin = origin_, .hints = std::move(hints)});
  }

  PoolFlags pool_{};
  std::string origin_;
  Problems& problems_;
  std::vector<std::string> hints_{};
  std::set<std::string> seen_{};
};

void PoolReader::key(const std::string& name, const KeyValue& value) {
  const auto* const known = find_key(name);
  if (known == nullptr) {
    const auto meant = did_you_mean_key(name);
    if (const auto flag = flag_for_key(name)) {
      fault(fmt::format("unknown key `{}`", printable(name)), {*flag});
    } else if (meant.empty()) {
      auto hints = hints_;
      hints.push_back(fmt::format("the keys are {}", names_of_keys()));
      fault(fmt::format("unknown key `{}`", printable(name)), std::move(hints));
    } else {
      fault(fmt::format("unknown key `{}`{}", printable(name), meant), hints_);
    }
    return;
  }
  if (!seen_.insert(name).second) {
    fault(fmt::format("key `{}` is given twice", name));
  } else if (auto wrong = assign(pool_, *known, value)) {
    fault(std::move(*wrong));
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
  return std::ranges::none_of(keys(), [&](const Key& key) { return has(*this, key); });
}

bool PoolFlags::names_project() const {
  return std::ranges::any_of(packaging::settings,
                             [&](const auto& setting) { return setting.is_given(*this); });
}

bool is_pool_key(std::string_view name) {
  return find_key(name) != nullptr;
}

const std::vector<PoolKey>& described_pool_keys() {
  static const std::vector<PoolKey> described(keys().begin(), keys().end());
  return described;
}

std::vector<std::string_view> pool_keys() {
  std::vector<std::string_view> names;
  names.reserve(keys().size());
  for (const auto& key : keys()) {
    names.push_back(key.name);
  }
  std::ranges::sort(names);
  return names;
}

void set_key(PoolFlags& pool,
             const PoolKey& key,
             const FlagValues& values,
             const Origin& origin,
             Problems& problems) {
  const auto* const known = find_key(key.name);
  if (known == nullptr || values.empty()) {
    return;
  }
  pool.origins.insert_or_assign(std::string{key.name}, origin);
  pool.origin = pool.origins.size() == 1 ? origin : pool.origin;
  if (key.kind == PoolKey::Kind::list) {
    assign(pool, *known, all_elements(values, "--" + std::string{key.name}, problems));
    return;
  }
  if (auto wrong = assign(pool, *known, values.back().text())) {
    problems.push_back({.message = std::move(*wrong), .origin = to_string(origin)});
  }
}

PoolFlags overlay(PoolFlags base, const PoolFlags& top) {
  if (top.empty()) {
    return base;
  }
  for (const auto& key : keys()) {
    const auto& from = has(top, key) ? top : base;
    if (const auto origin = from.origin_of(key.name); origin && has(from, key)) {
      base.origins.insert_or_assign(std::string{key.name}, *origin);
    }
    if (has(top, key)) {
      std::visit([&](const auto member) { base.*member = top.*member; }, key.member);
    }
  }
  base.origin = top.origin;
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
