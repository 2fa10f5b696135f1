#include "rankwright/planner/plan/training_options.h"

#include "rankwright/planner/plan/plan_amounts.h"

namespace rankwright::planner {

Outcome<TrainingRequest> read_training_options(const TrainingTexts& texts) {
  const auto& [tokens, price, days] = texts;
  TrainingRequest ask;
  if (tokens.empty()) {
    if (!price.empty())
      return refuse_usage("--price without --tokens", "--tokens 15T --price 2.10");
    if (!days.empty()) return refuse_usage("--days without --tokens", "--tokens 15T --days 90");
    return ask;
  }
  const Result<double> count = parse_tokens(tokens);
  if (!count) return refuse_usage("--tokens: " + count.error().message, "--tokens 15T");
  ask.tokens = *count;
  if (!price.empty()) {
    const Result<Price> money = parse_price(price);
    if (!money) return refuse_usage("--price: " + money.error().message, "--price 2.10");
    ask.price = *money;
  }
  if (!days.empty()) {
    const Result<Seconds> time = parse_days(days);
    if (!time) return refuse_usage("--days: " + time.error().message, "--days 90");
    ask.deadline = *time;
  }
  return ask;
}

}  // namespace rankwright::planner
