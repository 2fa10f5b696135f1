#include "rankwright/lab/quiz/cards.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/report/render/markdown.h"
#include "rankwright/report/render/svg.h"

namespace rankwright::lab {
namespace cards_impl {
namespace {

constexpr std::string_view kBlank = "___";

struct CourseCard {
  std::string_view id, front, back, see;
};
constexpr CourseCard kCourse[] = {
    {"course:dp", "What does data parallelism do, and where does it stop?",
     "Every rank holds a full copy of the model and a part of the batch; gradients are all-reduced "
     "once per step. It stops when the parameters, gradients and optimizer states of one copy do "
     "not fit on one GPU.",
     "rankwright lab 1"},
    {"course:tp", "What does tensor parallelism split, and what does it need?",
     "It splits the matrices and heads of every layer over the ranks of a group. Collectives run "
     "inside every layer, forward and backward, so the group needs the fastest link: it stays "
     "inside the node.",
     "rankwright lab 2"},
    {"course:pp", "What does pipeline parallelism split, and what does it cost?",
     "It splits the layers into stages on different ranks, which send activations forward and "
     "gradients backward. It costs idle time at fill and drain, the bubble, and more if stages are "
     "uneven.",
     "rankwright lab 3"},
    {"course:zero", "What do FSDP and ZeRO shard, and at what cost?",
     "They shard the optimizer states (stage 1), also the gradients (2) and also the parameters "
     "(3, FSDP) over the data-parallel ranks. Stage 3 gathers the parameters of each layer before "
     "use and discards them: extra traffic, most of which overlaps with compute.",
     "rankwright lab 4"},
    {"course:placement", "Where do TP and PP belong in a cluster, and why?",
     "TP inside the node, because it communicates in every layer; PP across nodes, because a stage "
     "sends only activations at its boundary; DP on top, once per step.",
     "rankwright lab 6"},
    {"course:3d", "What is 3D parallelism, and why are all three axes combined?",
     "TP x PP x DP: the three degrees multiply to the number of GPUs. TP removes the limit of one "
     "layer's memory, PP that of one node, and DP adds throughput by splitting the batch.",
     "rankwright explain examples/course-64.yaml"},
    {"course:fsdp-instead", "When is FSDP better than TP and PP?",
     "When the model fits once it is sharded over the data-parallel ranks and the links are fast "
     "enough to hide the gathers: no change of the model, no bubble. It is worse when many ranks "
     "share slow links, or when the batch per rank becomes too small.",
     "rankwright lab 4"},
    {"course:bytes", "How do bytes per parameter lead to a scheme?",
     "Mixed precision with Adam needs 16 bytes per parameter: 2 for the weight, 2 for the "
     "gradient, "
     "12 for the optimizer. If that times the parameters exceeds a GPU, shard (FSDP) or use TP; if "
     "it exceeds a node, add PP; DP multiplies the throughput.",
     "rankwright lab 5"},
    {"course:bubble", "What is a pipeline bubble, and what shrinks it?",
     "The time in which stages are idle while the pipeline fills and drains: (PP - 1) / "
     "(micro-batches + PP - 1) of the step for 1F1B. More micro-batches or virtual stages shrink "
     "it.",
     "rankwright explain examples/labs/pp-4.yaml --timeline"},
};

std::vector<QuizCard> make_cards() {
  std::vector<QuizCard> cards;
  for (const CourseCard& row : kCourse)
    cards.push_back(
        {std::string(row.id), std::string(row.front), std::string(row.back), std::string(row.see)});
  for (const catalog::Term& term : catalog::glossary()) {
    const std::string see = "rankwright explain '" + term.name + "'";
    cards.push_back({"term:" + term.name, fmt::format("What does \"{}\" mean?", term.name),
                     term.definition, see});
    cards.push_back(
        {"meaning:" + term.name, "Which term is this? " + hide_term(term), term.name, see, &term});
  }
  return cards;
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Replaces whole words, ignoring case. A plural counts as the word.
std::string replace_words(const std::string& text, const std::string& words) {
  const std::string small = lower(text), wanted = lower(words);
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    if (!begins || small.compare(at, wanted.size(), wanted) != 0) {
      out += text[at++];
      continue;
    }
    std::size_t end = at + wanted.size();
    if (end < text.size() && small[end] == 's') ++end;
    if (end < text.size() && is_word_character(text[end])) {
      out += text[at++];
      continue;
    }
    out += kBlank;
    at = end;
  }
  return out;
}

}  // namespace
}  // namespace cards_impl

std::span<const QuizCard> list_quiz_cards() {
  static const std::vector<QuizCard> kCards = cards_impl::make_cards();
  return kCards;
}

std::string hide_term(const catalog::Term& term) {
  std::vector<std::string> names = term.also;
  names.push_back(term.name);
  // Longest first, so that "virtual stage" is hidden before "stage".
  std::stable_sort(names.begin(), names.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  std::string text = term.definition;
  for (const std::string& name : names)
    if (!name.empty()) text = cards_impl::replace_words(text, name);
  return text;
}

TermMatch match_term(const catalog::Term& term, std::string_view typed) {
  if (catalog::find_term(typed) == &term) return TermMatch::exact;
  if (catalog::find_term(typed) != nullptr) return TermMatch::other;
  std::vector<std::string> known;
  for (const catalog::Term& one : catalog::glossary()) {
    known.push_back(one.name);
    known.insert(known.end(), one.also.begin(), one.also.end());
  }
  const std::optional<std::string> near = nearest(make_excerpt(typed, 64), known);
  return near && catalog::find_term(*near) == &term ? TermMatch::misspelled : TermMatch::other;
}

std::string print_cards_markdown(std::span<const QuizCard> cards) {
  constexpr std::string_view kPage = "\n<div style=\"page-break-after: always\"></div>\n\n";
  std::string out;
  for (std::size_t k = 0; k < cards.size(); ++k)
    out += fmt::format("## {0}\n\n{1}\n{2}## {0}, answer\n\n{3}\n\n{4}\n{2}", k + 1,
                       report::escape_markdown(cards[k].front), kPage,
                       report::escape_markdown(cards[k].back),
                       report::format_markdown_code(cards[k].see));
  return out;
}

std::string print_cards_html(std::span<const QuizCard> cards) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>Flash cards</title>\n<style>\n"
      "body { font: 1.5rem/1.5 sans-serif; margin: 0 }\n"
      "section { box-sizing: border-box; min-height: 100vh; padding: 3rem; break-after: page }\n"
      "code { font-size: 1rem }\n"
      "</style>\n</head>\n<body>\n";
  for (std::size_t k = 0; k < cards.size(); ++k)
    out += fmt::format(
        "<section><h2>{0}</h2><p>{1}</p></section>\n"
        "<section><h2>{0}, answer</h2><p>{2}</p><p><code>{3}</code></p></section>\n",
        k + 1, report::svg::escaped(cards[k].front), report::svg::escaped(cards[k].back),
        report::svg::escaped(cards[k].see));
  return out + "</body>\n</html>\n";
}

}  // namespace rankwright::lab
