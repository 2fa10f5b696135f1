#include "rankwright/lab/quiz/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "rankwright/base/format.h"

namespace rankwright::lab {
namespace progress_impl {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kSchema = "rankwright.quiz/1";
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

tl::unexpected<Diagnostic> unreadable(const std::string& name, std::string detail) {
  return fail({.code = "RW0901",
               .message = "the file cannot be read",
               .detail = std::move(detail),
               .hint = "choose another file with --progress, or remove this one to start over",
               .where = {.file = name}});
}

/// Returns the string of a key; empty if it is missing or something else.
std::string string_at(const ordered_json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Reads one card; nothing if the entry is not valid.
std::optional<CardProgress> read_card(const ordered_json& entry) {
  if (!entry.is_object()) return {};
  const auto box = entry.find("box");
  const std::optional<i64> due = parse_day(string_at(entry, "due"));
  if (!due || box == entry.end() || !box->is_number_integer()) return {};
  const i64 number = box->get<i64>();
  if (number < 1 || number > kBoxes) return {};
  return CardProgress{int(number), *due};
}

/// Shuffles with the same result on every platform, unlike std::shuffle.
void shuffle(std::vector<std::size_t>& all, std::mt19937_64& random) {
  for (std::size_t k = all.size(); k > 1; --k) std::swap(all[k - 1], all[random() % k]);
}

}  // namespace
}  // namespace progress_impl

std::optional<i64> parse_day(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() != kForm.size()) return {};
  int parts[3] = {};
  int part = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool digit = text[k] >= '0' && text[k] <= '9';
    if (digit != (kForm[k] == 'd') || (!digit && text[k] != '-')) return {};
    if (digit)
      parts[part] = 10 * parts[part] + (text[k] - '0');
    else
      ++part;
  }
  const std::chrono::year_month_day date{std::chrono::year(parts[0]),
                                         std::chrono::month(unsigned(parts[1])),
                                         std::chrono::day(unsigned(parts[2]))};
  if (!date.ok()) return {};
  return std::chrono::sys_days(date).time_since_epoch().count();
}

std::string show_day(i64 day) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  return fmt::format("{:04}-{:02}-{:02}", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()));
}

Result<QuizProgress> read_progress(std::string_view text, const std::string& name) {
  if (text.size() > progress_impl::kMaxBytes)
    return progress_impl::unreadable(
        name, fmt::format("{} bytes; at most {} are read", count(i64(text.size())),
                          count(i64(progress_impl::kMaxBytes))));
  const progress_impl::ordered_json json = progress_impl::ordered_json::parse(text, nullptr, false);
  if (!json.is_object() || progress_impl::string_at(json, "schema") != progress_impl::kSchema)
    return progress_impl::unreadable(
        name, fmt::format("not the progress of a quiz ({})", progress_impl::kSchema));
  QuizProgress progress;
  const auto cards = json.find("cards");
  if (cards == json.end() || !cards->is_object())
    return progress_impl::unreadable(name, "no cards");
  for (const auto& [id, entry] : cards->items()) {
    const std::optional<CardProgress> card = progress_impl::read_card(entry);
    if (!card)
      return progress_impl::unreadable(
          name, fmt::format("card '{}' needs a box from 1 to {} and a day such as 2026-11-17",
                            make_excerpt(id), kBoxes));
    progress[id] = *card;
  }
  return progress;
}

std::string write_progress(const QuizProgress& progress) {
  progress_impl::ordered_json json{{"schema", progress_impl::kSchema},
                                   {"cards", progress_impl::ordered_json::object()}};
  for (const auto& [id, card] : progress)
    json["cards"][id] = {{"box", card.box}, {"due", show_day(card.due)}};
  return json.dump(1) + "\n";
}

void record_answer(QuizProgress& progress, const std::string& id, bool right, i64 today) {
  const auto known = progress.find(id);
  const int before = known == progress.end() ? 0 : known->second.box;
  const int box = right ? std::min(before + 1, kBoxes) : 1;
  progress[id] = {box, today + kBoxDays[box - 1]};
}

std::vector<std::size_t> choose_cards(std::span<const QuizCard> cards, const QuizProgress& progress,
                                      i64 today, std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> order(cards.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  progress_impl::shuffle(order, random);
  // Days from today: due cards are negative or 0, new cards come next, the others last.
  const auto key = [&](std::size_t k) {
    const auto found = progress.find(cards[k].id);
    const i64 days = found == progress.end() ? 0 : found->second.due - today;
    return std::pair(found == progress.end() ? 1 : days <= 0 ? 0 : 2, days);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  order.resize(std::min(count, order.size()));
  return order;
}

}  // namespace rankwright::lab
